// SyncSpeed: md's marks.

#include "core/sync/sync_speed.h"

#include <gtest/gtest.h>

namespace mdvol {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

TEST(SyncSpeedTest, IsZeroBeforeTimeHasPassed) {
  const SyncSpeed speed(5 * kSecond);
  EXPECT_EQ(speed.BytesPerSecond(5 * kSecond), 0U);
}

TEST(SyncSpeedTest, CountsFromTheStartOfAShortRun) {
  SyncSpeed speed(0);
  speed.Note(2 * kSecond, 400);
  EXPECT_EQ(speed.BytesPerSecond(2 * kSecond), 200U);
  EXPECT_EQ(speed.BytesPerSecond(4 * kSecond), 100U);
}

TEST(SyncSpeedTest, ForgetsWhatWasHalfAMinuteAgo) {
  SyncSpeed speed(0);
  uint64_t done = 0;
  for (uint64_t second = 1; second <= 300; ++second) {
    done += second <= 200 ? 1000 : 10;
    speed.Note(second * kSecond, done);
  }
  EXPECT_EQ(speed.BytesPerSecond(300 * kSecond), 10U);
  EXPECT_LE(300 * kSecond - speed.mark_ns(), 30 * kSecond);
  EXPECT_EQ(speed.bytes_since_mark(), 10 * ((300 * kSecond - speed.mark_ns()) / kSecond));
}

}  // namespace
}  // namespace mdvol
