// See field.h.

#include "tests/support/oracle/field.h"

#include <cstdio>
#include <cstdlib>

namespace mdvol::testing::oracle {

uint8_t Product(uint8_t a, uint8_t b) {
  constexpr unsigned kPolynomial = 0x11d;
  unsigned product = 0;  // of degree 14 at most
  for (unsigned bit = 0; bit < 8; ++bit) {
    if ((b >> bit & 1) != 0) {
      product ^= unsigned{a} << bit;
    }
  }
  for (unsigned degree = 14; degree >= 8; --degree) {
    if ((product >> degree & 1) != 0) {
      product ^= kPolynomial << (degree - 8);
    }
  }
  return static_cast<uint8_t>(product);
}

uint8_t PowerOfTwo(unsigned exponent) {
  uint8_t power = 1;
  for (unsigned i = 0; i < exponent; ++i) {
    power = Product(power, 2);
  }
  return power;
}

uint8_t Inverse(uint8_t a) {
  for (unsigned candidate = 1; candidate < 256; ++candidate) {
    if (Product(a, static_cast<uint8_t>(candidate)) == 1) {
      return static_cast<uint8_t>(candidate);
    }
  }
  std::fprintf(stderr, "oracle: %u has no inverse\n", unsigned{a});
  std::abort();
}

}  // namespace mdvol::testing::oracle
