// What an array tells a resync of those who use it meanwhile: all that they ask for, but for what
// fails.

#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

#include "core/array/foreground_meter.h"
#include "core/policy/resync_pacing.h"
#include "tests/support/test_array/test_array.h"

namespace mdvol {
namespace {

class ArrayForegroundTest : public ::testing::Test {
 protected:
  void SetUp() override {
    MDVOL_ASSERT_OK(array_.Open());
    MDVOL_ASSERT_OK(array_.Fill());
    array_->foreground()->Start();
  }

  ResyncForegroundFacts Facts() { return array_->foreground()->Read(); }

  // How many are under way whenever a member is asked for something.
  void ExpectInFlight(uint64_t count) {
    array_.recording().SetHook([this, count](const testing::RecordedRequest& /*request*/) {
      EXPECT_EQ(Facts().in_flight, count);
      ++looks_;
    });
  }

  testing::TestArray array_;
  int looks_ = 0;
};

TEST_F(ArrayForegroundTest, ReadsWritesAndZeroesAreSeenWhileTheyLastAndCountOnce) {
  ExpectInFlight(1);
  std::vector<std::byte> bytes(4096);
  MDVOL_EXPECT_OK(array_->Read(0, bytes));
  EXPECT_EQ(Facts().quiet.count, 1U);
  MDVOL_EXPECT_OK(array_->Write(0, bytes));
  EXPECT_EQ(Facts().quiet.count, 2U);
  looks_ = 0;
  MDVOL_EXPECT_OK(array_->Zero(5000, array_.geometry().volume_bytes() - 7000));
  EXPECT_GT(looks_, 0);
  EXPECT_EQ(Facts().quiet.count, 3U);
  EXPECT_EQ(Facts().in_flight, 0U);
}

// A failure may be quick, or the end of a long series of attempts.
TEST_F(ArrayForegroundTest, WhatFailsIsNotSeenOnceItHasEnded) {
  for (const size_t disk : {0U, 1U, 2U}) {
    array_.fault(disk).AddRule({.op = FaultOp::kRead});
  }
  std::vector<std::byte> stripe(array_.geometry().stripe_bytes());
  MDVOL_EXPECT_ERRNO(array_->Read(0, stripe), EIO);
  MDVOL_ASSERT_OK(array_->Suspend(0, array_.geometry().volume_bytes()));
  MDVOL_EXPECT_ERRNO(array_->Write(0, stripe), EAGAIN);
  MDVOL_EXPECT_ERRNO(array_->Zero(0, stripe.size()), EAGAIN);
  EXPECT_EQ(Facts().quiet.count, 0U);
  EXPECT_EQ(Facts().in_flight, 0U);
}

}  // namespace
}  // namespace mdvol
