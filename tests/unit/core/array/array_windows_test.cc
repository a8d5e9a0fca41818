// The windows of a recovery: filled side by side, counted one after the other, and none of them
// when the one before is missing.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/stripe/sync_types.h"
#include "tests/support/test_array/test_array.h"
#include "tests/unit/core/array/members_fixture.h"

namespace mdvol {
namespace {

using testing::MembersFixture;
using testing::MemberSpecs;

constexpr uint64_t kChunk = 4096;
constexpr uint64_t kWindow = 8;  // stripes
constexpr size_t kLost = 4;

class ArrayWindowsTest : public MembersFixture {
 protected:
  // A spare in the place of kLost.
  void BeginRebuild() {
    MDVOL_ASSERT_OK(array_->FailMember(kLost, "by hand"));
    disk_ = array_.AddDisk();
    ASSERT_TRUE(array_.AddMember(disk_).ok());
    MDVOL_ASSERT_OK(array_->BeginRecovery());
  }

  bool IsWriteIn(const testing::RecordedRequest& request, uint64_t window) {
    const uint64_t begin = array_.areas(disk_).data.begin + window * kWindow * kChunk;
    return request.member == disk_ && request.kind == IoKind::kWrite &&
           request.Touches(begin, begin + kWindow * kChunk);
  }

  bool IsWritten(uint64_t window) {
    const testing::RecordedRequests log = array_.recording().requests();
    return std::any_of(log.begin(), log.end(), [&](const testing::RecordedRequest& request) {
      return IsWriteIn(request, window) && request.ended_at != testing::kNever;
    });
  }

  // Fills two windows, each in a thread of its own. What the first writes does not get there before
  // what the second writes has; `between` is called then.
  template <typename Between>
  void FillTwo(absl::Status* first, absl::Status* second, Between between) {
    std::thread other;
    std::atomic<bool> was_begun{false};
    std::atomic<bool> was_held{false};
    array_.recording().SetHook([&](const testing::RecordedRequest& request) {
      if (request.kind == IoKind::kRead && !was_begun.exchange(true)) {
        other = std::thread([&] {
          SyncFindings findings;
          *second = array_->RecoverStripes({kWindow, kWindow}, &findings);
        });
      }
      if (IsWriteIn(request, 0) && !was_held.exchange(true)) {
        for (int i = 0; i < 10'000 && !IsWritten(1); ++i) {
          absl::SleepFor(absl::Milliseconds(1));
        }
        ASSERT_TRUE(IsWritten(1)) << "the second window waits for the first";
        between();
      }
    });
    SyncFindings findings;
    *first = array_->RecoverStripes({0, kWindow}, &findings);
    ASSERT_TRUE(was_begun && was_held);
    other.join();
    array_.recording().SetHook(nullptr);
  }

  size_t disk_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Specs, ArrayWindowsTest, MemberSpecs());

TEST_P(ArrayWindowsTest, AreFilledSideBySideAndCountedInOrder) {
  BeginRebuild();
  const uint64_t stripe_bytes = array_.geometry().stripe_bytes();
  std::thread writer;
  std::atomic<bool> is_written{false};
  absl::Status first, second;
  FillTwo(&first, &second, [&] {
    EXPECT_EQ(Of(disk_).recovery_bytes, 0U);
    // Stripes of the second window are kept until they count as filled: what is written to them
    // must not be left out.
    writer = std::thread([&] {
      MDVOL_EXPECT_OK(array_.Write((kWindow + 2) * stripe_bytes, stripe_bytes));
      is_written = true;
    });
    absl::SleepFor(absl::Milliseconds(30));
    EXPECT_FALSE(is_written);
    EXPECT_EQ(Of(disk_).recovery_bytes, 0U);
  });
  writer.join();
  MDVOL_EXPECT_OK(first);
  MDVOL_EXPECT_OK(second);
  EXPECT_EQ(Of(disk_).recovery_bytes, 2 * kWindow * kChunk);
  MDVOL_ASSERT_OK(array_.Recover());
  EXPECT_EQ(array_.CheckDiskInSlot(disk_, kLost), "");
  EXPECT_EQ(array_.CheckVolumeWithout({0, 1}), "");
}

// The second is filled anew, with what was written to it meanwhile.
TEST_P(ArrayWindowsTest, NoneCountsThatFollowsOneWithoutSpace) {
  BeginRebuild();
  array_.fault(disk_).AddRule({.op = FaultOp::kWrite,
                               .error_number = ENOSPC,
                               .offset_bytes = array_.areas(disk_).data.begin + 3 * kChunk,
                               .length_bytes = kChunk});
  absl::Status first, second;
  FillTwo(&first, &second, [] {});
  MDVOL_EXPECT_ERRNO(first, ENOSPC);
  MDVOL_EXPECT_ERRNO(second, ENOSPC);
  EXPECT_EQ(Of(disk_).recovery_bytes, 0U);
  MDVOL_ASSERT_OK(array_->CheckpointRecovery());
  EXPECT_EQ(array_.super(disk_).recovery_offset, 0U);
  const uint64_t stripe_bytes = array_.geometry().stripe_bytes();
  MDVOL_ASSERT_OK(array_.Write((kWindow + 2) * stripe_bytes, stripe_bytes));
  array_.fault(disk_).ClearRules();
  MDVOL_ASSERT_OK(array_.Recover());
  EXPECT_EQ(array_.CheckDiskInSlot(disk_, kLost), "");
}

TEST_P(ArrayWindowsTest, WhatCannotBeRebuiltInOneIsNotedBeforeTheNextCounts) {
  BeginRebuild();
  const auto block_of = [&](size_t disk) {
    const uint64_t begin = array_.areas(disk).data.begin + 3 * kChunk;
    return ByteRange{begin, begin + kChunk};
  };
  for (const size_t disk : {0U, 1U}) {
    for (const FaultOp op : {FaultOp::kRead, FaultOp::kWrite}) {
      array_.fault(disk).AddRule(
          {.op = op, .offset_bytes = block_of(disk).begin, .length_bytes = kChunk});
    }
  }
  absl::Status first, second;
  FillTwo(&first, &second, [] {});
  MDVOL_EXPECT_OK(first);
  MDVOL_EXPECT_OK(second);
  EXPECT_EQ(Of(disk_).recovery_bytes, 2 * kWindow * kChunk);
  EXPECT_EQ(Of(disk_).bad_blocks, std::vector<ByteRange>{block_of(disk_)});
  for (const size_t disk : {0U, 1U}) {
    array_.fault(disk).ClearRules();
  }
  const uint64_t stripe_bytes = array_.geometry().stripe_bytes();
  MDVOL_ASSERT_OK(array_.Write(3 * stripe_bytes, stripe_bytes));
  MDVOL_ASSERT_OK(array_.Recover());
  EXPECT_EQ(array_.CheckDiskInSlot(disk_, kLost), "");
  EXPECT_EQ(array_.CheckVolume(), "");
}

TEST_P(ArrayWindowsTest, ATargetThatFailsInOneIsFailedForAll) {
  BeginRebuild();
  array_.fault(disk_).AddRule({.op = FaultOp::kWrite,
                               .offset_bytes = array_.areas(disk_).data.begin + 3 * kChunk,
                               .length_bytes = kChunk});
  absl::Status first, second;
  FillTwo(&first, &second, [] {});
  MDVOL_EXPECT_OK(first);
  MDVOL_EXPECT_OK(second);
  EXPECT_TRUE(Of(disk_).faulty);
  EXPECT_EQ(array_->Snapshot().degraded, 1U);
  EXPECT_EQ(array_.CheckVolume(), "");
}

// Of the first case a spare, of the second one who comes back to what the bitmap has, of the third
// a replacement.
TEST_P(ArrayWindowsTest, ManyAtOnceUnderReadsWritesAndCheckpoints) {
  const uint64_t volume = array_.geometry().volume_bytes();
  for (int round = 0; round < 3; ++round) {
    size_t disk = kLost;
    if (round == 2) {
      disk = array_.AddDisk();
      ASSERT_TRUE(array_.AddMember(disk).ok());
      MDVOL_ASSERT_OK(array_->SetReplacement(2, array_.MemberOf(disk)));
    } else {
      MDVOL_ASSERT_OK(array_->FailMember(*array_.MemberOf(disk), "by hand"));
      MDVOL_ASSERT_OK(array_->RemoveMember(*array_.MemberOf(disk)));
      for (int i = 0; i < 6; ++i) {
        MDVOL_ASSERT_OK(array_.Write(array_.prng().Below(volume - 9000), 9000));
      }
      ASSERT_TRUE(array_.AddMember(disk, AddMode::kAdd).ok());
    }
    MDVOL_ASSERT_OK(array_->BeginRecovery());
    std::atomic<uint64_t> next{0};
    std::atomic<int> at_work{3};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        for (uint64_t first; (first = next.fetch_add(3)) < 32;) {
          SyncFindings findings;
          MDVOL_EXPECT_OK(
              array_->RecoverStripes({first, std::min<uint64_t>(3, 32 - first)}, &findings));
        }
        --at_work;
      });
    }
    while (at_work > 0) {
      const uint64_t length = array_.prng().Between(1, 30000);
      const uint64_t offset = array_.prng().Below(volume - length);
      MDVOL_EXPECT_OK(array_.prng().OneIn(4) ? array_.Zero(offset, length)
                                             : array_.Write(offset, length));
      MDVOL_EXPECT_OK(array_->CheckpointRecovery());
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    MDVOL_ASSERT_OK(array_->EndRecovery());
    EXPECT_TRUE(Of(disk).in_sync);
    EXPECT_EQ(array_.CheckDiskInSlot(disk, round == 2 ? 2 : kLost), "");
    EXPECT_EQ(array_.CheckVolume(), "");
  }
}

}  // namespace
}  // namespace mdvol
