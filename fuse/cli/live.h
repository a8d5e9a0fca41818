// LiveMount: what the live verbs know of a running array: its mountpoint and the files in it. They
// read and write control files and nothing else, as a user could with cat and echo.

#ifndef MDVOL_FUSE_CLI_LIVE_H_
#define MDVOL_FUSE_CLI_LIVE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace mdvol {

// A member as status.json lists it.
struct LiveMember {
  std::string name;
  std::string path;
  std::optional<uint32_t> slot;
  uint32_t number = 0;  // Number in `detail`
};

class LiveMount {
 public:
  // Errors: not a mount of ours, a dead one, one of another user.
  static absl::StatusOr<LiveMount> Open(const std::string& mountpoint);

  // Absolute.
  const std::string& path() const { return path_; }

  // `name` is relative to the mountpoint: "status.json", "md/level".
  absl::StatusOr<std::string> Read(const std::string& name) const;
  // What the daemon refuses comes back in its own words, without `name`.
  absl::Status Write(const std::string& name, std::string_view value) const;

  absl::StatusOr<std::vector<LiveMember>> Members() const;
  // The member that `text` means (member_word.h): a path, the NAME of dev-NAME, or a slot number.
  absl::StatusOr<LiveMember> FindMember(const std::string& text) const;

 private:
  explicit LiveMount(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace mdvol

#endif  // MDVOL_FUSE_CLI_LIVE_H_
