// StripeFacts and CutColumns: what can be read where, and where that changes.

#include "core/stripe/stripe_facts.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "core/base/units.h"
#include "core/device/memory_device.h"
#include "core/stripe/columns.h"
#include "core/stripe/write_plan.h"
#include "gtest/gtest.h"
#include "tests/support/full.h"
#include "tests/support/seed.h"

namespace mdvol {
namespace {

using testing::FullRun;
using testing::Prng;
using testing::TestSeed;

constexpr uint64_t kChunk = 16 * kKiB;
constexpr uint64_t kDataOffset = 12 * kKiB;
constexpr uint64_t kStripe = 3;
constexpr uint64_t kStripeAt = kStripe * kChunk;

class StripeFactsTest : public ::testing::Test {
 protected:
  StripeFactsTest() {
    for (uint32_t slot = 0; slot < 6; ++slot) {
      devices_.push_back(NewMemoryDevice("m", 1 * kMiB));
      view_.slots.push_back({.device = devices_.back().get(),
                             .data_offset_bytes = kDataOffset,
                             .valid_bytes = geometry_.component_bytes()});
    }
  }

  StripeFacts Facts() const { return {geometry_, view_, kStripe}; }

  const ArrayGeometry geometry_ =
      *ArrayGeometry::Make(Layout::kLeftSymmetric, 6, kChunk, 8 * kChunk);
  std::vector<std::unique_ptr<MemberDevice>> devices_;
  MemberView view_;
};

TEST_F(StripeFactsTest, PlacesColumnsBehindTheDataOffset) {
  EXPECT_EQ(Facts().MemberOffset(2, 100), kDataOffset + kStripeAt + 100);
  EXPECT_EQ(Facts().data_offset_bytes(), kStripeAt);
}

TEST_F(StripeFactsTest, NamesBlocksByTheirExponents) {
  const StripeFacts facts = Facts();
  EXPECT_EQ(facts.BlockIdOf(facts.roles().p_slot()).kind, BlockKind::kP);
  EXPECT_EQ(facts.BlockIdOf(facts.roles().q_slot()).kind, BlockKind::kQ);
  for (uint32_t k = 0; k < 4; ++k) {
    const uint32_t slot = facts.roles().DataSlot(k);
    const BlockId wanted{BlockKind::kData, static_cast<uint8_t>(facts.roles().Exponent(slot))};
    EXPECT_EQ(facts.BlockIdOf(slot), wanted);
  }
}

TEST_F(StripeFactsTest, AMissingMemberIsAbsent) {
  view_.slots[1].device = nullptr;
  EXPECT_EQ(Facts().Access(1, {0, kChunk}), SlotAccess::kAbsent);
  EXPECT_EQ(Facts().Access(2, {0, kChunk}), SlotAccess::kReadable);
  EXPECT_EQ(Facts().AbsentSlots({0, kChunk}), 1u);
}

TEST_F(StripeFactsTest, ACheckpointDividesAStripe) {
  view_.slots[1].valid_bytes = kStripeAt + 4096;
  EXPECT_EQ(Facts().Access(1, {0, 4096}), SlotAccess::kReadable);
  EXPECT_EQ(Facts().Access(1, {4095, 4096}), SlotAccess::kReadable);
  EXPECT_EQ(Facts().Access(1, {4096, 4097}), SlotAccess::kAbsent);
  EXPECT_EQ(Facts().Access(1, {0, 4097}), SlotAccess::kUnreadable);
  EXPECT_TRUE(Facts().HasCheckpoint());
  EXPECT_EQ(Facts().AbsentSlots({0, 4096}), 0u);
  EXPECT_EQ(Facts().AbsentSlots({8192, kChunk}), 1u);
}

TEST_F(StripeFactsTest, ACheckpointOnAStripesEdgeDividesNothing) {
  view_.slots[1].valid_bytes = kStripeAt;
  EXPECT_EQ(Facts().Access(1, {0, 1}), SlotAccess::kAbsent);
  EXPECT_FALSE(Facts().HasCheckpoint());
  view_.slots[1].valid_bytes = kStripeAt + kChunk;
  EXPECT_EQ(Facts().Access(1, {kChunk - 1, kChunk}), SlotAccess::kReadable);
  EXPECT_FALSE(Facts().HasCheckpoint());
  view_.slots[1] = {};
  EXPECT_FALSE(Facts().HasCheckpoint());
}

// Whoever has the stripe sees one value throughout; the next one sees the next.
TEST_F(StripeFactsTest, ACheckpointThatMovesIsReadOnce) {
  std::atomic<uint64_t> checkpoint = kStripeAt + 4096;
  view_.slots[1].checkpoint = &checkpoint;
  view_.slots[1].valid_bytes = 0;
  const StripeFacts before = Facts();
  checkpoint = kStripeAt + kChunk;
  EXPECT_EQ(before.Access(1, {0, 4096}), SlotAccess::kReadable);
  EXPECT_EQ(before.Access(1, {4096, 8192}), SlotAccess::kAbsent);
  EXPECT_TRUE(before.HasCheckpoint());
  ColumnEdges edges;
  before.AppendEdges(&edges);
  EXPECT_EQ(edges, ColumnEdges({4096}));
  EXPECT_EQ(Facts().Access(1, {4096, 8192}), SlotAccess::kReadable);
  EXPECT_FALSE(Facts().HasCheckpoint());
}

TEST_F(StripeFactsTest, BadBlocksAreAbsoluteOnTheMember) {
  BadBlockList bad;
  bad.Add({kDataOffset + kStripeAt + 512, kDataOffset + kStripeAt + 1024});
  view_.slots[4].bad_blocks = &bad;
  EXPECT_EQ(Facts().Access(4, {0, 512}), SlotAccess::kReadable);
  EXPECT_EQ(Facts().Access(4, {0, 513}), SlotAccess::kUnreadable);
  EXPECT_EQ(Facts().Access(4, {1023, 1024}), SlotAccess::kUnreadable);
  EXPECT_EQ(Facts().Access(4, {1024, kChunk}), SlotAccess::kReadable);
  EXPECT_FALSE(Facts().HasReadError(4, {512, 1024})) << "known before, not met";
}

TEST_F(StripeFactsTest, ReadErrorsMakeTheirColumnsUnreadable) {
  StripeFacts facts = Facts();
  EXPECT_FALSE(facts.has_read_errors());
  facts.MarkUnreadable(0, {4096, 8192});
  facts.MarkUnreadable(0, {8192, 12288});
  facts.MarkUnreadable(3, {0, 512});
  EXPECT_TRUE(facts.has_read_errors());
  EXPECT_EQ(facts.Access(0, {0, 4096}), SlotAccess::kReadable);
  EXPECT_EQ(facts.Access(0, {4000, 4097}), SlotAccess::kUnreadable);
  EXPECT_EQ(facts.Access(0, {12287, 12288}), SlotAccess::kUnreadable);
  EXPECT_EQ(facts.Access(0, {12288, kChunk}), SlotAccess::kReadable);
  EXPECT_TRUE(facts.HasReadError(3, {0, kChunk}));
  EXPECT_FALSE(facts.HasReadError(3, {512, kChunk}));
}

TEST_F(StripeFactsTest, AStaleBlockIsAbsentEvenWhenItHasReadErrors) {
  StripeFacts facts = Facts();
  facts.MarkUnreadable(2, {0, 4096});
  facts.MarkStale(2);
  EXPECT_EQ(facts.Access(2, {0, 4096}), SlotAccess::kAbsent);
  EXPECT_EQ(facts.Access(2, {8192, kChunk}), SlotAccess::kAbsent);
}

// ---- Cutting ----

TEST_F(StripeFactsTest, CutsAtCheckpointsAndBadBlocksThatTheExtentsMeet) {
  view_.slots[1].valid_bytes = kStripeAt + 5000;
  BadBlockList bad;
  bad.Add({0, kDataOffset + kStripeAt + 1024});  // begins long before the stripe
  bad.Add({kDataOffset + kStripeAt + kChunk - 512, 1 * kMiB});
  view_.slots[4].bad_blocks = &bad;
  const std::vector<NewExtent> extents = {{0, {0, kChunk}, nullptr}};
  const ColumnRanges cut = CutColumns(Facts(), extents);
  std::vector<uint64_t> edges;
  for (const ColumnRange& columns : cut) {
    edges.push_back(columns.begin);
  }
  EXPECT_EQ(edges, (std::vector<uint64_t>{0, 1024, 4608, 5120, kChunk - 512}));
  EXPECT_EQ(cut.back().end, kChunk);
}

// Inside a segment all is alike, unit by unit; the segments cover just the units that are touched.
TEST_F(StripeFactsTest, SegmentsAreUniform) {
  Prng prng(TestSeed("CutColumns"));
  for (int round = 0; round < (FullRun() ? 20000 : 500); ++round) {
    view_.alignment_bytes = uint64_t{512} << prng.Below(4);
    const uint64_t unit = view_.alignment_bytes;
    std::vector<BadBlockList> bad(6);
    for (uint32_t slot = 0; slot < 6; ++slot) {
      view_.slots[slot].valid_bytes =
          prng.OneIn(4) ? kStripeAt + prng.Below(kChunk + 1) : geometry_.component_bytes();
      for (uint64_t i = prng.Below(3); i > 0; --i) {
        const uint64_t at = kDataOffset + kStripeAt + prng.Below(2 * kChunk) - kChunk / 2;
        bad[slot].Add({at, at + prng.Between(1, 3000)});
      }
      view_.slots[slot].bad_blocks = &bad[slot];
    }
    std::vector<NewExtent> extents;
    for (uint64_t i = prng.Between(1, 3); i > 0; --i) {
      const uint64_t begin = prng.Below(kChunk);
      extents.push_back({0, {begin, prng.Between(begin + 1, kChunk)}, nullptr});
    }
    const StripeFacts facts = Facts();
    const ColumnRanges cut = CutColumns(facts, extents);
    std::vector<bool> covered(kChunk / unit);
    for (const ColumnRange& columns : cut) {
      for (uint64_t at = columns.begin; at < columns.end; at += unit) {
        ASSERT_FALSE(covered[at / unit]);
        covered[at / unit] = true;
        for (uint32_t slot = 0; slot < 6; ++slot) {
          ASSERT_EQ(facts.Access(slot, {at, at + unit}), facts.Access(slot, columns));
        }
      }
    }
    for (uint64_t at = 0; at < kChunk; at += unit) {
      ASSERT_EQ(covered[at / unit],
                std::any_of(extents.begin(), extents.end(), [&](const NewExtent& extent) {
                  return extent.columns.Intersects({at, at + unit});
                }));
    }
  }
}

TEST(LaneTest, LanesAreCutOutOfColumns) {
  std::vector<ColumnRange> lanes;
  ForEachLane({512, 8704}, [&](ColumnRange lane) { lanes.push_back(lane); });
  ASSERT_EQ(lanes.size(), 3u);
  EXPECT_EQ(lanes[0].begin, 512u);
  EXPECT_EQ(lanes[0].end, 4096u);
  EXPECT_EQ(lanes[1].end, 8192u);
  EXPECT_EQ(lanes[2].end, 8704u);
}

}  // namespace
}  // namespace mdvol
