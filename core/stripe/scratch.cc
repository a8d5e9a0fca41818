// See scratch.h.

#include "core/stripe/scratch.h"

#include "core/base/units.h"
#include "core/geometry/geometry.h"

namespace mdvol {
namespace {

// Zero pages of the executable's bss: mapped to the kernel's shared zero page when read, never
// written.
alignas(kBufferAlignment) std::byte zero_chunk[kMaxChunkBytes];

}  // namespace

Scratch& Scratch::OfThisThread() {
  thread_local Scratch scratch;
  return scratch;
}

std::byte* Scratch::Take(size_t bytes) {
  if (buffer_.size() == 0) {
    buffer_ = AlignedBuffer(kScratchBytes);
  }
  const size_t rounded = RoundUp(bytes, kBufferAlignment);
  if (rounded > buffer_.size() - used_) {
    return nullptr;
  }
  std::byte* taken = buffer_.data() + used_;
  used_ += rounded;
  return taken;
}

const std::byte* ZeroChunk() { return zero_chunk; }

}  // namespace mdvol
