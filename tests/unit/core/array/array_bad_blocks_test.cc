// The members' bad-block logs: what is written over is taken off them by repairs, rebuilds,
// replacements and writes that go to a replacement too; what cannot be written stays, and its
// member as well.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "core/stripe/sync_types.h"
#include "tests/support/test_array/log_checks.h"
#include "tests/support/test_array/test_array.h"
#include "tests/unit/core/array/members_fixture.h"

namespace mdvol {
namespace {

using testing::DurableAt;
using testing::MembersFixture;
using testing::MemberSpecs;

constexpr uint64_t kChunk = 4096;
constexpr size_t kDisk = 4;

class ArrayBadBlocksTest : public MembersFixture {
 protected:
  ByteRange BlockOf(size_t disk, uint64_t stripe) {
    const uint64_t begin = array_.areas(disk).data.begin + stripe * kChunk;
    return {begin, begin + kChunk};
  }

  void FailWith(FaultOp op, size_t disk, const ByteRange& block) {
    array_.fault(disk).AddRule(
        {.op = op, .offset_bytes = block.begin, .length_bytes = block.size()});
  }

  // The block of `disk` in this stripe comes on its member's list, and can be had again.
  void MakeListed(size_t disk, uint64_t stripe) {
    for (const FaultOp op : {FaultOp::kRead, FaultOp::kWrite}) {
      FailWith(op, disk, BlockOf(disk, stripe));
    }
    SyncFindings findings;
    MDVOL_ASSERT_OK(array_->CheckStripes({stripe, 1}, &findings));
    array_.fault(disk).ClearRules();
    const std::vector<ByteRange> listed = Of(disk).bad_blocks;
    ASSERT_EQ(std::count(listed.begin(), listed.end(), BlockOf(disk, stripe)), 1);
  }

  // The nth write to the block of `disk` fails.
  void FailOnce(size_t disk, uint64_t stripe, uint64_t nth) {
    const ByteRange block = BlockOf(disk, stripe);
    array_.fault(disk).AddRule({.op = FaultOp::kWrite,
                                .offset_bytes = block.begin,
                                .length_bytes = block.size(),
                                .nth = nth});
  }

  // The block of `disk` cannot be had for want of space.
  void FillUp(size_t disk, uint64_t stripe) {
    const ByteRange block = BlockOf(disk, stripe);
    array_.fault(disk).AddRule({.op = FaultOp::kWrite,
                                .error_number = ENOSPC,
                                .offset_bytes = block.begin,
                                .length_bytes = block.size()});
  }

  // The stripe reads the same with one member less; with two, it does or is an error.
  void ExpectTheSameWithout(uint64_t stripe, size_t first, size_t second) {
    const uint64_t stripe_bytes = array_.geometry().stripe_bytes();
    std::vector<std::byte> whole(stripe_bytes);
    std::vector<std::byte> degraded(stripe_bytes);
    MDVOL_ASSERT_OK(array_->Read(stripe * stripe_bytes, whole));
    MDVOL_ASSERT_OK(array_->FailMember(first, "by hand"));
    MDVOL_ASSERT_OK(array_->Read(stripe * stripe_bytes, degraded));
    EXPECT_TRUE(whole == degraded);
    MDVOL_ASSERT_OK(array_->FailMember(second, "by hand"));
    const absl::Status status = array_->Read(stripe * stripe_bytes, degraded);
    EXPECT_TRUE(whole == degraded || ErrnoOf(status) == EIO);
  }

  // A replacement of slot 3, with the first 12 stripes copied but for its block in stripe 9.
  size_t ListOnReplacement() {
    const size_t disk = array_.AddDisk();
    EXPECT_TRUE(array_.AddMember(disk).ok());
    MDVOL_EXPECT_OK(array_->SetReplacement(3, array_.MemberOf(disk)));
    MDVOL_EXPECT_OK(array_->BeginRecovery());
    for (const size_t lost : {3U, 1U, 2U}) {
      FailWith(FaultOp::kRead, lost, BlockOf(lost, 9));
      FailWith(FaultOp::kWrite, lost, BlockOf(lost, 9));
    }
    SyncFindings findings;
    MDVOL_EXPECT_OK(array_->RecoverStripes({0, 12}, &findings));
    EXPECT_EQ(Of(disk).bad_blocks, std::vector<ByteRange>{BlockOf(disk, 9)});
    for (const size_t lost : {3U, 1U, 2U}) {
      array_.fault(lost).ClearRules();
    }
    return disk;
  }

  // All that was written to the disk's data was durable before its log was.
  void ExpectDataBeforeLog(size_t disk) {
    const auto log = array_.recording().requests();
    const ByteRange& area = array_.areas(disk).bad_blocks;
    bool is_any = false;
    for (size_t i = 0; i < log.size(); ++i) {
      if (log[i].member != disk || !log[i].Changes() || !log[i].Touches(area.begin, area.end)) {
        continue;
      }
      is_any = true;
      for (size_t j = 0; j < i; ++j) {
        EXPECT_TRUE(!array_.IsData(log[j]) || log[j].member != disk || DurableAt(log, j) <= i);
      }
    }
    EXPECT_TRUE(is_any);
  }
};

INSTANTIATE_TEST_SUITE_P(Specs, ArrayBadBlocksTest, MemberSpecs());

// ---- Repairs ----

// Of data, P or Q, and of two members at once, where no lane is wrong. The bytes are not what they
// were, so that a block that is merely struck off is seen.
TEST_P(ArrayBadBlocksTest, ARepairRewritesWhatIsListed) {
  const StripeRoles roles = array_.geometry().RolesOf(9);
  const std::vector<std::vector<size_t>> cases = {{roles.DataSlot(0)},
                                                  {roles.p_slot()},
                                                  {roles.q_slot()},
                                                  {roles.DataSlot(1), roles.DataSlot(3)},
                                                  {roles.DataSlot(2), roles.p_slot()}};
  const std::vector<std::byte> noise(kChunk, std::byte{0x5a});
  for (const RepairMode mode : {RepairMode::kLocate, RepairMode::kParity}) {
    for (const std::vector<size_t>& listed : cases) {
      for (const size_t disk : listed) {
        MakeListed(disk, 9);
      }
      for (const size_t disk : listed) {
        array_.disks().Put(disk, BlockOf(disk, 9).begin, noise);
      }
      SyncFindings findings;
      MDVOL_ASSERT_OK(array_->RepairStripes({0, 32}, mode, &findings));
      EXPECT_EQ(findings.mismatch_sectors, 0U);
      EXPECT_EQ(findings.skipped_stripes, 0U);
      for (const size_t disk : listed) {
        EXPECT_TRUE(Of(disk).bad_blocks.empty()) << "disk " << disk;
      }
      EXPECT_EQ(array_.CheckDisks(), "");
    }
  }
}

// A check writes nothing but what it could not read, and says where a repair would.
TEST_P(ArrayBadBlocksTest, ACheckLeavesWhatIsListed) {
  MakeListed(kDisk, 9);
  SyncFindings findings;
  MDVOL_ASSERT_OK(array_->CheckStripes({0, 32}, &findings));
  EXPECT_EQ(Of(kDisk).bad_blocks, std::vector<ByteRange>{BlockOf(kDisk, 9)});
  ASSERT_EQ(findings.to_repair.size(), 1U);
  EXPECT_EQ(findings.to_repair[0].stripe, 9U);
}

TEST_P(ArrayBadBlocksTest, ARepairLeavesOnTheListWhatItCannotWrite) {
  MakeListed(kDisk, 9);
  FailWith(FaultOp::kWrite, kDisk, BlockOf(kDisk, 9));
  for (const RepairMode mode : {RepairMode::kLocate, RepairMode::kParity}) {
    SyncFindings findings;
    MDVOL_ASSERT_OK(array_->RepairStripes({0, 32}, mode, &findings));
    EXPECT_EQ(findings.skipped_stripes, 0U);
    EXPECT_EQ(Of(kDisk).bad_blocks, std::vector<ByteRange>{BlockOf(kDisk, 9)});
  }
  EXPECT_EQ(array_->Snapshot().degraded, 0U);
  EXPECT_EQ(array_.CheckVolume(), "");
}

// One lane of the stripe cannot be told, another is wrong: the repair looks at it twice, and counts
// it once.
TEST(ArrayRepairTest, AStripeThatIsLookedAtTwiceIsSkippedOnce) {
  testing::TestArray array({.chunk_bytes = 4 * kChunk});
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Fill());
  const auto lane_of = [&](size_t disk, uint64_t lane) {
    return array.areas(disk).data.begin + (5 * 4 + lane) * kChunk;
  };
  for (const size_t disk : {0U, 2U, 3U}) {
    array.fault(disk).AddRule(
        {.op = FaultOp::kRead, .offset_bytes = lane_of(disk, 0), .length_bytes = kChunk});
  }
  std::vector<std::byte> byte = array.disks().Bytes(1, lane_of(1, 3), 1);
  byte[0] ^= std::byte{1};
  array.disks().Put(1, lane_of(1, 3), byte);
  SyncFindings findings;
  MDVOL_ASSERT_OK(array->RepairStripes({0, 32}, RepairMode::kLocate, &findings));
  EXPECT_EQ(findings.skipped_stripes, 1U);
  EXPECT_EQ(findings.mismatch_sectors, 8U);
  for (const size_t disk : {0U, 2U, 3U}) {
    array.fault(disk).ClearRules();
  }
  EXPECT_EQ(array.CheckDisks(), "");
}

// ---- Rebuilds ----

// It comes back with what it lacked: a block that has its bytes now is bad no more.
TEST_P(ArrayBadBlocksTest, ARebuildTakesWhatItWritesOffTheList) {
  if (!GetParam().bitmap) {
    return;  // without one it comes back as a spare, whose log is new
  }
  MakeListed(kDisk, 9);
  MDVOL_ASSERT_OK(array_->FailMember(kDisk, "by hand"));
  MDVOL_ASSERT_OK(array_->RemoveMember(kDisk));
  const uint64_t stripe_bytes = array_.geometry().stripe_bytes();
  MDVOL_ASSERT_OK(array_.Write(8 * stripe_bytes, 4 * stripe_bytes));
  ASSERT_TRUE(array_.AddMember(kDisk, AddMode::kReAdd).ok());
  ASSERT_EQ(Of(kDisk).bad_blocks, std::vector<ByteRange>{BlockOf(kDisk, 9)});
  array_.recording().Clear();
  MDVOL_ASSERT_OK(array_.Recover());
  EXPECT_TRUE(Of(kDisk).bad_blocks.empty());
  ExpectDataBeforeLog(kDisk);
  EXPECT_FALSE(array_.super(kDisk).has_feature(kFeatureBadBlocks));
  EXPECT_EQ(array_.CheckVolume(), "");
  EXPECT_EQ(array_.CheckDisks(), "");
  MDVOL_ASSERT_OK(array_.Stop());
  MDVOL_ASSERT_OK(array_.Open());
  EXPECT_TRUE(Of(kDisk).bad_blocks.empty());
}

// What cannot be written even so is no reason to send the member away again.
TEST_P(ArrayBadBlocksTest, ARebuildLeavesOnTheListWhatItCannotWrite) {
  if (!GetParam().bitmap) {
    return;
  }
  MakeListed(kDisk, 9);
  MDVOL_ASSERT_OK(array_->FailMember(kDisk, "by hand"));
  MDVOL_ASSERT_OK(array_->RemoveMember(kDisk));
  const uint64_t stripe_bytes = array_.geometry().stripe_bytes();
  MDVOL_ASSERT_OK(array_.Write(8 * stripe_bytes, 4 * stripe_bytes));
  ASSERT_TRUE(array_.AddMember(kDisk, AddMode::kReAdd).ok());
  FailWith(FaultOp::kWrite, kDisk, BlockOf(kDisk, 9));
  MDVOL_ASSERT_OK(array_.Recover());
  EXPECT_TRUE(Of(kDisk).in_sync);
  EXPECT_EQ(Of(kDisk).bad_blocks, std::vector<ByteRange>{BlockOf(kDisk, 9)});
  EXPECT_EQ(array_.CheckVolume(), "");
}

// A block that was lost when a replacement was filled is had again, and filled.
TEST_P(ArrayBadBlocksTest, ACopyTakesWhatItWritesOffTheReplacementsList) {
  const size_t disk = array_.AddDisk();
  ASSERT_TRUE(array_.AddMember(disk).ok());
  MDVOL_ASSERT_OK(array_->SetReplacement(3, array_.MemberOf(disk)));
  MDVOL_ASSERT_OK(array_->BeginRecovery());
  for (const size_t lost : {3U, 1U, 2U}) {
    FailWith(FaultOp::kRead, lost, BlockOf(lost, 9));
    FailWith(FaultOp::kWrite, lost, BlockOf(lost, 9));
  }
  SyncFindings findings;
  MDVOL_ASSERT_OK(array_->RecoverStripes({0, 12}, &findings));
  ASSERT_EQ(Of(disk).bad_blocks, std::vector<ByteRange>{BlockOf(disk, 9)});
  array_.Crash();  // before its checkpoint is stored
  MDVOL_ASSERT_OK(array_.Open());
  ASSERT_EQ(Of(disk).bad_blocks, std::vector<ByteRange>{BlockOf(disk, 9)});
  array_.recording().Clear();
  MDVOL_ASSERT_OK(array_.Recover());
  EXPECT_EQ(Of(disk).slot, 3U);
  EXPECT_TRUE(Of(disk).bad_blocks.empty());
  ExpectDataBeforeLog(disk);
  EXPECT_EQ(array_.CheckDiskInSlot(disk, 3), "");
}

// ---- Writes ----

// As in md: the block is no worse than it was.
TEST_P(ArrayBadBlocksTest, AWriteThatFailsOnAListedBlockFailsNobody) {
  MakeListed(kDisk, 9);
  FailWith(FaultOp::kWrite, kDisk, BlockOf(kDisk, 9));
  const uint64_t stripe_bytes = array_.geometry().stripe_bytes();
  MDVOL_ASSERT_OK(array_.Write(9 * stripe_bytes, stripe_bytes));
  MDVOL_ASSERT_OK(array_.Write(9 * stripe_bytes + 100, stripe_bytes - 200));
  MDVOL_ASSERT_OK(array_.Zero(8 * stripe_bytes, 3 * stripe_bytes));
  MDVOL_ASSERT_OK(array_.Write(9 * stripe_bytes + 700, 5000));
  EXPECT_EQ(array_->Snapshot().degraded, 0U);
  EXPECT_FALSE(Of(kDisk).faulty);
  EXPECT_EQ(Of(kDisk).bad_blocks, std::vector<ByteRange>{BlockOf(kDisk, 9)});
  EXPECT_EQ(array_.EventText("member failed"), "");
  EXPECT_EQ(array_.CheckVolume(), "");
  EXPECT_EQ(array_.CheckVolumeWithout({5}), "");
  // Its neighbour is not on the list.
  FailWith(FaultOp::kWrite, kDisk, BlockOf(kDisk, 10));
  MDVOL_ASSERT_OK(array_.Write(9 * stripe_bytes, 2 * stripe_bytes));
  EXPECT_TRUE(Of(kDisk).faulty);
  EXPECT_EQ(array_.CheckVolume(), "");
}

// The block takes what is written first, and no more; another member's file system is full, so that
// parity is written again for what could be stored. What P's block holds then is not to be trusted.
TEST_P(ArrayBadBlocksTest, AParityBlockThatCouldNotBeSettledStaysOnTheList) {
  const StripeRoles roles = array_.geometry().RolesOf(9);
  const size_t p = roles.p_slot();
  const size_t full = roles.DataSlot(0);
  MakeListed(p, 9);
  FailOnce(p, 9, /*nth=*/2);
  FillUp(full, 9);
  const uint64_t stripe_bytes = array_.geometry().stripe_bytes();
  MDVOL_EXPECT_ERRNO(array_.Write(9 * stripe_bytes, stripe_bytes), ENOSPC);
  EXPECT_EQ(Of(p).bad_blocks, std::vector<ByteRange>{BlockOf(p, 9)});
  array_.fault(full).ClearRules();
  array_.fault(p).ClearRules();
  ExpectTheSameWithout(9, roles.DataSlot(1), roles.q_slot());
}

// The same when old bytes are put back: the block keeps the new ones.
TEST_P(ArrayBadBlocksTest, ABlockThatCouldNotBePutBackStaysOnTheList) {
  const StripeRoles roles = array_.geometry().RolesOf(9);
  const size_t data = roles.DataSlot(0);
  const size_t full = roles.p_slot();
  MakeListed(data, 9);
  FailOnce(data, 9, /*nth=*/2);
  FillUp(full, 9);
  MDVOL_EXPECT_ERRNO(array_.Write(9 * array_.geometry().stripe_bytes() + 100, 1000), ENOSPC);
  EXPECT_EQ(Of(data).bad_blocks, std::vector<ByteRange>{BlockOf(data, 9)});
  array_.fault(full).ClearRules();
  array_.fault(data).ClearRules();
  EXPECT_EQ(array_.CheckVolume(), "");
  ExpectTheSameWithout(9, roles.DataSlot(1), roles.q_slot());
}

// Nor does it come off for the sake of a write that had stored its bytes before, and has yet to say
// so.
TEST(ArrayBadBlocksRaceTest, ABlockThatALaterWriteFoundNoSpaceForStaysListed) {
  testing::TestArray array({.stripes = 300});
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Fill());
  const uint64_t stripe_bytes = array.geometry().stripe_bytes();
  const size_t disk = array.DiskOf(9 * stripe_bytes);
  const uint64_t begin = array.areas(disk).data.begin + 9 * kChunk;
  for (const FaultOp op : {FaultOp::kWrite, FaultOp::kRead}) {
    array.fault(disk).AddRule({.op = op, .offset_bytes = begin, .length_bytes = kChunk});
  }
  EXPECT_EQ(array.CheckVolume(), "");
  array.fault(disk).ClearRules();
  ASSERT_EQ(array->Snapshot().members[disk].bad_blocks.size(), 1U);
  const std::vector<std::byte> late(stripe_bytes, std::byte{0x5a});
  std::atomic<bool> has_come{false};
  array.recording().SetHook([&](const testing::RecordedRequest& request) {
    const uint64_t far = array.areas(request.member).data.begin + 280 * kChunk;
    if (!array.IsData(request) || !request.Touches(far, far + 1) || has_come.exchange(true)) {
      return;
    }
    array.fault(disk).AddRule({.op = FaultOp::kWrite,
                               .error_number = ENOSPC,
                               .offset_bytes = begin,
                               .length_bytes = kChunk});
    std::thread other([&] { MDVOL_EXPECT_ERRNO(array->Write(9 * stripe_bytes, late), ENOSPC); });
    other.join();
  });
  MDVOL_ASSERT_OK(array.Write(0, array.geometry().volume_bytes()));
  array.recording().SetHook(nullptr);
  ASSERT_TRUE(has_come);
  EXPECT_EQ(array->Snapshot().members[disk].bad_blocks.size(), 1U);
  array.fault(disk).ClearRules();
  std::vector<std::byte> read(stripe_bytes);
  MDVOL_ASSERT_OK(array->Read(9 * stripe_bytes, read));
  MDVOL_ASSERT_OK(array->FailMember((disk + 1) % 6, "by hand"));
  std::vector<std::byte> again(stripe_bytes);
  MDVOL_ASSERT_OK(array->Read(9 * stripe_bytes, again));
  EXPECT_TRUE(read == again);
}

// A long write has written the block over, and has not said so yet, when another one fails there:
// what the block holds is old now, and must not come off the list.
TEST(ArrayBadBlocksRaceTest, ABlockThatALaterWriteFailedOnStaysListed) {
  testing::TestArray array({.stripes = 300});
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Fill());
  const uint64_t stripe_bytes = array.geometry().stripe_bytes();
  const size_t disk = array.DiskOf(9 * stripe_bytes);
  const uint64_t begin = array.areas(disk).data.begin + 9 * kChunk;
  const FaultRule bad_write{.op = FaultOp::kWrite, .offset_bytes = begin, .length_bytes = kChunk};
  const FaultRule bad_read{.op = FaultOp::kRead, .offset_bytes = begin, .length_bytes = kChunk};
  array.fault(disk).AddRule(bad_write);
  array.fault(disk).AddRule(bad_read);
  EXPECT_EQ(array.CheckVolume(), "");
  array.fault(disk).ClearRules();
  ASSERT_EQ(array->Snapshot().members[disk].bad_blocks.size(), 1U);
  const std::vector<std::byte> late(kChunk, std::byte{0x5a});
  std::atomic<bool> has_come{false};
  array.recording().SetHook([&](const testing::RecordedRequest& request) {
    const uint64_t far = array.areas(request.member).data.begin + 280 * kChunk;
    if (!array.IsData(request) || !request.Touches(far, far + 1) || has_come.exchange(true)) {
      return;
    }
    array.fault(disk).AddRule(bad_write);
    std::thread other([&] { MDVOL_EXPECT_OK(array->Write(9 * stripe_bytes, late)); });
    other.join();
  });
  MDVOL_ASSERT_OK(array.Write(0, array.geometry().volume_bytes()));
  array.recording().SetHook(nullptr);
  ASSERT_TRUE(has_come);
  EXPECT_EQ(array->Snapshot().degraded, 0U);
  EXPECT_EQ(array->Snapshot().members[disk].bad_blocks.size(), 1U);
  std::vector<std::byte> read(kChunk);
  MDVOL_ASSERT_OK(array->Read(9 * stripe_bytes, read));
  EXPECT_EQ(read, late);
}

// What a replacement gets it has, though nobody reads it there yet.
TEST_P(ArrayBadBlocksTest, AWriteTakesWhatItHasWrittenOffTheReplacementsListToo) {
  const size_t disk = ListOnReplacement();
  array_.recording().Clear();
  const uint64_t stripe_bytes = array_.geometry().stripe_bytes();
  MDVOL_ASSERT_OK(array_.Write(9 * stripe_bytes, stripe_bytes));
  EXPECT_TRUE(Of(disk).bad_blocks.empty());
  ExpectDataBeforeLog(disk);
  MDVOL_ASSERT_OK(array_.Recover());
  EXPECT_EQ(array_.CheckDiskInSlot(disk, 3), "");
  EXPECT_EQ(array_.CheckVolume(), "");
}

// What a replacement's list has is no worse than what a member's has.
TEST_P(ArrayBadBlocksTest, AWriteThatFailsOnAListedBlockOfAReplacementFailsNobody) {
  const size_t disk = ListOnReplacement();
  FailWith(FaultOp::kWrite, disk, BlockOf(disk, 9));
  const uint64_t stripe_bytes = array_.geometry().stripe_bytes();
  MDVOL_ASSERT_OK(array_.Write(9 * stripe_bytes, stripe_bytes));
  MDVOL_ASSERT_OK(array_.Write(8 * stripe_bytes, 3 * stripe_bytes));  // in one request a member
  MDVOL_ASSERT_OK(array_.Zero(8 * stripe_bytes, 3 * stripe_bytes));
  EXPECT_FALSE(Of(disk).faulty);
  EXPECT_EQ(Of(disk).bad_blocks, std::vector<ByteRange>{BlockOf(disk, 9)});
  MDVOL_ASSERT_OK(array_.Recover());
  EXPECT_EQ(Of(disk).slot, 3U);
  EXPECT_EQ(Of(disk).bad_blocks, std::vector<ByteRange>{BlockOf(disk, 9)});
  EXPECT_EQ(array_.CheckVolume(), "");
  EXPECT_EQ(array_.CheckVolumeWithout({5}), "");
}

// Its neighbour is not on the list.
TEST_P(ArrayBadBlocksTest, AWriteThatFailsBesideAListedBlockOfAReplacementFailsIt) {
  const size_t disk = ListOnReplacement();
  FailWith(FaultOp::kWrite, disk, BlockOf(disk, 10));
  const uint64_t stripe_bytes = array_.geometry().stripe_bytes();
  MDVOL_ASSERT_OK(array_.Write(8 * stripe_bytes, 3 * stripe_bytes));
  EXPECT_TRUE(Of(disk).faulty);
  EXPECT_EQ(array_->Snapshot().degraded, 0U);
}

// A write has given the block to the replacement, and has not said so yet, when the copying comes
// to it and fails.
TEST(ArrayBadBlocksRaceTest, ABlockThatARecoveryFailedOnStaysListed) {
  testing::TestArray array({.stripes = 300, .bitmap = false});
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Fill());
  const size_t disk = array.AddDisk();
  ASSERT_TRUE(array.AddMember(disk).ok());
  MDVOL_ASSERT_OK(array->SetReplacement(3, array.MemberOf(disk)));
  MDVOL_ASSERT_OK(array->BeginRecovery());
  const auto fail = [&](FaultOp op, size_t at) {
    array.fault(at).AddRule({.op = op,
                             .offset_bytes = array.areas(at).data.begin + 9 * kChunk,
                             .length_bytes = kChunk});
  };
  for (const size_t lost : {3U, 1U, 2U}) {
    fail(FaultOp::kRead, lost);
    fail(FaultOp::kWrite, lost);
  }
  SyncFindings findings;
  MDVOL_ASSERT_OK(array->RecoverStripes({0, 12}, &findings));
  array.Crash();
  MDVOL_ASSERT_OK(array.Open());
  const auto listed = [&] {
    return array->Snapshot().members[*array.MemberOf(disk)].bad_blocks.size();
  };
  ASSERT_EQ(listed(), 1U);
  MDVOL_ASSERT_OK(array->BeginRecovery());
  std::atomic<bool> has_come{false};
  array.recording().SetHook([&](const testing::RecordedRequest& request) {
    const uint64_t far = array.areas(request.member).data.begin + 280 * kChunk;
    if (!array.IsData(request) || !request.Touches(far, far + 1) || has_come.exchange(true)) {
      return;
    }
    fail(FaultOp::kWrite, disk);
    std::thread other([&] { MDVOL_EXPECT_OK(array->RecoverStripes({0, 12}, &findings)); });
    other.join();
  });
  MDVOL_ASSERT_OK(array.Write(0, array.geometry().volume_bytes()));
  array.recording().SetHook(nullptr);
  ASSERT_TRUE(has_come);
  EXPECT_EQ(listed(), 1U);
  MDVOL_ASSERT_OK(array.Recover());
  EXPECT_EQ(array.CheckVolume(), "");
}

// ---- Flushes ----

// I11: what it should have made durable is unknown, also when it was only to take a block off.
TEST_P(ArrayBadBlocksTest, AFlushThatFailsWhileABlockIsTakenOffFailsTheMember) {
  for (const uint64_t nth : {1U, 2U}) {  // what was written; the log
    MakeListed(kDisk + nth - 1, 9);
    MakeListed(kDisk + nth - 1, 20);  // so that no generation follows, which flushes too
    array_.fault(kDisk + nth - 1).AddRule({.op = FaultOp::kFlush, .nth = nth});
    const uint64_t stripe_bytes = array_.geometry().stripe_bytes();
    MDVOL_ASSERT_OK(array_.Write(9 * stripe_bytes, stripe_bytes));
    EXPECT_TRUE(Of(kDisk + nth - 1).faulty) << nth;
    EXPECT_EQ(array_.CheckVolume(), "");
  }
  EXPECT_NE(array_.EventText("member failed"), "");
}

TEST_P(ArrayBadBlocksTest, ALogThatCannotBeWrittenFailsItsMember) {
  MakeListed(kDisk, 9);
  FailWith(FaultOp::kWrite, kDisk, array_.areas(kDisk).bad_blocks);
  const uint64_t stripe_bytes = array_.geometry().stripe_bytes();
  MDVOL_ASSERT_OK(array_.Write(9 * stripe_bytes, stripe_bytes));
  EXPECT_TRUE(Of(kDisk).faulty);
  EXPECT_EQ(array_.CheckVolume(), "");
}

// I13
TEST_P(ArrayBadBlocksTest, ALogThatFindsNoSpaceFailsNobody) {
  MakeListed(kDisk, 9);
  const ByteRange& log = array_.areas(kDisk).bad_blocks;
  array_.fault(kDisk).AddRule({.op = FaultOp::kWrite,
                               .error_number = ENOSPC,
                               .offset_bytes = log.begin,
                               .length_bytes = log.size()});
  const uint64_t stripe_bytes = array_.geometry().stripe_bytes();
  MDVOL_ASSERT_OK(array_.Write(9 * stripe_bytes, stripe_bytes));
  EXPECT_FALSE(Of(kDisk).faulty);
  EXPECT_EQ(Of(kDisk).bad_blocks.size(), 1U);
  array_.fault(kDisk).ClearRules();
  MDVOL_ASSERT_OK(array_.Write(9 * stripe_bytes, stripe_bytes));
  EXPECT_TRUE(Of(kDisk).bad_blocks.empty());
}

}  // namespace
}  // namespace mdvol
