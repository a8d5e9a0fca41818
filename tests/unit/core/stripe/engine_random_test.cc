// StripeEngine against the byte-array model: random writes, zeroes and reads in every layout,
// whole, degraded by every pair, recovering, with bad blocks; on members of every alignment.
//
// After every few operations the members themselves are judged (StripeRig::MembersAgree).

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "gtest/gtest.h"
#include "tests/support/full.h"
#include "tests/support/seed.h"
#include "tests/support/stripes/parity_by.h"
#include "tests/support/stripes/stripe_rig.h"

namespace mdvol {
namespace {

using testing::FullRun;
using testing::Prng;
using testing::RigOptions;
using testing::StripeRig;
using testing::TestSeed;

using Slots = std::vector<uint32_t>;

// No loss, every single one, every pair.
std::vector<Slots> LossesOfUpToTwo(uint32_t members) {
  std::vector<Slots> losses = {{}};
  for (uint32_t a = 0; a < members; ++a) {
    losses.push_back({a});
    for (uint32_t b = a + 1; b < members; ++b) {
      losses.push_back({a, b});
    }
  }
  return losses;
}

uint64_t RandomLength(const StripeRig& rig, Prng& prng) {
  const uint64_t stripe = rig.geometry().stripe_bytes();
  const uint64_t longest[] = {16,     1024,      2 * kLaneBytes, rig.geometry().chunk_bytes() * 2,
                              stripe, stripe * 3};
  return prng.Between(1, longest[prng.Below(std::size(longest))]);
}

struct Range {
  uint64_t offset_bytes;
  uint64_t length_bytes;
};

// One in three ends up on the boundaries that plans treat differently.
Range RandomRange(const StripeRig& rig, Prng& prng) {
  const uint64_t volume = rig.geometry().volume_bytes();
  uint64_t length = std::min(RandomLength(rig, prng), volume);
  uint64_t offset = prng.Below(volume - length + 1);
  if (prng.OneIn(3)) {
    const uint64_t units[] = {kSectorBytes, kLaneBytes, rig.geometry().chunk_bytes(),
                              rig.geometry().stripe_bytes()};
    const uint64_t unit = units[prng.Below(std::size(units))];
    offset = RoundDown(offset, unit);
    length = std::min(RoundUp(length, unit), volume - offset);
  }
  return {offset, length};
}

enum class Errors { kNone, kWhereThreeAreLost };

void RunRandomOperation(StripeRig& rig, Errors errors) {
  const Range range = RandomRange(rig, rig.prng());
  EngineResult result;
  const uint64_t kind = rig.prng().Below(8);
  if (kind < 4) {
    result = rig.Write(range.offset_bytes, range.length_bytes);
  } else if (kind < 7) {
    result = rig.Read(range.offset_bytes, range.length_bytes);
  } else {
    result = rig.Zero(range.offset_bytes, range.length_bytes);
  }
  if (errors == Errors::kNone) {
    EXPECT_EQ(result.error, 0) << "operation " << kind << " at " << range.offset_bytes << "+"
                               << range.length_bytes;
  } else {
    EXPECT_TRUE(result.error == 0 || result.error == EIO);
  }
  EXPECT_TRUE(result.member_errors.empty());
  EXPECT_TRUE(result.owed_stripes.empty());
  EXPECT_TRUE(result.mended_slots.empty());
}

void RunRandomOperations(StripeRig& rig, int count, Errors errors = Errors::kNone) {
  for (int i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
    if (rig.prng().OneIn(8)) {
      rig.engine().set_rmw_level(static_cast<uint32_t>(rig.prng().Below(3)));
    }
    if (rig.prng().OneIn(16)) {
      testing::SwitchParity(rig.policies(), rig.prng());
    }
    RunRandomOperation(rig, errors);
    if (i % 6 == 5 || i + 1 == count) {
      ASSERT_TRUE(rig.MembersAgree()) << "after operation " << i;
    }
  }
}

// Losing as many more as is legal must not change what is read.
void ExpectReadsWithAllLegalLosses(StripeRig& rig, const Slots& already_lost) {
  for (const Slots& more : LossesOfUpToTwo(rig.geometry().raid_disks())) {
    Slots all = already_lost;
    all.insert(all.end(), more.begin(), more.end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    if (all.size() <= 2) {
      ASSERT_TRUE(rig.ReadsWithout(all)) << ::testing::PrintToString(all);
    }
  }
}

RigOptions RandomOptions(Layout layout, uint32_t members, Prng& prng) {
  const uint64_t chunks[] = {4 * kKiB, 4 * kKiB, 8 * kKiB, 16 * kKiB, 64 * kKiB};
  const uint32_t alignments[] = {1, 512, 4096};
  const uint64_t chunk = chunks[prng.Below(members > 6 ? 3 : std::size(chunks))];
  return {.layout = layout,
          .members = members,
          .chunk_bytes = chunk,
          .stripes = chunk > 16 * kKiB ? 2 : prng.Between(3, 5),
          .alignment_bytes = alignments[prng.Below(std::size(alignments))],
          .seed = prng.Next()};
}

class EngineRandomTest : public ::testing::TestWithParam<Layout> {
 protected:
  Prng MakePrng(const char* name) {
    return Prng(TestSeed((std::string(name) + std::string(LayoutName(GetParam()))).c_str()));
  }
};

TEST_P(EngineRandomTest, HoldsTheBytesWithEveryLossOfUpToTwo) {
  Prng prng = MakePrng("EngineRandomLosses");
  for (const uint32_t members : {4u, 5u, 6u, 8u, 11u}) {
    for (const Slots& lost : LossesOfUpToTwo(members)) {
      if (members > 6 && !FullRun() && !prng.OneIn(8)) {
        continue;
      }
      const RigOptions options = RandomOptions(GetParam(), members, prng);
      SCOPED_TRACE(::testing::Message() << options << ", lost " << ::testing::PrintToString(lost));
      StripeRig rig(options);
      for (const uint32_t slot : lost) {
        rig.Lose(slot);
      }
      RunRandomOperations(rig, FullRun() ? 100 : 12);
      if (prng.OneIn(FullRun() ? 1 : 8)) {
        ExpectReadsWithAllLegalLosses(rig, lost);
      }
      if (HasFailure()) {
        return;
      }
    }
  }
}

// Members lost, recovering up to any byte, or bad here and there: up to two of them in any column.
TEST_P(EngineRandomTest, HoldsTheBytesWhileMembersRecoverAndHaveBadBlocks) {
  Prng prng = MakePrng("EngineRandomTroubles");
  for (int round = 0; round < (FullRun() ? 400 : 24); ++round) {
    const uint32_t members = static_cast<uint32_t>(prng.Between(4, 7));
    const RigOptions options = RandomOptions(GetParam(), members, prng);
    SCOPED_TRACE(::testing::Message() << options);
    StripeRig rig(options);
    const uint64_t component = rig.geometry().component_bytes();
    const uint64_t first = prng.Below(members);
    for (uint64_t trouble = 0; trouble < 2; ++trouble) {
      // A slot of its own for each, so that no column has more than two.
      const auto slot = static_cast<uint32_t>((first + trouble) % members);
      switch (prng.Below(4)) {
        case 0:
          rig.Lose(slot);
          break;
        case 1:
          rig.BeginRecovery(slot, prng.OneIn(2) ? RoundDown(prng.Below(component), kSectorBytes)
                                                : prng.Below(component));
          break;
        default:
          for (uint64_t i = prng.Between(1, 4); i > 0; --i) {
            const uint64_t begin = RoundDown(prng.Below(component), kSectorBytes);
            const uint64_t length = kSectorBytes * prng.Between(1, 24);
            rig.AddBadBlocks(slot, begin, std::min(begin + length, component));
          }
      }
    }
    RunRandomOperations(rig, 18);
    if (HasFailure()) {
      return;
    }
  }
}

// Whether any wanted byte of a range lies where more than two slots cannot be read: alignment unit
// by alignment unit, since that is what members are read in.
bool IsBeyondRepair(StripeRig& rig, const Range& range) {
  const uint64_t unit = rig.view().alignment_bytes;
  for (uint64_t at = range.offset_bytes; at < range.offset_bytes + range.length_bytes;) {
    const VolumeLocation location = rig.geometry().Locate(at);
    const uint64_t begin = RoundDown(location.data_offset_bytes, unit);
    const auto is_good = [&](uint32_t slot) {
      const SlotView& view = rig.view().slots[slot];
      return view.present() && begin + unit <= view.valid_bytes &&
             (view.bad_blocks == nullptr ||
              !view.bad_blocks->Touches(view.data_offset_bytes + begin,
                                        view.data_offset_bytes + begin + unit));
    };
    uint32_t lost = 0;
    for (uint32_t slot = 0; slot < rig.geometry().raid_disks(); ++slot) {
      lost += is_good(slot) ? 0u : 1u;
    }
    if (lost > 2 && !is_good(location.slot)) {
      return true;
    }
    at += unit - location.data_offset_bytes % unit;
  }
  return false;
}

// I6: bytes while two are lost in a column, EIO where three are, whatever else is wrong nearby.
TEST_P(EngineRandomTest, ReadsFailExactlyWhereMoreThanTwoAreLost) {
  Prng prng = MakePrng("EngineRandomBeyondRepair");
  for (int round = 0; round < (FullRun() ? 400 : 16); ++round) {
    const RigOptions options =
        RandomOptions(GetParam(), static_cast<uint32_t>(prng.Between(4, 7)), prng);
    SCOPED_TRACE(::testing::Message() << options);
    StripeRig rig(options);
    const uint64_t component = rig.geometry().component_bytes();
    for (uint32_t slot = 0; slot < options.members; ++slot) {
      if (prng.OneIn(6)) {
        rig.Lose(slot);
      } else if (prng.OneIn(6)) {
        // On a unit: of one that is cut, the good part may be read or not.
        rig.BeginRecovery(slot, RoundDown(prng.Below(component), rig.view().alignment_bytes));
      } else {
        for (uint64_t i = 0; i < 3; ++i) {
          const uint64_t begin = RoundDown(prng.Below(component), kSectorBytes);
          rig.AddBadBlocks(slot, begin,
                           std::min(begin + kSectorBytes * prng.Between(1, 9), component));
        }
      }
    }
    for (int i = 0; i < 40; ++i) {
      const Range range = RandomRange(rig, prng);
      const bool fails = IsBeyondRepair(rig, range);
      EXPECT_EQ(rig.Read(range.offset_bytes, range.length_bytes).error, fails ? EIO : 0)
          << range.offset_bytes << "+" << range.length_bytes;
    }
    ASSERT_TRUE(rig.MembersAgree());  // reads change nothing
    // What can be written must be right afterwards, and nothing else may suffer.
    RunRandomOperations(rig, 12, Errors::kWhereThreeAreLost);
    if (HasFailure()) {
      return;
    }
  }
}

std::string TestName(const ::testing::TestParamInfo<Layout>& layout) {
  std::string name(LayoutName(layout.param));
  name.erase(std::remove(name.begin(), name.end(), '-'), name.end());
  return name;
}

INSTANTIATE_TEST_SUITE_P(Layouts, EngineRandomTest, ::testing::ValuesIn(AllLayouts()), TestName);

}  // namespace
}  // namespace mdvol
