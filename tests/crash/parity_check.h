// Which stripes of a set of members agree with their parity, from bytes alone and apart from the
// product's parity code: P is the sum of the data, Q by Horner's rule with multiplication by 2 in
// md's field (polynomial 0x11d), eight bytes at a time. Pure.

#ifndef MDVOL_TESTS_CRASH_PARITY_CHECK_H_
#define MDVOL_TESTS_CRASH_PARITY_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/geometry/geometry.h"

namespace mdvol::crash {

// slots[s]: the data area of slot s; empty: there is none that counts. With one slot missing what
// is left must agree still; with two there is nothing to compare. Returns the stripes that do not
// agree, ascending.
std::vector<uint64_t> StripesThatDisagree(const ArrayGeometry& geometry,
                                          const std::vector<std::span<const std::byte>>& slots);

}  // namespace mdvol::crash

#endif  // MDVOL_TESTS_CRASH_PARITY_CHECK_H_
