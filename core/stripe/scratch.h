// Scratch: the working memory of one thread for one step of the engine. A bump allocator over one
// page-aligned buffer per thread, made at first use and kept, so that the hot path allocates
// nothing and memory is bounded (I10). What the steps need is cut to fit: see PieceBytes.

#ifndef MDVOL_CORE_STRIPE_SCRATCH_H_
#define MDVOL_CORE_STRIPE_SCRATCH_H_

#include <cstddef>
#include <cstdint>

#include "core/base/aligned_buffer.h"

namespace mdvol {

inline constexpr size_t kScratchBytes = size_t{2} << 20;

class Scratch {
 public:
  static Scratch& OfThisThread();

  // `bytes`, page-aligned; null when it does not fit.
  std::byte* Take(size_t bytes);
  // Gives everything back.
  void Reset() { used_ = 0; }

 private:
  AlignedBuffer buffer_;
  size_t used_ = 0;
};

// The longest run of columns, a multiple of 4096, for which `blocks` blocks fit into an empty
// scratch. At least 4096: 511 blocks of that fit, more than any stripe needs.
constexpr uint64_t PieceBytes(uint32_t blocks) {
  const uint64_t piece = kScratchBytes / blocks / kBufferAlignment * kBufferAlignment;
  return piece < kBufferAlignment ? kBufferAlignment : piece;
}

// Bytes that are zero and stay so: as many as the largest chunk has. Costs no memory until read.
const std::byte* ZeroChunk();

}  // namespace mdvol

#endif  // MDVOL_CORE_STRIPE_SCRATCH_H_
