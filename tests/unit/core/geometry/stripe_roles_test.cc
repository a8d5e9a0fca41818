// Who holds what in a stripe: against known rows, and against the oracle for all layouts and sizes.

#include <algorithm>
#include <cstdint>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/geometry/layout.h"
#include "gtest/gtest.h"
#include "tests/support/full.h"
#include "tests/support/oracle/field.h"
#include "tests/support/oracle/known_rows.h"
#include "tests/support/oracle/layout.h"
#include "tests/support/seed.h"

namespace mdvol {
namespace {

using testing::oracle::Cell;
using testing::oracle::kFiveMembers;
using testing::oracle::kSixMemberData;
using testing::oracle::kSixMembers;
using testing::oracle::RowOf;

const std::vector<uint32_t> kMemberCounts = {4, 5, 6, 7, 8, 9, 10, 11, 12, 16, 36, 128, 255};

// Three rounds of the rotation; of large arrays every eleventh stripe and all where a round ends.
std::vector<uint64_t> StripesToTry(uint32_t members) {
  std::vector<uint64_t> stripes;
  for (uint64_t stripe = 0; stripe < uint64_t{3} * members; ++stripe) {
    const uint64_t in_round = stripe % members;
    if (members <= 36 || testing::FullRun() || stripe % 11 == 0 || in_round < 4 ||
        in_round + 4 >= members) {
      stripes.push_back(stripe);
    }
  }
  return stripes;
}

std::string DescribeData(unsigned data_index, unsigned exponent) {
  std::ostringstream text;
  text << 'D' << data_index << '[' << exponent << ']';
  return text.str();
}

std::string Describe(const ChunkRole& role) {
  switch (role.kind) {
    case ChunkKind::kP:
      return "P";
    case ChunkKind::kQ:
      return "Q";
    case ChunkKind::kData:
      break;
  }
  return DescribeData(role.data_index, role.exponent);
}

std::string Describe(const Cell& cell) {
  return cell.kind == 'D' ? DescribeData(cell.data_index, cell.exponent)
                          : std::string(1, cell.kind);
}

template <typename Row>
std::string Join(const Row& row) {
  std::string text;
  for (const auto& element : row) {
    if (!text.empty()) {
      text += ' ';
    }
    text += Describe(element);
  }
  return text;
}

std::vector<ChunkRole> CoreRow(Layout layout, uint32_t members, uint64_t stripe) {
  const StripeRoles roles(layout, members, stripe);
  std::vector<ChunkRole> row;
  for (uint32_t slot = 0; slot < members; ++slot) {
    row.push_back(roles.RoleOf(slot));
  }
  return row;
}

TEST(StripeRolesTest, AgreeWithTheKnownRowsOfFiveMembers) {
  for (const auto& known : kFiveMembers) {
    ASSERT_TRUE(IsKnownLayout(known.layout_id));
    for (uint64_t stripe = 0; stripe < 5; ++stripe) {
      EXPECT_EQ(Join(CoreRow(static_cast<Layout>(known.layout_id), 5, stripe)), known.rows[stripe])
          << "layout " << known.layout_id << ", stripe " << stripe;
      EXPECT_EQ(Join(RowOf(known.layout_id, 5, stripe)), known.rows[stripe])
          << "oracle, layout " << known.layout_id << ", stripe " << stripe;
    }
  }
}

std::string Hex(const std::vector<uint8_t>& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

TEST(StripeRolesTest, GiveTheKnownBytesOfSixMembers) {
  for (const auto& known : kSixMembers) {
    for (uint64_t stripe = 0; stripe < 6; ++stripe) {
      const auto row = CoreRow(static_cast<Layout>(known.layout_id), 6, stripe);
      uint8_t p = 0;
      uint8_t q = 0;
      for (const ChunkRole& role : row) {
        if (role.kind == ChunkKind::kData) {
          const uint8_t data = kSixMemberData[role.data_index];
          p ^= data;
          q ^= testing::oracle::Product(testing::oracle::PowerOfTwo(role.exponent), data);
        }
      }
      std::vector<uint8_t> bytes;
      for (const ChunkRole& role : row) {
        bytes.push_back(role.kind == ChunkKind::kP   ? p
                        : role.kind == ChunkKind::kQ ? q
                                                     : kSixMemberData[role.data_index]);
      }
      EXPECT_EQ(Hex(bytes), known.rows[stripe])
          << "layout " << known.layout_id << ", stripe " << stripe;
    }
  }
}

TEST(StripeRolesTest, AgreeWithTheOracleInEverySlotForThreeRounds) {
  for (const Layout layout : AllLayouts()) {
    for (const uint32_t members : kMemberCounts) {
      for (const uint64_t stripe : StripesToTry(members)) {
        const std::string expected = Join(RowOf(static_cast<int>(layout), members, stripe));
        ASSERT_EQ(Join(CoreRow(layout, members, stripe)), expected)
            << LayoutName(layout) << ", " << members << " members, stripe " << stripe;
      }
    }
  }
}

// Everything that must hold in one stripe by itself.
void ExpectConsistent(Layout layout, uint32_t members, uint64_t stripe) {
  const StripeRoles roles(layout, members, stripe);
  ASSERT_NE(roles.p_slot(), roles.q_slot());
  ASSERT_EQ(roles.RoleOf(roles.p_slot()), ChunkRole{.kind = ChunkKind::kP});
  ASSERT_EQ(roles.RoleOf(roles.q_slot()), ChunkRole{.kind = ChunkKind::kQ});
  std::set<uint32_t> slots = {roles.p_slot(), roles.q_slot()};
  std::set<uint32_t> exponents;
  for (uint32_t k = 0; k < members - 2; ++k) {
    const uint32_t slot = roles.DataSlot(k);
    ASSERT_LT(slot, members);
    ASSERT_TRUE(slots.insert(slot).second) << "slot " << slot << " holds two chunks";
    const ChunkRole role = roles.RoleOf(slot);
    ASSERT_EQ(role.kind, ChunkKind::kData);
    ASSERT_EQ(role.data_index, k);
    ASSERT_EQ(role.exponent, roles.Exponent(slot));
    ASSERT_LT(role.exponent, ExponentCount(layout, members));
    ASSERT_TRUE(exponents.insert(role.exponent).second) << "exponent twice";
  }
}

TEST(StripeRolesTest, MapDataToSlotsAndBackInEveryStripe) {
  for (const Layout layout : AllLayouts()) {
    for (const uint32_t members : kMemberCounts) {
      for (const uint64_t stripe : StripesToTry(members)) {
        SCOPED_TRACE(::testing::Message()
                     << LayoutName(layout) << ", " << members << " members, stripe " << stripe);
        ASSERT_NO_FATAL_FAILURE(ExpectConsistent(layout, members, stripe));
      }
    }
  }
}

TEST(StripeRolesTest, AgreeWithTheOracleForAnyMemberCountAndHugeStripes) {
  testing::Prng prng(testing::TestSeed("StripeRolesHuge"));
  for (int round = 0; round < 1000; ++round) {
    const Layout layout = AllLayouts()[prng.Below(AllLayouts().size())];
    const auto members = static_cast<uint32_t>(prng.Between(4, 255));
    const uint64_t stripe = prng.Next() >> prng.Below(64);
    SCOPED_TRACE(::testing::Message()
                 << LayoutName(layout) << ", " << members << " members, stripe " << stripe);
    ASSERT_EQ(Join(CoreRow(layout, members, stripe)),
              Join(RowOf(static_cast<int>(layout), members, stripe)));
    ASSERT_NO_FATAL_FAILURE(ExpectConsistent(layout, members, stripe));
  }
}

TEST(ExponentCountTest, IsOneMoreThanTheLargestExponentOfAllStripes) {
  for (const Layout layout : AllLayouts()) {
    for (const uint32_t members : kMemberCounts) {
      uint32_t largest = 0;
      for (const uint64_t stripe : StripesToTry(members)) {
        for (const Cell& cell : RowOf(static_cast<int>(layout), members, stripe)) {
          largest = std::max(largest, uint32_t{cell.exponent});
        }
      }
      EXPECT_EQ(ExponentCount(layout, members), largest + 1) << LayoutName(layout) << members;
    }
  }
}

TEST(HoldsOnlyParityTest, IsTrueWhereNoStripePutsData) {
  for (const Layout layout : AllLayouts()) {
    for (const uint32_t members : kMemberCounts) {
      std::vector<bool> holds_data(members);
      for (const uint64_t stripe : StripesToTry(members)) {
        const auto row = RowOf(static_cast<int>(layout), members, stripe);
        for (uint32_t slot = 0; slot < members; ++slot) {
          holds_data[slot] = holds_data[slot] || row[slot].kind == 'D';
        }
      }
      for (uint32_t slot = 0; slot < members; ++slot) {
        EXPECT_NE(HoldsOnlyParity(layout, members, slot), holds_data[slot])
            << LayoutName(layout) << ", " << members << " members, slot " << slot;
      }
    }
  }
}

TEST(StripeRolesDeathTest, ArgumentsOutOfRangeAreOurBugs) {
  EXPECT_DEATH(StripeRoles(Layout::kLeftSymmetric, 3, 0), "check failed");
  EXPECT_DEATH(StripeRoles(Layout::kLeftSymmetric, 256, 0), "check failed");
  EXPECT_DEATH(StripeRoles(static_cast<Layout>(6), 4, 0), "check failed");
  const StripeRoles roles(Layout::kParityFirst, 5, 0);
  EXPECT_DEATH(roles.DataSlot(3), "check failed");
  EXPECT_DEATH(roles.RoleOf(5), "check failed");
  EXPECT_DEATH(roles.Exponent(0), "check failed");
  EXPECT_DEATH(roles.Exponent(1), "check failed");
  EXPECT_DEATH(roles.Exponent(5), "check failed");
}

}  // namespace
}  // namespace mdvol
