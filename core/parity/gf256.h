// GF(2^8) as md uses it: polynomial x^8+x^4+x^3+x^2+1 (0x11d), generator g = 2 of order 255.
//
// Logarithms only: every non-zero element is a power of g, which makes an exponent (0..254) the one
// form of coefficient that the rest of core/parity deals in. Compile-time tables of 510 + 256
// bytes; pure, safe from any thread. Source of the field: H. P. Anvin, "The mathematics of RAID-6".

#ifndef MDVOL_CORE_PARITY_GF256_H_
#define MDVOL_CORE_PARITY_GF256_H_

#include <array>
#include <cstdint>

namespace mdvol::gf256 {

inline constexpr uint32_t kOrder = 255;  // of g: g^255 == g^0

namespace internal {

struct Tables {
  std::array<uint8_t, 2 * kOrder> power{};     // g^e; twice around, so that e + e' needs no modulo
  std::array<uint8_t, kOrder + 1> exponent{};  // its inverse; [0] is meaningless
};

constexpr Tables MakeTables() {
  Tables tables;
  uint32_t value = 1;
  for (uint32_t e = 0; e < kOrder; ++e) {
    tables.power[e] = static_cast<uint8_t>(value);
    tables.power[e + kOrder] = static_cast<uint8_t>(value);
    tables.exponent[value] = static_cast<uint8_t>(e);
    value <<= 1;
    value ^= (value & 0x100) != 0 ? 0x11d : 0;
  }
  return tables;
}

inline constexpr Tables kTables = MakeTables();

}  // namespace internal

// g^e, e < 255.
constexpr uint8_t PowerOfG(uint32_t e) { return internal::kTables.power[e]; }

// The e < 255 with g^e == value; value != 0.
constexpr uint8_t ExponentOf(uint8_t value) { return internal::kTables.exponent[value]; }

// The exponent of 1 / g^e; e < 255.
constexpr uint8_t InverseExponent(uint32_t e) {
  return static_cast<uint8_t>(e == 0 ? 0 : kOrder - e);
}

constexpr uint8_t Multiply(uint8_t a, uint8_t b) {
  if (a == 0 || b == 0) {
    return 0;
  }
  return internal::kTables.power[uint32_t{ExponentOf(a)} + ExponentOf(b)];
}

}  // namespace mdvol::gf256

#endif  // MDVOL_CORE_PARITY_GF256_H_
