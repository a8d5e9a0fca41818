// I13: a full file system under the images is nobody's failure. The caller gets ENOSPC, no member
// is failed, the bits stay and the array stays dirty until parity has been put right.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "core/base/units.h"
#include "core/policy/degraded_read.h"
#include "core/policy/policy_set.h"
#include "core/stripe/sync_types.h"
#include "core/sync/start_array.h"
#include "core/sync/sync_work.h"
#include "tests/support/full.h"
#include "tests/support/test_array/log_checks.h"
#include "tests/support/test_array/test_array.h"

namespace mdvol {
namespace {

using testing::ArraySpec;
using testing::CheckOrder;
using testing::Disks;
using testing::FullRun;
using testing::Opening;
using testing::Prng;
using testing::TestArray;
using testing::TestSeed;

constexpr uint64_t kSecondNs = 1000000000;
const std::vector<size_t> kAllSix = {0, 1, 2, 3, 4, 5};

// The disk has no space left for anything in this area.
void FillUp(TestArray& array, size_t disk, const ByteRange& area, int error = ENOSPC,
            uint64_t nth = 0) {
  array.fault(disk).AddRule({.op = FaultOp::kWrite,
                             .error_number = error,
                             .offset_bytes = area.begin,
                             .length_bytes = area.size(),
                             .nth = nth});
}

void MakeRoom(TestArray& array) {
  for (const size_t disk : kAllSix) {
    array.fault(disk).ClearRules();
  }
}

void LetTimePass(TestArray& array, int steps = 4) {
  for (int i = 0; i < steps; ++i) {
    array.clock().Advance(5 * kSecondNs);
    array->RunMaintenance();
  }
}

class ArrayFullTest : public ::testing::TestWithParam<ArraySpec> {
 protected:
  TestArray array_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Specs, ArrayFullTest,
                         ::testing::Values(ArraySpec(), ArraySpec{.bitmap = false}));

TEST_P(ArrayFullTest, TheCallerIsToldAndNobodyIsFailed) {
  for (const int error : {ENOSPC, EDQUOT}) {
    TestArray array(GetParam());
    MDVOL_ASSERT_OK(array.Open());
    MDVOL_ASSERT_OK(array.Fill());
    const Disks before = array.disks().Copy();
    array.recording().Clear();
    FillUp(array, 2, array.areas(2).data, error);
    MDVOL_EXPECT_ERRNO(array.Write(0, 50000), error);
    MDVOL_EXPECT_ERRNO(array.Zero(0, 20000), error);
    EXPECT_EQ(array->Snapshot().degraded, 0U);
    EXPECT_EQ(array->Snapshot().state, ArrayState::kActive);

    // It can neither be clean nor forget what is owed.
    LetTimePass(array);
    MDVOL_EXPECT_ERRNO(array->SetState("clean"), EBUSY);
    EXPECT_EQ(array.super(0).resync_offset, 0U);
    if (GetParam().bitmap) {
      EXPECT_TRUE(array.Bit(0, 0));
    }
    EXPECT_EQ(array.CheckVolume(), "");  // whatever was not written

    MakeRoom(array);
    LetTimePass(array);
    EXPECT_TRUE(array.InconsistentStripes().empty());
    EXPECT_EQ(array.super(0).resync_offset, kResyncDone);
    if (GetParam().bitmap) {
      LetTimePass(array);
      EXPECT_EQ(array.CountBits(0), 0U);
    }
    EXPECT_EQ(CheckOrder({array, before, array.recording().requests(), kAllSix}), "");
    MDVOL_ASSERT_OK(array.Write(0, 50000));
    EXPECT_EQ(array.CheckVolume(), "");
    EXPECT_EQ(array.EventText("member failed"), "");
    MDVOL_ASSERT_OK(array.Stop());
  }
}

TEST_P(ArrayFullTest, StoppedWhileFullTheArrayIsDirtyAndTheNextStartPutsItRight) {
  MDVOL_ASSERT_OK(array_.Open());
  MDVOL_ASSERT_OK(array_.Fill());
  FillUp(array_, 2, array_.areas(2).data);
  MDVOL_EXPECT_ERRNO(array_.Write(0, 50000), ENOSPC);
  MDVOL_ASSERT_OK(array_.Stop());
  EXPECT_NE(array_.EventText("array stopped dirty"), "");
  EXPECT_EQ(array_.super(0).resync_offset, 0U);
  MDVOL_ASSERT_OK(array_.Open());
  EXPECT_TRUE(array_.InconsistentStripes().empty());
  EXPECT_EQ(array_.CheckVolume(), "");
  MDVOL_ASSERT_OK(array_.Stop());
  EXPECT_EQ(array_.super(0).resync_offset, kResyncDone);
}

TEST_P(ArrayFullTest, AStopPutsRightWhatItCan) {
  MDVOL_ASSERT_OK(array_.Open());
  MDVOL_ASSERT_OK(array_.Fill());
  FillUp(array_, 2, array_.areas(2).data);
  MDVOL_EXPECT_ERRNO(array_.Write(0, 50000), ENOSPC);
  MakeRoom(array_);
  MDVOL_ASSERT_OK(array_.Stop());
  EXPECT_EQ(array_.super(0).resync_offset, kResyncDone);
  EXPECT_TRUE(array_.InconsistentStripes().empty());
}

// All images on one file system, as is usual.
TEST_P(ArrayFullTest, EveryMemberMayBeFullAtOnce) {
  MDVOL_ASSERT_OK(array_.Open());
  MDVOL_ASSERT_OK(array_.Fill());
  for (const size_t disk : kAllSix) {
    FillUp(array_, disk, array_.areas(disk).data);
  }
  for (int i = 0; i < 10; ++i) {
    const uint64_t offset = array_.prng().Below(array_.geometry().volume_bytes() - 9000);
    MDVOL_EXPECT_ERRNO(array_.Write(offset, array_.prng().Between(1, 9000)), ENOSPC);
  }
  LetTimePass(array_);
  EXPECT_EQ(array_->Snapshot().degraded, 0U);
  EXPECT_EQ(array_.CheckVolume(), "");
  MakeRoom(array_);
  LetTimePass(array_);
  EXPECT_TRUE(array_.InconsistentStripes().empty());
  EXPECT_EQ(array_.super(0).resync_offset, kResyncDone);
  EXPECT_EQ(array_.CheckVolume(), "");
}

// I6, I13: degraded by one or two, what nobody wrote must not suffer from a write that found no
// space.
TEST_P(ArrayFullTest, DegradedNoOtherBytesAreLost) {
  Prng prng(TestSeed("FullDegraded"));
  for (int round = 0; round < (FullRun() ? 300 : 30); ++round) {
    TestArray array(GetParam());
    MDVOL_ASSERT_OK(array.Open());
    MDVOL_ASSERT_OK(array.Fill());
    const size_t first = prng.Below(6);
    MDVOL_ASSERT_OK(array->FailMember(first, "by hand"));
    if (prng.OneIn(2)) {
      MDVOL_ASSERT_OK(array->FailMember((first + 1 + prng.Below(5)) % 6, "by hand"));
    }
    const size_t full = prng.Below(6);
    FillUp(array, full, array.areas(full).data);
    for (int i = 0; i < 5; ++i) {
      const uint64_t length = prng.Between(1, 30000);
      (void)array.Write(prng.Below(array.geometry().volume_bytes() - length), length);
    }
    ASSERT_EQ(array.CheckVolume(), "");
    MakeRoom(array);
    LetTimePass(array);
    ASSERT_EQ(array.CheckVolume(), "");
    MDVOL_ASSERT_OK(array.Stop());
  }
}

// I13: no space for metadata is no failure either. It cannot happen to images that create made
// (their metadata are allocated) but on file systems that copy on write.
TEST_P(ArrayFullTest, NoSpaceForMetadataFailsNobodyAndWritesNothing) {
  for (const bool in_bitmap : {false, true}) {
    if (in_bitmap && !GetParam().bitmap) {
      continue;
    }
    for (uint64_t nth = 0; nth <= 2; ++nth) {
      TestArray array(GetParam());
      MDVOL_ASSERT_OK(array.Open());
      MDVOL_ASSERT_OK(array.Fill());
      array.clock().Advance(kSecondNs);
      array->RunMaintenance();
      ASSERT_EQ(array.super(0).resync_offset, kResyncDone);
      const uint64_t events = array.super(0).events;
      const Disks before = array.disks().Copy();
      array.recording().Clear();
      for (const size_t disk : {2U, 3U, 5U}) {
        FillUp(array, disk, in_bitmap ? array.areas(disk).bitmap : array.areas(disk).super, ENOSPC,
               nth);
      }
      const absl::Status status = array.Write(5000, 5000);
      if (nth <= 1) {
        MDVOL_EXPECT_ERRNO(status, ENOSPC);
        for (const auto& request : array.recording().requests()) {
          EXPECT_FALSE(array.IsData(request));
        }
        if (nth == 0) {
          MDVOL_EXPECT_ERRNO(array.Write(5000, 5000), ENOSPC);
          LetTimePass(array, 1);
          MDVOL_EXPECT_ERRNO(array.Write(5000, 5000), ENOSPC);
        }
      }
      EXPECT_EQ(array->Snapshot().degraded, 0U);
      MakeRoom(array);
      MDVOL_ASSERT_OK(array.Write(5000, 5000));
      EXPECT_LE(array.super(2).events, events + 3);
      LetTimePass(array);
      EXPECT_EQ(CheckOrder({array, before, array.recording().requests(), kAllSix}), "");
      EXPECT_EQ(array.CheckSupers(), "");
      EXPECT_EQ(array.CheckVolume(), "");
      MDVOL_ASSERT_OK(array.Stop());
      EXPECT_EQ(array.super(5).resync_offset, kResyncDone);
      EXPECT_EQ(array.EventText("member failed"), "");
    }
  }
}

// I3 and I13 together: a member fails, and another has no space to say so. Nobody's write is
// acknowledged until it has.
TEST_P(ArrayFullTest, AFailureThatCannotBeRecordedHoldsWritesUp) {
  MDVOL_ASSERT_OK(array_.Open());
  MDVOL_ASSERT_OK(array_.Fill());
  FillUp(array_, 5, array_.areas(5).super);
  array_.fault(1).AddRule({.op = FaultOp::kWrite,
                           .offset_bytes = array_.areas(1).data.begin,
                           .length_bytes = array_.areas(1).data.size()});
  MDVOL_EXPECT_ERRNO(array_.Write(0, 50000), ENOSPC);
  EXPECT_TRUE(array_->Snapshot().members[1].faulty);
  MDVOL_EXPECT_ERRNO(array_.Write(100000, 1), ENOSPC);
  MDVOL_EXPECT_ERRNO(array_->FailMember(1, "by hand"), ENOSPC);
  EXPECT_FALSE(array_->Snapshot().members[5].faulty);
  EXPECT_EQ(array_.CheckVolume(), "");
  MakeRoom(array_);
  MDVOL_ASSERT_OK(array_.Write(100000, 1));
  for (const size_t disk : {0U, 2U, 3U, 4U, 5U}) {
    EXPECT_EQ(array_.super(disk).dev_roles[1], kRoleFaulty);
    EXPECT_EQ(array_.super(disk).events, array_.super(0).events);
  }
  MDVOL_ASSERT_OK(array_->FailMember(1, "by hand"));
}

// I13: neither is a mend that finds no space.
TEST_P(ArrayFullTest, AMendWithoutSpaceFailsNobody) {
  MDVOL_ASSERT_OK(array_.Open());
  MDVOL_ASSERT_OK(array_.Fill());
  array_.fault(2).AddRule(
      {.op = FaultOp::kRead, .offset_bytes = array_.areas(2).data.begin, .length_bytes = 3 * 4096});
  FillUp(array_, 2, array_.areas(2).data);
  EXPECT_EQ(array_.CheckVolume(), "");
  EXPECT_EQ(array_->Snapshot().degraded, 0U);
}

// I12, I13: a resync without space leaves doubt, not a dead mount; with space it is finished by
// itself.
TEST_P(ArrayFullTest, AResyncWithoutSpaceIsFinishedLater) {
  MDVOL_ASSERT_OK(array_.Open());
  MDVOL_ASSERT_OK(array_.Fill());
  MDVOL_ASSERT_OK(array_.Write(0, 1));
  array_.Crash();
  const uint64_t chunk_bytes = array_.geometry().chunk_bytes();
  std::vector<std::byte> noise(chunk_bytes);
  for (uint64_t stripe = 0; stripe < array_.geometry().stripe_count(); ++stripe) {
    const uint32_t slot = array_.geometry().RolesOf(stripe).p_slot();
    array_.prng().Fill(noise);
    array_.disks().Put(slot, array_.areas(slot).data.begin + stripe * chunk_bytes, noise);
  }
  Opening opening;
  opening.resync = false;
  MDVOL_ASSERT_OK(array_.Open(opening));
  FillUp(array_, 3, array_.areas(3).data);
  uint64_t skipped = 0;
  MDVOL_ASSERT_OK(ResyncDoubtful(*array_, &skipped));
  EXPECT_GT(skipped, 0U);
  EXPECT_TRUE(array_->NextDoubt(0).has_value());
  EXPECT_EQ(array_->Snapshot().degraded, 0U);
  EXPECT_EQ(array_.CheckVolume(), "");
  LetTimePass(array_);
  EXPECT_TRUE(array_->NextDoubt(0).has_value());
  MakeRoom(array_);
  LetTimePass(array_);
  EXPECT_FALSE(array_->NextDoubt(0).has_value());
  EXPECT_TRUE(array_.InconsistentStripes().empty());
  MDVOL_ASSERT_OK(array_.Stop());
  EXPECT_EQ(array_.super(0).resync_offset, kResyncDone);
}

// I12: what was never even looked at is in doubt as before.
TEST(ArrayFullResyncTest, AResyncThatCouldNotBeginEndsNoDoubt) {
  TestArray array({.bitmap = false});
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Fill());
  array.Crash();
  std::vector<std::byte> noise(array.geometry().chunk_bytes());
  array.prng().Fill(noise);
  array.disks().Put(array.geometry().RolesOf(0).p_slot(),
                    array.areas(array.geometry().RolesOf(0).p_slot()).data.begin, noise);
  Opening opening;
  opening.resync = false;
  MDVOL_ASSERT_OK(array.Open(opening));
  FillUp(array, 5, array.areas(5).super);
  const size_t lost = (array.geometry().RolesOf(0).q_slot() + 1) % 5;
  ASSERT_FALSE(array->FailMember(lost, "by hand").ok());  // must be recorded before any write
  uint64_t skipped = 0;
  MDVOL_ASSERT_OK(ResyncDoubtful(*array, &skipped));
  EXPECT_EQ(skipped, array.geometry().stripe_count());
  EXPECT_TRUE(array->NextDoubt(0).has_value());
}

// A good read stays one when the member that it could not mend cannot be recorded as failed.
TEST_P(ArrayFullTest, AReadIsGoodThoughAFailureCannotBeRecorded) {
  MDVOL_ASSERT_OK(array_.Open());
  MDVOL_ASSERT_OK(array_.Fill());
  FillUp(array_, 5, array_.areas(5).super);
  const ByteRange bad{array_.areas(2).data.begin, array_.areas(2).data.begin + 4096};
  for (const FaultOp op : {FaultOp::kRead, FaultOp::kWrite}) {
    array_.fault(2).AddRule({.op = op, .offset_bytes = bad.begin, .length_bytes = bad.size()});
  }
  EXPECT_EQ(array_.CheckVolume(), "");
  EXPECT_NE(array_.EventText("failure not recorded"), "");
  MDVOL_EXPECT_ERRNO(array_.Write(0, 1), ENOSPC);  // but nobody writes before it is
}

// I10: more is owed than is kept one by one; all of it is put right in the end.
TEST(ArrayFullManyTest, WhatIsOwedInManyStripesIsKeptAsDoubt) {
  TestArray array({.raid_disks = 4, .stripes = 4600, .bitmap_chunk_bytes = 256 * 4096});
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Fill());
  for (const size_t disk : {0U, 1U, 2U, 3U}) {
    FillUp(array, disk, array.areas(disk).data);
  }
  MDVOL_EXPECT_ERRNO(array.Fill(), ENOSPC);
  EXPECT_TRUE(array->NextDoubt(0).has_value());
  EXPECT_TRUE(array->Snapshot().awaits_space);
  for (const size_t disk : {0U, 1U, 2U, 3U}) {
    array.fault(disk).ClearRules();
  }
  LetTimePass(array);
  EXPECT_FALSE(array->Snapshot().awaits_space);
  EXPECT_FALSE(array->NextDoubt(0).has_value());
  EXPECT_FALSE(array->Snapshot().dirty);
  EXPECT_TRUE(array.InconsistentStripes().empty());
}

// I13: what came to owe while its neighbours were recomputed stays in doubt with them, though a
// resync has been everywhere.
TEST(ArrayFullManyTest, AResyncDoesNotForgetWhatCameToOweMeanwhile) {
  TestArray array({.raid_disks = 4, .stripes = 4600, .bitmap_chunk_bytes = 512 * 4096});
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Fill());
  array.Crash();
  Opening opening;
  opening.resync = false;
  MDVOL_ASSERT_OK(array.Open(opening));
  const auto work = NewResyncWork(*array);
  const std::optional<StripeRange> last = work->Next(4096);
  ASSERT_TRUE(last.has_value());
  const uint64_t half = last->count / 2;
  SyncFindings findings;
  MDVOL_ASSERT_OK(work->Run({last->first, half}, &findings));
  for (const size_t disk : {0U, 1U, 2U, 3U}) {
    FillUp(array, disk, array.areas(disk).data);
  }
  MDVOL_EXPECT_ERRNO(array.Fill(), ENOSPC);
  for (const size_t disk : {0U, 1U, 2U, 3U}) {
    array.fault(disk).ClearRules();
  }
  MDVOL_ASSERT_OK(work->Run({last->first + half, last->count - half}, &findings));
  EXPECT_EQ(findings.skipped_stripes, 0U);
  ASSERT_TRUE(array->NextDoubt(4096).has_value());
  EXPECT_EQ(array->NextDoubt(4096)->first, last->first);
  LetTimePass(array);
  EXPECT_FALSE(array->NextDoubt(0).has_value());
  EXPECT_TRUE(array.InconsistentStripes().empty());
  // What nobody disturbs ends its doubt, in whichever order its windows end.
  array.Crash();
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Write(0, 1));
  array.Crash();
  MDVOL_ASSERT_OK(array.Open(opening));
  const auto again = NewResyncWork(*array);
  const std::optional<StripeRange> first = again->Next(0);
  ASSERT_TRUE(first.has_value());
  const uint64_t third = first->count / 3;
  MDVOL_ASSERT_OK(again->Run({2 * third, first->count - 2 * third}, &findings));
  MDVOL_ASSERT_OK(again->Run({0, third}, &findings));
  EXPECT_TRUE(array->NextDoubt(0).has_value());
  MDVOL_ASSERT_OK(again->Run({third, third}, &findings));
  EXPECT_FALSE(array->NextDoubt(0).has_value());
}

// Not only when bits are cleared, which may be once a day.
TEST_P(ArrayFullTest, OwedParityIsTriedAgainSoon) {
  MDVOL_ASSERT_OK(array_.Open());
  MDVOL_ASSERT_OK(array_.Fill());
  if (GetParam().bitmap) {
    MDVOL_ASSERT_OK(array_->SetBitmapTimeBase(24 * 3600));
  }
  for (const size_t disk : kAllSix) {
    FillUp(array_, disk, array_.areas(disk).data);
  }
  MDVOL_EXPECT_ERRNO(array_.Write(0, 50000), ENOSPC);
  LetTimePass(array_, 1);
  EXPECT_TRUE(array_->Snapshot().dirty);
  MakeRoom(array_);
  LetTimePass(array_, 2);
  EXPECT_FALSE(array_->Snapshot().dirty);
}

// What is kept for so long that a stream may come back, and no longer.
class ShortlyKept final : public DegradedRead {
 public:
  DegradedReadDecision Decide(const DegradedReadFacts& /*facts*/) override {
    return {.keep = true, .retention_ns = kSecondNs / 10};
  }
};

// Neither waits for the other.
TEST_P(ArrayFullTest, LanesThatWereKeptAreDroppedInTimeThoughParityIsOwed) {
  PolicySet policies;
  policies.degraded_read.Set(std::make_shared<ShortlyKept>());
  Opening opening;
  opening.options.policies = &policies;
  opening.options.safe_mode_delay_ms = 0;  // otherwise maintenance is due soon anyway
  MDVOL_ASSERT_OK(array_.Open(opening));
  MDVOL_ASSERT_OK(array_.Fill());
  for (const size_t disk : kAllSix) {
    FillUp(array_, disk, array_.areas(disk).data);
  }
  MDVOL_EXPECT_ERRNO(array_.Write(0, 50000), ENOSPC);
  MDVOL_ASSERT_OK(array_->FailMember(5, "by hand"));
  array_->RunMaintenance();
  std::vector<std::byte> bytes(array_.geometry().stripe_bytes());
  MDVOL_ASSERT_OK(array_->Read(20 * bytes.size(), bytes));
  ASSERT_GT(array_->Snapshot().stripe_cache_active, 0U);
  EXPECT_EQ(array_->RunMaintenance(), array_.clock().NowNs() + kSecondNs / 10);
  array_.clock().Advance(kSecondNs / 10);
  EXPECT_EQ(array_->RunMaintenance(), array_.clock().NowNs() + 49 * kSecondNs / 10);
  EXPECT_EQ(array_->Snapshot().stripe_cache_active, 0U);
  array_.Crash();  // before the policies go
}

}  // namespace
}  // namespace mdvol
