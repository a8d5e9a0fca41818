// resync_pacing "unthrottled": speed_max and nothing else.

#include "policies/unthrottled.h"

#include <gtest/gtest.h>

namespace mdvol {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

TEST(UnthrottledPacingTest, GoesBelowSpeedMax) {
  UnthrottledPacing pacing;
  EXPECT_EQ(pacing
                .Decide({.now_ns = 2 * kSecond,
                         .mark_ns = kSecond,
                         .bytes_since_mark = 999,
                         .speed_min = 1,
                         .speed_max = 1000})
                .wait_ns,
            0U);
}

TEST(UnthrottledPacingTest, WaitsUntilSpeedMaxIsKept) {
  UnthrottledPacing pacing;
  ResyncFacts facts{.now_ns = 2 * kSecond,
                    .mark_ns = kSecond,
                    .bytes_since_mark = 3000,
                    .speed_min = 1,
                    .speed_max = 1000};
  const uint64_t wait_ns = pacing.Decide(facts).wait_ns;
  EXPECT_NEAR(static_cast<double>(wait_ns), 2e9, 10);
  facts.now_ns += wait_ns;
  EXPECT_EQ(pacing.Decide(facts).wait_ns, 0U);
}

TEST(UnthrottledPacingTest, HugeNumbersDoNotOverflow) {
  UnthrottledPacing pacing;
  EXPECT_EQ(pacing
                .Decide({.now_ns = 30 * kSecond,
                         .mark_ns = 0,
                         .bytes_since_mark = uint64_t{1} << 40,
                         .speed_min = 1,
                         .speed_max = uint64_t{1} << 62})
                .wait_ns,
            0U);
}

}  // namespace
}  // namespace mdvol
