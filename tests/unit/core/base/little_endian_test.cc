// The layout and the values of on-disk integer fields.

#include "core/base/little_endian.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

namespace mdvol {
namespace {

struct Fields {
  le16 a;
  le32 b;
  le64 c;
  sle32 d;
};
static_assert(sizeof(Fields) == 18 && alignof(Fields) == 1);

TEST(LittleEndianTest, StoresTheLowByteFirst) {
  Fields fields;
  fields.a = 0x0102;
  fields.b = 0x03040506;
  fields.c = 0x0708090a0b0c0d0e;
  fields.d = -2;
  const uint8_t kExpected[18] = {0x02, 0x01, 0x06, 0x05, 0x04, 0x03, 0x0e, 0x0d, 0x0c,
                                 0x0b, 0x0a, 0x09, 0x08, 0x07, 0xfe, 0xff, 0xff, 0xff};
  EXPECT_EQ(std::memcmp(&fields, kExpected, sizeof(fields)), 0);
}

TEST(LittleEndianTest, ReadsBackEveryExtreme) {
  EXPECT_EQ(le16(0xffff).get(), 0xffff);
  EXPECT_EQ(le32(0xffffffff).get(), 0xffffffffu);
  EXPECT_EQ(le64(std::numeric_limits<uint64_t>::max()).get(), std::numeric_limits<uint64_t>::max());
  for (const int32_t value :
       {std::numeric_limits<int32_t>::min(), -1, 0, 1, std::numeric_limits<int32_t>::max()}) {
    EXPECT_EQ(sle32(value).get(), value);
  }
}

TEST(LittleEndianTest, StartsAtZeroAndConvertsToAnInteger) {
  const le64 zero;
  EXPECT_EQ(zero, 0u);
  const uint64_t plain = le64(5) + 1;
  EXPECT_EQ(plain, 6u);
}

TEST(LittleEndianTest, WorksAtAnyAddress) {
  uint8_t bytes[9] = {0xff, 1, 2, 3, 4, 5, 6, 7, 8};
  le64 field;
  std::memcpy(&field, bytes + 1, sizeof(field));
  EXPECT_EQ(field.get(), 0x0807060504030201u);
}

}  // namespace
}  // namespace mdvol
