// See unthrottled.h.

#include "policies/unthrottled.h"

#include <algorithm>

namespace mdvol {

// Waits until what has been done since the mark is no more than speed_max allows for that time.
// In floating point: the product of bytes and nanoseconds does not fit 64 bits.
ResyncDecision UnthrottledPacing::Decide(const ResyncFacts& facts) {
  const double allowed_ns = static_cast<double>(facts.bytes_since_mark) * 1e9 /
                            static_cast<double>(std::max<uint64_t>(facts.speed_max, 1));
  const double passed_ns = static_cast<double>(facts.now_ns - facts.mark_ns);
  return {allowed_ns > passed_ns ? static_cast<uint64_t>(allowed_ns - passed_ns) + 1 : 0};
}

}  // namespace mdvol
