// ThreadBuffer: one page-aligned buffer per thread that only grows, so that the hot path allocates
// nothing. Its bytes belong to the calling thread until its next call.

#ifndef MDVOL_FUSE_THREAD_BUFFER_H_
#define MDVOL_FUSE_THREAD_BUFFER_H_

#include <cstddef>
#include <span>

#include "core/base/aligned_buffer.h"
#include "core/base/units.h"

namespace mdvol {

// At least 1 MiB is held, the largest request that a session asks for; the kernel could ask for a
// larger read, which is served all the same.
inline std::span<std::byte> ThreadBuffer(size_t size_bytes) {
  thread_local AlignedBuffer buffer;
  if (buffer.size() < size_bytes) {
    buffer = AlignedBuffer();  // Not both at once.
    buffer = AlignedBuffer(size_bytes < kMiB ? kMiB : size_bytes);
  }
  return buffer.span().first(size_bytes);
}

}  // namespace mdvol

#endif  // MDVOL_FUSE_THREAD_BUFFER_H_
