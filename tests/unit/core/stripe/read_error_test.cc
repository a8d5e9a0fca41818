// Read errors: every operation, every member, every place; whole and degraded. Bytes come out right
// or EIO does, exactly where more than two are lost; what can be mended is mended, and nothing more
// than that.

#include <cerrno>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "gtest/gtest.h"
#include "tests/support/full.h"
#include "tests/support/seed.h"
#include "tests/support/stripes/stripe_rig.h"
#include "tests/unit/core/stripe/fault_operations.h"

namespace mdvol {
namespace {

using testing::FaultRigOptions;
using testing::FullRun;
using testing::kFaultChunk;
using testing::kFaultMembers;
using testing::kFaultStripe;
using testing::kLossesBefore;
using testing::kOperations;
using testing::Operation;
using testing::Prng;
using testing::RigOptions;
using testing::RunOperation;
using testing::StripeRig;
using testing::TestSeed;

// A bad sector in a lane of a slot's data area: reads that touch it fail until it is written.
void BreakSector(StripeRig& rig, uint32_t slot, uint64_t data_offset_bytes,
                 FaultUntil until = FaultUntil::kWrite) {
  rig.fault(slot).AddRule({.op = FaultOp::kRead,
                           .kind = FaultKind::kError,
                           .offset_bytes = rig.DataOffset(slot) + data_offset_bytes,
                           .length_bytes = kSectorBytes,
                           .until = until});
}

// The k-th read of a member fails, once: k = 1, 2, … until there is no k-th read any more.
TEST(ReadErrorTest, AnyReadMayFailOnce) {
  for (const Operation& operation : kOperations) {
    for (const auto& lost : kLossesBefore) {
      for (uint32_t slot = 0; slot < kFaultMembers; ++slot) {
        for (uint64_t k = 1;; ++k) {
          SCOPED_TRACE(::testing::Message()
                       << operation.name << ", lost " << ::testing::PrintToString(lost) << ", read "
                       << k << " of slot " << slot << " fails");
          StripeRig rig(FaultRigOptions(k));
          for (const uint32_t other : lost) {
            rig.Lose(other);
          }
          rig.fault(slot).AddRule({.op = FaultOp::kRead, .kind = FaultKind::kError, .nth = k});
          const EngineResult result = RunOperation(rig, operation);
          EXPECT_EQ(result.error, 0) << "tried again, it would have worked";
          EXPECT_TRUE(result.member_errors.empty());
          EXPECT_TRUE(result.owed_stripes.empty());
          ASSERT_TRUE(rig.MembersAgree());
          if (rig.fault(slot).FiredCount() == 0) {
            break;
          }
        }
      }
    }
  }
}

// Mending is not what the reader waits for: while a chunk is mended writes need not be held back.
// He waits for his own read, and for the blocks that it takes to rebuild what he could not read.
TEST(ReadErrorTest, OnlyWhatAReaderWaitsForIsReadForReaders) {
  for (const RepairMode mode : {RepairMode::kLocate, RepairMode::kParity}) {
    StripeRig rig(FaultRigOptions(1));
    std::vector<uint64_t> reads_for(2);
    for (uint32_t slot = 0; slot < kFaultMembers; ++slot) {
      rig.hook(slot).set_hook([&](const IoRequest& request) {
        if (request.kind == IoKind::kRead) {
          ++reads_for[request.serves_reader ? 1 : 0];
        }
      });
    }
    const uint32_t slot = rig.geometry().RolesOf(1).DataSlot(0);
    BreakSector(rig, slot, kFaultChunk);
    EXPECT_EQ(rig.Read(kFaultStripe, kFaultChunk).mended_slots.size(), 1U);
    // His own, tried again lane by lane, then the other data and P: see ReadExecutor.
    EXPECT_GT(reads_for[1], 0U);
    // To mend: the others again, and what was rewritten.
    EXPECT_EQ(reads_for[0], kFaultMembers - 2 + 1);
    reads_for = {0, 0};
    BreakSector(rig, slot, kFaultChunk);
    SyncFindings findings;
    EXPECT_EQ(rig.engine().RepairStripes(rig.view(), 0, 3, mode, &findings).mended_slots.size(),
              1U);
    EXPECT_EQ(reads_for[1], 0U);
  }
}

// One bad sector, in each lane of each member in turn.
TEST(ReadErrorTest, ABadSectorIsMendedWhereItIsMetUnlessThreeAreLost) {
  const uint64_t step = FullRun() ? kSectorBytes : 4096 + 512;
  for (const Operation& operation : kOperations) {
    for (const auto& lost : kLossesBefore) {
      for (uint32_t slot = 0; slot < kFaultMembers; ++slot) {
        for (uint64_t at = kFaultChunk; at < 2 * kFaultChunk; at += step) {
          SCOPED_TRACE(::testing::Message()
                       << operation.name << ", lost " << ::testing::PrintToString(lost)
                       << ", bad sector at " << at << " of slot " << slot);
          StripeRig rig(FaultRigOptions(at + slot));
          for (const uint32_t other : lost) {
            rig.Lose(other);
          }
          BreakSector(rig, slot, RoundDown(at, kSectorBytes));
          const EngineResult result = RunOperation(rig, operation);
          const bool was_met = rig.fault(slot).FiredCount() > 0;
          if (lost.size() < 2) {
            EXPECT_EQ(result.error, 0);
            EXPECT_TRUE(!was_met || rig.fault(slot).Rules().empty()) << "met, but not mended";
            EXPECT_EQ(!result.mended_slots.empty(), was_met);
          } else if (result.error != 0) {
            EXPECT_EQ(result.error, EIO);
            EXPECT_TRUE(was_met);
            EXPECT_TRUE(result.mended_slots.empty());
          }
          for (const uint32_t mended : result.mended_slots) {
            EXPECT_EQ(mended, slot);
          }
          EXPECT_TRUE(result.member_errors.empty());
          ASSERT_TRUE(rig.MembersAgree());
        }
      }
    }
  }
}

// Random bad sectors all over: what is wrong in one lane is no loss to the next.
TEST(ReadErrorTest, ReadsFailExactlyInLanesWhereThreeAreLost) {
  Prng prng(TestSeed("ReadErrorLanes"));
  for (int round = 0; round < (FullRun() ? 3000 : 100); ++round) {
    RigOptions options = FaultRigOptions(prng.Next());
    options.layout = AllLayouts()[prng.Below(AllLayouts().size())];
    options.alignment_bytes = prng.OneIn(2) ? 1 : 4096;
    StripeRig rig(options);
    SCOPED_TRACE(::testing::Message() << options);
    std::vector<std::vector<bool>> bad(kFaultMembers, std::vector<bool>(12));
    if (prng.OneIn(2)) {
      const auto lost = static_cast<uint32_t>(prng.Below(kFaultMembers));
      rig.Lose(lost);
      bad[lost].assign(12, true);
    }
    for (uint64_t i = prng.Between(4, 24); i > 0; --i) {
      const auto slot = static_cast<uint32_t>(prng.Below(kFaultMembers));
      const uint64_t lane = prng.Below(12);
      if (!bad[slot][lane]) {
        bad[slot][lane] = true;
        BreakSector(rig, slot, lane * kLaneBytes + prng.Below(8) * kSectorBytes,
                    FaultUntil::kNever);
      }
    }
    rig.view().writable = false;  // I9: nothing is mended, so that nothing changes
    for (uint64_t lane = 0; lane < 12; ++lane) {
      uint32_t count = 0;
      for (uint32_t slot = 0; slot < kFaultMembers; ++slot) {
        count += bad[slot][lane] ? 1u : 0u;
      }
      for (uint32_t slot = 0; slot < kFaultMembers; ++slot) {
        const MemberLocation location = rig.geometry().LocateOnMember(slot, lane * kLaneBytes);
        if (location.role.kind == ChunkKind::kData) {
          EXPECT_EQ(rig.Read(location.volume_offset_bytes, kLaneBytes).error,
                    bad[slot][lane] && count > 2 ? EIO : 0)
              << "slot " << slot << ", lane " << lane;
        }
      }
    }
    EXPECT_EQ(rig.TakeTraffic().writes, 0u);
    ASSERT_TRUE(rig.MembersAgree());
  }
}

TEST(ReadErrorTest, TwoErrorsInOneLaneAreMendedTogether) {
  for (const Operation& operation : kOperations) {
    StripeRig rig(FaultRigOptions(3));
    const StripeRoles roles = rig.geometry().RolesOf(1);
    const std::vector<std::pair<uint32_t, uint32_t>> pairs = {
        {roles.DataSlot(0), roles.DataSlot(1)},
        {roles.DataSlot(1), roles.p_slot()},
        {roles.DataSlot(1), roles.q_slot()},
        {roles.p_slot(), roles.q_slot()}};
    for (const auto& [a, b] : pairs) {
      SCOPED_TRACE(::testing::Message() << operation.name << ", slots " << a << " and " << b);
      BreakSector(rig, a, kFaultChunk + 5120);
      BreakSector(rig, b, kFaultChunk + 4096);
      const EngineResult result = RunOperation(rig, operation);
      EXPECT_EQ(result.error, 0);
      EXPECT_TRUE(result.member_errors.empty());
      ASSERT_TRUE(rig.MembersAgree());
      rig.fault(a).ClearRules();
      rig.fault(b).ClearRules();
    }
  }
}

// A block that is mended must be what the stripe says, not just any bytes that can be read.
TEST(ReadErrorTest, WhatIsMendedIsRight) {
  StripeRig rig(FaultRigOptions(4));
  const uint32_t slot = rig.geometry().RolesOf(1).DataSlot(2);
  rig.Scribble(slot, kFaultChunk + 4096, kFaultChunk + 8192);
  for (uint64_t at = 4096; at < 8192; at += kSectorBytes) {
    BreakSector(rig, slot, kFaultChunk + at);
  }
  const EngineResult result = rig.Read(kFaultStripe + 2 * kFaultChunk, kFaultChunk);
  EXPECT_EQ(result.error, 0);
  EXPECT_EQ(result.mended_slots.size(), 1u);
  EXPECT_EQ(rig.TakeTraffic().written_bytes, 4096u) << "one lane";
  ASSERT_TRUE(rig.MembersAgree());
}

TEST(ReadErrorTest, ABlockThatStaysBadFailsItsMember) {
  StripeRig rig(FaultRigOptions(5));
  const uint32_t slot = rig.geometry().RolesOf(1).DataSlot(2);
  BreakSector(rig, slot, kFaultChunk + 4096, FaultUntil::kNever);
  const EngineResult result = rig.Read(kFaultStripe + 2 * kFaultChunk, kFaultChunk);
  EXPECT_EQ(result.error, 0) << "the bytes are there all the same";
  ASSERT_EQ(result.member_errors.size(), 1u);
  EXPECT_EQ(result.member_errors[0].slot, slot);
  EXPECT_EQ(result.member_errors[0].error, EIO);
  EXPECT_TRUE(result.member_errors[0].is_read);
  EXPECT_TRUE(result.mended_slots.empty());
}

TEST(ReadErrorTest, AMemberThatIsGoneIsReportedOnceWhateverItsChunkHolds) {
  StripeRig rig(FaultRigOptions(6));
  const uint32_t slot = rig.geometry().RolesOf(1).DataSlot(2);
  rig.fault(slot).AddRule({.op = FaultOp::kAny, .kind = FaultKind::kError});
  const EngineResult result = rig.Read(kFaultStripe + 2 * kFaultChunk, kFaultChunk);
  EXPECT_EQ(result.error, 0);
  EXPECT_EQ(result.member_errors.size(), 1u);
}

// I13: a mend that finds the file system full leaves the block bad and the member in.
TEST(ReadErrorTest, AFullFileSystemFailsNoMemberThatIsMended) {
  StripeRig rig(FaultRigOptions(7));
  const uint32_t slot = rig.geometry().RolesOf(1).DataSlot(2);
  BreakSector(rig, slot, kFaultChunk + 4096);
  rig.fault(slot).AddRule(
      {.op = FaultOp::kWrite, .kind = FaultKind::kError, .error_number = ENOSPC});
  const EngineResult result = rig.Read(kFaultStripe + 2 * kFaultChunk, kFaultChunk);
  EXPECT_EQ(result.error, 0);
  EXPECT_TRUE(result.member_errors.empty());
  EXPECT_TRUE(result.mended_slots.empty());
}

TEST(ReadErrorTest, NothingIsMendedOnAReadOnlyArray) {
  StripeRig rig(FaultRigOptions(8));
  rig.view().writable = false;
  const uint32_t slot = rig.geometry().RolesOf(1).DataSlot(2);
  BreakSector(rig, slot, kFaultChunk + 4096);
  const EngineResult result = rig.Read(kFaultStripe + 2 * kFaultChunk, kFaultChunk);
  EXPECT_EQ(result.error, 0);
  EXPECT_TRUE(result.mended_slots.empty());
  EXPECT_EQ(rig.TakeTraffic().writes, 0u);
}

// I12: parity in doubt serves reads, but nothing is written from it.
TEST(ReadErrorTest, NothingIsMendedFromDoubtfulParity) {
  StripeRig rig(FaultRigOptions(9), [](uint64_t stripe) { return stripe == 1; });
  const uint32_t slot = rig.geometry().RolesOf(1).DataSlot(2);
  BreakSector(rig, slot, kFaultChunk + 4096);
  EngineResult result = rig.Read(kFaultStripe + 2 * kFaultChunk, kFaultChunk);
  EXPECT_EQ(result.error, 0);
  EXPECT_TRUE(result.mended_slots.empty());
  EXPECT_EQ(rig.TakeTraffic().writes, 0u);
  // Nor on the way of a write beside it, whatever its plan.
  for (const uint64_t length : {kFaultChunk, 2 * kFaultChunk}) {
    result = rig.Write(kFaultStripe, length);
    EXPECT_EQ(result.error, 0);
    EXPECT_TRUE(result.mended_slots.empty());
    EXPECT_EQ(rig.TrafficOf(slot).writes, 0u);
    EXPECT_FALSE(rig.fault(slot).Rules().empty());
    ASSERT_TRUE(rig.MembersAgree());
  }
}

TEST(ReadErrorTest, DoubtfulParityIsReplacedByWhatIsWritten) {
  StripeRig rig(FaultRigOptions(10), [](uint64_t stripe) { return stripe == 1; });
  const StripeRoles roles = rig.geometry().RolesOf(1);
  for (const uint32_t slot : {roles.p_slot(), roles.q_slot()}) {
    rig.FlipBit(slot, kFaultChunk + 5000);
  }
  EXPECT_EQ(rig.Write(kFaultStripe + 5000, 10).error, 0);
  EXPECT_TRUE(rig.MembersAgree());
}

// Known bad blocks are no read errors: they are rewritten when their turn comes, without a word.
TEST(ReadErrorTest, KnownBadBlocksAreNotReportedAsMended) {
  StripeRig rig(FaultRigOptions(11));
  const uint32_t slot = rig.geometry().RolesOf(1).DataSlot(2);
  rig.AddBadBlocks(slot, kFaultChunk + 4096, kFaultChunk + 8192);
  EngineResult result = rig.Read(kFaultStripe + 2 * kFaultChunk, kFaultChunk);
  EXPECT_EQ(result.error, 0);
  EXPECT_TRUE(result.mended_slots.empty());
  result = rig.Write(kFaultStripe + 2 * kFaultChunk, kFaultChunk);
  EXPECT_EQ(result.error, 0);
  EXPECT_TRUE(result.mended_slots.empty());
  ASSERT_TRUE(rig.MembersAgree());
}

}  // namespace
}  // namespace mdvol
