// The oracle for layouts: who holds what in a stripe, built the slow way.
//
// Shares no code, table or form of formula with core/geometry: a stripe's row is written down as a
// list for stripe 0 and then really rotated, one slot per stripe; exponents are counted by walking
// the row. Layouts are given by md's ids. Pure; aborts on an id that is none.

#ifndef MDVOL_TESTS_SUPPORT_ORACLE_LAYOUT_H_
#define MDVOL_TESTS_SUPPORT_ORACLE_LAYOUT_H_

#include <cstdint>
#include <vector>

namespace mdvol::testing::oracle {

struct Cell {
  char kind = 'D';  // 'D', 'P' or 'Q'
  unsigned data_index = 0;
  unsigned exponent = 0;
};

// What each of `members` slots holds in `stripe`.
std::vector<Cell> RowOf(int layout_id, unsigned members, uint64_t stripe);

}  // namespace mdvol::testing::oracle

#endif  // MDVOL_TESTS_SUPPORT_ORACLE_LAYOUT_H_
