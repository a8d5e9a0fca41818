// Tree: the inodes of a mount. The volume file and the root have fixed numbers; whatever
// ControlFiles shows gets a number when it is first looked up and keeps it for the life of the
// mount, so that a member that goes and comes back is the same inode and the kernel's forgets need
// no counting (the table is bounded by the names that ever existed).
//
// Attributes of control files: owned by the mounting user, 0644 where they can be written, 0444
// elsewhere, folders 0555. Knows no libfuse. Thread-safe; no lock is held while ControlFiles works.

#ifndef MDVOL_FUSE_TREE_H_
#define MDVOL_FUSE_TREE_H_

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "core/base/clock.h"
#include "fuse/control/control_files.h"
#include "fuse/volume_file.h"

namespace mdvol {

inline constexpr uint64_t kRootInode = 1;
inline constexpr uint64_t kVolumeInode = 2;

struct TreeOptions {
  std::string volume_name = "volume";
  uid_t uid = 0;
  gid_t gid = 0;
};

// A name in a folder. st_ino and st_mode are valid in listings, all attributes in look-ups.
struct TreeEntry {
  std::string name;
  struct stat attributes {};
  bool lasting = false;
};

class Tree {
 public:
  // `control` may be null: then the volume is alone in the mount. All references must outlive the
  // tree.
  Tree(const TreeOptions& options, VolumeFile& volume, ControlFiles* control, Clock& clock);

  absl::StatusOr<TreeEntry> Lookup(uint64_t parent_inode, std::string_view name)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<struct stat> Attributes(uint64_t inode) const ABSL_LOCKS_EXCLUDED(mutex_);
  // With "." and "..".
  absl::StatusOr<std::vector<TreeEntry>> List(uint64_t inode) ABSL_LOCKS_EXCLUDED(mutex_);

  // The path of a control file for ControlFiles; ENOENT for the volume and for unknown numbers.
  absl::StatusOr<std::string> PathOf(uint64_t inode) const ABSL_LOCKS_EXCLUDED(mutex_);
  // Null when the volume is alone.
  ControlFiles* control() const { return control_; }
  VolumeFile& volume() const { return volume_; }

 private:
  uint64_t InodeOf(const std::string& path) ABSL_LOCKS_EXCLUDED(mutex_);
  struct stat AttributesOf(uint64_t inode, const ControlEntry& entry) const;
  struct stat VolumeAttributes() const;

  const TreeOptions options_;
  VolumeFile& volume_;
  ControlFiles* const control_;
  const uint64_t started_us_;

  mutable absl::Mutex mutex_;
  std::map<std::string, uint64_t, std::less<>> inodes_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> paths_ ABSL_GUARDED_BY(mutex_);  // [inode - kFirstControlInode]
};

}  // namespace mdvol

#endif  // MDVOL_FUSE_TREE_H_
