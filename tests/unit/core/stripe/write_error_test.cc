// Writes that members refuse: what is reported, what is written all the same, and what becomes of
// bytes that nobody wrote. A member that fails a write is to be failed (I3); a full file system
// fails no member (I13); a third failure must not take along what two losses had left.

#include <cerrno>
#include <vector>

#include "core/base/units.h"
#include "gtest/gtest.h"
#include "tests/support/full.h"
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
using testing::OperationKind;
using testing::RigOptions;
using testing::RunOperation;
using testing::StripeRig;

void FailWrites(StripeRig& rig, uint32_t slot, int error_number, uint64_t nth = 0) {
  rig.fault(slot).AddRule(
      {.op = FaultOp::kWrite, .kind = FaultKind::kError, .error_number = error_number, .nth = nth});
}

bool Names(const MemberErrors& errors, uint32_t slot, int error_number) {
  for (const MemberError& error : errors) {
    if (error.slot == slot && error.error == error_number && !error.is_read) {
      return true;
    }
  }
  return false;
}

// Calls visit(operation, lost, slot, k) for every write operation, loss and member; k = 1, 2, …
// until visit says that there was no k-th write.
template <typename Visit>
void WalkWrites(Visit visit) {
  for (const Operation& operation : kOperations) {
    if (operation.kind == OperationKind::kRead) {
      continue;
    }
    for (const auto& lost : kLossesBefore) {
      for (uint32_t slot = 0; slot < kFaultMembers; ++slot) {
        SCOPED_TRACE(::testing::Message() << operation.name << ", lost "
                                          << ::testing::PrintToString(lost) << ", slot " << slot);
        uint64_t k = 1;
        while (visit(operation, lost, slot, k) && !::testing::Test::HasFatalFailure()) {
          ++k;
        }
      }
    }
  }
}

// The k-th write fails, once, then the member is failed: all that was written must be there without
// it.
TEST(WriteErrorTest, AMemberThatFailsAnyWriteIsReportedAndNotNeeded) {
  WalkWrites([](const Operation& operation, const auto& lost, uint32_t slot, uint64_t k) {
    StripeRig rig(FaultRigOptions(k));
    for (const uint32_t other : lost) {
      rig.Lose(other);
    }
    FailWrites(rig, slot, EIO, k);
    const EngineResult result = RunOperation(rig, operation);
    if (rig.fault(slot).FiredCount() == 0) {
      EXPECT_EQ(result.error, 0);
      EXPECT_TRUE(result.member_errors.empty());
      return false;
    }
    EXPECT_TRUE(result.owed_stripes.empty());
    // A merged request that fails is tried again piece by piece, and then may succeed.
    if (result.member_errors.empty()) {
      EXPECT_EQ(result.error, 0);
    } else {
      EXPECT_TRUE(Names(result.member_errors, slot, EIO));
      EXPECT_EQ(result.error, lost.size() < 2 ? 0 : EIO);
      if (lost.size() < 2) {
        rig.Lose(slot);
      }
    }
    EXPECT_TRUE(rig.MembersAgree()) << "write " << k << " failed";
    return !::testing::Test::HasFailure();
  });
}

// I13: putting a cable back is enough. All writes and reads of the third member fail from the k-th
// on; afterwards, with the member back, everything that was not to be written is as it was.
TEST(WriteErrorTest, AThirdFailureTakesNothingElseAlong) {
  WalkWrites([](const Operation& operation, const auto& lost, uint32_t slot, uint64_t k) {
    if (lost.size() < 2 || k > 1) {
      return false;
    }
    StripeRig rig(FaultRigOptions(k));
    for (const uint32_t other : lost) {
      rig.Lose(other);
    }
    FailWrites(rig, slot, EIO);
    RunOperation(rig, operation);
    rig.fault(slot).ClearRules();
    EXPECT_TRUE(rig.MembersAgree());
    EXPECT_TRUE(rig.ReadsWithout({}));
    return false;
  });
}

// The file system of one member is full: the writer is told, nobody is failed, no other byte is
// lost. Parity is right at once, or is owed and right once it has been recomputed.
TEST(WriteErrorTest, AFullFileSystemIsTheWritersProblemAlone) {
  for (const int error_number : {ENOSPC, EDQUOT}) {
    WalkWrites([=](const Operation& operation, const auto& lost, uint32_t slot, uint64_t k) {
      if (k > 1) {
        return false;
      }
      StripeRig rig(FaultRigOptions(slot));
      for (const uint32_t other : lost) {
        rig.Lose(other);
      }
      FailWrites(rig, slot, error_number);
      const EngineResult result = RunOperation(rig, operation);
      if (rig.fault(slot).FiredCount() == 0) {
        EXPECT_EQ(result.error, 0);
        return false;
      }
      EXPECT_EQ(result.error, error_number);
      EXPECT_TRUE(result.member_errors.empty());
      EXPECT_TRUE(rig.ReadsWithout({})) << "bytes that nobody wrote are gone";
      if (lost.empty()) {
        EXPECT_EQ(rig.InconsistentStripes(),
                  std::vector<uint64_t>(result.owed_stripes.begin(), result.owed_stripes.end()));
      }
      rig.fault(slot).ClearRules();
      for (const uint64_t stripe : result.owed_stripes) {
        const EngineResult paid = rig.engine().RecomputeParity(rig.view(), stripe, 1);
        EXPECT_EQ(paid.error, 0);
        // What cannot be recomputed must not be owed: it was put back instead. But where all that
        // is missing was the writer's own, there is nothing to put back and nobody to miss it.
        if (paid.skipped_stripes == 0) {
          EXPECT_TRUE(rig.MembersAgree());
        }
      }
      EXPECT_TRUE(rig.ReadsWithout({}));
      if (lost.empty()) {
        EXPECT_TRUE(rig.MembersAgree());
        EXPECT_TRUE(rig.InconsistentStripes().empty());
      }
      // The next write finds its way.
      EXPECT_EQ(RunOperation(rig, operation).error, 0);
      EXPECT_TRUE(rig.ReadsWithout({}));
      return !::testing::Test::HasFailure();
    });
  }
}

// Bytes that only parity holds survive a refused write, and so do the old bytes in its place.
TEST(WriteErrorTest, ARefusedWriteInADegradedStripeIsUndone) {
  const StripeRig shape(FaultRigOptions(1));
  const StripeRoles roles = shape.geometry().RolesOf(1);
  for (const uint64_t length : {4096u, 100u}) {
    for (const bool two_lost : {false, true}) {
      for (uint32_t rmw_level = 0; rmw_level < 3; ++rmw_level) {
        for (uint32_t full = 0; full < kFaultMembers; ++full) {
          StripeRig rig(FaultRigOptions(full));
          rig.engine().set_rmw_level(rmw_level);
          rig.Lose(roles.DataSlot(0));
          if (two_lost) {
            rig.Lose(roles.DataSlot(3));
          }
          FailWrites(rig, full, ENOSPC);
          const std::vector<std::byte> data(length, std::byte{0xab});
          const EngineResult result =
              rig.engine().Write(rig.view(), kFaultStripe + kFaultChunk, data);
          if (rig.fault(full).FiredCount() == 0) {
            rig.model().Write(kFaultStripe + kFaultChunk, data);
          } else {
            EXPECT_EQ(result.error, ENOSPC);
            EXPECT_TRUE(result.owed_stripes.empty());
          }
          // The model knows nothing of a write that failed: all must be as before.
          ASSERT_TRUE(rig.MembersAgree())
              << "slot " << full << " full, rmw_level " << rmw_level << ", length " << length;
        }
      }
    }
  }
}

// Part of a refused write may have been stored: the file system filled up on the way.
TEST(WriteErrorTest, AnUndoReachesWhatARefusedWriteHasStored) {
  StripeRig rig(FaultRigOptions(2));
  const StripeRoles roles = rig.geometry().RolesOf(1);
  rig.Lose(roles.DataSlot(0));
  const uint32_t slot = roles.DataSlot(1);
  // The second half of the range cannot be written; the device stores the first before it says so.
  const uint64_t begin = rig.DataOffset(slot) + kFaultChunk;
  MemberDevice* const memory = &rig.memory(slot);
  rig.hook(slot).set_hook([memory, begin](const IoRequest& request) {
    if (request.kind == IoKind::kWrite && request.offset_bytes == begin) {
      IoRequest half = request;
      half.length_bytes = 4096;
      half.buffers.resize(1);
      half.buffers[0].iov_len = 4096;
      memory->Submit(half);
      memory->Wait(half);
    }
  });
  FailWrites(rig, slot, ENOSPC);
  const std::vector<std::byte> data(8192, std::byte{0xcd});
  const EngineResult result = rig.engine().Write(rig.view(), kFaultStripe + kFaultChunk, data);
  EXPECT_EQ(result.error, ENOSPC);
  EXPECT_TRUE(rig.MembersAgree());
}

TEST(WriteErrorTest, AnUndoThatFailsLeavesTheParityOwed) {
  StripeRig rig(FaultRigOptions(3));
  const StripeRoles roles = rig.geometry().RolesOf(1);
  rig.Lose(roles.DataSlot(0));
  FailWrites(rig, roles.DataSlot(1), ENOSPC);
  FailWrites(rig, roles.p_slot(), ENOSPC, 2);  // the first write goes through, the undo does not
  const std::vector<std::byte> data(4096, std::byte{0xcd});
  const EngineResult result = rig.engine().Write(rig.view(), kFaultStripe + kFaultChunk, data);
  EXPECT_EQ(result.error, ENOSPC);
  EXPECT_EQ(result.owed_stripes.size(), 1u);
}

// ---- Bad blocks ----

TEST(WriteErrorTest, BadBlocksThatAreWrittenOverAreNamed) {
  for (const Operation& operation : kOperations) {
    if (operation.kind == OperationKind::kRead) {
      continue;
    }
    SCOPED_TRACE(operation.name);
    StripeRig rig(FaultRigOptions(9));
    const uint32_t slot = rig.geometry().RolesOf(1).DataSlot(1);
    rig.AddBadBlocks(slot, kFaultChunk, 2 * kFaultChunk);
    const EngineResult result = RunOperation(rig, operation);
    EXPECT_EQ(result.error, 0);
    ASSERT_FALSE(result.rewritten_bad.empty());
    BadBlockList left;
    left.Add({0, kTiB});
    for (const RewrittenBad& rewritten : result.rewritten_bad) {
      EXPECT_EQ(rewritten.slot, slot);
      left.Remove(rewritten.range);
    }
    // What is not bad any more holds what belongs there.
    const std::vector<std::byte> area = rig.DataArea(slot);
    for (uint64_t at = kFaultChunk; at < 2 * kFaultChunk; ++at) {
      const uint64_t on_member = rig.DataOffset(slot) + at;
      if (!left.Touches(on_member, on_member + 1)) {
        const uint64_t volume = rig.geometry().LocateOnMember(slot, at).volume_offset_bytes;
        ASSERT_EQ(area[at], rig.model().bytes()[volume]);
      }
    }
  }
}

// ---- Between a failed write and the member's failure ----

// Others still see the member. They must not plan with its stale block, nor be acknowledged first.
TEST(WriteErrorTest, NobodyPlansWithABlockWhoseWriteHasFailed) {
  for (const uint64_t length : {512u, 4096u}) {
    StripeRig rig(FaultRigOptions(4));
    const StripeRoles roles = rig.geometry().RolesOf(1);
    const uint32_t slot = roles.DataSlot(1);
    FailWrites(rig, slot, EIO, 1);
    EngineResult result = rig.Write(kFaultStripe + kFaultChunk, length);
    EXPECT_EQ(result.error, 0);
    EXPECT_TRUE(Names(result.member_errors, slot, EIO));
    // The same block again, another of the stripe, and bytes that need the old ones: none of these
    // writes fails by itself any more.
    for (const uint64_t offset : {kFaultChunk, 2 * kFaultChunk, kFaultChunk + 100}) {
      result = rig.Write(kFaultStripe + offset, length);
      EXPECT_EQ(result.error, 0);
      EXPECT_TRUE(Names(result.member_errors, slot, EIO)) << "acknowledged before the failure";
    }
    EXPECT_TRUE(rig.Write(0, 4096).member_errors.empty()) << "another stripe";
    EXPECT_TRUE(rig.Zero(kFaultStripe + 3 * kFaultChunk, 100).error == 0);
    const uint32_t lost[] = {slot};
    EXPECT_TRUE(rig.ReadsWithout(lost));
    rig.Lose(slot);
    EXPECT_TRUE(rig.MembersAgree());
    EXPECT_TRUE(rig.Write(kFaultStripe + kFaultChunk, length).member_errors.empty());
    EXPECT_TRUE(rig.MembersAgree());
  }
}

TEST(WriteErrorTest, NobodyReconstructsFromABlockWhoseWriteHasFailed) {
  StripeRig rig(FaultRigOptions(5));
  const StripeRoles roles = rig.geometry().RolesOf(1);
  rig.Lose(roles.DataSlot(0));
  FailWrites(rig, roles.DataSlot(1), EIO, 1);
  EXPECT_FALSE(rig.Write(kFaultStripe + kFaultChunk, kFaultChunk).member_errors.empty());
  EXPECT_EQ(rig.Read(kFaultStripe, kFaultChunk).error, 0);
  // Nor is parity recomputed from it.
  rig.TakeTraffic();
  const EngineResult result = rig.engine().RecomputeParity(rig.view(), 0, 3);
  EXPECT_EQ(rig.TakeTraffic().writes, 0u);
  EXPECT_TRUE(Names(result.member_errors, roles.DataSlot(1), EIO));
  EXPECT_EQ(rig.Read(kFaultStripe, kFaultStripe).error, 0);
}

TEST(WriteErrorTest, ZeroingAStripeReportsAndSkipsLikeAWrite) {
  StripeRig rig(FaultRigOptions(6));
  FailWrites(rig, 2, EIO, 1);
  EngineResult result = rig.Zero(kFaultStripe, kFaultStripe);
  EXPECT_EQ(result.error, 0);
  EXPECT_TRUE(Names(result.member_errors, 2, EIO));
  result = rig.Zero(kFaultStripe, kFaultStripe);
  EXPECT_TRUE(Names(result.member_errors, 2, EIO));
  EXPECT_EQ(rig.TrafficOf(2).writes, 1u);
  rig.Lose(2);
  EXPECT_TRUE(rig.MembersAgree());
}

TEST(WriteErrorTest, ZeroingAStripeWithThreeLossesFails) {
  StripeRig rig(FaultRigOptions(7));
  for (const uint32_t slot : {0u, 2u, 3u}) {
    rig.Lose(slot);
  }
  rig.TakeTraffic();
  EXPECT_EQ(rig.Zero(kFaultStripe, kFaultStripe).error, EIO);
  EXPECT_EQ(rig.TakeTraffic().writes, 0u);
}

// Parity that is owed is not trusted: what is written next replaces it (I12).
TEST(WriteErrorTest, OwedParityIsNotReadUntilItIsPaid) {
  StripeRig rig(FaultRigOptions(8));
  const StripeRoles roles = rig.geometry().RolesOf(1);
  FailWrites(rig, roles.p_slot(), ENOSPC);
  const EngineResult result = rig.Write(kFaultStripe, 4 * kFaultChunk);
  EXPECT_EQ(result.error, ENOSPC);
  ASSERT_EQ(result.owed_stripes.size(), 1u);
  EXPECT_EQ(result.owed_stripes[0], 1u);
  rig.fault(roles.p_slot()).ClearRules();
  rig.TakeTraffic();
  EXPECT_EQ(rig.Write(kFaultStripe + kFaultChunk, 4096).error, 0);
  EXPECT_EQ(rig.TrafficOf(roles.p_slot()).reads, 0u);
  EXPECT_EQ(rig.TrafficOf(roles.q_slot()).reads, 0u);
  EXPECT_TRUE(rig.MembersAgree());
  EXPECT_EQ(rig.engine().RecomputeParity(rig.view(), 1, 1).error, 0);
  rig.TakeTraffic();
  rig.engine().set_rmw_level(2);
  EXPECT_EQ(rig.Write(kFaultStripe + kFaultChunk, 512).error, 0);
  EXPECT_EQ(rig.TrafficOf(roles.p_slot()).reads, 1u) << "paid, and still not trusted";
}

}  // namespace
}  // namespace mdvol
