// parity_workers: what each policy decides.

#include "policies/raid5d.h"

#include <gtest/gtest.h>

#include <array>

#include "policies/inline_parity.h"

namespace mdvol {
namespace {

constexpr ParityWorkersFacts kFacts{.bytes = 1 << 20, .raid_disks = 16, .processors = 6};
constexpr std::array kAuto = {0.0};
constexpr std::array kThree = {3.0};

TEST(ParityWorkersTest, InlineNeverHandsOver) {
  EXPECT_EQ(InlineParity({}).Decide(kFacts).way, ParityWorkersWay::kInline);
  EXPECT_EQ(InlineParity({}).Decide({.bytes = 512}).way, ParityWorkersWay::kInline);
}

TEST(ParityWorkersTest, SingleIsOneThread) {
  EXPECT_EQ(SingleParity({}).Decide(kFacts).way, ParityWorkersWay::kSingle);
}

TEST(ParityWorkersTest, HandleStripePassesFourTimesOverAStripe) {
  const ParityWorkersDecision decision = HandleStripeParity(kAuto).Decide(kFacts);
  EXPECT_EQ(decision.way, ParityWorkersWay::kPasses);
  EXPECT_EQ(decision.threads, 6U);
  EXPECT_EQ(decision.passes, 4U);
  EXPECT_EQ(HandleStripeParity(kThree).Decide(kFacts).threads, 3U);
}

TEST(ParityWorkersTest, RunOpsHasAPoolForTheArithmetic) {
  const ParityWorkersDecision decision = RunOpsParity(kAuto).Decide(kFacts);
  EXPECT_EQ(decision.way, ParityWorkersWay::kOperations);
  EXPECT_EQ(decision.threads, 6U);
  EXPECT_EQ(RunOpsParity(kThree).Decide(kFacts).threads, 3U);
  EXPECT_EQ(RunOpsParity(kAuto).Decide({.processors = 0}).threads, 1U);
}

}  // namespace
}  // namespace mdvol
