// The write planner against brute force: every layout, every pair of slots in every kind of
// trouble, covers of one to three extents, every rmw_level. And flattening against bytes.

#include "core/stripe/write_plan.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/units.h"
#include "core/stripe/decode.h"
#include "gtest/gtest.h"
#include "tests/support/full.h"
#include "tests/support/seed.h"
#include "tests/unit/core/stripe/brute_force.h"
#include "tests/unit/core/stripe/facts_fixture.h"

namespace mdvol {
namespace {

using testing::BruteForce;
using testing::FactsFixture;
using testing::FullRun;
using testing::kTroubles;
using testing::Prng;
using testing::TestSeed;
using testing::Trouble;

constexpr std::byte kBytes[2 * FactsFixture::kChunkBytes] = {};

std::string Describe(const std::vector<NewExtent>& extents) {
  std::string text;
  for (const NewExtent& extent : extents) {
    absl::StrAppend(&text, "D", extent.data_index, "[", extent.columns.begin, ",",
                    extent.columns.end, ") ");
  }
  return text;
}

// What WriteExecutor reads for a strategy, said once more.
std::vector<uint32_t> SlotsRead(const StripeFacts& facts, const std::vector<NewExtent>& extents,
                                const WriteSegment& segment) {
  if (segment.strategy == WriteStrategy::kDecode) {
    DecodeSet decode;
    EXPECT_TRUE(PlanDecode(facts, segment.columns, &decode));
    return {decode.read_slots.begin(), decode.read_slots.end()};
  }
  std::vector<uint32_t> slots;
  for (uint32_t k = 0; k < facts.geometry().data_disks(); ++k) {
    const Cover cover = CoverOf(extents, k, segment.columns);
    if ((segment.strategy == WriteStrategy::kReconstruct && cover != Cover::kWhole) ||
        (segment.strategy == WriteStrategy::kReadModify && cover != Cover::kNone) ||
        (segment.strategy == WriteStrategy::kDataOnly && cover == Cover::kPart)) {
      slots.push_back(facts.roles().DataSlot(k));
    }
  }
  if (segment.strategy == WriteStrategy::kReadModify) {
    for (const uint32_t slot : {facts.roles().p_slot(), facts.roles().q_slot()}) {
      if (facts.Access(slot, segment.columns) != SlotAccess::kAbsent) {
        slots.push_back(slot);
      }
    }
  }
  return slots;
}

std::vector<uint32_t> ReadableSlots(const StripeFacts& facts, ColumnRange columns, bool parity) {
  std::vector<uint32_t> slots;
  for (uint32_t slot = 0; slot < facts.geometry().raid_disks(); ++slot) {
    const bool is_data = facts.roles().RoleOf(slot).kind == ChunkKind::kData;
    if ((parity || is_data) && facts.Readable(slot, columns)) {
      slots.push_back(slot);
    }
  }
  return slots;
}

bool Reads(const std::vector<uint32_t>& slots, uint32_t slot) {
  return std::find(slots.begin(), slots.end(), slot) != slots.end();
}

void JudgeSegment(const StripeFacts& facts, const std::vector<NewExtent>& extents,
                  const WriteSegment& segment, uint32_t rmw_level) {
  const BruteForce brute(facts);
  const auto needed = brute.NeededToWrite(facts, extents, segment.columns);
  const auto usable = ReadableSlots(facts, segment.columns, true);
  const bool storable = facts.AbsentSlots(segment.columns) <= 2;
  const std::optional<size_t> smallest =
      storable ? brute.SmallestSet(usable, needed) : std::nullopt;
  ASSERT_EQ(segment.strategy == WriteStrategy::kImpossible, !smallest.has_value());
  if (!smallest.has_value()) {
    return;
  }
  const auto reads = SlotsRead(facts, extents, segment);
  for (const uint32_t slot : reads) {
    ASSERT_TRUE(Reads(usable, slot)) << "reads slot " << slot << ", which cannot be read";
  }
  ASSERT_TRUE(brute.Suffices(reads, needed)) << "does not know enough";

  // Without parity, from data alone: what untrusted parity wants, and rmw_level 0 prefers.
  const auto without_parity =
      brute.SmallestSet(ReadableSlots(facts, segment.columns, false), needed);
  if (!facts.parity_trusted()) {
    if (without_parity.has_value()) {
      ASSERT_NE(segment.strategy, WriteStrategy::kReadModify);
      ASSERT_NE(segment.strategy, WriteStrategy::kDecode);
      ASSERT_EQ(reads.size(), *without_parity);
    }
    return;
  }
  if (segment.strategy == WriteStrategy::kDataOnly) {
    ASSERT_EQ(reads.size(), *smallest);
    return;
  }
  bool kept_failed = false;
  for (uint32_t k = 0; k < facts.geometry().data_disks(); ++k) {
    kept_failed |= CoverOf(extents, k, segment.columns) == Cover::kNone &&
                   facts.HasReadError(facts.roles().DataSlot(k), segment.columns);
  }
  DecodeSet decode;
  const bool can_decode = PlanDecode(facts, segment.columns, &decode);
  if (kept_failed && can_decode) {
    ASSERT_EQ(segment.strategy, WriteStrategy::kDecode) << "leaves a read error behind";
    return;
  }
  if (rmw_level == 0) {
    ASSERT_TRUE(segment.strategy != WriteStrategy::kReadModify ||
                (!without_parity.has_value() && !can_decode));
  } else {
    ASSERT_EQ(reads.size(), *smallest) << "not the cheapest way";
    if (segment.strategy == WriteStrategy::kReadModify && rmw_level == 1) {
      ASSERT_TRUE(!without_parity.has_value() || *without_parity > reads.size());
    }
    if (rmw_level == 2 && segment.strategy == WriteStrategy::kReconstruct) {
      const WriteSegment modify{segment.columns, WriteStrategy::kReadModify};
      const auto other = SlotsRead(facts, extents, modify);
      const bool possible = std::all_of(other.begin(), other.end(),
                                        [&](uint32_t slot) { return Reads(usable, slot); });
      ASSERT_TRUE(!possible || other.size() > reads.size());
    }
  }
}

// Segments tile the units that are touched, and inside one all is alike.
void JudgeTiling(const StripeFacts& facts, const std::vector<NewExtent>& extents,
                 const WritePlan& plan) {
  const uint64_t unit = facts.members().alignment_bytes;
  std::vector<bool> is_touched(FactsFixture::kChunkBytes / unit);
  for (const NewExtent& extent : extents) {
    for (uint64_t i = extent.columns.begin / unit; i < CeilDiv(extent.columns.end, unit); ++i) {
      is_touched[i] = true;
    }
  }
  uint64_t at = 0;
  for (const WriteSegment& segment : plan) {
    ASSERT_EQ(segment.columns.begin % unit, 0u);
    ASSERT_EQ(segment.columns.end % unit, 0u);
    ASSERT_LT(segment.columns.begin, segment.columns.end);
    ASSERT_LE(at, segment.columns.begin);
    for (; at < segment.columns.begin; at += unit) {
      ASSERT_FALSE(is_touched[at / unit]) << "left out: column " << at;
    }
    for (; at < segment.columns.end; at += unit) {
      ASSERT_TRUE(is_touched[at / unit]) << "for nothing: column " << at;
    }
    for (uint32_t k = 0; k < facts.geometry().data_disks(); ++k) {
      ASSERT_TRUE(CoverOf(extents, k, segment.columns) != Cover::kPart ||
                  segment.columns.size() == unit);
    }
  }
  for (; at < FactsFixture::kChunkBytes; at += unit) {
    ASSERT_FALSE(is_touched[at / unit]) << "left out: column " << at;
  }
}

void Judge(FactsFixture& fixture, const std::vector<NewExtent>& extents) {
  for (const bool trusted : {true, false}) {
    StripeFacts facts = fixture.Facts();
    facts.set_parity_trusted(trusted);
    const auto flat = FlattenExtents(extents);
    const std::vector<NewExtent> list(flat.begin(), flat.end());
    for (uint32_t rmw_level = 0; rmw_level <= 2; ++rmw_level) {
      SCOPED_TRACE(::testing::Message()
                   << Describe(list) << (trusted ? "" : "untrusted ") << "rmw_level " << rmw_level);
      const WritePlan plan = PlanStripeWrite(facts, list, rmw_level);
      JudgeTiling(facts, list, plan);
      for (const WriteSegment& segment : plan) {
        SCOPED_TRACE(::testing::Message()
                     << "columns " << segment.columns.begin << " to " << segment.columns.end
                     << ", strategy " << static_cast<int>(segment.strategy));
        JudgeSegment(facts, list, segment, rmw_level);
        if (::testing::Test::HasFatalFailure()) {
          return;
        }
      }
    }
  }
}

// Aligned and not, less than a unit, exactly one, across two, many, up to the chunk's end.
constexpr ColumnRange kColumns[] = {{0, 512},     {0, 100},     {100, 512}, {30, 60},
                                    {500, 700},   {512, 2048},  {90, 1030}, {0, 4096},
                                    {4000, 4096}, {3584, 4096}, {1, 4095}};

NewExtent RandomExtent(uint32_t data_disks, Prng& prng) {
  return {static_cast<uint32_t>(prng.Below(data_disks)), kColumns[prng.Below(std::size(kColumns))],
          kBytes};
}

// All chunks but `without`: reconstruct-writes, and full stripes.
std::vector<NewExtent> NearlyAll(uint32_t data_disks, uint32_t without, Prng& prng) {
  std::vector<NewExtent> extents;
  const ColumnRange columns = kColumns[prng.Below(std::size(kColumns))];
  for (uint32_t k = 0; k < data_disks; ++k) {
    if (k != without) {
      extents.push_back({k, columns, kBytes});
    }
  }
  return extents;
}

// All kinds; in the short form only one of those that make a slot absent, which are alike.
std::vector<Trouble> KindsOfTrouble(Prng& prng) {
  if (FullRun()) {
    return {std::begin(kTroubles), std::end(kTroubles)};
  }
  const Trouble absent[] = {Trouble::kMissing, Trouble::kBeyondCheckpoint, Trouble::kStale};
  return {absent[prng.Below(std::size(absent))], Trouble::kBadBlock, Trouble::kReadError};
}

class WritePlanTest : public ::testing::TestWithParam<Layout> {
 protected:
  // Judges the plans for some covers with these troubles.
  static void TryCovers(FactsFixture& fixture, int count, Prng& prng) {
    const uint32_t data_disks = fixture.geometry().data_disks();
    for (int i = 0; i < count && !HasFatalFailure(); ++i) {
      std::vector<NewExtent> extents;
      for (uint64_t e = prng.Between(1, 3); e > 0; --e) {
        extents.push_back(RandomExtent(data_disks, prng));
      }
      Judge(fixture, extents);
    }
    if (!HasFatalFailure()) {
      Judge(fixture,
            NearlyAll(data_disks, static_cast<uint32_t>(prng.Below(data_disks + 1)), prng));
    }
  }
};

TEST_P(WritePlanTest, IsRightAndCheapestForEveryPairOfTroubles) {
  Prng prng(TestSeed("WritePlanPairs") + static_cast<uint64_t>(GetParam()));
  const int covers = FullRun() ? 40 : 1;
  for (uint32_t members = 4; members <= 7; ++members) {
    for (uint32_t a = 0; a < members; ++a) {
      for (uint32_t b = a + 1; b < members; ++b) {
        for (const Trouble trouble_a : KindsOfTrouble(prng)) {
          for (const Trouble trouble_b : KindsOfTrouble(prng)) {
            FactsFixture fixture(GetParam(), members, prng.Below(members));
            fixture.set_trouble(a, trouble_a);
            fixture.set_trouble(b, trouble_b);
            SCOPED_TRACE(::testing::Message()
                         << members << " members, trouble " << static_cast<int>(trouble_a)
                         << " in slot " << a << ", " << static_cast<int>(trouble_b) << " in " << b);
            TryCovers(fixture, covers, prng);
            if (HasFatalFailure()) {
              return;
            }
          }
        }
      }
    }
  }
}

TEST_P(WritePlanTest, IsRightAndCheapestWithOneTroubleOrNone) {
  Prng prng(TestSeed("WritePlanSingles") + static_cast<uint64_t>(GetParam()));
  for (uint32_t members = 4; members <= 7; ++members) {
    for (uint32_t slot = 0; slot < members; ++slot) {
      for (const Trouble trouble :
           {Trouble::kNone, Trouble::kMissing, Trouble::kBadBlock, Trouble::kReadError}) {
        FactsFixture fixture(GetParam(), members, prng.Below(members));
        fixture.set_trouble(slot, trouble);
        SCOPED_TRACE(::testing::Message() << members << " members, trouble "
                                          << static_cast<int>(trouble) << " in slot " << slot);
        TryCovers(fixture, FullRun() ? 200 : 4, prng);
        if (HasFatalFailure()) {
          return;
        }
      }
    }
  }
}

TEST_P(WritePlanTest, GivesUpExactlyWhenMoreThanTwoLossesAreTooMany) {
  Prng prng(TestSeed("WritePlanTriples") + static_cast<uint64_t>(GetParam()));
  for (int i = 0; i < (FullRun() ? 5000 : 150); ++i) {
    const auto members = static_cast<uint32_t>(prng.Between(4, 7));
    FactsFixture fixture(GetParam(), members, prng.Below(members));
    for (uint64_t count = prng.Between(3, 4); count > 0; --count) {
      fixture.set_trouble(static_cast<uint32_t>(prng.Below(members)),
                          kTroubles[prng.Below(std::size(kTroubles))]);
    }
    SCOPED_TRACE(::testing::Message() << members << " members, round " << i);
    TryCovers(fixture, 1, prng);
    if (HasFatalFailure()) {
      return;
    }
  }
}

std::string TestName(const ::testing::TestParamInfo<Layout>& layout) {
  std::string name(LayoutName(layout.param));
  name.erase(std::remove(name.begin(), name.end(), '-'), name.end());
  return name;
}

INSTANTIATE_TEST_SUITE_P(Layouts, WritePlanTest, ::testing::ValuesIn(AllLayouts()), TestName);

// ---- Flattening ----

TEST(FlattenExtentsTest, LaterBytesWinAndNothingElseChanges) {
  Prng prng(TestSeed("FlattenExtents"));
  constexpr uint64_t kColumnCount = 64;
  for (int round = 0; round < (FullRun() ? 200000 : 5000); ++round) {
    const uint64_t chunks = prng.Between(1, 4);
    std::vector<NewExtent> extents;
    std::vector<std::vector<const std::byte*>> model(
        chunks, std::vector<const std::byte*>(kColumnCount, nullptr));
    for (uint64_t i = prng.Below(12); i > 0; --i) {
      const uint64_t begin = prng.Below(kColumnCount);
      const uint64_t end = prng.Between(begin + 1, kColumnCount);
      const auto chunk = static_cast<uint32_t>(prng.Below(chunks));
      const std::byte* bytes = kBytes + prng.Below(FactsFixture::kChunkBytes);
      extents.push_back({chunk, {begin, end}, bytes});
      for (uint64_t column = begin; column < end; ++column) {
        model[chunk][column] = bytes + (column - begin);
      }
    }
    const ExtentList flat = FlattenExtents(extents);
    for (size_t i = 0; i < flat.size(); ++i) {
      ASSERT_LT(flat[i].columns.begin, flat[i].columns.end);
      if (i > 0 && flat[i].data_index == flat[i - 1].data_index) {
        ASSERT_LE(flat[i - 1].columns.end, flat[i].columns.begin);
      } else if (i > 0) {
        ASSERT_LT(flat[i - 1].data_index, flat[i].data_index);
      }
      for (uint64_t column = flat[i].columns.begin; column < flat[i].columns.end; ++column) {
        const std::byte*& wanted = model[flat[i].data_index][column];
        ASSERT_EQ(flat[i].bytes + (column - flat[i].columns.begin), wanted);
        wanted = nullptr;
      }
    }
    for (const auto& chunk : model) {
      ASSERT_TRUE(std::all_of(chunk.begin(), chunk.end(),
                              [](const std::byte* left) { return left == nullptr; }));
    }
  }
}

TEST(FlattenExtentsTest, ManyWritersToOneStripeAreFast) {
  // 64 writers, each with an extent in every one of 253 chunks: quadratic would take minutes.
  std::vector<NewExtent> extents;
  for (uint64_t writer = 0; writer < 64; ++writer) {
    for (uint32_t k = 0; k < 253; ++k) {
      extents.push_back({k, {writer * 8, writer * 8 + 12}, kBytes});
    }
  }
  EXPECT_EQ(FlattenExtents(extents).size(), 64u * 253u);
}

TEST(CoverOfTest, AddsUpWhatSeveralExtentsCover) {
  const NewExtent extents[] = {{0, {0, 100}, kBytes}, {0, {100, 512}, kBytes}, {1, {5, 6}, kBytes}};
  EXPECT_EQ(CoverOf(extents, 0, {0, 512}), Cover::kWhole);
  EXPECT_EQ(CoverOf(extents, 0, {0, 1024}), Cover::kPart);
  EXPECT_EQ(CoverOf(extents, 0, {512, 1024}), Cover::kNone);
  EXPECT_EQ(CoverOf(extents, 1, {0, 512}), Cover::kPart);
  EXPECT_EQ(CoverOf(extents, 2, {0, 512}), Cover::kNone);
}

}  // namespace
}  // namespace mdvol
