// StripeEngine::CheckStripes and RepairStripes: one wrong member is named and mended exactly, two
// are reported, nothing else changes by a byte, and what cannot be told is not guessed.

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <vector>

#include "core/base/units.h"
#include "gtest/gtest.h"
#include "tests/support/seed.h"
#include "tests/support/stripes/stripe_rig.h"

namespace mdvol {
namespace {

using testing::Prng;
using testing::RigOptions;
using testing::StripeRig;
using testing::TestSeed;

constexpr uint64_t kChunk = 4 * kLaneBytes;

std::vector<std::vector<std::byte>> AllBytes(StripeRig& rig) {
  std::vector<std::vector<std::byte>> all;
  for (uint32_t slot = 0; slot < rig.geometry().raid_disks(); ++slot) {
    all.push_back(rig.DataArea(slot));
  }
  return all;
}

SyncFindings Check(StripeRig& rig) {
  SyncFindings findings;
  const EngineResult result =
      rig.engine().CheckStripes(rig.view(), 0, rig.geometry().stripe_count(), &findings);
  EXPECT_EQ(result.error, 0);
  EXPECT_TRUE(result.member_errors.empty());
  EXPECT_EQ(result.skipped_stripes, findings.skipped_stripes);
  return findings;
}

EngineResult RepairAll(StripeRig& rig, RepairMode mode, SyncFindings* findings) {
  return rig.engine().RepairStripes(rig.view(), 0, rig.geometry().stripe_count(), mode, findings);
}

SyncFindings Repair(StripeRig& rig, RepairMode mode = RepairMode::kLocate) {
  SyncFindings findings;
  const EngineResult result = RepairAll(rig, mode, &findings);
  EXPECT_EQ(result.error, 0);
  EXPECT_TRUE(result.member_errors.empty());
  return findings;
}

// The finding that a wrong block of these columns must give.
WrongBlock Expected(const StripeRig& rig, uint64_t stripe, uint32_t slot, ColumnRange columns) {
  const ChunkRole role = rig.geometry().RolesOf(stripe).RoleOf(slot);
  return {.stripe = stripe,
          .columns = {RoundDown(columns.begin, kLaneBytes), RoundUp(columns.end, kLaneBytes)},
          .kind = role.kind == ChunkKind::kData ? WrongKind::kData
                  : role.kind == ChunkKind::kP  ? WrongKind::kP
                                                : WrongKind::kQ,
          .slot = slot,
          .data_index = role.data_index};
}

void ExpectWrong(const SyncFindings& findings, const std::vector<WrongBlock>& expected,
                 bool repaired) {
  uint64_t lanes = 0;
  for (const WrongBlock& wrong : expected) {
    lanes += wrong.columns.size() / kLaneBytes;
  }
  EXPECT_EQ(findings.mismatch_sectors, 8 * lanes);
  ASSERT_EQ(findings.wrong.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const WrongBlock& found = findings.wrong[i];
    EXPECT_EQ(found.stripe, expected[i].stripe);
    EXPECT_EQ(found.columns.begin, expected[i].columns.begin);
    EXPECT_EQ(found.columns.end, expected[i].columns.end);
    ASSERT_EQ(found.kind, expected[i].kind) << "stripe " << found.stripe;
    if (found.kind != WrongKind::kSeveral) {
      EXPECT_EQ(found.slot, expected[i].slot);
    }
    if (found.kind == WrongKind::kData) {
      EXPECT_EQ(found.data_index, expected[i].data_index);
    }
    EXPECT_EQ(found.repaired, repaired);
  }
}

class CheckRepairTest : public ::testing::TestWithParam<Layout> {
 protected:
  static RigOptions Options(uint32_t members, uint64_t seed) {
    return {.layout = GetParam(),
            .members = members,
            .chunk_bytes = kChunk,
            .stripes = members,
            .alignment_bytes = members % 2 == 0 ? 4096u : 1u,
            .seed = seed};
  }

  // A bit, a few bytes, a lane, or a whole chunk of the block.
  static ColumnRange Spoil(StripeRig& rig, uint64_t stripe, uint32_t slot, Prng& prng) {
    const uint64_t at = prng.Below(kChunk);
    ColumnRange columns{at, at + 1};
    switch (prng.Below(4)) {
      case 0:
        rig.FlipBit(slot, stripe * kChunk + at);
        return columns;
      case 1:
        columns.end = std::min(kChunk, at + 40);
        break;
      case 2:
        columns = {RoundDown(at, kLaneBytes), RoundDown(at, kLaneBytes) + kLaneBytes};
        break;
      default:
        columns = {0, kChunk};
    }
    // Every byte is wrong: noise might hit the right one.
    for (uint64_t c = columns.begin; c < columns.end; ++c) {
      if (columns.size() < 100 || c % 97 == 0 || c % kLaneBytes == 0) {
        rig.FlipBit(slot, stripe * kChunk + c);
      }
    }
    return columns;
  }
};

// Every member of every stripe once, and in each stripe another one at a time.
TEST_P(CheckRepairTest, NamesAndMendsExactlyTheOneThatIsWrong) {
  Prng prng(TestSeed("CheckRepair") + static_cast<uint64_t>(GetParam()));
  for (uint32_t members = 4; members <= 8; ++members) {
    StripeRig rig(Options(members, prng.Next()));
    const auto right = AllBytes(rig);
    for (uint32_t round = 0; round < members; ++round) {
      std::vector<WrongBlock> expected;
      for (uint64_t stripe = 0; stripe < members; ++stripe) {
        const auto slot = static_cast<uint32_t>((stripe + round) % members);
        expected.push_back(Expected(rig, stripe, slot, Spoil(rig, stripe, slot, prng)));
      }
      const auto spoilt = AllBytes(rig);
      ExpectWrong(Check(rig), expected, false);
      ASSERT_EQ(AllBytes(rig), spoilt) << "a check wrote";
      ExpectWrong(Repair(rig), expected, true);
      ASSERT_EQ(AllBytes(rig), right);
      ExpectWrong(Check(rig), {}, false);
    }
    ASSERT_TRUE(rig.MembersAgree()) << "written outside of the data areas";
  }
}

TEST_P(CheckRepairTest, NamesAndMendsAWholeMember) {
  for (uint32_t members = 4; members <= 8; ++members) {
    StripeRig rig(Options(members, members));
    const auto right = AllBytes(rig);
    for (uint32_t slot = 0; slot < members; ++slot) {
      rig.Scribble(slot, 0, rig.geometry().component_bytes());
      std::vector<WrongBlock> expected;
      for (uint64_t stripe = 0; stripe < members; ++stripe) {
        expected.push_back(Expected(rig, stripe, slot, {0, kChunk}));
      }
      ExpectWrong(Repair(rig), expected, true);
      ASSERT_EQ(AllBytes(rig), right);
    }
  }
}

// Two members in one lane: reported, left alone; what is wrong elsewhere is mended all the same.
TEST_P(CheckRepairTest, LeavesAloneWhatTwoMembersGotWrong) {
  const uint32_t members = 6;
  StripeRig rig(Options(members, 3));
  for (uint32_t a = 0; a < members; ++a) {
    for (uint32_t b = a + 1; b < members; ++b) {
      const uint64_t stripe = (a + b) % members;
      const ColumnRange lane{kLaneBytes, 2 * kLaneBytes};
      const auto right = AllBytes(rig);
      rig.Scribble(a, stripe * kChunk + lane.begin, stripe * kChunk + lane.end);
      rig.Scribble(b, stripe * kChunk + lane.begin + 512, stripe * kChunk + lane.end);
      const auto spoilt = AllBytes(rig);
      rig.FlipBit(a, stripe * kChunk + 3 * kLaneBytes);
      SyncFindings findings = Repair(rig);
      ASSERT_EQ(findings.wrong.size(), 2u);
      EXPECT_EQ(findings.wrong[0].kind, WrongKind::kSeveral);
      EXPECT_FALSE(findings.wrong[0].repaired);
      EXPECT_TRUE(findings.wrong[1].repaired);
      ASSERT_EQ(AllBytes(rig), spoilt);
      // One pass is enough: what is left is what was reported.
      findings = Check(rig);
      ExpectWrong(findings, {{.stripe = stripe, .columns = lane}}, false);
      // md's way: data stays, P and Q follow.
      findings = Repair(rig, RepairMode::kParity);
      ExpectWrong(findings, {{.stripe = stripe, .columns = lane}}, true);
      ExpectWrong(Check(rig), {}, false);
      ASSERT_TRUE(rig.InconsistentStripes().empty());
      for (uint32_t slot = 0; slot < members; ++slot) {
        const ChunkRole role = rig.geometry().RolesOf(stripe).RoleOf(slot);
        if (role.kind == ChunkKind::kData) {
          ASSERT_EQ(rig.DataArea(slot), spoilt[slot]);
        }
      }
    }
  }
}

TEST_P(CheckRepairTest, DetectsWithOneMemberMissing) {
  const uint32_t members = 5;
  for (uint32_t lost = 0; lost < members; ++lost) {
    StripeRig rig(Options(members, lost));
    rig.Lose(lost);
    ExpectWrong(Check(rig), {}, false);
    for (uint32_t wrong = 0; wrong < members; ++wrong) {
      if (wrong == lost) {
        continue;
      }
      for (uint64_t stripe = 0; stripe < members; ++stripe) {
        rig.FlipBit(wrong, stripe * kChunk + 5000);
        // With P or Q missing, the other one is all that there is to compare.
        const std::vector<WrongBlock> expected = {
            {.stripe = stripe, .columns = {kLaneBytes, 2 * kLaneBytes}}};
        const StripeRoles roles = rig.geometry().RolesOf(stripe);
        const auto spoilt = AllBytes(rig);
        ExpectWrong(Check(rig), expected, false);
        ExpectWrong(Repair(rig), expected, false);
        ASSERT_EQ(AllBytes(rig), spoilt) << "repaired by guess";
        const bool has_data = roles.p_slot() == lost || roles.q_slot() == lost;
        ExpectWrong(Repair(rig, RepairMode::kParity), expected, has_data);
        if (!has_data) {
          ASSERT_EQ(AllBytes(rig), spoilt);
          rig.FlipBit(wrong, stripe * kChunk + 5000);
        }
      }
    }
  }
}

std::string TestName(const ::testing::TestParamInfo<Layout>& layout) {
  std::string name(LayoutName(layout.param));
  name.erase(std::remove(name.begin(), name.end(), '-'), name.end());
  return name;
}

INSTANTIATE_TEST_SUITE_P(Layouts, CheckRepairTest, ::testing::ValuesIn(AllLayouts()), TestName);

// ---- Healthy ----

RigOptions SixMembers() {
  return {.layout = Layout::kLeftSymmetric,
          .members = 6,
          .chunk_bytes = kChunk,
          .stripes = 12,
          .seed = 11};
}

TEST(CheckRepairHealthyTest, ReadsEverythingOnceAndWritesNothing) {
  StripeRig rig(SixMembers());
  for (const RepairMode mode : {RepairMode::kLocate, RepairMode::kParity}) {
    rig.TakeTraffic();
    ExpectWrong(Repair(rig, mode), {}, false);
    StripeRig::Traffic traffic = rig.TakeTraffic();
    EXPECT_EQ(traffic.writes, 0u);
    EXPECT_EQ(traffic.read_bytes, 6 * rig.geometry().component_bytes());
    EXPECT_EQ(traffic.reads, 6u) << "one request a member and window";
    ExpectWrong(Check(rig), {}, false);
    traffic = rig.TakeTraffic();
    EXPECT_EQ(traffic.writes, 0u);
    EXPECT_EQ(traffic.reads, 6u);
  }
}

TEST(CheckRepairHealthyTest, TouchesOnlyTheStripesInQuestion) {
  StripeRig rig(SixMembers());
  for (uint64_t stripe = 0; stripe < 12; ++stripe) {
    rig.FlipBit(0, stripe * kChunk);
  }
  SyncFindings findings;
  rig.engine().RepairStripes(rig.view(), 3, 2, RepairMode::kLocate, &findings);
  EXPECT_EQ(findings.mismatch_sectors, 16u);
  rig.engine().CheckStripes(rig.view(), 0, 12, &findings);
  EXPECT_EQ(findings.mismatch_sectors, 16u + 80u) << "findings add up";
}

// ---- Missing, unreadable, in doubt ----

TEST(CheckRepairTroubleTest, WithTwoMissingNothingCanBeToldAndNothingIsSkipped) {
  StripeRig rig(SixMembers());
  rig.Lose(1);
  rig.Lose(4);
  rig.FlipBit(2, 99);
  const auto before = AllBytes(rig);
  for (const RepairMode mode : {RepairMode::kLocate, RepairMode::kParity}) {
    const SyncFindings findings = Repair(rig, mode);
    if (mode == RepairMode::kLocate) {
      ExpectWrong(findings, {}, false);
      ASSERT_EQ(AllBytes(rig), before);
    }
    EXPECT_EQ(findings.skipped_stripes, 0u);
  }
  rig.AddBadBlocks(0, 0, 512);
  EXPECT_EQ(Check(rig).skipped_stripes, 1u) << "three lost";
}

// A bad block and a checkpoint are like a missing member, for the columns that they have. They are
// not read: there is noise in them.
TEST(CheckRepairTroubleTest, ABadBlockAndACheckpointLeaveTheRestToBeCompared) {
  StripeRig rig(SixMembers());
  const StripeRoles roles = rig.geometry().RolesOf(2);
  const uint32_t bad = roles.DataSlot(1);
  rig.AddBadBlocks(bad, 2 * kChunk + 512, 2 * kChunk + 1024);
  rig.BeginRecovery(roles.DataSlot(0), 9 * kChunk + 2560);
  ExpectWrong(Check(rig), {}, false);
  const uint32_t wrong = roles.DataSlot(2);
  rig.FlipBit(wrong, 2 * kChunk + 100);  // in the lane of the bad block, beside it
  SyncFindings findings = Repair(rig);
  EXPECT_EQ(findings.mismatch_sectors, 8u);
  ASSERT_EQ(findings.wrong.size(), 1u);
  EXPECT_EQ(findings.wrong[0].kind, WrongKind::kData);
  EXPECT_EQ(findings.wrong[0].columns.end, 512u);
  EXPECT_TRUE(findings.wrong[0].repaired);
  rig.FlipBit(wrong, 2 * kChunk + 100);
  rig.FlipBit(wrong, 2 * kChunk + 700);
  findings = Repair(rig);
  EXPECT_EQ(findings.mismatch_sectors, 8u) << "a lane counts once";
  EXPECT_EQ(findings.wrong.size(), 2u);
  rig.FlipBit(wrong, 2 * kChunk + 700);
  EXPECT_TRUE(rig.MembersAgree());
}

// A read error is mended on the way, by a check too, if the rest of the lane agrees.
TEST(CheckRepairTroubleTest, AReadErrorIsMendedIfTheRestAgrees) {
  for (const bool repairs : {false, true}) {
    for (uint32_t slot = 0; slot < 6; ++slot) {
      StripeRig rig(SixMembers());
      const uint64_t at = 5 * kChunk + kLaneBytes;
      const auto right = AllBytes(rig);
      rig.Scribble(slot, at, at + kLaneBytes);
      rig.fault(slot).AddRule({.op = FaultOp::kRead,
                               .kind = FaultKind::kError,
                               .offset_bytes = rig.DataOffset(slot) + at + 512,
                               .length_bytes = 512,
                               .until = FaultUntil::kWrite});
      SyncFindings findings;
      const EngineResult result = repairs ? RepairAll(rig, RepairMode::kLocate, &findings)
                                          : rig.engine().CheckStripes(rig.view(), 0, 12, &findings);
      ExpectWrong(findings, {}, false);
      ASSERT_EQ(result.mended_slots.size(), 1u);
      EXPECT_EQ(result.mended_slots[0], slot);
      EXPECT_EQ(AllBytes(rig), right);
    }
  }
}

// A repair tries to write over what is known to be bad, and says where that went well. Where it
// does not, nothing is worse than before.
TEST(CheckRepairTroubleTest, ABadBlockIsWrittenOverByARepairAlone) {
  for (const bool refuses : {false, true}) {
    for (uint32_t slot = 0; slot < 6; ++slot) {
      StripeRig rig(SixMembers());
      const auto right = AllBytes(rig);
      const uint64_t at = 5 * kChunk + kLaneBytes + 512;
      rig.AddBadBlocks(slot, at, at + 1024);
      if (refuses) {
        rig.fault(slot).AddRule({.op = FaultOp::kWrite, .kind = FaultKind::kError});
      }
      SyncFindings findings;
      EXPECT_TRUE(rig.engine().CheckStripes(rig.view(), 0, 12, &findings).rewritten_bad.empty());
      EXPECT_EQ(rig.TakeTraffic().writes, 0u);
      const EngineResult result = RepairAll(rig, RepairMode::kLocate, &findings);
      ExpectWrong(findings, {}, false);
      EXPECT_TRUE(result.member_errors.empty() && result.mended_slots.empty());
      if (refuses) {
        EXPECT_TRUE(result.rewritten_bad.empty());
        continue;
      }
      ASSERT_EQ(result.rewritten_bad.size(), 1u);
      EXPECT_EQ(result.rewritten_bad[0].slot, slot);
      EXPECT_EQ(result.rewritten_bad[0].range.begin, rig.DataOffset(slot) + at);
      EXPECT_EQ(result.rewritten_bad[0].range.end, rig.DataOffset(slot) + at + 1024);
      EXPECT_EQ(AllBytes(rig), right);
    }
  }
}

TEST(CheckRepairTroubleTest, AReadErrorInAWrongLaneIsNotMendedByGuess) {
  StripeRig rig(SixMembers());
  const StripeRoles roles = rig.geometry().RolesOf(5);
  rig.FlipBit(roles.DataSlot(2), 5 * kChunk + 7);
  rig.fault(roles.DataSlot(1))
      .AddRule({.op = FaultOp::kRead,
                .kind = FaultKind::kError,
                .offset_bytes = rig.DataOffset(roles.DataSlot(1)) + 5 * kChunk,
                .length_bytes = 512});
  rig.TakeTraffic();
  for (const RepairMode mode : {RepairMode::kLocate, RepairMode::kParity}) {
    ExpectWrong(Repair(rig, mode), {{.stripe = 5, .columns = {0, kLaneBytes}}}, false);
  }
  EXPECT_EQ(rig.TakeTraffic().writes, 0u);
}

TEST(CheckRepairTroubleTest, AViewThatMayNotBeWrittenIsNot) {
  StripeRig rig(SixMembers());
  rig.view().writable = false;
  rig.fault(3).AddRule({.op = FaultOp::kRead,
                        .kind = FaultKind::kError,
                        .offset_bytes = rig.DataOffset(3),
                        .length_bytes = 512});
  ExpectWrong(Check(rig), {}, false);
  EXPECT_EQ(rig.TakeTraffic().writes, 0u);
}

// I12: parity that an unclean stop left in doubt locates nothing; data is what counts.
TEST(CheckRepairTroubleTest, DoubtfulParityIsRewrittenAndLocatesNothing) {
  StripeRig rig(SixMembers(), [](uint64_t stripe) { return stripe == 3; });
  const StripeRoles roles = rig.geometry().RolesOf(3);
  const uint32_t slot = roles.DataSlot(1);
  rig.FlipBit(slot, 3 * kChunk + 9000);
  const auto spoilt = rig.DataArea(slot);
  const SyncFindings findings = Repair(rig);
  ExpectWrong(findings, {{.stripe = 3, .columns = {2 * kLaneBytes, 3 * kLaneBytes}}}, true);
  EXPECT_EQ(rig.DataArea(slot), spoilt);
  EXPECT_TRUE(rig.InconsistentStripes().empty());
  rig.Lose(slot);
  EXPECT_EQ(Repair(rig).skipped_stripes, 1u) << "cannot be rewritten without its data";
}

// ---- Members that refuse ----

TEST(CheckRepairTroubleTest, AMemberThatRefusesIsReportedAndItsBlockNotRepaired) {
  StripeRig rig(SixMembers());
  rig.FlipBit(2, 4 * kChunk);
  rig.FlipBit(2, 4 * kChunk + kLaneBytes);
  rig.fault(2).AddRule({.op = FaultOp::kWrite,
                        .kind = FaultKind::kError,
                        .offset_bytes = rig.DataOffset(2) + 4 * kChunk + kLaneBytes,
                        .length_bytes = kLaneBytes});
  SyncFindings findings;
  const EngineResult result = RepairAll(rig, RepairMode::kLocate, &findings);
  EXPECT_EQ(result.error, 0);
  ASSERT_EQ(result.member_errors.size(), 1u);
  EXPECT_EQ(result.member_errors[0].slot, 2u);
  ASSERT_EQ(findings.wrong.size(), 2u);
  EXPECT_TRUE(findings.wrong[0].repaired);
  EXPECT_FALSE(findings.wrong[1].repaired);
}

TEST(CheckRepairTroubleTest, AFullFileSystemFailsTheRepairAndNobody) {
  StripeRig rig(SixMembers());
  rig.FlipBit(2, 4 * kChunk);
  rig.fault(2).AddRule({.op = FaultOp::kWrite, .kind = FaultKind::kError, .error_number = ENOSPC});
  SyncFindings findings;
  const EngineResult result = RepairAll(rig, RepairMode::kLocate, &findings);
  EXPECT_EQ(result.error, ENOSPC);
  EXPECT_TRUE(result.member_errors.empty());
  ASSERT_EQ(findings.wrong.size(), 1u);
  EXPECT_FALSE(findings.wrong[0].repaired);
  rig.fault(2).ClearRules();
  EXPECT_TRUE(Repair(rig).wrong[0].repaired);
  EXPECT_TRUE(rig.MembersAgree());
}

}  // namespace
}  // namespace mdvol
