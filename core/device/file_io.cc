// See file_io.h.

#include "core/device/file_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/aligned_buffer.h"
#include "core/base/retry.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "core/device/transfer.h"

namespace mdvol {
namespace {

// Written at a time where a range cannot be punched.
constexpr uint64_t kZeroBufferBytes = kMiB;

// Costs a few nanoseconds, which is why requests may ask it; good to some milliseconds.
int64_t CoarseNowMs() {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

off_t ToOff(uint64_t offset_bytes) { return static_cast<off_t>(offset_bytes); }

}  // namespace

FileIoDevice::FileIoDevice(UniqueFd fd, std::string path, const DeviceLimits& limits,
                           uint32_t logical_block_bytes)
    : fd_(std::move(fd)),
      path_(std::move(path)),
      limits_(limits),
      logical_block_bytes_(logical_block_bytes) {}

void FileIoDevice::Submit(IoRequest& request) {
  request.error = CheckRequest(request, limits_);
  if (request.error != 0) {
    return;
  }
  if (!IsWhole(request)) {
    request.error = EIO;
    return;
  }
  switch (request.kind) {
    case IoKind::kRead:
      request.error = Read(request);
      break;
    case IoKind::kWrite:
      request.error = Write(request);
      break;
    case IoKind::kFlush:
      StartFlush();
      break;
    case IoKind::kZero:
      request.error = Zero(request);
      break;
  }
  if (request.error != 0 && !LookAtLength()) {
    request.error = EIO;
  }
}

void FileIoDevice::Wait(IoRequest& request) {
  if (request.kind == IoKind::kFlush && request.error == 0) {
    request.error = FinishFlush();
  }
}

bool FileIoDevice::LookAtLength() {
  if (is_cut_.load(std::memory_order_acquire)) {
    return false;
  }
  if (!is_image()) {
    return true;
  }
  length_seen_ms_.store(CoarseNowMs(), std::memory_order_relaxed);
  struct stat facts = {};
  if (::fstat(fd_.get(), &facts) == 0 &&
      static_cast<uint64_t>(facts.st_size) < limits_.size_bytes) {
    is_cut_.store(true, std::memory_order_release);
    return false;
  }
  return true;
}

// Before the request is carried out.
bool FileIoDevice::IsWhole(const IoRequest& request) {
  if (is_cut_.load(std::memory_order_acquire)) {
    return false;
  }
  if (!is_image()) {
    return true;
  }
  const bool may_hide_cut = (request.kind == IoKind::kWrite || request.kind == IoKind::kZero) &&
                            request.offset_bytes + request.length_bytes == limits_.size_bytes;
  const bool is_old =
      CoarseNowMs() - length_seen_ms_.load(std::memory_order_relaxed) >= kLengthTrustedMs;
  return (!may_hide_cut && !is_old) || LookAtLength();
}

// A device too ends where it once did not when it has been made smaller.
int FileIoDevice::Read(const IoRequest& request) {
  const int fd = fd_.get();
  bool met_end = false;
  const int error = TransferAll(
      request.buffers, request.offset_bytes,
      [fd, &met_end](const iovec* buffers, int count, uint64_t offset_bytes) {
        const ssize_t moved =
            count == 1 ? ::pread(fd, buffers->iov_base, buffers->iov_len, ToOff(offset_bytes))
                       : ::preadv(fd, buffers, count, ToOff(offset_bytes));
        met_end |= moved == 0;
        return moved;
      });
  if (met_end) {
    is_cut_.store(true, std::memory_order_release);
  }
  return error;
}

int FileIoDevice::Write(const IoRequest& request) const {
  const int fd = fd_.get();
  return TransferAll(request.buffers, request.offset_bytes,
                     [fd](const iovec* buffers, int count, uint64_t offset_bytes) {
                       return count == 1 ? ::pwrite(fd, buffers->iov_base, buffers->iov_len,
                                                    ToOff(offset_bytes))
                                         : ::pwritev(fd, buffers, count, ToOff(offset_bytes));
                     });
}

// Images and block devices know the same call: an image gets a hole, a block device discards what
// it then promises to read as zeroes, or says that it cannot. It takes whole blocks only.
int FileIoDevice::Zero(const IoRequest& request) const {
  if (request.length_bytes == 0) {
    return 0;
  }
  const bool can_punch = (request.offset_bytes | request.length_bytes) % logical_block_bytes_ == 0;
  if (!can_punch) {
    return WriteZeroes(request.offset_bytes, request.length_bytes);
  }
  if (RetryOnEintr([&] {
        return ::fallocate(fd_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                           ToOff(request.offset_bytes), ToOff(request.length_bytes));
      }) == 0) {
    return 0;
  }
  if (errno != EOPNOTSUPP && errno != ENOSYS) {
    return errno;
  }
  return WriteZeroes(request.offset_bytes, request.length_bytes);
}

int FileIoDevice::WriteZeroes(uint64_t offset_bytes, uint64_t length_bytes) const {
  AlignedBuffer zeroes(std::min(length_bytes, kZeroBufferBytes));
  std::memset(zeroes.data(), 0, zeroes.size());
  IoRequest write;
  while (length_bytes > 0) {
    const uint64_t part_bytes = std::min<uint64_t>(length_bytes, zeroes.size());
    write.offset_bytes = offset_bytes;
    write.buffers.assign(1, {zeroes.data(), part_bytes});
    if (const int error = Write(write); error != 0) {
      return error;
    }
    offset_bytes += part_bytes;
    length_bytes -= part_bytes;
  }
  return 0;
}

// Begins to write back what is dirty, so that the members of a batch do so side by side while the
// first of them is waited for. Only a hint: fdatasync writes all and reports all.
void FileIoDevice::StartFlush() const {
  if (!limits_.read_only) {
    static_cast<void>(::sync_file_range(fd_.get(), 0, 0, SYNC_FILE_RANGE_WRITE));
  }
}

int FileIoDevice::FinishFlush() {
  if (limits_.read_only) {
    return 0;  // nothing was written through this descriptor
  }
  const int error = RetryOnEintr([this] { return ::fdatasync(fd_.get()); }) == 0 ? 0 : errno;
  return LookAtLength() ? error : EIO;
}

absl::StatusOr<uint64_t> FileIoDevice::NextData(uint64_t offset_bytes) {
  if (offset_bytes >= limits_.size_bytes) {
    return limits_.size_bytes;
  }
  if (!LookAtLength()) {
    return offset_bytes;  // what was cut off is no hole
  }
  const off_t found = ::lseek(fd_.get(), ToOff(offset_bytes), SEEK_DATA);
  if (found >= 0) {
    return std::min(static_cast<uint64_t>(found), limits_.size_bytes);
  }
  if (errno == ENXIO) {  // nothing but a hole up to the end
    return limits_.size_bytes;
  }
  if (errno == EINVAL) {  // the file system knows no holes
    return offset_bytes;
  }
  return SystemError(errno, absl::StrCat(path_, ": looking for data behind ", offset_bytes));
}

absl::StatusOr<uint64_t> FileIoDevice::NextHole(uint64_t offset_bytes) {
  if (offset_bytes >= limits_.size_bytes) {
    return limits_.size_bytes;
  }
  if (!LookAtLength()) {
    return limits_.size_bytes;  // what was cut off is no hole
  }
  const off_t found = ::lseek(fd_.get(), ToOff(offset_bytes), SEEK_HOLE);
  if (found >= 0) {
    return std::min(static_cast<uint64_t>(found), limits_.size_bytes);
  }
  if (errno == ENXIO || errno == EINVAL) {  // cut short just now, or no holes known
    return limits_.size_bytes;
  }
  return SystemError(errno, absl::StrCat(path_, ": looking for a hole behind ", offset_bytes));
}

}  // namespace mdvol
