// Volume: a byte-addressed, fixed-size, block-device-like thing that a front end serves. Array is
// one; tests and the benchmark's null volume are others. All calls are thread-safe and run in the
// caller's thread; errors are absl::Status with errno.

#ifndef MDVOL_CORE_ARRAY_VOLUME_H_
#define MDVOL_CORE_ARRAY_VOLUME_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace mdvol {

class Volume {
 public:
  virtual ~Volume() = default;

  virtual uint64_t volume_bytes() const = 0;
  virtual bool read_only() const = 0;

  // [offset, offset + size) must lie inside the volume (EINVAL). `out` may have any alignment; a
  // multiple of 4096 saves a copy under O_DIRECT.
  virtual absl::Status Read(uint64_t offset_bytes, std::span<std::byte> out) = 0;
  // Returns when the data has been accepted everywhere (not yet durable: Flush). `data` must not
  // change until the call returns: callers that cannot promise it copy first (I4). A 4096-aligned
  // `data` is fastest.
  virtual absl::Status Write(uint64_t offset_bytes, std::span<const std::byte> data) = 0;
  // The range reads as zeroes afterwards; space is given back where that is safe. Serves discard
  // and zero-range.
  virtual absl::Status Zero(uint64_t offset_bytes, uint64_t length_bytes) = 0;
  // Everything acknowledged before the call is durable when it returns.
  virtual absl::Status Flush() = 0;

  // Writes and zeroing that touch the range are refused with EAGAIN for now: the caller parks them,
  // without keeping a thread, until this says no.
  virtual bool IsSuspended(uint64_t /*offset_bytes*/, uint64_t /*length_bytes*/) const {
    return false;
  }

  // SEEK_DATA and SEEK_HOLE: the next offset at or after `offset_bytes` that may hold data, or the
  // next that is known to be a hole; volume_bytes() when there is none.
  virtual absl::StatusOr<uint64_t> NextData(uint64_t offset_bytes) = 0;
  virtual absl::StatusOr<uint64_t> NextHole(uint64_t offset_bytes) = 0;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_ARRAY_VOLUME_H_
