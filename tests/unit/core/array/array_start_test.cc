// Assembly and start on real members: what a read-write start makes durable before anything else,
// which stripes it resyncs (I12), what force changes. Whether members may run at all is tested with
// DecideAssembly.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "core/base/units.h"
#include "core/sync/start_array.h"
#include "tests/support/full.h"
#include "tests/support/test_array/log_checks.h"
#include "tests/support/test_array/test_array.h"

namespace mdvol {
namespace {

using testing::ArraySpec;
using testing::CheckEventOrder;
using testing::CheckOrder;
using testing::CrashAt;
using testing::Disks;
using testing::FullRun;
using testing::Opening;
using testing::Prng;
using testing::ReadOnly;
using testing::RecordedRequest;
using testing::TestArray;
using testing::TestSeed;

const std::vector<size_t> kAllSix = {0, 1, 2, 3, 4, 5};
const std::vector<size_t> kAllButTwo = {0, 1, 3, 4, 5};

// An array with something in it, stopped.
void Prepare(TestArray& array) {
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Fill());
  MDVOL_ASSERT_OK(array.Stop());
}

void ChangeSupers(TestArray& array, const std::vector<size_t>& disks,
                  const std::function<void(Superblock&)>& change) {
  for (const size_t disk : disks) {
    Superblock super = array.super(disk);
    change(super);
    array.PutSuper(disk, super);
  }
}

void MakeDirty(TestArray& array, uint64_t resync_sectors = 0) {
  ChangeSupers(array, kAllSix, [&](Superblock& super) { super.resync_offset = resync_sectors; });
}

void SetBitEverywhere(TestArray& array, uint64_t bit) {
  for (size_t disk = 0; disk < 6; ++disk) {
    array.PutBit(disk, bit, true);
  }
}

// Makes P and Q of a stripe wrong.
void SpoilParity(TestArray& array, uint64_t stripe) {
  const StripeRoles roles = array.geometry().RolesOf(stripe);
  const uint64_t chunk_bytes = array.geometry().chunk_bytes();
  std::vector<std::byte> noise(chunk_bytes);
  for (const uint32_t slot : {roles.p_slot(), roles.q_slot()}) {
    array.prng().Fill(noise);
    array.disks().Put(slot, array.areas(slot).data.begin + stripe * chunk_bytes, noise);
  }
}

std::vector<uint64_t> AllStripes(const TestArray& array) {
  std::vector<uint64_t> all;
  for (uint64_t stripe = 0; stripe < array.geometry().stripe_count(); ++stripe) {
    all.push_back(stripe);
  }
  return all;
}

void SpoilAllParity(TestArray& array) {
  for (const uint64_t stripe : AllStripes(array)) {
    SpoilParity(array, stripe);
  }
}

// ---- What an unclean stop leaves to be done (I12) ----

// Parity is spoilt everywhere; only that of stripes in doubt may be put right, the rest shows that
// nobody touched it.
TEST(ArrayResyncTest, WithABitmapExactlyTheStripesOfSetBitsAreResynced) {
  TestArray array;
  Prepare(array);
  MakeDirty(array);
  SetBitEverywhere(array, 2);  // stripes 8 to 11
  SetBitEverywhere(array, 7);  // stripes 28 to 31
  SpoilAllParity(array);
  array.recording().Clear();
  const Disks before = array.disks().Copy();
  MDVOL_ASSERT_OK(array.Open());
  std::vector<uint64_t> expected;
  for (const uint64_t stripe : AllStripes(array)) {
    if (stripe / 4 != 2 && stripe / 4 != 7) {
      expected.push_back(stripe);
    }
  }
  EXPECT_EQ(array.InconsistentStripes(), expected);
  EXPECT_FALSE(array->NextDoubt(0).has_value());
  EXPECT_EQ(CheckOrder({array, before, array.recording().requests(), kAllSix}), "");
  EXPECT_EQ(array.EventText("resync done"), "resync done");
  EXPECT_EQ(array.CheckVolume(), "");
  EXPECT_TRUE(array.Bit(0, 2));  // until all is durable and idle
  MDVOL_ASSERT_OK(array.Stop());
  EXPECT_EQ(array.CountBits(0), 0U);
}

TEST(ArrayResyncTest, WithoutABitmapAllStripesAreResynced) {
  TestArray array({.bitmap = false});
  Prepare(array);
  MakeDirty(array);
  SpoilAllParity(array);
  MDVOL_ASSERT_OK(array.Open());
  EXPECT_TRUE(array.InconsistentStripes().empty());
  EXPECT_EQ(array.CheckDisks(), "");
}

// Without a bitmap doubt is kept by 64 MiB of each member.
TEST(ArrayResyncTest, AResyncGoesOnFromTheCheckpoint) {
  TestArray array({.raid_disks = 4, .chunk_bytes = 64 * kKiB, .stripes = 2100, .bitmap = false});
  const uint64_t chunk_bytes = array.geometry().chunk_bytes();
  ChangeSupers(array, {0, 1, 2, 3}, [&](Superblock& super) {
    super.resync_offset = 1030 * chunk_bytes / kSectorBytes + 3;
  });
  const std::vector<std::byte> zeroes(chunk_bytes);
  const auto is_right = [&](uint64_t stripe) {
    const uint32_t slot = array.geometry().RolesOf(stripe).p_slot();
    return array.disks().Bytes(slot, array.areas(slot).data.begin + stripe * chunk_bytes,
                               chunk_bytes) == zeroes;
  };
  for (const uint64_t stripe : {1023U, 1030U, 1031U, 2099U}) {
    SpoilParity(array, stripe);
    ASSERT_FALSE(is_right(stripe));
  }
  MDVOL_ASSERT_OK(array.Open());
  EXPECT_FALSE(is_right(1023));
  EXPECT_TRUE(is_right(1030));
  EXPECT_TRUE(is_right(1031));
  EXPECT_TRUE(is_right(2099));
}

TEST(ArrayResyncTest, TheCheckpointAndTheBitmapTogetherNarrowTheResync) {
  TestArray array;
  Prepare(array);
  MakeDirty(array, 16 * 4096 / kSectorBytes);
  for (const uint64_t bit : {1U, 3U, 5U}) {
    SetBitEverywhere(array, bit);
  }
  SpoilAllParity(array);
  MDVOL_ASSERT_OK(array.Open());
  for (const uint64_t stripe : AllStripes(array)) {
    const auto wrong = array.InconsistentStripes();
    EXPECT_EQ(std::count(wrong.begin(), wrong.end(), stripe), stripe / 4 == 5 ? 0 : 1) << stripe;
  }
}

TEST(ArrayResyncTest, AStaleBitmapCountsAsAllSet) {
  TestArray array;
  Prepare(array);
  MakeDirty(array);
  for (size_t disk = 0; disk < 6; ++disk) {
    BitmapSuperblock bitmap = array.bitmap_super(disk);
    bitmap.events = bitmap.events - 1;
    array.PutBitmapSuper(disk, bitmap);
  }
  SpoilAllParity(array);
  const Disks before = array.disks().Copy();
  array.recording().Clear();
  MDVOL_ASSERT_OK(array.Open());
  EXPECT_TRUE(array.InconsistentStripes().empty());
  EXPECT_EQ(testing::CheckIntentOrder({array, before, array.recording().requests(), kAllSix}), "");
  MDVOL_ASSERT_OK(array.Stop());
}

// The reference's bitmap decides; another member's bits are not asked.
TEST(ArrayResyncTest, ACleanArrayIsNotResyncedWhateverItsBits) {
  TestArray array;
  Prepare(array);
  SetBitEverywhere(array, 2);
  SpoilParity(array, 8);
  MDVOL_ASSERT_OK(array.Open());
  EXPECT_EQ(array.InconsistentStripes(), (std::vector<uint64_t>{8}));
  MDVOL_ASSERT_OK(array.Stop());
}

// I12: cut off at any point, the resync is done by the next start.
TEST(ArrayResyncTest, AnInterruptedResyncIsDoneByTheNextStart) {
  TestArray array;
  Prepare(array);
  MakeDirty(array);
  SetBitEverywhere(array, 2);
  SetBitEverywhere(array, 5);
  for (const uint64_t stripe : {8U, 10U, 21U}) {
    SpoilParity(array, stripe);
  }
  const Disks before = array.disks().Copy();
  array.recording().Clear();
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Stop());
  const auto log = array.recording().requests();
  Prng prng(TestSeed("InterruptedResync"));
  for (size_t time = 0; time <= log.size(); ++time) {
    if (time < log.size() && log[time].kind == IoKind::kRead) {
      continue;
    }
    TestArray after(array, CrashAt(before, log, time, prng.OneIn(2) ? &prng : nullptr));
    MDVOL_ASSERT_OK(after.Open());
    ASSERT_EQ(after.CheckDisks(), "") << time;
    MDVOL_ASSERT_OK(after.Stop());
  }
}

// Data that cannot be read leave their stripes in doubt, and the array dirty.
TEST(ArrayResyncTest, WhatCannotBeToldStaysInDoubt) {
  TestArray array;
  Prepare(array);
  MakeDirty(array);
  SetBitEverywhere(array, 2);
  SetBitEverywhere(array, 5);
  Opening opening;
  opening.resync = false;
  MDVOL_ASSERT_OK(array.Open(opening));
  const size_t disk = array.DiskOf(9 * array.geometry().stripe_bytes());  // stripe 9
  array.fault(disk).AddRule({.op = FaultOp::kRead,
                             .offset_bytes = array.areas(disk).data.begin + 9 * 4096,
                             .length_bytes = 4096});
  uint64_t skipped = 0;
  MDVOL_ASSERT_OK(ResyncDoubtful(*array, &skipped));
  EXPECT_EQ(skipped, 1U);
  ASSERT_TRUE(array->NextDoubt(0).has_value());
  EXPECT_EQ(array->NextDoubt(0)->first, 8U);
  EXPECT_FALSE(array->NextDoubt(12).has_value());
  EXPECT_EQ(array->Snapshot().resync_bytes, 8U * 4096);
  MDVOL_EXPECT_ERRNO(array->SetState("clean"), EBUSY);
  MDVOL_ASSERT_OK(array.Stop());
  EXPECT_EQ(array.EventText("array stopped dirty").empty(), false);
  EXPECT_EQ(array.super(0).resync_offset, 0U);
  EXPECT_TRUE(array.Bit(0, 2));
  MDVOL_ASSERT_OK(array.Open());  // it can be read again
  EXPECT_FALSE(array->NextDoubt(0).has_value());
  MDVOL_ASSERT_OK(array.Stop());
  EXPECT_EQ(array.super(0).resync_offset, kResyncDone);
}

// A member that misbehaves while the parity is written is failed; the rest is resynced.
TEST(ArrayResyncTest, AMemberMayBeLostOnTheWay) {
  TestArray array({.bitmap = false});
  Prepare(array);
  MakeDirty(array);
  SpoilAllParity(array);
  Opening opening;
  opening.resync = false;
  MDVOL_ASSERT_OK(array.Open(opening));
  array.fault(3).AddRule({.op = FaultOp::kWrite,
                          .offset_bytes = array.areas(3).data.begin,
                          .length_bytes = array.areas(3).data.size()});
  uint64_t skipped = 0;
  MDVOL_ASSERT_OK(ResyncDoubtful(*array, &skipped));
  EXPECT_TRUE(array->Snapshot().members[3].faulty);
  EXPECT_EQ(array.super(0).dev_roles[3], kRoleFaulty);
}

// ---- What a start records ----

TEST(ArrayStartTest, AMemberOneEventBehindIsBroughtUpToDate) {
  TestArray array;
  Prepare(array);
  ChangeSupers(array, {1, 4}, [](Superblock& super) { super.events = super.events - 1; });
  const uint64_t events = array.super(0).events;
  const Disks before = array.disks().Copy();
  array.recording().Clear();
  MDVOL_ASSERT_OK(array.Open());
  EXPECT_EQ(array->Snapshot().degraded, 0U);
  for (const size_t disk : kAllSix) {
    EXPECT_EQ(array.super(disk).events, events);
  }
  EXPECT_EQ(CheckEventOrder({array, before, array.recording().requests(), kAllSix}), "");
  MDVOL_ASSERT_OK(array.Stop());
}

// I7: what the freshest member says of the others' roles holds, also when it is being rebuilt
// itself and so does not speak for the array.
TEST(ArrayStartTest, EventsGoUpFromTheFreshestMemberThatIsBelieved) {
  TestArray array;
  Prepare(array);
  ChangeSupers(array, {2}, [](Superblock& super) {
    super.events = super.events + 1;
    super.feature_map = super.feature_map | kFeatureRecoveryOffset;
    super.recovery_offset = 0;
  });
  const uint64_t events = array.super(2).events;
  for (const size_t disk : kAllSix) {
    BitmapSuperblock bitmap = array.bitmap_super(disk);
    bitmap.events = events;
    array.PutBitmapSuper(disk, bitmap);
  }
  const Disks before = array.disks().Copy();
  array.recording().Clear();
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Write(0, 1));
  for (const size_t disk : kAllSix) {
    EXPECT_EQ(array.super(disk).events, events + 1);
  }
  EXPECT_EQ(CheckEventOrder({array, before, array.recording().requests(), kAllSix}), "");
}

TEST(ArrayStartTest, AMissingMembersRoleIsRecordedAsFaultyByTheFirstReadWriteStart) {
  TestArray array;
  Prepare(array);
  MDVOL_EXPECT_ERRNO(array.Open(kAllButTwo), EIO);
  EXPECT_EQ(array.super(0).dev_roles[2], 2U);
  MDVOL_ASSERT_OK(array.Open(kAllButTwo, {.run = true}));
  for (const size_t disk : kAllButTwo) {
    EXPECT_EQ(array.super(disk).dev_roles[2], kRoleFaulty);
    EXPECT_EQ(array.super(disk).events, array.super(2).events + 1);
  }
  EXPECT_EQ(array.CheckVolume(), "");
  MDVOL_ASSERT_OK(array.Write(0, 100000));
  MDVOL_ASSERT_OK(array.Stop());
  const Disks before = array.disks().Copy();
  MDVOL_ASSERT_OK(array.Open(kAllButTwo));  // now it is known
  MDVOL_ASSERT_OK(array.Stop());
  EXPECT_EQ(array.disks().DifferenceFrom(before), "");  // and is no news
  MDVOL_ASSERT_OK(array.Open());                        // back, but it has missed writes
  EXPECT_EQ(array->Snapshot().degraded, 1U);
  EXPECT_EQ(array->Snapshot().members.size(), 5U);
  EXPECT_NE(array.EventText("member left out"), "");
  EXPECT_EQ(array.CheckVolume(), "");
}

TEST(ArrayStartTest, AnArrayWithAJournalIsOnlyServedReadOnly) {
  TestArray array({.spares = 1, .bitmap = false});
  Prepare(array);
  ChangeSupers(array, {0, 1, 2, 3, 4, 5, 6}, [](Superblock& super) {
    super.feature_map = super.feature_map | kFeatureJournal;
    super.dev_roles[6] = kRoleJournal;
  });
  const Disks before = array.disks().Copy();
  const absl::Status status = array.Open();
  MDVOL_EXPECT_ERRNO(status, EROFS);
  EXPECT_TRUE(absl::StrContains(MessageOf(status), "write journal"));
  EXPECT_TRUE(absl::StrContains(MessageOf(status), "--read-only"));
  EXPECT_EQ(array.disks().DifferenceFrom(before), "");
  MDVOL_ASSERT_OK(array.Open(ReadOnly()));
  EXPECT_EQ(array.CheckVolume(), "");
}

// What is written from now on reaches it too.
TEST(ArrayStartTest, AReplacementGoesOnFromItsCheckpoint) {
  TestArray array({.spares = 1});
  Prepare(array);
  ChangeSupers(array, {0, 1, 2, 3, 4, 5, 6}, [](Superblock& super) {
    super.dev_roles[6] = 2;
    if (super.dev_number == 6U) {
      super.feature_map = super.feature_map | kFeatureReplacement | kFeatureRecoveryOffset;
      super.recovery_offset = 64;
    }
  });
  MDVOL_ASSERT_OK(array.Open());
  EXPECT_EQ(array->Snapshot().degraded, 0U);
  EXPECT_FALSE(array->Snapshot().members[6].in_sync);
  EXPECT_FALSE(array->Snapshot().members[6].spare);
  MDVOL_ASSERT_OK(array.Write(0, 100000));
  const Superblock super = array.super(6);
  EXPECT_EQ(super.recovery_offset, 64U);
  EXPECT_TRUE(super.has_feature(kFeatureReplacement) && super.has_feature(kFeatureRecoveryOffset));
  EXPECT_EQ(super.dev_roles[6], 2U);
  EXPECT_EQ(super.events, array.super(0).events);
  EXPECT_EQ(array.CheckSupers(), "");
  array.fault(6).AddRule({.op = FaultOp::kFlush});
  array.clock().Advance(1000000000);
  array->RunMaintenance();
  EXPECT_TRUE(array->Snapshot().members[6].faulty);
  EXPECT_EQ(array->Snapshot().degraded, 0U);
}

// Sectors of 4 KiB and data that begin between two of them: every request would fail.
TEST(ArrayStartTest, MembersThatDirectIoCannotReachAreRefused) {
  TestArray array;
  Prepare(array);
  ChangeSupers(array, {3}, [](Superblock& super) {
    super.data_offset = super.data_offset - 1;
    super.data_size = super.data_size + 1;
  });
  Disks disks;
  for (const size_t i : kAllSix) {
    disks.Add(array.disks()[i].path(), array.disks()[i].size_bytes(), {.alignment_bytes = 4096});
    disks.Put(i, 0, array.disks().Bytes(i, 0, array.disks()[i].size_bytes()));
  }
  TestArray direct(array, disks.Copy());
  const absl::Status status = direct.Open();
  MDVOL_EXPECT_ERRNO(status, EINVAL);
  EXPECT_TRUE(absl::StrContains(MessageOf(status), "/m/d3: ")) << status;
  EXPECT_TRUE(absl::StrContains(MessageOf(status), "without --direct")) << status;
}

// What the engine rounds to is a power of two, 4 KiB at most.
TEST(ArrayStartTest, MembersOfAnAlignmentThatTheEngineCannotKeepAreRefused) {
  class OddlyAligned final : public MemberDevice {
   public:
    explicit OddlyAligned(std::unique_ptr<MemberDevice> inner) : inner_(std::move(inner)) {}
    uint32_t alignment = 1;

    const std::string& path() const override { return inner_->path(); }
    uint64_t size_bytes() const override { return inner_->size_bytes(); }
    uint32_t alignment_bytes() const override { return alignment; }
    bool read_only() const override { return inner_->read_only(); }
    void Submit(IoRequest& request) override { inner_->Submit(request); }
    void Wait(IoRequest& request) override { inner_->Wait(request); }
    absl::StatusOr<uint64_t> NextData(uint64_t at) override { return inner_->NextData(at); }
    absl::StatusOr<uint64_t> NextHole(uint64_t at) override { return inner_->NextHole(at); }

   private:
    const std::unique_ptr<MemberDevice> inner_;
  };
  TestArray array;
  Prepare(array);
  for (const uint32_t alignment : {4096U, 8192U, 520U}) {
    std::vector<LoadedMember> members;
    for (const size_t i : kAllSix) {
      auto device = std::make_unique<OddlyAligned>(array.disks().Open(i));
      OddlyAligned& odd = *device;
      auto member = LoadMember(std::move(device));
      ASSERT_TRUE(member.ok());
      odd.alignment = i == 3 ? alignment : 512;
      members.push_back(*std::move(member));
    }
    const auto started = Array::Start(std::move(members), {}, array.clock(), array.events());
    EXPECT_EQ(started.ok(), alignment == 4096) << alignment;
    EXPECT_TRUE(started.ok() || absl::StrContains(MessageOf(started.status()), "--direct"));
  }
}

// Old arrays have the bitmap 1 KiB behind the superblock: in one block of direct I/O.
TEST(ArrayStartTest, SuperblockAndBitmapMayShareABlock) {
  for (const uint32_t alignment : {1U, 512U, 4096U}) {
    TestArray array({.minor = 0, .alignment_bytes = alignment});
    const uint64_t bitmap_bytes = kBitmapSuperBytes + array.bits() / 8 + 1;
    for (const size_t disk : kAllSix) {
      Superblock super = array.super(disk);
      const auto bitmap = array.disks().Bytes(disk, array.areas(disk).bitmap.begin, bitmap_bytes);
      super.bitmap_offset = 2;
      array.PutSuper(disk, super);
      array.disks().Put(disk, array.areas(disk).super.begin + 1024, bitmap);
    }
    const auto bit = [&](size_t disk, uint64_t number) {
      const uint64_t place = array.areas(disk).super.begin + 1024 + kBitmapSuperBytes + number / 8;
      return (std::to_integer<unsigned>(array.disks().Bytes(disk, place, 1)[0]) >> number % 8) & 1;
    };
    MDVOL_ASSERT_OK(array.Open());
    MDVOL_ASSERT_OK(array.Write(0, 5000));
    EXPECT_EQ(array.CheckSupers(), "");
    for (const size_t disk : kAllSix) {
      EXPECT_EQ(bit(disk, 0), 1U);
      EXPECT_EQ(bit(disk, 1), 0U);
      EXPECT_EQ(array.super(disk).resync_offset, 0U);
    }
    array.Crash();
    MDVOL_ASSERT_OK(array.Open());
    EXPECT_EQ(array->Snapshot().bitmap->bits_set, 1U);
    EXPECT_EQ(array.CheckVolume(), "");
    MDVOL_ASSERT_OK(array->FailMember(5, "by hand"));
    MDVOL_ASSERT_OK(array.Write(200000, 5000));
    EXPECT_EQ(bit(0, 0), 1U);
    MDVOL_ASSERT_OK(array.Stop());
    EXPECT_EQ(array.CheckSupers(), "");
    MDVOL_ASSERT_OK(array.Open());
    EXPECT_EQ(array.CheckVolume(), "");
    EXPECT_EQ(array->Snapshot().bitmap->bits_set, 2U);
  }
}

TEST(ArrayStartTest, NothingIsWrittenWhenTheDecisionIsToRefuse) {
  TestArray array;
  Prepare(array);
  MakeDirty(array);
  const Disks before = array.disks().Copy();
  EXPECT_FALSE(array.Open({0, 1, 2}).ok());
  EXPECT_FALSE(array.Open(kAllButTwo, {.run = true}).ok());  // dirty and degraded
  Opening none;
  EXPECT_FALSE(StartArray({}, none.options, array.clock(), array.events()).ok());
  EXPECT_EQ(array.disks().DifferenceFrom(before), "");
}

// A start that cannot record what it must does not run.
TEST(ArrayStartTest, AStartThatLosesThreeMembersFails) {
  TestArray array;
  Prepare(array);
  MakeDirty(array);
  std::vector<LoadedMember> members;
  for (const size_t i : kAllSix) {
    auto fault = NewFaultDevice(array.disks().Open(i), 1, array.clock());
    if (i < 3) {
      fault->AddRule({.op = FaultOp::kWrite});
    }
    auto member = LoadMember(std::move(fault));
    ASSERT_TRUE(member.ok());
    members.push_back(*std::move(member));
  }
  MDVOL_EXPECT_ERRNO(StartArray(std::move(members), {}, array.clock(), array.events()).status(),
                     EIO);
  MDVOL_ASSERT_OK(array.Open());
}

// ---- Force ----

// Degraded and dirty: what there is is declared to be right, as mdadm does.
TEST(ArrayForceTest, ADirtyDegradedArrayIsDeclaredClean) {
  TestArray array;
  Prepare(array);
  MakeDirty(array);
  SetBitEverywhere(array, 2);
  MDVOL_ASSERT_OK(array.Open(kAllButTwo, {.force = true, .run = true}));
  EXPECT_FALSE(array->NextDoubt(0).has_value());
  EXPECT_EQ(array.CheckVolume(), "");
  EXPECT_EQ(array.super(0).resync_offset, 0U);  // until it is marked clean
  array.clock().Advance(1000000000);
  array->RunMaintenance();
  EXPECT_EQ(array.super(0).resync_offset, kResyncDone);
  EXPECT_TRUE(array.Bit(0, 2));  // the missing member needs it
  MDVOL_ASSERT_OK(array.Stop());
  MDVOL_ASSERT_OK(array.Open(kAllButTwo));
}

// Dirty but whole: force is no reason to believe anything.
TEST(ArrayForceTest, ADirtyWholeArrayIsResyncedAllTheSame) {
  TestArray array;
  Prepare(array);
  MakeDirty(array);
  SetBitEverywhere(array, 2);
  SpoilParity(array, 8);
  MDVOL_ASSERT_OK(array.Open({}, {.force = true}));
  EXPECT_EQ(array.CheckDisks(), "");
}

// Members that missed writes are taken back because there are too few: any stripe may disagree
// then. Cut off anywhere, the next start finds that still (I1).
TEST(ArrayForceTest, StaleMembersThatAreTakenBackMakeEveryStripeDoubtful) {
  TestArray array;
  Prepare(array);
  // Three members of six stop seeing anything, ten events ago.
  ChangeSupers(array, {3, 4, 5}, [](Superblock& super) { super.events = super.events + 10; });
  for (const size_t disk : {3U, 4U, 5U}) {
    BitmapSuperblock bitmap = array.bitmap_super(disk);
    bitmap.events = bitmap.events + 10;
    array.PutBitmapSuper(disk, bitmap);
  }
  SpoilAllParity(array);
  EXPECT_FALSE(array.Open().ok());
  const Disks before = array.disks().Copy();
  array.recording().Clear();
  MDVOL_ASSERT_OK(array.Open({}, {.force = true}));
  ASSERT_EQ(array->Snapshot().degraded, 0U);
  EXPECT_EQ(array.CheckDisks(), "");
  MDVOL_ASSERT_OK(array.Stop());
  const auto log = array.recording().requests();
  EXPECT_EQ(testing::CheckIntentOrder({array, before, log, kAllSix}), "");
  Prng prng(TestSeed("ForcedCutOff"));
  for (size_t time = 0; time <= log.size(); ++time) {
    if (time < log.size() && (log[time].kind == IoKind::kRead || (!FullRun() && prng.OneIn(2)))) {
      continue;
    }
    TestArray after(array, CrashAt(before, log, time, prng.OneIn(2) ? &prng : nullptr));
    MDVOL_ASSERT_OK(after.Open({}, {.force = true}));
    ASSERT_EQ(after->Snapshot().degraded == 0 ? after.CheckDisks() : "", "") << time;
  }
}

}  // namespace
}  // namespace mdvol
