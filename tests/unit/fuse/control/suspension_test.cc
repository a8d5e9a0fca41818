// Suspension: what is parked, and when it is carried out.

#include "fuse/control/suspension.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <functional>

#include "core/base/status.h"
#include "tests/support/fake_array.h"

namespace mdvol {
namespace {

using testing::FakeArray;

class SuspensionTest : public ::testing::Test {
 protected:
  bool Park(uint64_t offset_bytes, uint64_t length_bytes) {
    return suspension_.Park(offset_bytes, length_bytes, [this] { ++carried_out_; });
  }

  FakeArray array_;
  Suspension suspension_{array_};
  int carried_out_ = 0;
};

TEST_F(SuspensionTest, NothingIsParkedWhileNothingIsSuspended) {
  EXPECT_FALSE(Park(0, 4096));
  EXPECT_EQ(suspension_.lo_bytes(), 0U);
  EXPECT_EQ(suspension_.hi_bytes(), 0U);
}

TEST_F(SuspensionTest, WhatTouchesTheRangeWaitsUntilItMoves) {
  ASSERT_TRUE(suspension_.SetHi(8192).ok());
  EXPECT_TRUE(Park(4096, 8192));
  EXPECT_FALSE(Park(8192, 4096));
  EXPECT_EQ(carried_out_, 0);
  ASSERT_TRUE(suspension_.SetLo(8192).ok());
  EXPECT_EQ(carried_out_, 1);
  EXPECT_EQ(suspension_.lo_bytes(), 8192U);
  EXPECT_EQ(suspension_.hi_bytes(), 8192U);
}

TEST_F(SuspensionTest, WhatIsStillSuspendedIsParkedAgain) {
  ASSERT_TRUE(suspension_.SetHi(8192).ok());
  int tries = 0;
  std::function<void()> again = [&] {
    ++tries;
    suspension_.Park(0, 512, again);
  };
  ASSERT_TRUE(suspension_.Park(0, 512, again));
  ASSERT_TRUE(suspension_.SetHi(4096).ok());
  EXPECT_EQ(tries, 1);
  ASSERT_TRUE(suspension_.SetHi(0).ok());
  EXPECT_EQ(tries, 2);
  ASSERT_TRUE(suspension_.SetHi(4096).ok());
  EXPECT_EQ(tries, 2);  // the last one found nothing suspended and was not kept
}

TEST_F(SuspensionTest, ARangeThatCannotBeSetChangesNothing) {
  ASSERT_TRUE(suspension_.SetHi(8192).ok());
  ASSERT_TRUE(Park(0, 512));
  array_.state().write_error = EROFS;
  EXPECT_EQ(ErrnoOf(suspension_.SetHi(0)), EROFS);
  EXPECT_EQ(suspension_.hi_bytes(), 8192U);
  EXPECT_EQ(carried_out_, 0);
  array_.state().write_error = 0;
  suspension_.ReleaseAll();
  EXPECT_EQ(carried_out_, 1);
}

}  // namespace
}  // namespace mdvol
