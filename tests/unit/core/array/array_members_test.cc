// Members come and go: added, re-added, removed, and what each of it leaves on the disks.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "core/base/units.h"
#include "core/stripe/sync_types.h"
#include "tests/support/test_array/log_checks.h"
#include "tests/support/test_array/test_array.h"
#include "tests/unit/core/array/members_fixture.h"

namespace mdvol {
namespace {

using testing::ArraySpec;
using testing::CheckEventOrder;
using testing::Disks;
using testing::ReadOnly;
using testing::RecordedRequest;
using testing::TestArray;

class ArrayMembersTest : public testing::MembersFixture {
 protected:
  // Which requests of the log write superblocks.
  std::vector<size_t> SuperWrites(const std::vector<RecordedRequest>& log) const {
    std::vector<size_t> supers;
    for (size_t i = 0; i < log.size(); ++i) {
      if (array_.IsSuper(log[i])) {
        supers.push_back(i);
      }
    }
    return supers;
  }
};

INSTANTIATE_TEST_SUITE_P(Specs, ArrayMembersTest, testing::MemberSpecs());

// ---- Add ----

TEST_P(ArrayMembersTest, ABlankDiskIsAddedAsASpareAndIsOneOnTheNextStart) {
  const size_t disk = array_.AddDisk();
  const Disks before = array_.disks().Copy();
  array_.recording().Clear();
  const auto index = array_.AddMember(disk);
  ASSERT_TRUE(index.ok()) << index.status();
  EXPECT_EQ(Of(disk).index, *index);
  EXPECT_TRUE(Of(disk).spare);
  EXPECT_EQ(Of(disk).dev_number, 6U);
  EXPECT_EQ(array_->Snapshot().degraded, 0U);
  EXPECT_FALSE(array_->PendingRecovery().has_value());
  EXPECT_EQ(CheckEventOrder({array_, before, array_.recording().requests(), {0, 1, 2, 3, 4, 5}}),
            "");
  EXPECT_EQ(array_.CheckSupers(), "");
  MDVOL_ASSERT_OK(array_.Stop());
  MDVOL_ASSERT_OK(array_.Open());
  EXPECT_TRUE(Of(disk).spare);
  EXPECT_EQ(array_.CheckVolume(), "");
  MDVOL_ASSERT_OK(array_.Stop());
}

TEST_P(ArrayMembersTest, ASpareIsRebuiltIntoTheSlotOfAFailedMember) {
  const size_t disk = array_.AddDisk();
  ASSERT_TRUE(array_.AddMember(disk).ok());
  MDVOL_ASSERT_OK(array_->FailMember(2, "by hand"));
  const auto pending = array_->PendingRecovery();
  ASSERT_TRUE(pending.has_value());
  EXPECT_EQ(pending->members, (std::vector<std::string>{"d6"}));
  EXPECT_FALSE(pending->guided);
  MDVOL_ASSERT_OK(array_.Recover());
  EXPECT_EQ(array_->Snapshot().degraded, 0U);
  EXPECT_TRUE(Of(disk).in_sync);
  EXPECT_EQ(Of(disk).slot, 2U);
  EXPECT_EQ(array_.CheckDiskInSlot(disk, 2), "");
  EXPECT_EQ(array_.super(disk).dev_roles[6], 2U);
  EXPECT_EQ(array_.super(0).dev_roles[2], kRoleFaulty);
  EXPECT_FALSE(array_.super(disk).has_feature(kFeatureRecoveryOffset));
  MDVOL_ASSERT_OK(array_.Write(1000, 100000));
  MDVOL_ASSERT_OK(array_.Stop());
  MDVOL_ASSERT_OK(array_.Open());
  EXPECT_EQ(array_->Snapshot().degraded, 0U);
  EXPECT_EQ(array_->Snapshot().members.size(), 6U);
  EXPECT_EQ(array_.CheckVolume(), "");
  EXPECT_EQ(array_.CheckDiskInSlot(disk, 2), "");
  EXPECT_EQ(array_.CheckVolumeWithout({0, 1}), "");
}

// I5: what was written meanwhile is on the target below the checkpoint, and never read beyond.
TEST_P(ArrayMembersTest, WritesGoOnDuringARebuild) {
  const size_t disk = array_.AddDisk();
  ASSERT_TRUE(array_.AddMember(disk).ok());
  MDVOL_ASSERT_OK(array_->FailMember(3, "by hand"));
  MDVOL_ASSERT_OK(array_->BeginRecovery());
  for (uint64_t first = 0; first < 32; first += 2) {
    SyncFindings findings;
    MDVOL_ASSERT_OK(array_->RecoverStripes({first, 2}, &findings));
    for (int i = 0; i < 4; ++i) {
      const uint64_t length = array_.prng().Between(1, 30000);
      MDVOL_ASSERT_OK(
          array_.Write(array_.prng().Below(array_.geometry().volume_bytes() - length), length));
    }
    EXPECT_EQ(Of(disk).recovery_bytes, (first + 2) * 4096);
    ASSERT_EQ(array_.CheckVolume(), "");
  }
  MDVOL_ASSERT_OK(array_->EndRecovery());
  EXPECT_EQ(array_.CheckDiskInSlot(disk, 3), "");
  EXPECT_EQ(array_->Snapshot().degraded, 0U);
}

TEST_P(ArrayMembersTest, ARebuildGoesOnFromItsCheckpointAfterACrash) {
  const size_t disk = array_.AddDisk();
  ASSERT_TRUE(array_.AddMember(disk).ok());
  MDVOL_ASSERT_OK(array_->FailMember(3, "by hand"));
  MDVOL_ASSERT_OK(array_->BeginRecovery());
  SyncFindings findings;
  MDVOL_ASSERT_OK(array_->RecoverStripes({0, 10}, &findings));
  MDVOL_ASSERT_OK(array_->CheckpointRecovery());
  EXPECT_EQ(array_.super(disk).recovery_offset, 10 * 8U);
  MDVOL_ASSERT_OK(array_->RecoverStripes({10, 10}, &findings));
  array_.clock().Advance(1000000000);
  array_->RunMaintenance();  // a clean mark says no more than was flushed for the checkpoint
  EXPECT_LE(array_.super(disk).recovery_offset, 20 * 8U);
  array_.Crash();
  MDVOL_ASSERT_OK(array_.Open({}, {.force = true}));
  const auto pending = array_->PendingRecovery();
  ASSERT_TRUE(pending.has_value());
  EXPECT_GE(pending->from_bytes, 10 * 4096U);
  MDVOL_ASSERT_OK(array_.Recover());
  EXPECT_EQ(array_.CheckDiskInSlot(disk, 3), "");
  EXPECT_EQ(array_.CheckVolume(), "");
}

TEST_P(ArrayMembersTest, TwoAreRebuiltAtOnce) {
  std::vector<size_t> disks;
  for (int i = 0; i < 3; ++i) {
    disks.push_back(array_.AddDisk());
    ASSERT_TRUE(array_.AddMember(disks.back()).ok());
  }
  MDVOL_ASSERT_OK(array_->FailMember(1, "by hand"));
  MDVOL_ASSERT_OK(array_->FailMember(4, "by hand"));
  MDVOL_ASSERT_OK(array_->BeginRecovery());
  EXPECT_TRUE(Of(disks[0]).recovering && Of(disks[1]).recovering && Of(disks[2]).spare);
  MDVOL_ASSERT_OK(array_.Recover());
  EXPECT_EQ(array_->Snapshot().degraded, 0U);
  EXPECT_EQ(array_.CheckDiskInSlot(disks[0], 1), "");
  EXPECT_EQ(array_.CheckDiskInSlot(disks[1], 4), "");
}

// Cut off in the middle, it must not be the only one that does not know its slot.
TEST_P(ArrayMembersTest, ASpareThatGetsASlotIsToldBeforeTheOthers) {
  const size_t disk = array_.AddDisk();
  ASSERT_TRUE(array_.AddMember(disk).ok());
  MDVOL_ASSERT_OK(array_->FailMember(3, "by hand"));
  array_.recording().Clear();
  MDVOL_ASSERT_OK(array_->BeginRecovery());
  const auto log = array_.recording().requests();
  const std::vector<size_t> supers = SuperWrites(log);
  ASSERT_EQ(supers.size(), 6U);
  EXPECT_EQ(log[supers[0]].member, disk);
  EXPECT_LE(testing::DurableAt(log, supers[0]), supers[1]);
}

// A target that cannot be written is failed; the next spare takes over.
TEST_P(ArrayMembersTest, ATargetThatFailsIsFollowedByTheNextSpare) {
  const size_t bad = array_.AddDisk();
  const size_t good = array_.AddDisk();
  ASSERT_TRUE(array_.AddMember(bad).ok());
  ASSERT_TRUE(array_.AddMember(good).ok());
  array_.fault(bad).AddRule({.op = FaultOp::kWrite,
                             .offset_bytes = array_.areas(bad).data.begin + 20 * 4096,
                             .length_bytes = 4096});
  MDVOL_ASSERT_OK(array_->FailMember(0, "by hand"));
  MDVOL_ASSERT_OK(array_.Recover());
  EXPECT_TRUE(Of(bad).faulty);
  EXPECT_EQ(Of(good).slot, 0U);
  EXPECT_EQ(array_.CheckDiskInSlot(good, 0), "");
  EXPECT_EQ(array_.CheckVolume(), "");
}

// ---- Who is refused ----

TEST_P(ArrayMembersTest, WhatMayBelongToSomebodyIsNotAdded) {
  const size_t disk = array_.AddDisk();
  const std::vector<std::byte> magic{std::byte{0x53}, std::byte{0xef}};
  array_.disks().Put(disk, 1024 + 0x38, magic);  // ext4
  const Disks before = array_.disks().Copy();
  absl::Status status = array_.AddMember(disk).status();
  MDVOL_EXPECT_ERRNO(status, EEXIST);
  EXPECT_TRUE(absl::StrContains(MessageOf(status), "wipe it first")) << status;

  ArraySpec spec = GetParam();
  TestArray other(spec);
  for (size_t i = 0; i < 6; ++i) {
    Superblock super = other.super(i);
    super.set_uuid.bytes.fill(0xbb);
    other.PutSuper(i, super);
  }
  array_.disks().Put(disk, 0, other.disks().Bytes(1, 0, other.disks()[1].size_bytes()));
  status = array_.AddMember(disk).status();
  MDVOL_EXPECT_ERRNO(status, EEXIST);
  EXPECT_EQ(array_.super(0).dev_roles[6], kRoleSpare);
  EXPECT_EQ(array_->Snapshot().members.size(), 6U);
}

TEST_P(ArrayMembersTest, WhoIsAMemberIsNotAddedAgain) {
  MDVOL_EXPECT_ERRNO(array_.AddMember(2).status(), EBUSY);
  array_.Crash();
  MDVOL_ASSERT_OK(array_.Open());
  MDVOL_ASSERT_OK(array_->FailMember(2, "by hand"));
  const absl::Status status = array_.AddMember(2).status();
  MDVOL_EXPECT_ERRNO(status, EBUSY);
  EXPECT_TRUE(absl::StrContains(MessageOf(status), "remove it first")) << status;
}

TEST_P(ArrayMembersTest, ASmallDiskIsNotAdded) {
  Disks small;
  small.Add("/m/small", array_.areas(0).data.size(),
            {.alignment_bytes = GetParam().alignment_bytes});
  const absl::Status status = array_->AddMember(small.Open(0), AddMode::kAdd).status();
  MDVOL_EXPECT_ERRNO(status, ENOSPC);
  EXPECT_TRUE(absl::StrContains(MessageOf(status), "/m/small: too small")) << status;
}

TEST_P(ArrayMembersTest, ReadOnlyNothingChanges) {
  MDVOL_ASSERT_OK(array_.Stop());
  const size_t disk = array_.AddDisk();
  const Disks before = array_.disks().Copy();
  testing::Opening opening = ReadOnly();
  opening.members = {0, 1, 2, 3, 4, 5};
  MDVOL_ASSERT_OK(array_.Open(opening));
  MDVOL_EXPECT_ERRNO(array_.AddMember(disk).status(), EROFS);
  MDVOL_EXPECT_ERRNO(array_->RemoveMember(1), EROFS);
  MDVOL_EXPECT_ERRNO(array_->SetReplacement(1, std::nullopt), EROFS);
  MDVOL_EXPECT_ERRNO(array_->BeginRecovery(), EROFS);
  EXPECT_FALSE(array_->PendingRecovery().has_value());
  EXPECT_EQ(array_.disks().DifferenceFrom(before), "");
}

// A disk whose metadata cannot be written does not become a member, and nobody keeps it.
TEST_P(ArrayMembersTest, ADiskThatCannotBeWrittenDoesNotBecomeAMember) {
  for (uint64_t nth = 1; nth <= 3; ++nth) {
    const size_t disk = array_.AddDisk();
    Disks copy = array_.disks().Copy();
    auto fault = NewFaultDevice(copy.Open(disk), 1, array_.clock());
    fault->AddRule({.op = FaultOp::kWrite, .nth = nth});
    const auto index = array_->AddMember(std::move(fault), AddMode::kAdd);
    if (index.ok()) {
      continue;  // there were fewer writes
    }
    EXPECT_EQ(array_->Snapshot().members.size(), 6U) << nth;
    MDVOL_ASSERT_OK(array_.Write(0, 10000));
  }
  EXPECT_EQ(array_->Snapshot().degraded, 0U);
  EXPECT_EQ(array_.CheckVolume(), "");
}

// I6: three are lost, and a blank member brings nothing back.
TEST_P(ArrayMembersTest, ABrokenArrayTakesNobody) {
  MDVOL_ASSERT_OK(array_->FailMember(0, "by hand"));
  MDVOL_ASSERT_OK(array_->FailMember(1, "by hand"));
  const size_t disk = array_.AddDisk();
  array_.fault(2).AddRule({.op = FaultOp::kWrite});
  EXPECT_FALSE(array_.Write(0, array_.geometry().volume_bytes()).ok());
  MDVOL_EXPECT_ERRNO(array_.AddMember(disk).status(), EBUSY);
  EXPECT_EQ(array_->Snapshot().state, ArrayState::kFailed);
}

// ---- Remove ----

TEST_P(ArrayMembersTest, FaultyMembersAndIdleSparesCanBeRemoved) {
  const size_t disk = array_.AddDisk();
  const auto index = array_.AddMember(disk);
  ASSERT_TRUE(index.ok());
  MDVOL_EXPECT_ERRNO(array_->RemoveMember(1), EBUSY);
  MDVOL_EXPECT_ERRNO(array_->RemoveMember(99), ENODEV);
  MDVOL_ASSERT_OK(array_->FailMember(1, "by hand"));
  MDVOL_ASSERT_OK(array_->RemoveMember(1));
  MDVOL_EXPECT_ERRNO(array_->RemoveMember(1), ENODEV);
  MDVOL_EXPECT_ERRNO(array_->FailMember(1, "again"), ENODEV);
  EXPECT_FALSE(array_.MemberOf(1).has_value());
  EXPECT_EQ(array_.MemberOf(2), 2U);  // indices stay
  MDVOL_ASSERT_OK(array_->RemoveMember(*index));
  EXPECT_EQ(array_->Snapshot().members.size(), 5U);
  MDVOL_ASSERT_OK(array_.Write(0, 50000));
  MDVOL_ASSERT_OK(array_->Flush());
  EXPECT_EQ(array_.super(0).dev_roles[1], kRoleFaulty);
  EXPECT_EQ(array_.CheckVolume(), "");
  MDVOL_ASSERT_OK(array_.Stop());
  MDVOL_ASSERT_OK(array_.Open());
  EXPECT_EQ(array_->Snapshot().members.size(), 5U);  // neither comes back by itself
}

// ---- Re-add ----

// With a bitmap it gets its slot back, and only what was written meanwhile is rebuilt.
TEST_P(ArrayMembersTest, AMemberIsReAddedAndBroughtUpToDate) {
  MDVOL_ASSERT_OK(array_->Flush());
  for (int i = 0; i < 4; ++i) {
    array_.clock().Advance(5000000000);
    array_->RunMaintenance();
  }
  MDVOL_ASSERT_OK(array_->FailMember(4, "by hand"));
  MDVOL_ASSERT_OK(array_->RemoveMember(4));
  const uint64_t stripe_bytes = array_.geometry().stripe_bytes();
  MDVOL_ASSERT_OK(array_.Write(9 * stripe_bytes, 3 * stripe_bytes));
  const auto index = array_.AddMember(4, AddMode::kReAdd);
  if (!GetParam().bitmap) {
    MDVOL_EXPECT_ERRNO(index.status(), EINVAL);
    ASSERT_TRUE(array_.AddMember(4).ok());
    EXPECT_TRUE(Of(4).spare);
  } else {
    ASSERT_TRUE(index.ok()) << index.status();
    EXPECT_EQ(Of(4).slot, 4U);
    EXPECT_TRUE(Of(4).recovering);
    EXPECT_TRUE(array_->PendingRecovery()->guided);
    EXPECT_TRUE(array_.super(4).has_feature(kFeatureRecoveryBitmap));
  }
  EXPECT_EQ(array_->Snapshot().degraded, 1U);
  EXPECT_EQ(array_.CheckVolume(), "");
  array_.recording().Clear();
  MDVOL_ASSERT_OK(array_.Recover());
  uint64_t rebuilt_bytes = 0;
  for (const RecordedRequest& request : array_.recording().requests()) {
    rebuilt_bytes += request.member == 4 && array_.IsData(request) ? request.length_bytes : 0;
  }
  EXPECT_LE(rebuilt_bytes, (GetParam().bitmap ? 8 : 32) * 4096U);  // two bits of four stripes
  EXPECT_EQ(array_->Snapshot().degraded, 0U);
  EXPECT_EQ(array_.CheckDiskInSlot(4, 4), "");
  EXPECT_EQ(array_.CheckDisks(), "");
  MDVOL_ASSERT_OK(array_.Write(0, 100000));
  MDVOL_ASSERT_OK(array_.Stop());
  MDVOL_ASSERT_OK(array_.Open());
  EXPECT_EQ(array_->Snapshot().degraded, 0U);
  EXPECT_EQ(array_.CheckDisks(), "");
  EXPECT_FALSE(array_.super(4).has_feature(kFeatureRecoveryBitmap | kFeatureRecoveryOffset));
}

// Its old superblock gives it the same slot, but is stale: it must be durable anew before another's
// says that the slot is held again, or a crash in the middle leaves a slot without its member.
TEST_P(ArrayMembersTest, AReturningMemberIsToldBeforeTheOthers) {
  MDVOL_ASSERT_OK(array_->FailMember(4, "by hand"));
  MDVOL_ASSERT_OK(array_->RemoveMember(4));
  array_.recording().Clear();
  ASSERT_TRUE(array_.AddMember(4).ok());
  const auto log = array_.recording().requests();
  const std::vector<size_t> supers = SuperWrites(log);
  ASSERT_EQ(supers.size(), 6U);
  if (GetParam().bitmap) {
    EXPECT_EQ(log[supers[0]].member, 4U);
    EXPECT_LE(testing::DurableAt(log, supers[0]), supers[1]);
  }
}

// Writes that come while it is brought up to date, into stripes whose bits were not set before.
TEST_P(ArrayMembersTest, WritesDuringAGuidedRebuildAreNotForgotten) {
  if (!GetParam().bitmap) {
    return;
  }
  MDVOL_ASSERT_OK(array_.Stop());
  MDVOL_ASSERT_OK(array_.Open());
  MDVOL_ASSERT_OK(array_->FailMember(4, "by hand"));
  MDVOL_ASSERT_OK(array_->RemoveMember(4));
  const uint64_t stripe_bytes = array_.geometry().stripe_bytes();
  MDVOL_ASSERT_OK(array_.Write(12 * stripe_bytes, stripe_bytes));
  ASSERT_TRUE(array_.AddMember(4, AddMode::kReAdd).ok());
  MDVOL_ASSERT_OK(array_->BeginRecovery());
  ASSERT_EQ(array_->NextToRecover(0)->first, 12U);
  MDVOL_ASSERT_OK(array_.Write(2 * stripe_bytes, stripe_bytes));
  MDVOL_ASSERT_OK(array_.Write(29 * stripe_bytes, stripe_bytes));
  ASSERT_EQ(array_->NextToRecover(0)->first, 0U);
  SyncFindings findings;
  MDVOL_ASSERT_OK(array_->RecoverStripes({12, 4}, &findings));
  MDVOL_ASSERT_OK(array_.Write(2 * stripe_bytes, 20 * stripe_bytes));
  MDVOL_ASSERT_OK(array_.Recover());
  EXPECT_EQ(array_->Snapshot().degraded, 0U);
  EXPECT_EQ(array_.CheckDisks(), "");
}

// The bitmap has been cleared since: it must not be believed.
TEST_P(ArrayMembersTest, AMemberThatTheBitmapCannotVouchForIsRebuiltInFull) {
  MDVOL_ASSERT_OK(array_->FailMember(4, "by hand"));
  MDVOL_ASSERT_OK(array_->RemoveMember(4));
  const size_t disk = array_.AddDisk();
  ASSERT_TRUE(array_.AddMember(disk).ok());
  MDVOL_ASSERT_OK(array_.Write(0, 200000));
  MDVOL_ASSERT_OK(array_.Recover());
  ASSERT_EQ(array_->Snapshot().degraded, 0U);
  MDVOL_ASSERT_OK(array_.Write(0, 200000));
  MDVOL_EXPECT_ERRNO(array_.AddMember(4, AddMode::kReAdd).status(), EINVAL);
  MDVOL_ASSERT_OK(array_->FailMember(*array_.MemberOf(disk), "by hand"));
  MDVOL_ASSERT_OK(array_->RemoveMember(*array_.MemberOf(disk)));
  MDVOL_EXPECT_ERRNO(array_.AddMember(4, AddMode::kReAdd).status(), EINVAL);
  ASSERT_TRUE(array_.AddMember(4).ok());
  EXPECT_TRUE(Of(4).spare);
  MDVOL_ASSERT_OK(array_.Recover());
  EXPECT_EQ(array_.CheckDisks(), "");
}

// ---- What cannot be recovered ----

// I6: a block that is lost on three members is lost, and nothing else.
TEST_P(ArrayMembersTest, ARebuildPassesOverWhatIsLostAndRemembersIt) {
  const size_t disk = array_.AddDisk();
  ASSERT_TRUE(array_.AddMember(disk).ok());
  const uint32_t lost_slot = array_.geometry().RolesOf(11).DataSlot(0);
  MDVOL_ASSERT_OK(array_->FailMember(lost_slot, "by hand"));
  for (const uint32_t k : {1U, 2U}) {
    const uint32_t slot = array_.geometry().RolesOf(11).DataSlot(k);
    array_.fault(slot).AddRule({.op = FaultOp::kRead,
                                .offset_bytes = array_.areas(slot).data.begin + 11 * 4096,
                                .length_bytes = 4096});
  }
  MDVOL_ASSERT_OK(array_.Recover());
  EXPECT_EQ(array_->Snapshot().degraded, 0U);
  const ByteRange bad{array_.areas(disk).data.begin + 11 * 4096,
                      array_.areas(disk).data.begin + 12 * 4096};
  EXPECT_EQ(Of(disk).bad_blocks, (std::vector<ByteRange>{bad}));
  EXPECT_TRUE(array_.super(disk).has_feature(kFeatureBadBlocks));
  MDVOL_ASSERT_OK(array_.Stop());
  MDVOL_ASSERT_OK(array_.Open());
  EXPECT_EQ(Of(disk).bad_blocks, (std::vector<ByteRange>{bad}));
  EXPECT_EQ(array_.CheckVolume(), "");  // the others can be read again
}

// ---- Suspend ----

TEST_P(ArrayMembersTest, WritesIntoASuspendedRangeAreRefusedForNow) {
  MDVOL_ASSERT_OK(array_->Suspend(10000, 20000));
  EXPECT_TRUE(array_->IsSuspended(19999, 1));
  EXPECT_FALSE(array_->IsSuspended(20000, 1));
  EXPECT_FALSE(array_->IsSuspended(0, 10000));
  std::vector<std::byte> data(5000);
  MDVOL_EXPECT_ERRNO(array_->Write(9000, data), EAGAIN);
  MDVOL_EXPECT_ERRNO(array_->Zero(9000, 5000), EAGAIN);
  EXPECT_EQ(array_.CheckVolume(), "");
  MDVOL_ASSERT_OK(array_.Write(20000, 5000));
  uint64_t skipped = 0;
  MDVOL_ASSERT_OK(array_->RecomputeParity({0, 2}, &skipped));  // not a write of the volume
  MDVOL_ASSERT_OK(array_->Suspend(20000, 10000));              // as in md: nothing
  EXPECT_FALSE(array_->IsSuspended(0, 30000));
  MDVOL_ASSERT_OK(array_->Suspend(0, 0));
  MDVOL_ASSERT_OK(array_.Write(9000, 5000));
  EXPECT_EQ(array_.CheckVolume(), "");
}

// ---- Check and repair ----

TEST_P(ArrayMembersTest, ARepairMendsWhatIsWrongAndTouchesNothingElse) {
  SyncFindings clean;
  MDVOL_ASSERT_OK(array_->CheckStripes({0, 32}, &clean));
  EXPECT_EQ(clean.mismatch_sectors, 0U);
  std::vector<std::byte> noise(4096);
  array_.prng().Fill(noise);
  array_.disks().Put(3, array_.areas(3).data.begin + 7 * 4096, noise);
  SyncFindings found;
  MDVOL_ASSERT_OK(array_->CheckStripes({0, 32}, &found));
  ASSERT_EQ(found.wrong.size(), 1U);
  EXPECT_EQ(found.wrong[0].stripe, 7U);
  EXPECT_FALSE(found.wrong[0].repaired);
  array_.recording().Clear();
  SyncFindings repaired;
  MDVOL_ASSERT_OK(array_->RepairStripes({0, 32}, RepairMode::kLocate, &repaired));
  ASSERT_EQ(repaired.wrong.size(), 1U);
  EXPECT_TRUE(repaired.wrong[0].repaired);
  EXPECT_EQ(repaired.mismatch_sectors, 8U);
  EXPECT_EQ(array_.CheckDisks(), "");
  for (const RecordedRequest& request : array_.recording().requests()) {
    EXPECT_TRUE(!array_.IsData(request) || request.member == 3);
  }
}

// Without a bitmap, a resync that was stopped goes on where it was.
TEST_P(ArrayMembersTest, AStopKeepsTheCheckpointOfAResync) {
  array_.Crash();
  testing::Opening opening;
  opening.resync = false;
  MDVOL_ASSERT_OK(array_.Open(opening));
  const auto doubt = array_->NextDoubt(0);
  ASSERT_TRUE(doubt.has_value());
  MDVOL_ASSERT_OK(array_->CheckpointResync(0));
  MDVOL_ASSERT_OK(array_.Stop());
  EXPECT_EQ(array_.super(0).resync_offset, 0U);
}

}  // namespace
}  // namespace mdvol
