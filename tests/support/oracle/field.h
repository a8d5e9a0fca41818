// The oracle for arithmetic in GF(2^8): products by shifting and adding polynomials over GF(2) and
// dividing by 0x11d, inverses by trying all. Shares nothing with core/parity. Pure.

#ifndef MDVOL_TESTS_SUPPORT_ORACLE_FIELD_H_
#define MDVOL_TESTS_SUPPORT_ORACLE_FIELD_H_

#include <cstdint>

namespace mdvol::testing::oracle {

uint8_t Product(uint8_t a, uint8_t b);

// 2 multiplied with itself, `exponent` factors.
uint8_t PowerOfTwo(unsigned exponent);

// Aborts for 0.
uint8_t Inverse(uint8_t a);

}  // namespace mdvol::testing::oracle

#endif  // MDVOL_TESTS_SUPPORT_ORACLE_FIELD_H_
