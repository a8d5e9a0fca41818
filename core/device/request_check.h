// CheckRequest: what every device that keeps bytes refuses before it touches them, so that all
// kinds of device fail alike. Pure.

#ifndef MDVOL_CORE_DEVICE_REQUEST_CHECK_H_
#define MDVOL_CORE_DEVICE_REQUEST_CHECK_H_

#include <cerrno>
#include <cstdint>

#include "core/base/aligned_buffer.h"
#include "core/device/member_device.h"

namespace mdvol {

struct DeviceLimits {
  uint64_t size_bytes = 0;
  uint32_t alignment_bytes = 1;  // a power of two
  bool read_only = false;
};

inline bool IsAligned(const IoRequest& request, uint32_t alignment_bytes) {
  if (alignment_bytes == 1) {
    return true;
  }
  uint64_t all_bits = request.offset_bytes | request.length_bytes;
  for (const iovec& buffer : request.buffers) {
    all_bits |= reinterpret_cast<uintptr_t>(buffer.iov_base) | buffer.iov_len;
  }
  return IsAligned(all_bits, alignment_bytes);
}

// 0, or in this order: EBADF for a change of a read-only device, EINVAL for a misaligned request,
// EIO for one that leaves the device.
inline int CheckRequest(const IoRequest& request, const DeviceLimits& limits) {
  if (request.kind == IoKind::kFlush) {
    return 0;
  }
  if (limits.read_only && request.kind != IoKind::kRead) {
    return EBADF;
  }
  if (!IsAligned(request, limits.alignment_bytes)) {
    return EINVAL;
  }
  if (request.offset_bytes > limits.size_bytes ||
      request.length_bytes > limits.size_bytes - request.offset_bytes) {
    return EIO;
  }
  return 0;
}

}  // namespace mdvol

#endif  // MDVOL_CORE_DEVICE_REQUEST_CHECK_H_
