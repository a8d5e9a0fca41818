// UnsettledStripes: what is noted is applied, and goes when it is settled.

#include "core/stripe/unsettled_stripes.h"

#include <algorithm>

#include "gtest/gtest.h"
#include "tests/support/stripes/stripe_rig.h"

namespace mdvol {
namespace {

using testing::StripeRig;

constexpr ColumnRange kLane{0, 4096};
constexpr ColumnRange kChunk = kLane;

class UnsettledStripesTest : public ::testing::Test {
 protected:
  StripeFacts Facts(uint64_t stripe) { return {rig_.geometry(), rig_.view(), stripe}; }

  StripeRig rig_{testing::RigOptions{}};
  UnsettledStripes unsettled_{rig_.geometry().chunk_bytes(), uint64_t{1} << 40};
  MemberErrors errors_;
};

TEST_F(UnsettledStripesTest, KnowsNothingAtFirst) {
  StripeFacts facts = Facts(1);
  unsettled_.ApplyTo(facts, &errors_);
  EXPECT_TRUE(facts.parity_trusted());
  EXPECT_EQ(facts.AbsentSlots(kLane), 0u);
  EXPECT_TRUE(errors_.empty());
  unsettled_.ParityRewritten(1, kChunk);
  EXPECT_EQ(unsettled_.size(), 0u);
}

TEST_F(UnsettledStripesTest, AStaleBlockIsAbsentInItsStripeUntilItsMemberHasGone) {
  unsettled_.NoteStale(Facts(1), {.slot = 2, .error = EIO});
  unsettled_.NoteStale(Facts(1), {.slot = 2, .error = EIO});
  StripeFacts facts = Facts(1);
  unsettled_.ApplyTo(facts, &errors_);
  EXPECT_EQ(facts.Access(2, kLane), SlotAccess::kAbsent);
  EXPECT_EQ(facts.AbsentSlots(kLane), 1u);
  ASSERT_EQ(errors_.size(), 1u) << "noted twice, or lost";
  EXPECT_EQ(errors_[0].slot, 2u);
  EXPECT_EQ(errors_[0].error, EIO);
  StripeFacts other = Facts(0);
  unsettled_.ApplyTo(other, &errors_);
  EXPECT_EQ(other.AbsentSlots(kLane), 0u);

  rig_.view().slots[2].device = nullptr;
  StripeFacts later = Facts(1);
  errors_.clear();
  unsettled_.ApplyTo(later, &errors_);
  EXPECT_TRUE(errors_.empty());
  EXPECT_EQ(unsettled_.size(), 0u);
}

// Another member in the slot, perhaps at the same address, is another member.
TEST_F(UnsettledStripesTest, WhenMembersChangeWhatTheyLeftIsForgotten) {
  MemberDevice* const device = rig_.view().slots[2].device;
  unsettled_.NoteStale(Facts(1), {.slot = 2, .error = EIO});
  unsettled_.NoteStale(Facts(3), {.slot = 4, .error = EIO});
  unsettled_.NoteOwedParity(3, kChunk);
  rig_.view().slots[2].device = nullptr;
  unsettled_.MembersChanged(rig_.view());
  EXPECT_EQ(unsettled_.size(), 1u);
  rig_.view().slots[2].device = device;
  StripeFacts facts = Facts(1);
  unsettled_.ApplyTo(facts, &errors_);
  EXPECT_TRUE(errors_.empty());
  StripeFacts other = Facts(3);
  unsettled_.ApplyTo(other, &errors_);
  EXPECT_EQ(errors_.size(), 1u) << "slot 4 has kept its member";
  EXPECT_FALSE(other.parity_trusted());
}

TEST_F(UnsettledStripesTest, OwedParityIsNotTrustedUntilItIsRecomputed) {
  unsettled_.NoteOwedParity(2, kChunk);
  StripeFacts facts = Facts(2);
  unsettled_.ApplyTo(facts, &errors_);
  EXPECT_FALSE(facts.parity_trusted());
  unsettled_.ParityRewritten(1, kChunk);
  EXPECT_EQ(unsettled_.size(), 1u);
  unsettled_.ParityRewritten(2, kChunk);
  EXPECT_EQ(unsettled_.size(), 0u);
}

TEST_F(UnsettledStripesTest, ParityIsPaidColumnByColumn) {
  unsettled_.NoteOwedParity(2, {0, 4096});
  unsettled_.NoteOwedParity(2, {1024, 2048});
  unsettled_.ParityRewritten(2, {512, 2048});
  StripeFacts facts = Facts(2);
  unsettled_.ApplyTo(facts, &errors_);
  EXPECT_TRUE(facts.OwesParity({0, 512}));
  EXPECT_FALSE(facts.OwesParity({512, 2048}));
  EXPECT_TRUE(facts.OwesParity({2048, 2049}));
  ColumnEdges edges;
  facts.AppendEdges(&edges);
  std::sort(edges.begin(), edges.end());
  EXPECT_EQ(edges, ColumnEdges({0, 512, 2048, 4096}));
  unsettled_.ParityRewritten(2, {0, 512});
  unsettled_.ParityRewritten(2, {2000, 4096});
  EXPECT_EQ(unsettled_.size(), 0u);
}

TEST_F(UnsettledStripesTest, RecomputedParityDoesNotSettleAStaleBlock) {
  unsettled_.NoteOwedParity(2, kChunk);
  unsettled_.NoteStale(Facts(2), {.slot = 0, .error = EIO});
  unsettled_.ParityRewritten(2, kChunk);
  StripeFacts facts = Facts(2);
  unsettled_.ApplyTo(facts, &errors_);
  EXPECT_TRUE(facts.parity_trusted());
  EXPECT_EQ(errors_.size(), 1u);
}

// I10: of very many stripes it is not known which columns: until all have been rewritten, all are
// owed.
TEST_F(UnsettledStripesTest, OfVeryManyStripesOneBitIsKept) {
  constexpr uint64_t kFirst = 5;
  constexpr uint64_t kEnd = kFirst + UnsettledStripes::kMostDetailed + 3000;
  const uint64_t chunk_bytes = rig_.geometry().chunk_bytes();
  const ColumnRange part{0, 512};
  const ColumnRange rest{512, chunk_bytes};
  const auto owes = [&](uint64_t stripe, ColumnRange columns) {
    StripeFacts facts = Facts(stripe);
    unsettled_.ApplyTo(facts, &errors_);
    return facts.OwesParity(columns);
  };
  for (int round = 0; round < 2; ++round) {  // noted twice, they count once
    for (uint64_t stripe = kFirst; stripe < kEnd; ++stripe) {
      unsettled_.NoteOwedParity(stripe, part);
    }
    EXPECT_EQ(unsettled_.size(), kEnd - kFirst);
  }
  EXPECT_TRUE(owes(kFirst, part));
  EXPECT_FALSE(owes(kFirst, rest));
  EXPECT_TRUE(owes(kEnd - 1, part));
  EXPECT_TRUE(owes(kEnd - 1, rest));
  EXPECT_FALSE(owes(kEnd, part));
  EXPECT_FALSE(owes(kFirst - 1, part));
  unsettled_.ParityRewritten(kEnd - 1, part);
  EXPECT_TRUE(owes(kEnd - 1, part));
  unsettled_.NoteStale(Facts(kEnd - 1), {.slot = 2, .error = EIO});
  unsettled_.ParityRewritten(kEnd - 1, {0, chunk_bytes});
  EXPECT_FALSE(owes(kEnd - 1, part));
  EXPECT_TRUE(owes(kEnd - 2, part));
  rig_.view().slots[2].device = nullptr;
  unsettled_.MembersChanged(rig_.view());
  for (uint64_t stripe = kFirst; stripe < kEnd; ++stripe) {
    unsettled_.ParityRewritten(stripe, {0, chunk_bytes});
  }
  EXPECT_EQ(unsettled_.size(), 0u);
}

// I10: however they are scattered.
TEST_F(UnsettledStripesTest, OfVeryManyRegionsOneBitAPartIsKept) {
  constexpr uint64_t kRegion = 1024;
  constexpr uint64_t kPart = (uint64_t{1} << 40) / UnsettledStripes::kMostParts;
  const uint64_t regions = UnsettledStripes::kMostRegions;
  const auto owes = [&](uint64_t stripe) {
    StripeFacts facts = Facts(stripe);
    unsettled_.ApplyTo(facts, &errors_);
    return facts.OwesParity(kChunk);
  };
  for (uint64_t stripe = 0; stripe < UnsettledStripes::kMostDetailed; ++stripe) {
    unsettled_.NoteOwedParity(stripe, kChunk);
  }
  const uint64_t first = UnsettledStripes::kMostDetailed;
  for (uint64_t region = 0; region < regions; ++region) {
    unsettled_.NoteOwedParity(first + region * kRegion, kChunk);
  }
  EXPECT_FALSE(unsettled_.OwesParts());
  const uint64_t far = 5 * kPart + 77;
  for (int round = 0; round < 2; ++round) {  // noted twice, it counts once
    unsettled_.NoteOwedParity(far, kChunk);
    unsettled_.NoteOwedParity(far + 1, kChunk);
    EXPECT_TRUE(unsettled_.OwesParts());
    EXPECT_EQ(unsettled_.size(), first + regions + kPart);
  }
  unsettled_.NoteOwedParity(first + 1, kChunk);  // in a region that there is
  EXPECT_EQ(unsettled_.size(), first + regions + kPart + 1);
  EXPECT_TRUE(owes(first));
  EXPECT_FALSE(owes(first + 2));
  EXPECT_TRUE(owes(5 * kPart));
  EXPECT_TRUE(owes(6 * kPart - 1));
  EXPECT_FALSE(owes(5 * kPart - 1));
  EXPECT_FALSE(owes(6 * kPart));
  EXPECT_FALSE(owes(9 * kPart));
  unsettled_.ParityRewritten(far, kChunk);
  EXPECT_TRUE(owes(far));
  unsettled_.ForgetParts();
  EXPECT_FALSE(unsettled_.OwesParts());
  EXPECT_FALSE(owes(far));
  EXPECT_TRUE(owes(first));
  EXPECT_EQ(unsettled_.size(), first + regions + 1);
}

}  // namespace
}  // namespace mdvol
