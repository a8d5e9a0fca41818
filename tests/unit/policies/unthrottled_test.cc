// resync_pacing "unthrottled", and the bounds of speed that it shares with others.

#include "policies/unthrottled.h"

#include <gtest/gtest.h>

#include "policies/speed_bounds.h"
#include "tests/unit/policies/pacing_rig.h"

namespace mdvol {
namespace {

using testing::kKib;
using testing::kMib;
using testing::kMs;
using testing::kSecond;
using testing::PacingRig;

TEST(UnthrottledPacingTest, HasTwoWindowsInFlightWhateverUsersDo) {
  UnthrottledPacing policy;
  PacingRig rig;
  rig.facts.speed_max = kSecond * 1000;
  rig.facts.foreground.in_flight = 64;
  EXPECT_TRUE(rig.Goes(policy));
  EXPECT_TRUE(rig.Goes(policy));
  EXPECT_EQ(rig.Ask(policy).wait_for_fewer_windows, 2U);
  rig.EndWindow();
  EXPECT_TRUE(rig.Goes(policy));
}

// Goes through `seconds` on members that take no time; what is issued in each of them.
std::vector<uint64_t> Issue(ResyncPacing& policy, PacingRig& rig, uint64_t seconds,
                            uint64_t late_ns, uint64_t* longest_gap_ns) {
  std::vector<uint64_t> issued;
  uint64_t last_ns = rig.facts.now_ns;
  for (uint64_t second = 0; second < seconds; ++second) {
    const uint64_t before = rig.facts.issued_bytes;
    const uint64_t end_ns = (100 + second + 1) * kSecond;
    while (rig.facts.now_ns < end_ns) {
      const ResyncDecision decision = rig.Ask(policy);
      if (decision.wait_ns == 0) {
        *longest_gap_ns = std::max(*longest_gap_ns, rig.facts.now_ns - last_ns);
        last_ns = rig.facts.now_ns;
        rig.EndAll();
      } else {
        rig.Pass(decision.wait_ns + late_ns);
      }
    }
    issued.push_back(rig.facts.issued_bytes - before);
  }
  return issued;
}

TEST(UnthrottledPacingTest, KeepsSpeedMaxToTwoPercentInEverySecond) {
  for (const uint64_t speed : {2 * kMib, 10 * kMib, 64 * kMib, 200'000 * kKib, 900 * kMib}) {
    for (const uint64_t late_ns : {uint64_t{0}, kMs / 10, 3 * kMs}) {
      UnthrottledPacing policy;
      PacingRig rig;
      rig.facts.speed_max = speed;
      rig.facts.least_window_bytes = 16 * kKib;
      uint64_t longest_gap_ns = 0;
      for (const uint64_t bytes : Issue(policy, rig, 5, late_ns, &longest_gap_ns)) {
        EXPECT_NEAR(static_cast<double>(bytes), static_cast<double>(speed),
                    0.02 * static_cast<double>(speed))
            << speed << ' ' << late_ns;
      }
      EXPECT_LE(longest_gap_ns, 20 * kMs) << speed;
    }
  }
}

TEST(UnthrottledPacingTest, AnotherSpeedMaxCountsAtOnce) {
  UnthrottledPacing policy;
  PacingRig rig;
  rig.facts.speed_max = kMib;
  rig.facts.least_window_bytes = kMib;
  EXPECT_TRUE(rig.Goes(policy));
  rig.EndAll();
  EXPECT_GT(rig.Ask(policy).wait_ns, 900 * kMs);
  rig.facts.speed_max = 1000 * kMib;
  const uint64_t wait_ns = rig.Ask(policy).wait_ns;
  EXPECT_LE(wait_ns, 2 * kMs);
  rig.Pass(wait_ns);
  EXPECT_TRUE(rig.Goes(policy));
}

TEST(UnthrottledPacingTest, HugeAndZeroSpeedsDoNoHarm) {
  UnthrottledPacing policy;
  PacingRig rig;
  rig.facts.speed_max = ~uint64_t{0};
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(rig.Goes(policy));
    rig.EndAll();
    rig.Pass(kMs);
  }
  rig.facts.speed_max = 0;
  EXPECT_GT(rig.Ask(policy).wait_ns, 0U);
}

TEST(SpeedFloorTest, IsKeptInEveryThreeSeconds) {
  SpeedFloor floor;
  PacingRig rig;
  rig.facts.issued_bytes = 0;
  floor.IsDue(rig.facts);
  rig.facts.issued_bytes = 1000 * kMib;  // of other times
  std::vector<uint64_t> issued;          // by millisecond
  for (uint64_t ms = 0; ms < 12'000; ++ms) {
    issued.push_back(rig.facts.issued_bytes);
    if (floor.IsDue(rig.facts)) {
      rig.facts.issued_bytes += SpeedFloor::WindowBytes(rig.facts);
    }
    rig.Pass(kMs);
  }
  for (size_t end = 3000; end < issued.size(); ++end) {
    ASSERT_GE(issued[end] - issued[end - 3000], 3 * rig.facts.speed_min) << end;
  }
  EXPECT_LE(issued.back() - issued.front(), 13 * 3 * rig.facts.speed_min / 2);
}

TEST(SpeedFloorTest, IsNoneWhenSpeedMinIsZeroAndGivesWayToSpeedMax) {
  SpeedFloor floor;
  PacingRig rig;
  rig.facts.speed_min = 0;
  floor.IsDue(rig.facts);
  rig.Pass(kSecond);
  EXPECT_FALSE(floor.IsDue(rig.facts));
  rig.facts.speed_min = kMib;
  rig.facts.speed_max = 0;
  rig.Pass(kSecond);
  EXPECT_FALSE(floor.IsDue(rig.facts));
}

}  // namespace
}  // namespace mdvol
