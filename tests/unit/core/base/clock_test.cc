// The machine's clock, and the clock that tests use in its place.

#include "core/base/clock.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/support/fake_clock.h"

namespace mdvol {
namespace {

using testing::FakeClock;

TEST(SystemClockTest, RunsForward) {
  Clock& clock = SystemClock();
  EXPECT_EQ(&clock, &SystemClock());
  const uint64_t before_ns = clock.NowNs();
  clock.SleepUntil(before_ns + 2'000'000);
  EXPECT_GE(clock.NowNs(), before_ns + 2'000'000);
  clock.SleepUntil(before_ns);  // already past
}

TEST(SystemClockTest, KnowsTheYear) {
  EXPECT_GT(SystemClock().WallUs(), uint64_t{1'600'000'000} * 1'000'000);
}

TEST(FakeClockTest, StandsStillUntilMoved) {
  FakeClock clock(5000, 100);
  EXPECT_EQ(clock.NowNs(), 5000u);
  EXPECT_EQ(clock.WallUs(), 100u);
  clock.Advance(3000);
  EXPECT_EQ(clock.NowNs(), 8000u);
  EXPECT_EQ(clock.WallUs(), 103u);
}

TEST(FakeClockTest, SleepingMovesIt) {
  FakeClock clock(5000);
  clock.SleepUntil(9000);
  EXPECT_EQ(clock.NowNs(), 9000u);
  clock.SleepUntil(7000);
  EXPECT_EQ(clock.NowNs(), 9000u);
  EXPECT_EQ(clock.SleepCount(), 2u);
}

TEST(FakeClockTest, HeldSleepersWakeAtTheirDeadline) {
  FakeClock clock(1000);
  clock.HoldSleepers();
  clock.SleepUntil(1000);  // not in the future: nothing to hold
  std::thread early([&] { clock.SleepUntil(2000); });
  std::thread late([&] { clock.SleepUntil(3000); });
  clock.AwaitSleepers(2);
  clock.Advance(1000);
  early.join();
  clock.AwaitSleepers(1);
  EXPECT_EQ(clock.NowNs(), 2000u);
  clock.Advance(5000);
  late.join();
  EXPECT_EQ(clock.NowNs(), 7000u);
}

TEST(FakeClockTest, ReleasedSleepersTakeTheTimeWithThem) {
  FakeClock clock(1000);
  clock.HoldSleepers();
  std::thread sleeper([&] { clock.SleepUntil(4000); });
  clock.AwaitSleepers(1);
  clock.ReleaseSleepers();
  sleeper.join();
  EXPECT_EQ(clock.NowNs(), 4000u);
}

}  // namespace
}  // namespace mdvol
