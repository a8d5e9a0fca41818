// Members are replaced while they work, and what becomes of it when one of the two fails.

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/base/units.h"
#include "core/stripe/sync_types.h"
#include "tests/support/test_array/log_checks.h"
#include "tests/support/test_array/test_array.h"
#include "tests/unit/core/array/members_fixture.h"

namespace mdvol {
namespace {

class ArrayReplaceTest : public testing::MembersFixture {};

INSTANTIATE_TEST_SUITE_P(Specs, ArrayReplaceTest, testing::MemberSpecs());

TEST_P(ArrayReplaceTest, AMemberIsReplacedWhileItWorks) {
  const size_t disk = array_.AddDisk();
  MDVOL_ASSERT_OK(array_->SetReplacement(3, std::nullopt));  // there is no spare yet
  EXPECT_TRUE(Of(3).want_replacement);
  EXPECT_FALSE(array_->PendingRecovery().has_value());
  ASSERT_TRUE(array_.AddMember(disk).ok());
  ASSERT_TRUE(array_->PendingRecovery().has_value());
  MDVOL_ASSERT_OK(array_->BeginRecovery());
  EXPECT_TRUE(Of(disk).replacement && Of(disk).recovering);
  EXPECT_EQ(Of(disk).replaces, 3U);
  EXPECT_EQ(array_->Snapshot().degraded, 0U);
  EXPECT_TRUE(array_.super(disk).has_feature(kFeatureReplacement));
  for (uint64_t first = 0; first < 32; first += 4) {
    SyncFindings findings;
    MDVOL_ASSERT_OK(array_->RecoverStripes({first, 4}, &findings));
    for (int i = 0; i < 4; ++i) {
      const uint64_t length = array_.prng().Between(1, 30000);
      const uint64_t offset = array_.prng().Below(array_.geometry().volume_bytes() - length);
      MDVOL_ASSERT_OK(i == 0 ? array_.Zero(offset, length) : array_.Write(offset, length));
    }
    MDVOL_ASSERT_OK(array_->CheckpointRecovery());
  }
  MDVOL_ASSERT_OK(array_->EndRecovery());
  EXPECT_TRUE(Of(3).faulty);
  EXPECT_EQ(Of(disk).slot, 3U);
  EXPECT_TRUE(Of(disk).in_sync);
  EXPECT_EQ(array_->Snapshot().degraded, 0U);
  EXPECT_EQ(array_.CheckDiskInSlot(disk, 3), "");
  MDVOL_ASSERT_OK(array_->RemoveMember(3));
  MDVOL_ASSERT_OK(array_.Write(0, 100000));
  MDVOL_ASSERT_OK(array_.Stop());
  MDVOL_ASSERT_OK(array_.Open());
  EXPECT_EQ(array_->Snapshot().degraded, 0U);
  EXPECT_EQ(array_.MemberOf(3), std::nullopt);
  EXPECT_EQ(array_.CheckDiskInSlot(disk, 3), "");
  EXPECT_EQ(array_.CheckVolumeWithout({0, 1}), "");
}

// The copy is worth what it is: below its checkpoint.
TEST_P(ArrayReplaceTest, AReplacementTakesOverFromAMemberThatFails) {
  const size_t disk = array_.AddDisk();
  ASSERT_TRUE(array_.AddMember(disk).ok());
  MDVOL_ASSERT_OK(array_->SetReplacement(3, array_.MemberOf(disk)));
  MDVOL_ASSERT_OK(array_->BeginRecovery());
  SyncFindings findings;
  MDVOL_ASSERT_OK(array_->RecoverStripes({0, 20}, &findings));
  MDVOL_ASSERT_OK(array_->FailMember(3, "by hand"));
  EXPECT_EQ(Of(disk).slot, 3U);
  EXPECT_TRUE(Of(disk).recovering && !Of(disk).replacement);
  EXPECT_EQ(Of(disk).recovery_bytes, 20 * 4096U);
  EXPECT_EQ(array_->Snapshot().degraded, 1U);
  MDVOL_ASSERT_OK(array_.Write(0, array_.geometry().volume_bytes()));
  EXPECT_EQ(array_.CheckVolume(), "");
  MDVOL_ASSERT_OK(array_.Recover());
  EXPECT_EQ(array_.CheckDiskInSlot(disk, 3), "");
  EXPECT_EQ(array_->Snapshot().degraded, 0U);
}

// While a checkpoint flushes the replacement, the original fails and takes back what the checkpoint
// has seen.
TEST_P(ArrayReplaceTest, ACheckpointDoesNotPassWhatATakeOverHasTakenBack) {
  const size_t disk = array_.AddDisk();
  ASSERT_TRUE(array_.AddMember(disk).ok());
  MDVOL_ASSERT_OK(array_->SetReplacement(3, array_.MemberOf(disk)));
  MDVOL_ASSERT_OK(array_->BeginRecovery());
  SyncFindings findings;
  MDVOL_ASSERT_OK(array_->RecoverStripes({0, 20}, &findings));
  constexpr uint64_t kStripe = 7;
  array_.fault(3).AddRule({.op = FaultOp::kWrite,
                           .offset_bytes = array_.areas(3).data.begin + kStripe * 4096,
                           .length_bytes = 4096});
  std::thread writer;
  array_.recording().SetHook([&](const testing::RecordedRequest& request) {
    if (request.kind == IoKind::kFlush && request.member == disk && !writer.joinable()) {
      writer = std::thread([&] {
        MDVOL_EXPECT_OK(array_.Write(kStripe * array_.geometry().stripe_bytes(),
                                     array_.geometry().stripe_bytes()));
      });
      absl::SleepFor(absl::Milliseconds(100));  // so that it waits for the flush to end
    }
  });
  MDVOL_ASSERT_OK(array_->CheckpointRecovery());
  writer.join();
  array_.recording().SetHook(nullptr);
  EXPECT_EQ(Of(disk).slot, 3U);
  EXPECT_LE(array_.super(disk).recovery_offset, kStripe * 4096 / 512);
  MDVOL_ASSERT_OK(array_->CheckpointRecovery());
  EXPECT_LE(array_.super(disk).recovery_offset, kStripe * 4096 / 512);
  MDVOL_ASSERT_OK(array_.Recover());
  EXPECT_EQ(array_.CheckDiskInSlot(disk, 3), "");
}

// Whoever came to the stripe between the original's failed write and its failure has left the slot
// out, and so the replacement: it is worth nothing from that stripe on.
TEST_P(ArrayReplaceTest, AReplacementTakesOverOnlyUpToWhatWasLeftOut) {
  const size_t disk = array_.AddDisk();
  ASSERT_TRUE(array_.AddMember(disk).ok());
  MDVOL_ASSERT_OK(array_->SetReplacement(3, array_.MemberOf(disk)));
  MDVOL_ASSERT_OK(array_->BeginRecovery());
  SyncFindings findings;
  MDVOL_ASSERT_OK(array_->RecoverStripes({0, 20}, &findings));
  MDVOL_ASSERT_OK(array_->CheckpointRecovery());
  constexpr uint64_t kStripe = 7;
  array_.fault(3).AddRule({.op = FaultOp::kWrite,
                           .offset_bytes = array_.areas(3).data.begin + kStripe * 4096,
                           .length_bytes = 4096});
  MDVOL_ASSERT_OK(
      array_.Write(kStripe * array_.geometry().stripe_bytes(), array_.geometry().stripe_bytes()));
  EXPECT_TRUE(Of(3).faulty);
  EXPECT_EQ(Of(disk).slot, 3U);
  EXPECT_LE(Of(disk).recovery_bytes, kStripe * 4096);
  EXPECT_LE(array_.super(disk).recovery_offset, kStripe * 4096 / 512);
  EXPECT_EQ(array_.CheckVolume(), "");
  MDVOL_ASSERT_OK(array_.Recover());
  EXPECT_EQ(array_.CheckDiskInSlot(disk, 3), "");
}

// A window is chosen, and waits for the take-over that takes back what lies before it: it must not
// be counted as done then, or what was left out would never be filled.
TEST_P(ArrayReplaceTest, AWindowDoesNotPassWhatATakeOverHasTakenBack) {
  const size_t disk = array_.AddDisk();
  ASSERT_TRUE(array_.AddMember(disk).ok());
  MDVOL_ASSERT_OK(array_->SetReplacement(3, array_.MemberOf(disk)));
  MDVOL_ASSERT_OK(array_->BeginRecovery());
  SyncFindings findings;
  MDVOL_ASSERT_OK(array_->RecoverStripes({0, 20}, &findings));
  constexpr uint64_t kStripe = 7;
  const uint64_t stripe_bytes = array_.geometry().stripe_bytes();
  const uint64_t block = kStripe * 4096;
  array_.fault(3).AddRule({.op = FaultOp::kWrite,
                           .offset_bytes = array_.areas(3).data.begin + block,
                           .length_bytes = 4096});
  const auto pause = [] { absl::SleepFor(absl::Milliseconds(100)); };
  std::atomic<int> step{0};
  std::thread writer;
  std::thread recovery;
  // A read, of stripe 0, holds the take-over up until the window has been chosen.
  array_.recording().SetHook([&](const testing::RecordedRequest& request) {
    if (request.kind != IoKind::kRead || step.exchange(1) != 0) {
      return;
    }
    writer =
        std::thread([&] { MDVOL_EXPECT_OK(array_.Write(kStripe * stripe_bytes, stripe_bytes)); });
    pause();
    recovery = std::thread([&] {
      SyncFindings found;
      MDVOL_EXPECT_OK(array_->RecoverStripes({20, 4}, &found));
    });
    pause();
    // As if another write had left the slot out since.
    const std::vector<std::byte> old(4096);
    array_.disks().Put(disk, array_.areas(disk).data.begin + block, old);
  });
  std::vector<std::byte> read(4096);
  MDVOL_ASSERT_OK(array_->Read(0, read));
  ASSERT_EQ(step, 1);
  writer.join();
  recovery.join();
  array_.recording().SetHook(nullptr);
  ASSERT_EQ(Of(disk).slot, 3U);
  MDVOL_ASSERT_OK(array_.Recover());
  EXPECT_EQ(array_.CheckDiskInSlot(disk, 3), "");
  EXPECT_EQ(array_.CheckVolume(), "");
}

// A replacement that lacks a write does not take over when its original fails.
TEST_P(ArrayReplaceTest, AReplacementWithAnErrorGoesWithItsOriginal) {
  const size_t disk = array_.AddDisk();
  ASSERT_TRUE(array_.AddMember(disk).ok());
  MDVOL_ASSERT_OK(array_->SetReplacement(3, array_.MemberOf(disk)));
  MDVOL_ASSERT_OK(array_->BeginRecovery());
  SyncFindings findings;
  MDVOL_ASSERT_OK(array_->RecoverStripes({0, 20}, &findings));
  for (const size_t failing : {size_t{3}, disk}) {
    array_.fault(failing).AddRule({.op = FaultOp::kWrite,
                                   .offset_bytes = array_.areas(failing).data.begin,
                                   .length_bytes = array_.areas(failing).data.size()});
  }
  MDVOL_ASSERT_OK(array_.Write(0, 100000));
  EXPECT_TRUE(Of(3).faulty);
  EXPECT_TRUE(Of(disk).faulty);
  EXPECT_EQ(array_->Snapshot().degraded, 1U);
  EXPECT_EQ(array_.CheckVolume(), "");
}

// I3: nobody is told that his bytes are stored before the replacement that lacks them is out.
TEST_P(ArrayReplaceTest, AReplacementThatFailsAWriteIsOutBeforeTheWriteIsAcknowledged) {
  const size_t disk = array_.AddDisk();
  ASSERT_TRUE(array_.AddMember(disk).ok());
  MDVOL_ASSERT_OK(array_->SetReplacement(3, std::nullopt));
  MDVOL_ASSERT_OK(array_->BeginRecovery());
  SyncFindings findings;
  MDVOL_ASSERT_OK(array_->RecoverStripes({0, 20}, &findings));
  array_.fault(disk).AddRule({.op = FaultOp::kWrite,
                              .offset_bytes = array_.areas(disk).data.begin,
                              .length_bytes = array_.areas(disk).data.size()});
  MDVOL_ASSERT_OK(array_.Write(0, 100000));
  EXPECT_TRUE(Of(disk).faulty);
  EXPECT_EQ(array_.super(0).dev_roles[6], kRoleFaulty);
  EXPECT_EQ(array_->Snapshot().degraded, 0U);
  MDVOL_ASSERT_OK(array_.Write(0, 100000));
  MDVOL_ASSERT_OK(array_->RemoveMember(*array_.MemberOf(disk)));
  MDVOL_ASSERT_OK(array_.Write(50000, 100000));
  EXPECT_EQ(array_.CheckDisks(), "");
  EXPECT_TRUE(Of(3).want_replacement);
  MDVOL_ASSERT_OK(array_->ClearReplacementWish(3));
  EXPECT_FALSE(Of(3).want_replacement);
}

// After a crash the replacement may lack what its original got last.
TEST_P(ArrayReplaceTest, AReplacementIsFilledAnewWhereACrashMayHaveStoppedWrites) {
  const size_t disk = array_.AddDisk();
  ASSERT_TRUE(array_.AddMember(disk).ok());
  MDVOL_ASSERT_OK(array_->SetReplacement(3, std::nullopt));
  MDVOL_ASSERT_OK(array_->BeginRecovery());
  SyncFindings findings;
  MDVOL_ASSERT_OK(array_->RecoverStripes({0, 32}, &findings));
  MDVOL_ASSERT_OK(array_->CheckpointRecovery());
  MDVOL_ASSERT_OK(array_.Write(0, 200000));
  array_.Crash();
  std::vector<std::byte> old(3 * 4096);
  array_.disks().Put(disk, array_.areas(disk).data.begin, old);
  MDVOL_ASSERT_OK(array_.Open());
  MDVOL_ASSERT_OK(array_.Recover());
  EXPECT_EQ(Of(disk).slot, 3U);
  EXPECT_EQ(array_.CheckDiskInSlot(disk, 3), "");
}

TEST_P(ArrayReplaceTest, WhoCannotBeReplacedIsRefused) {
  const size_t disk = array_.AddDisk();
  ASSERT_TRUE(array_.AddMember(disk).ok());
  MDVOL_EXPECT_ERRNO(array_->SetReplacement(99, std::nullopt), ENODEV);
  MDVOL_EXPECT_ERRNO(array_->SetReplacement(*array_.MemberOf(disk), std::nullopt), EBUSY);
  MDVOL_EXPECT_ERRNO(array_->SetReplacement(3, 4), EBUSY);
  MDVOL_ASSERT_OK(array_->SetReplacement(3, std::nullopt));
  MDVOL_EXPECT_ERRNO(array_->SetReplacement(3, std::nullopt), EBUSY);
  MDVOL_EXPECT_ERRNO(array_->RemoveMember(*array_.MemberOf(disk)), EBUSY);
}

}  // namespace
}  // namespace mdvol
