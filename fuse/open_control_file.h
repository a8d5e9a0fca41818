// OpenControlFile: one open handle of a control file.
//
// Content is taken when a read starts at the beginning, and later reads of the handle see the same
// text, so that a reader with a small buffer gets one moment's content; reading from the beginning
// again takes it anew, as in sysfs. Each write is one store. An errno says little: who wants to
// know why a store was refused reads the reason from the same handle, far behind every content
// (kReasonOffset); the live verbs do. Thread-safe.

#ifndef MDVOL_FUSE_OPEN_CONTROL_FILE_H_
#define MDVOL_FUSE_OPEN_CONTROL_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "fuse/tree.h"

namespace mdvol {

inline constexpr uint64_t kReasonOffset = uint64_t{1} << 40;

class OpenControlFile {
 public:
  // EACCES when a file that cannot be stored into is opened for writing: root passes the kernel's
  // check of the mode.
  static absl::StatusOr<std::unique_ptr<OpenControlFile>> Open(const Tree& tree, uint64_t inode,
                                                               int flags);

  // The whole content for a read at `offset_bytes`; at kReasonOffset why the last store of this
  // handle failed, in a line without its end, empty when it did not.
  absl::StatusOr<std::shared_ptr<const std::string>> Content(uint64_t offset_bytes)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // EINVAL for more than a page.
  absl::Status Store(std::string_view value) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  OpenControlFile(ControlFiles& control, std::string path)
      : control_(control), path_(std::move(path)) {}

  ControlFiles& control_;
  const std::string path_;
  absl::Mutex mutex_;
  std::shared_ptr<const std::string> content_ ABSL_GUARDED_BY(mutex_);
  std::string reason_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mdvol

#endif  // MDVOL_FUSE_OPEN_CONTROL_FILE_H_
