// The field: every product, power and inverse, against the oracle.

#include "core/parity/gf256.h"

#include <cstdint>
#include <set>

#include "gtest/gtest.h"
#include "tests/support/oracle/field.h"

namespace mdvol {
namespace {

namespace oracle = testing::oracle;

TEST(Gf256Test, MultipliesAsTheOracleDoes) {
  for (unsigned a = 0; a < 256; ++a) {
    for (unsigned b = 0; b < 256; ++b) {
      const auto x = static_cast<uint8_t>(a);
      const auto y = static_cast<uint8_t>(b);
      ASSERT_EQ(gf256::Multiply(x, y), oracle::Product(x, y)) << a << " * " << b;
    }
  }
}

TEST(Gf256Test, HasAGeneratorOfOrder255) {
  std::set<uint8_t> powers;
  for (unsigned e = 0; e < gf256::kOrder; ++e) {
    const uint8_t power = gf256::PowerOfG(e);
    ASSERT_EQ(power, oracle::PowerOfTwo(e));
    ASSERT_EQ(gf256::ExponentOf(power), e);
    powers.insert(power);
  }
  EXPECT_EQ(powers.size(), 255u);
  EXPECT_FALSE(powers.contains(0));
  EXPECT_EQ(oracle::PowerOfTwo(255), 1);
}

TEST(Gf256Test, InvertsAsTheOracleDoes) {
  for (unsigned e = 0; e < gf256::kOrder; ++e) {
    ASSERT_EQ(gf256::PowerOfG(gf256::InverseExponent(e)), oracle::Inverse(gf256::PowerOfG(e)));
  }
}

}  // namespace
}  // namespace mdvol
