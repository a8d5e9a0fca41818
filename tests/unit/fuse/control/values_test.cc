// Numbers as sysfs takes them.

#include "fuse/control/values.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "core/base/status.h"

namespace mdvol {
namespace {

TEST(ValuesTest, ANumberMayEndInOneNewline) {
  EXPECT_EQ(*ParseNumber("42", 100), 42U);
  EXPECT_EQ(*ParseNumber("42\n", 100), 42U);
  EXPECT_EQ(*ParseNumber("100\n", 100), 100U);
  EXPECT_EQ(*ParseNumber("0", 0), 0U);
}

TEST(ValuesTest, WhatIsNoNumberIsInvalid) {
  for (const char* text :
       {"", "\n", "x", "-1", "1x", "0x10", " 1", "1 ", "101", "1\n\n", "99999999999999999999999"}) {
    EXPECT_EQ(ErrnoOf(ParseNumber(text, 100).status()), EINVAL) << text;
  }
}

TEST(ValuesTest, AFractionIsScaledAndCutOff) {
  bool is_exact = false;
  EXPECT_EQ(*ParseScaled("1.5", 3, 10'000, &is_exact), 1500U);
  EXPECT_TRUE(is_exact);
  EXPECT_EQ(*ParseScaled("0.3\n", 3, 10'000), 300U);
  EXPECT_EQ(*ParseScaled("2", 3, 10'000), 2000U);
  EXPECT_EQ(*ParseScaled("2.", 3, 10'000), 2000U);
  EXPECT_EQ(*ParseScaled("0.0001", 3, 10'000, &is_exact), 0U);
  EXPECT_FALSE(is_exact);
  EXPECT_EQ(*ParseScaled("1.23456", 3, 10'000, &is_exact), 1234U);
  EXPECT_FALSE(is_exact);
  EXPECT_EQ(*ParseScaled("1.2340", 3, 10'000, &is_exact), 1234U);
  EXPECT_TRUE(is_exact);
  EXPECT_EQ(*ParseScaled("7.5", 0, 10'000, &is_exact), 7U);
  EXPECT_FALSE(is_exact);
}

TEST(ValuesTest, WhatIsNoFractionIsInvalid) {
  for (const char* text : {"", ".", ".5", "x", "1.x", "1.5.5", "-1", "10.001", "1 "}) {
    EXPECT_EQ(ErrnoOf(ParseScaled(text, 3, 10'000).status()), EINVAL) << text;
  }
}

}  // namespace
}  // namespace mdvol
