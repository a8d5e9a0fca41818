// Which range a random request covers. Pure.

#ifndef MDVOL_TESTS_INTEROP_EXERCISER_REQUEST_H_
#define MDVOL_TESTS_INTEROP_EXERCISER_REQUEST_H_

#include <algorithm>
#include <cstdint>

#include "tests/interop/exerciser/shadow.h"
#include "tests/support/seed.h"

namespace mdvol::testing {

inline uint64_t LongestRequestBytes(uint64_t stripe_bytes) { return 3 * stripe_bytes; }

// 1 byte to three stripes, inside `bounds`. A quarter each: below a page; below a chunk; whole
// pages; anything up to three stripes, every second one of these from and to stripe boundaries
// where the bounds are at such.
inline Extent DrawExtent(Prng& prng, uint64_t chunk_bytes, uint64_t stripe_bytes,
                         const Extent& bounds) {
  uint64_t unit_bytes = 1;
  uint64_t longest_bytes = LongestRequestBytes(stripe_bytes);
  switch (prng.Below(4)) {
    case 0:
      longest_bytes = 4096;
      break;
    case 1:
      longest_bytes = chunk_bytes;
      break;
    case 2:
      unit_bytes = 4096;
      longest_bytes = std::max<uint64_t>(chunk_bytes, 4096);
      break;
    default:
      if (prng.OneIn(2)) unit_bytes = stripe_bytes;
      break;
  }
  longest_bytes = std::min(longest_bytes, bounds.length_bytes);
  const uint64_t length_bytes = unit_bytes * prng.Between(1, longest_bytes / unit_bytes);
  const uint64_t offset_bytes =
      unit_bytes * prng.Between(0, (bounds.length_bytes - length_bytes) / unit_bytes);
  return {bounds.offset_bytes + offset_bytes, length_bytes};
}

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_INTEROP_EXERCISER_REQUEST_H_
