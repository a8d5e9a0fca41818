// See deadline_6_6.h.

#include "policies/deadline_6_6.h"

#include <algorithm>

namespace mdvol {

// Fewer than four tags keep the smallest words that the kernel makes of them.
uint32_t TagWordShift(uint32_t tags) {
  uint32_t shift = 6;
  if (tags >= 4) {
    while ((4U << shift) > tags) {
      --shift;
    }
  }
  return shift;
}

uint32_t AsyncTags(uint32_t tags) {
  const uint32_t word = 1U << TagWordShift(tags);
  const uint32_t async_depth = std::max(1U, 3 * word / 4);
  const uint32_t last = tags % word;
  return tags / word * async_depth + std::min(last, async_depth);
}

}  // namespace mdvol
