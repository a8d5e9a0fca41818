// See open_control_file.h.

#include "fuse/open_control_file.h"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "core/base/status.h"

namespace mdvol {
namespace {

constexpr size_t kMaxValueBytes = 4096;  // sysfs' page

}  // namespace

absl::StatusOr<std::unique_ptr<OpenControlFile>> OpenControlFile::Open(const Tree& tree,
                                                                       uint64_t inode, int flags) {
  MDVOL_ASSIGN_OR_RETURN(std::string path, tree.PathOf(inode));
  MDVOL_ASSIGN_OR_RETURN(const ControlEntry entry, tree.control()->Find(path));
  if ((flags & O_ACCMODE) != O_RDONLY && !entry.writable) {
    return ErrnoStatus(EACCES, path + ": is read-only");
  }
  return std::unique_ptr<OpenControlFile>(new OpenControlFile(*tree.control(), std::move(path)));
}

absl::StatusOr<std::shared_ptr<const std::string>> OpenControlFile::Content(uint64_t offset_bytes) {
  if (offset_bytes == kReasonOffset) {
    absl::MutexLock lock(&mutex_);
    return std::make_shared<const std::string>(reason_);
  }
  if (offset_bytes != 0) {
    absl::MutexLock lock(&mutex_);
    if (content_ != nullptr) {
      return content_;
    }
  }
  MDVOL_ASSIGN_OR_RETURN(std::string text, control_.Show(path_));
  auto content = std::make_shared<const std::string>(std::move(text));
  absl::MutexLock lock(&mutex_);
  content_ = content;
  return content;
}

absl::Status OpenControlFile::Store(std::string_view value) {
  const absl::Status status = value.size() > kMaxValueBytes
                                  ? ErrnoStatus(EINVAL, path_ + ": a value of more than a page")
                                  : control_.Store(path_, value);
  absl::MutexLock lock(&mutex_);
  reason_ = MessageOf(status);
  return status;
}

}  // namespace mdvol
