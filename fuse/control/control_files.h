// ControlFiles: what the mount shows besides the volume, as the tree (tree.h) asks for it: small
// text files, folders and links that are named by their path from the root of the mount
// ("md/level"). Everything is looked up anew by each call, because members come and go.
// Thread-safe.

#ifndef MDVOL_FUSE_CONTROL_CONTROL_FILES_H_
#define MDVOL_FUSE_CONTROL_CONTROL_FILES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace mdvol {

enum class ControlKind : uint8_t { kFolder, kFile, kLink };

struct ControlEntry {
  std::string name;
  ControlKind kind = ControlKind::kFile;
  bool writable = false;  // files only: the owner may store into it
  bool lasting = false;   // exists for as long as the mount does, so the kernel may remember it
};

class ControlFiles {
 public:
  virtual ~ControlFiles() = default;

  // ENOENT when the path names nothing now. "" is the root, a folder.
  virtual absl::StatusOr<ControlEntry> Find(std::string_view path) const = 0;
  // ENOENT, or ENOTDIR when it is no folder. In the order in which a listing shows them.
  virtual absl::StatusOr<std::vector<ControlEntry>> List(std::string_view path) const = 0;
  // The content of a file as of now, the target of a link.
  virtual absl::StatusOr<std::string> Show(std::string_view path) const = 0;
  // One write to a file. `value` comes as it was written, its newline included; the errno is the
  // kernel's for the same write to sysfs.
  virtual absl::Status Store(std::string_view path, std::string_view value) = 0;
};

}  // namespace mdvol

#endif  // MDVOL_FUSE_CONTROL_CONTROL_FILES_H_
