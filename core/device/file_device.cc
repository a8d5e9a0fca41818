// See file_device.h. Opening, locking and creating; the I/O itself is in file_io.h.

#include "core/device/file_device.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "core/base/retry.h"
#include "core/base/status.h"
#include "core/base/unique_fd.h"
#include "core/base/units.h"
#include "core/device/file_io.h"
#include "core/device/member_lock.h"
#include "core/device/request_check.h"

namespace mdvol {
namespace {

// Where the kernel does not say what an image on O_DIRECT needs; no file system needs more.
constexpr uint32_t kDefaultDirectAlignmentBytes = 4096;

absl::Status OpenError(int error_number, const std::string& path,
                       const FileDeviceOptions& options) {
  switch (error_number) {
    case ENOENT:
      return ErrnoStatus(ENOENT, absl::StrCat(path, ": no such file: check the path"));
    case EACCES:
    case EPERM:
    case EROFS:
      return SystemError(error_number,
                         absl::StrCat(path, options.read_only ? ": cannot be opened for reading"
                                                              : ": cannot be opened for writing "
                                                                "(read-only may do)"));
    case EBUSY:
      return ErrnoStatus(EBUSY, absl::StrCat(path,
                                             ": in use (mounted, a member of a running array, or "
                                             "held by another process): release it first"));
    case EINVAL:
      if (options.direct) {
        return ErrnoStatus(EINVAL, absl::StrCat(path,
                                                ": its file system refuses O_DIRECT: open it "
                                                "without direct I/O"));
      }
      break;
    default:
      break;
  }
  return SystemError(error_number, absl::StrCat(path, ": cannot be opened"));
}

absl::Status CheckKind(const struct stat& facts, const std::string& path) {
  if (S_ISREG(facts.st_mode) || S_ISBLK(facts.st_mode)) {
    return absl::OkStatus();
  }
  return ErrnoStatus(EINVAL, absl::StrCat(path,
                                          ": neither a file nor a block device: pass an image or "
                                          "a block device"));
}

FileIdentity IdentityOf(const struct stat& facts) {
  if (S_ISBLK(facts.st_mode)) {
    return {facts.st_rdev, 0, true};
  }
  return {facts.st_dev, facts.st_ino, false};
}

int OpenFlags(const struct stat& facts, const FileDeviceOptions& options) {
  int flags = O_CLOEXEC | (options.read_only ? O_RDONLY : O_RDWR);
  if (options.direct) {
    flags |= O_DIRECT;
  }
  if (options.lock && S_ISBLK(facts.st_mode)) {
    flags |= O_EXCL;
  }
  return flags;
}

// The alignment that an image opened with O_DIRECT wants of offsets, lengths and addresses.
uint32_t DirectAlignmentOf(int fd) {
  struct statx facts = {};
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &facts) != 0 ||
      (facts.stx_mask & STATX_DIOALIGN) == 0 || facts.stx_dio_offset_align == 0) {
    return kDefaultDirectAlignmentBytes;
  }
  return std::max(
      {facts.stx_dio_offset_align, facts.stx_dio_mem_align, static_cast<uint32_t>(kSectorBytes)});
}

absl::StatusOr<std::unique_ptr<MemberDevice>> MakeBlockDevice(UniqueFd fd, const std::string& path,
                                                              const FileDeviceOptions& options) {
  uint64_t size_bytes = 0;
  int logical_block_bytes = 0;
  if (::ioctl(fd.get(), BLKGETSIZE64, &size_bytes) != 0 ||
      ::ioctl(fd.get(), BLKSSZGET, &logical_block_bytes) != 0) {
    return SystemError(errno, absl::StrCat(path, ": its size cannot be read"));
  }
  int is_read_only = 0;
  if (!options.read_only && ::ioctl(fd.get(), BLKROGET, &is_read_only) == 0 && is_read_only != 0) {
    return ErrnoStatus(EROFS, absl::StrCat(path, ": a read-only device: use --read-only"));
  }
  const auto alignment_bytes = static_cast<uint32_t>(logical_block_bytes);
  const DeviceLimits limits = {size_bytes, options.direct ? alignment_bytes : 1, options.read_only};
  return std::make_unique<FileIoDevice>(std::move(fd), path, limits, alignment_bytes);
}

// 0 or an errno.
int SetLength(int fd, uint64_t size_bytes) {
  if (size_bytes > static_cast<uint64_t>(std::numeric_limits<off_t>::max())) {
    return EFBIG;
  }
  return RetryOnEintr([&] { return ::ftruncate(fd, static_cast<off_t>(size_bytes)); }) == 0 ? 0
                                                                                            : errno;
}

}  // namespace

absl::StatusOr<std::unique_ptr<MemberDevice>> OpenFileDevice(const std::string& path,
                                                             const FileDeviceOptions& options) {
  // Looked at first, because opening some kinds of file waits or has effects.
  struct stat facts = {};
  if (::stat(path.c_str(), &facts) != 0) {
    return OpenError(errno, path, options);
  }
  MDVOL_RETURN_IF_ERROR(CheckKind(facts, path));
  UniqueFd fd(RetryOnEintr([&] { return ::open(path.c_str(), OpenFlags(facts, options)); }));
  if (!fd.valid()) {
    return OpenError(errno, path, options);
  }
  if (options.lock && S_ISREG(facts.st_mode)) {
    MDVOL_RETURN_IF_ERROR(LockImage(fd.get(), path, options.read_only));
  }
  // From here on what counts is what was opened, as it is now that nobody else changes it.
  const FileIdentity identity = IdentityOf(facts);
  if (::fstat(fd.get(), &facts) != 0) {
    return OpenError(errno, path, options);
  }
  MDVOL_RETURN_IF_ERROR(CheckNotReplaced(identity, IdentityOf(facts), path));
  if (options.lock) {
    MDVOL_RETURN_IF_ERROR(RefuseIfBehindLoopDevice(identity, path));
  }
  if (identity.is_block_device) {
    return MakeBlockDevice(std::move(fd), path, options);
  }
  const DeviceLimits limits = {static_cast<uint64_t>(facts.st_size),
                               options.direct ? DirectAlignmentOf(fd.get()) : 1, options.read_only};
  return std::make_unique<FileIoDevice>(std::move(fd), path, limits, 1);
}

absl::StatusOr<std::unique_ptr<MemberDevice>> CreateImage(const std::string& path,
                                                          uint64_t size_bytes) {
  UniqueFd fd(RetryOnEintr(
      [&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666); }));
  if (!fd.valid()) {
    if (errno == EEXIST) {
      return ErrnoStatus(EEXIST, absl::StrCat(path, ": exists already: give another name"));
    }
    return SystemError(errno, absl::StrCat(path, ": cannot be created"));
  }
  absl::Cleanup remove = [&path] { ::unlink(path.c_str()); };
  MDVOL_RETURN_IF_ERROR(LockImage(fd.get(), path, /*is_shared=*/false));
  if (const int error = SetLength(fd.get(), size_bytes); error != 0) {
    return SystemError(error, absl::StrCat(path, ": cannot be made ", size_bytes, " bytes long"));
  }
  std::move(remove).Cancel();
  return std::make_unique<FileIoDevice>(std::move(fd), path, DeviceLimits{size_bytes}, 1);
}

absl::Status AllocateRange(const std::string& path, uint64_t offset_bytes, uint64_t length_bytes) {
  MDVOL_ASSIGN_OR_RETURN(const FileIdentity identity, IdentifyFile(path));
  if (identity.is_block_device || length_bytes == 0) {
    return absl::OkStatus();
  }
  const UniqueFd fd(RetryOnEintr([&] { return ::open(path.c_str(), O_WRONLY | O_CLOEXEC); }));
  if (!fd.valid()) {
    return OpenError(errno, path, {});
  }
  if (RetryOnEintr([&] {
        return ::fallocate(fd.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset_bytes),
                           static_cast<off_t>(length_bytes));
      }) == 0 ||
      errno == EOPNOTSUPP || errno == ENOSYS) {
    return absl::OkStatus();
  }
  return SystemError(
      errno, absl::StrCat(path, ": cannot allocate ", length_bytes, " bytes at ", offset_bytes));
}

absl::StatusOr<FileIdentity> IdentifyFile(const std::string& path) {
  struct stat facts = {};
  if (::stat(path.c_str(), &facts) != 0) {
    return OpenError(errno, path, {});
  }
  return IdentityOf(facts);
}

}  // namespace mdvol
