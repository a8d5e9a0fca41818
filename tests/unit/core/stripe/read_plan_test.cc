// PlanRead against brute force: which blocks a read needs, and when it must give up.

#include <algorithm>
#include <optional>
#include <vector>

#include "core/stripe/read_executor.h"
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
using testing::LinearForm;
using testing::Prng;
using testing::TestSeed;

constexpr ColumnRange kUnit{512, 1024};

void JudgeRead(const StripeFacts& facts, const WantedList& wanted) {
  const BruteForce brute(facts);
  std::vector<LinearForm> needed;
  for (const WantedExtent& extent : wanted) {
    needed.push_back(brute.DataForm(extent.data_index));
  }
  std::vector<uint32_t> usable;
  for (uint32_t slot = 0; slot < facts.geometry().raid_disks(); ++slot) {
    if (facts.Readable(slot, kUnit)) {
      usable.push_back(slot);
    }
  }
  DecodeSet plan;
  const bool can = PlanRead(facts, wanted, kUnit, &plan);
  const std::optional<size_t> smallest = brute.SmallestSet(usable, needed);
  ASSERT_EQ(can, smallest.has_value());
  if (!can) {
    return;
  }
  for (const uint32_t slot : plan.read_slots) {
    ASSERT_NE(std::find(usable.begin(), usable.end(), slot), usable.end());
  }
  ASSERT_TRUE(brute.Suffices(plan.read_slots, needed));
  ASSERT_EQ(plan.read_slots.size(), *smallest) << "reads more than it needs";
  // Every wanted chunk is read or recovered, never both.
  for (const WantedExtent& extent : wanted) {
    const uint32_t slot = facts.roles().DataSlot(extent.data_index);
    const auto in = [slot](const auto& slots) {
      return std::find(slots.begin(), slots.end(), slot) != slots.end();
    };
    ASSERT_NE(in(plan.read_slots), in(plan.lost_slots));
  }
}

TEST(ReadPlanTest, ReadsAsLittleAsCanBeAndGivesUpOnlyWhenItMust) {
  Prng prng(TestSeed("ReadPlan"));
  for (int round = 0; round < (FullRun() ? 500000 : 20000); ++round) {
    const auto members = static_cast<uint32_t>(prng.Between(4, 7));
    FactsFixture fixture(AllLayouts()[prng.Below(AllLayouts().size())], members,
                         prng.Below(members));
    for (uint64_t count = prng.Below(5); count > 0; --count) {
      fixture.set_trouble(static_cast<uint32_t>(prng.Below(members)),
                          kTroubles[prng.Below(std::size(kTroubles))]);
    }
    std::byte place{};
    WantedList wanted;
    for (uint32_t k = 0; k < members - 2; ++k) {
      if (prng.OneIn(2)) {
        wanted.push_back({k, {600, 601}, &place});
      }
    }
    JudgeRead(fixture.Facts(), wanted);
    if (HasFatalFailure()) {
      return;
    }
  }
}

TEST(ReadPlanTest, LooksOnlyAtTheColumnsInQuestion) {
  FactsFixture fixture(Layout::kLeftSymmetric, 4, 0);
  StripeFacts facts = fixture.Facts();
  for (uint32_t slot = 0; slot < 4; ++slot) {
    facts.MarkUnreadable(slot, {1024, 1536});
  }
  std::byte place{};
  const WantedList wanted = {{0, {512, 1024}, &place}};
  DecodeSet plan;
  EXPECT_TRUE(PlanRead(facts, wanted, {512, 1024}, &plan));
  EXPECT_EQ(plan.read_slots.size(), 1u);
  // Nobody wants anything of these columns.
  DecodeSet nothing;
  EXPECT_TRUE(PlanRead(facts, wanted, {1024, 1536}, &nothing));
  EXPECT_TRUE(nothing.read_slots.empty());
}

}  // namespace
}  // namespace mdvol
