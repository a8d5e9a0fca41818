// Taking a FUSE mount away, as root or as the ordinary user who mounted it, and looking at what is
// mounted. Reads /proc/self/mountinfo; never touches the mounted file system itself, which may be
// dead or our own.

#ifndef MDVOL_FUSE_UNMOUNT_H_
#define MDVOL_FUSE_UNMOUNT_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace mdvol {

enum class UnmountKind { kIfUnused, kLazy };

// EBUSY when it is in use and not kLazy, EPERM when it is another user's mount: the message says
// who may. umount2 where the kernel lets us, else fusermount3.
absl::Status Unmount(const std::string& mountpoint, UnmountKind kind);

struct MountInfo {
  dev_t device = 0;  // st_dev of what is in it, as a rule
  std::string mountpoint;
  std::string type;              // "fuse.mdvol"
  std::string source;            // fsname
  std::optional<uid_t> user_id;  // who mounted it, where the file system says so, as FUSE does
};

// The type under which our mounts are listed.
inline constexpr std::string_view kMountType = "fuse.mdvol";

// The topmost mount at exactly this absolute path, if there is one.
absl::StatusOr<std::optional<MountInfo>> FindMount(std::string_view mountpoint);

// All mounts that this process can see; a later one lies over an earlier one.
absl::StatusOr<std::vector<MountInfo>> ListMounts();

// "\040" is a blank and so on: three octal digits behind a backslash, as in mountinfo and in the
// names of members (core/array/member_name.h).
std::string UnescapeOctal(std::string_view text);

// A line of mountinfo; absent when it is none. Octal escapes are resolved.
std::optional<MountInfo> ParseMountInfoLine(std::string_view line);

}  // namespace mdvol

#endif  // MDVOL_FUSE_UNMOUNT_H_
