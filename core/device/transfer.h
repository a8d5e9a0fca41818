// TransferAll: moves all bytes of a list of buffers through a system call that may move fewer, be
// interrupted, or take only so many buffers at a time. The call is a parameter, so that tests can
// make it misbehave.

#ifndef MDVOL_CORE_DEVICE_TRANSFER_H_
#define MDVOL_CORE_DEVICE_TRANSFER_H_

#include <limits.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/retry.h"

namespace mdvol {
namespace internal {

// What a call that failed after a short one means: under O_DIRECT a file that ends within a buffer
// gives a short transfer and then refuses the odd offset behind it.
inline int ErrorAfterShortTransfer(int error_number) {
  return error_number == EINVAL ? EIO : error_number;
}

// Moves the `missing` bytes of one buffer of which the front has been moved already.
template <typename Transfer>
int FinishBuffer(iovec missing, uint64_t offset_bytes, Transfer& transfer) {
  while (missing.iov_len > 0) {
    const ssize_t moved = RetryOnEintr([&] { return transfer(&missing, 1, offset_bytes); });
    if (moved <= 0) {
      return moved == 0 ? EIO : ErrorAfterShortTransfer(errno);
    }
    missing.iov_base = static_cast<std::byte*>(missing.iov_base) + moved;
    missing.iov_len -= static_cast<size_t>(moved);
    offset_bytes += static_cast<uint64_t>(moved);
  }
  return 0;
}

}  // namespace internal

// `transfer(const iovec* buffers, int count, uint64_t offset_bytes)` returns as preadv does.
// Returns 0 or an errno; EIO when the call moves nothing more, as at the end of a file.
template <typename Transfer>
int TransferAll(std::span<const iovec> buffers, uint64_t offset_bytes, Transfer transfer) {
  while (true) {
    while (!buffers.empty() && buffers.front().iov_len == 0) {
      buffers = buffers.subspan(1);
    }
    if (buffers.empty()) {
      return 0;
    }
    const auto count = static_cast<int>(std::min<size_t>(buffers.size(), IOV_MAX));
    const ssize_t moved =
        RetryOnEintr([&] { return transfer(buffers.data(), count, offset_bytes); });
    if (moved <= 0) {
      return moved == 0 ? EIO : errno;
    }
    auto left_bytes = static_cast<size_t>(moved);
    offset_bytes += left_bytes;
    while (!buffers.empty() && left_bytes >= buffers.front().iov_len) {
      left_bytes -= buffers.front().iov_len;
      buffers = buffers.subspan(1);
    }
    if (left_bytes > 0) {
      const iovec& cut = buffers.front();
      const iovec missing = {static_cast<std::byte*>(cut.iov_base) + left_bytes,
                             cut.iov_len - left_bytes};
      if (const int error = internal::FinishBuffer(missing, offset_bytes, transfer); error != 0) {
        return error;
      }
      offset_bytes += missing.iov_len;
      buffers = buffers.subspan(1);
    }
  }
}

}  // namespace mdvol

#endif  // MDVOL_CORE_DEVICE_TRANSFER_H_
