// What is noticed of readers, and when it is handed out.

#include "core/device/reader_watch.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/support/fake_clock.h"

namespace mdvol {
namespace {

using testing::FakeClock;

constexpr uint64_t kUs = 1000;
constexpr uint64_t kMs = 1'000'000;

class ReaderWatchTest : public ::testing::Test {
 protected:
  void Read(uint64_t duration_ns, bool is_ok = true) {
    const uint64_t token = watch_.Begin(true);
    clock_.Advance(duration_ns);
    watch_.End(token, is_ok);
  }
  ReadFacts Facts() { return watch_.Facts(clock_.NowNs()); }

  FakeClock clock_;
  ReaderWatch watch_{clock_};
};

TEST_F(ReaderWatchTest, NoReadIsForEverAgo) {
  EXPECT_FALSE(watch_.HasNews());
  EXPECT_EQ(Facts().since_last_ns, UINT64_MAX);
  EXPECT_EQ(Facts().since_learn_ns, UINT64_MAX);
  EXPECT_EQ(Facts().least_ns, 0U);
}

// A machine that has been up for more than 2^56 ns, and one that passes them during a read.
TEST(ReaderWatchUptimeTest, AReadTakesAsLongAfterYearsOfUptime) {
  for (const uint64_t uptime_ns : {(uint64_t{1} << 56) + kMs, (uint64_t{1} << 56) - kMs / 2}) {
    FakeClock clock(uptime_ns);
    ReaderWatch watch(clock);
    const uint64_t token = watch.Begin(true);
    clock.Advance(kMs);
    watch.End(token, true);
    EXPECT_EQ(watch.Facts(clock.NowNs()).least_ns, kMs) << uptime_ns;
  }
}

TEST_F(ReaderWatchTest, AReadIsNewsUntilItIsAskedFor) {
  const uint64_t token = watch_.Begin(false);
  EXPECT_TRUE(watch_.HasNews());
  EXPECT_EQ(Facts().in_flight, 1U);
  EXPECT_FALSE(watch_.HasNews());
  clock_.Advance(kMs);
  EXPECT_EQ(Facts().since_last_ns, kMs);
  watch_.End(token, true);
  EXPECT_EQ(Facts().since_last_ns, 0U);
  EXPECT_EQ(Facts().in_flight, 0U);
  clock_.Advance(3 * kMs);
  EXPECT_EQ(Facts().since_last_ns, 3 * kMs);
}

TEST_F(ReaderWatchTest, EightReadsAreHandedOutOnce) {
  for (uint64_t i = 1; i <= 7; ++i) {
    Read(i * 100 * kUs);
    EXPECT_EQ(Facts().count, 0U);
  }
  Read(5 * kMs);
  const ReadFacts facts = Facts();
  EXPECT_EQ(facts.count, 8U);
  EXPECT_EQ(facts.median_ns, 500 * kUs);
  EXPECT_EQ(facts.slowest_ns, 5 * kMs);
  EXPECT_EQ(facts.least_ns, 100 * kUs);
  EXPECT_EQ(Facts().count, 0U);
}

TEST_F(ReaderWatchTest, FewReadsAreHandedOutAfterHalfASecond) {
  Facts();
  Read(kMs);
  EXPECT_EQ(Facts().count, 0U);
  clock_.Advance(499 * kMs);
  EXPECT_EQ(Facts().count, 0U);
  clock_.Advance(kMs);
  EXPECT_EQ(Facts().count, 1U);
}

TEST_F(ReaderWatchTest, WhatReadsDoToEachOtherIsTakenOut) {
  const uint64_t first = watch_.Begin(true);
  const uint64_t second = watch_.Begin(true);
  clock_.Advance(400 * kUs);
  watch_.End(second, true);
  EXPECT_EQ(Facts().least_ns, 200 * kUs);
  watch_.End(first, true);
}

TEST_F(ReaderWatchTest, AFailedReadTellsNothingOfTime) {
  for (int i = 0; i < 8; ++i) {
    Read(kUs, false);
  }
  EXPECT_EQ(Facts().count, 0U);
  EXPECT_EQ(Facts().least_ns, 0U);
}

TEST_F(ReaderWatchTest, LearningForgetsWhatWasMeasured) {
  for (int i = 0; i < 9; ++i) {
    Read(100 * kUs);
  }
  watch_.Learn(clock_.NowNs());
  EXPECT_EQ(Facts().least_ns, 0U);
  EXPECT_EQ(Facts().count, 0U);
  Read(300 * kUs);
  EXPECT_EQ(Facts().least_ns, 300 * kUs);
  EXPECT_EQ(Facts().since_learn_ns, 300 * kUs);
}

TEST_F(ReaderWatchTest, WithoutWritesOneReadInSixteenIsTimed) {
  uint32_t timed = 0;
  for (int i = 0; i < 160; ++i) {
    const uint64_t token = watch_.Begin(false);
    timed += token != 0 ? 1 : 0;
    clock_.Advance(kUs);
    watch_.End(token, true);
  }
  EXPECT_EQ(timed, 10U);
}

}  // namespace
}  // namespace mdvol
