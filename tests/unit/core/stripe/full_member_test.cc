// A full file system under one member, and what comes after: the loss of another member, reads and
// writes of what can then only be told from parity (I6, I13), and failures on the way back.

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "core/base/units.h"
#include "gtest/gtest.h"
#include "tests/support/stripes/stripe_rig.h"
#include "tests/unit/core/stripe/fault_operations.h"

namespace mdvol {
namespace {

using testing::FaultRigOptions;
using testing::kFaultChunk;
using testing::kFaultMembers;
using testing::kFaultStripe;
using testing::StripeRig;

constexpr uint64_t kChunksInStripe = kFaultMembers - 2;

void RefuseWrites(StripeRig& rig, uint32_t slot, int error_number, uint64_t nth = 0) {
  rig.fault(slot).AddRule(
      {.op = FaultOp::kWrite, .kind = FaultKind::kError, .error_number = error_number, .nth = nth});
}

uint64_t VolumeOffset(uint32_t data_index) { return kFaultStripe + data_index * kFaultChunk; }

// The whole order: first full, then a member fails. Every length picks another strategy, every slot
// of the stripe is the full one once and the failing one once.
TEST(FullMemberTest, ALossAfterAFullFileSystemIsMadeUpFor) {
  for (const uint64_t length : {4096 * uint64_t{1}, 4 * kFaultChunk, kFaultStripe}) {
    for (uint32_t full = 0; full < kFaultMembers; ++full) {
      for (uint32_t lost = 0; lost < kFaultMembers; ++lost) {
        SCOPED_TRACE(::testing::Message()
                     << length << " bytes, slot " << full << " full, slot " << lost << " lost");
        StripeRig rig(FaultRigOptions(1 + full));
        RefuseWrites(rig, full, ENOSPC);
        const std::vector<std::byte> data(length, std::byte{0xab});
        const EngineResult result = rig.engine().Write(rig.view(), VolumeOffset(1), data);
        if (rig.fault(full).FiredCount() > 0) {
          EXPECT_EQ(result.error, ENOSPC);
        }
        // What the members hold now is what counts, block by block.
        std::vector<std::byte> before(rig.geometry().volume_bytes());
        ASSERT_EQ(rig.engine().Read(rig.view(), 0, before).error, 0);
        rig.Lose(lost);
        std::vector<std::byte> after(kFaultChunk);
        for (uint32_t k = 0; k < kChunksInStripe; ++k) {
          const EngineResult read = rig.engine().Read(rig.view(), VolumeOffset(k), after);
          if (read.error == EIO) {
            EXPECT_FALSE(result.owed_stripes.empty()) << "lost without need";
            continue;
          }
          ASSERT_EQ(std::memcmp(after.data(), before.data() + VolumeOffset(k), kFaultChunk), 0)
              << "a guess for data " << k;
        }
      }
    }
  }
}

// Nothing helps: neither the old bytes nor new parity can be written. D1 is old, P and Q are of the
// new D1. What is lost then cannot be told, and nobody makes it up.
class OwedParityTest : public ::testing::Test {
 protected:
  void OweParity() {
    RefuseWrites(*rig_, roles_.DataSlot(1), ENOSPC);
    FailSettling(roles_.p_slot());
    FailSettling(roles_.q_slot());
    const std::vector<std::byte> data(4 * kFaultChunk, std::byte{0xcd});
    const EngineResult result = rig_->engine().Write(rig_->view(), VolumeOffset(0), data);
    EXPECT_EQ(result.error, ENOSPC);
    ASSERT_EQ(result.owed_stripes.size(), 1u);
    for (uint32_t slot = 0; slot < kFaultMembers; ++slot) {
      rig_->fault(slot).ClearRules();
    }
  }

  // The second write of the slot's block meets a full file system.
  void FailSettling(uint32_t slot) { RefuseWrites(*rig_, slot, ENOSPC, 2); }

  int ReadError(uint32_t data_index) {
    std::vector<std::byte> bytes(512);
    return rig_->engine().Read(rig_->view(), VolumeOffset(data_index), bytes).error;
  }

  std::unique_ptr<StripeRig> rig_ = std::make_unique<StripeRig>(FaultRigOptions(77));
  const StripeRoles roles_ = rig_->geometry().RolesOf(1);
};

TEST_F(OwedParityTest, NothingIsReconstructedThatPAndQDoNotAgreeOn) {
  OweParity();
  rig_->Lose(roles_.DataSlot(0));
  EXPECT_EQ(ReadError(0), EIO);
  EXPECT_EQ(ReadError(1), 0) << "its member is there";
  std::vector<std::byte> stripe(kFaultStripe);
  EXPECT_EQ(rig_->engine().Read(rig_->view(), kFaultStripe, stripe).error, EIO);
  EXPECT_EQ(rig_->engine().Read(rig_->view(), 0, stripe).error, 0) << "another stripe";
  // Nor does a write build on it: part of the lost block would be a guess.
  EXPECT_EQ(
      rig_->engine().Write(rig_->view(), VolumeOffset(0) + 100, std::span(stripe).first(100)).error,
      EIO);
}

// The block whose write was refused is the lost one: P and Q agree on what it was to be.
TEST_F(OwedParityTest, WhatPAndQAgreeOnIsRead) {
  OweParity();
  rig_->Lose(roles_.DataSlot(1));
  std::vector<std::byte> bytes(kFaultChunk);
  EXPECT_EQ(rig_->engine().Read(rig_->view(), VolumeOffset(1), bytes).error, 0);
  EXPECT_EQ(bytes, std::vector<std::byte>(kFaultChunk, std::byte{0xcd}));
}

TEST_F(OwedParityTest, WithTwoLossesOrOneParityNothingCanAgree) {
  for (const uint32_t second : {roles_.DataSlot(2), roles_.p_slot(), roles_.q_slot()}) {
    rig_ = std::make_unique<StripeRig>(FaultRigOptions(77));
    OweParity();
    rig_->Lose(roles_.DataSlot(1));
    rig_->Lose(second);
    EXPECT_EQ(ReadError(1), EIO);
    EXPECT_EQ(ReadError(3), 0);
  }
}

// New bytes with new parity need no old ones: what is written then can be read, whatever is lost.
TEST_F(OwedParityTest, WhatIsWrittenOverItIsPaid) {
  OweParity();
  rig_->Lose(roles_.DataSlot(0));
  rig_->Lose(roles_.q_slot());
  EXPECT_EQ(ReadError(0), EIO);
  EXPECT_EQ(rig_->Write(VolumeOffset(0), 4096).error, 0);
  EXPECT_EQ(rig_->Read(VolumeOffset(0), 4096).error, 0);
  std::vector<std::byte> rest(512);
  EXPECT_EQ(rig_->engine().Read(rig_->view(), VolumeOffset(0) + 4096, rest).error, EIO);
  EXPECT_EQ(rig_->Write(kFaultStripe, kFaultStripe).error, 0);
  EXPECT_EQ(rig_->Read(kFaultStripe, kFaultStripe).error, 0);
}

// ---- Parity that cannot be settled ----

TEST(FullMemberSettlingTest, AMemberThatRefusesItsParityIsReportedAndNotBelieved) {
  StripeRig rig(FaultRigOptions(5));
  const StripeRoles roles = rig.geometry().RolesOf(1);
  RefuseWrites(rig, roles.DataSlot(1), ENOSPC);
  RefuseWrites(rig, roles.q_slot(), EIO, 2);
  const std::vector<std::byte> data(4 * kFaultChunk, std::byte{0xcd});
  const EngineResult result = rig.engine().Write(rig.view(), kFaultStripe, data);
  EXPECT_EQ(result.error, ENOSPC);
  EXPECT_TRUE(result.owed_stripes.empty()) << "P is right, Q is out";
  ASSERT_EQ(result.member_errors.size(), 1u);
  EXPECT_EQ(result.member_errors[0].slot, roles.q_slot());
  rig.fault(roles.DataSlot(1)).ClearRules();
  std::vector<std::byte> before(kFaultStripe);
  ASSERT_EQ(rig.engine().Read(rig.view(), kFaultStripe, before).error, 0);
  rig.Lose(roles.q_slot());
  rig.Lose(roles.DataSlot(0));
  std::vector<std::byte> after(kFaultStripe);
  ASSERT_EQ(rig.engine().Read(rig.view(), kFaultStripe, after).error, 0);
  EXPECT_EQ(before, after);
}

// A block without a home is what parity says it is; after a failed write that may be anything, but
// all parity has to say the same.
TEST(FullMemberSettlingTest, ParityThatCannotBeWrittenIsFollowed) {
  const StripeRoles roles = StripeRig(FaultRigOptions(7)).geometry().RolesOf(1);
  for (const uint32_t full : {roles.p_slot(), roles.q_slot(), roles.DataSlot(1)}) {
    for (const uint32_t second : {roles.DataSlot(0), roles.DataSlot(2), roles.q_slot()}) {
      if (full == second) {
        continue;
      }
      StripeRig rig(FaultRigOptions(7));
      rig.Lose(roles.DataSlot(0));
      rig.Lose(second);
      RefuseWrites(rig, full, ENOSPC);
      const std::vector<std::byte> data(kFaultStripe, std::byte{0xcd});
      const EngineResult result = rig.engine().Write(rig.view(), kFaultStripe, data);
      EXPECT_EQ(result.error, ENOSPC);
      EXPECT_TRUE(result.owed_stripes.empty());
      std::vector<std::byte> before(kFaultStripe);
      EXPECT_EQ(rig.engine().Read(rig.view(), kFaultStripe, before).error, 0);
      if (second == roles.DataSlot(0)) {  // P and Q are both there, and say the same
        std::vector<std::byte> after(kFaultStripe);
        rig.Lose(roles.DataSlot(3));
        EXPECT_EQ(rig.engine().Read(rig.view(), kFaultStripe, after).error, 0);
        EXPECT_EQ(before, after);
      }
    }
  }
}

TEST(FullMemberSettlingTest, DataThatCannotBeReadAgainLeavesTheParityOwed) {
  StripeRig rig(FaultRigOptions(6));
  const StripeRoles roles = rig.geometry().RolesOf(1);
  RefuseWrites(rig, roles.DataSlot(1), ENOSPC);
  rig.fault(roles.DataSlot(2)).AddRule({.op = FaultOp::kRead, .kind = FaultKind::kError});
  const std::vector<std::byte> data(kFaultStripe, std::byte{0xcd});
  const EngineResult result = rig.engine().Write(rig.view(), kFaultStripe, data);
  EXPECT_EQ(result.error, ENOSPC);
  EXPECT_EQ(result.owed_stripes.size(), 1u);
}

// ---- Undoing ----

// A file system may store a part, refuse the rest, and refuse even to take that part back.
TEST(FullMemberUndoTest, ABlockThatIsNeitherOldNorNewIsNotTakenForOld) {
  StripeRig rig(FaultRigOptions(2));
  const StripeRoles roles = rig.geometry().RolesOf(1);
  const uint32_t slot = roles.DataSlot(1);
  const uint64_t begin = rig.DataOffset(slot) + kFaultChunk;
  MemberDevice* const memory = &rig.memory(slot);
  rig.hook(slot).set_hook([memory, begin, first = true](const IoRequest& request) mutable {
    if (request.kind == IoKind::kWrite && request.offset_bytes == begin && first) {
      first = false;
      IoRequest half = request;
      half.length_bytes = 4096;
      half.buffers.resize(1);
      half.buffers[0].iov_len = 4096;
      memory->Submit(half);
      memory->Wait(half);
    }
  });
  RefuseWrites(rig, slot, ENOSPC);
  const std::vector<std::byte> data(8192, std::byte{0xcd});
  const EngineResult result = rig.engine().Write(rig.view(), VolumeOffset(1), data);
  EXPECT_EQ(result.error, ENOSPC);
  EXPECT_TRUE(result.owed_stripes.empty());
  EXPECT_TRUE(rig.InconsistentStripes().empty()) << "parity is to be that of the half block";
}

// A write error says nothing of what the block holds, so its member's word is not taken for it.
TEST(FullMemberUndoTest, ABlockThatFailedIsStaleWhereTheOldBytesCannotBeHadBack) {
  StripeRig rig(FaultRigOptions(3));
  const StripeRoles roles = rig.geometry().RolesOf(1);
  rig.Lose(roles.DataSlot(0));
  rig.Lose(roles.DataSlot(3));
  const uint32_t slot = roles.DataSlot(1);
  RefuseWrites(rig, slot, EIO);
  const std::vector<std::byte> data(4096, std::byte{0xcd});
  const EngineResult result = rig.engine().Write(rig.view(), VolumeOffset(1), data);
  EXPECT_EQ(result.error, EIO);
  rig.fault(slot).ClearRules();
  rig.Scribble(slot, kFaultChunk, kFaultChunk + 512);  // half stored, as it may be
  std::vector<std::byte> bytes(512);
  EXPECT_EQ(rig.engine().Read(rig.view(), VolumeOffset(0), bytes).error, EIO)
      << "reconstructed from a block that nobody knows";
}

// ---- What is acknowledged can be read ----

// In a doubtful stripe a bad block is not mended on the way. With it, a missing member and a write
// that P's member refuses, three blocks are lost: the new bytes of the missing one cannot be had.
TEST(FullMemberUndoTest, ABlockThatStaysUnreadableCountsAmongTheLost) {
  StripeRig rig(FaultRigOptions(4), [](uint64_t stripe) { return stripe == 1; });
  const StripeRoles roles = rig.geometry().RolesOf(1);
  rig.Lose(roles.DataSlot(0));
  rig.AddBadBlocks(roles.DataSlot(2), kFaultChunk, 2 * kFaultChunk);
  RefuseWrites(rig, roles.p_slot(), EIO);
  const std::vector<std::byte> data(kFaultChunk, std::byte{0xcd});
  EXPECT_EQ(rig.engine().Write(rig.view(), VolumeOffset(0), data).error, EIO);
}

// But where nothing failed, a lost neighbour is no reason to refuse what was stored.
TEST(FullMemberUndoTest, ABadBlockBesideLostParityDoesNotRefuseOtherWrites) {
  StripeRig rig(FaultRigOptions(4));
  const StripeRoles roles = rig.geometry().RolesOf(1);
  rig.Lose(roles.p_slot());
  rig.Lose(roles.q_slot());
  rig.AddBadBlocks(roles.DataSlot(2), kFaultChunk, 2 * kFaultChunk);
  EXPECT_EQ(rig.Write(VolumeOffset(1), kFaultChunk).error, 0);
  EXPECT_EQ(rig.Read(VolumeOffset(1), kFaultChunk).error, 0);
}

}  // namespace
}  // namespace mdvol
