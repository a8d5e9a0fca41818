// I3, I11: a member's failure, whatever it was that failed, is durable in the survivors before
// anybody is told that his write is done. A failed flush fails the member for good.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/synchronization/notification.h"
#include "core/base/units.h"
#include "tests/support/full.h"
#include "tests/support/test_array/log_checks.h"
#include "tests/support/test_array/test_array.h"

namespace mdvol {
namespace {

using testing::ArraySpec;
using testing::CheckFailureRecorded;
using testing::CheckOrder;
using testing::Disks;
using testing::FullRun;
using testing::Prng;
using testing::RecordedRequest;
using testing::TestArray;
using testing::TestSeed;

constexpr uint64_t kSecondNs = 1000000000;

std::vector<size_t> AllBut(const std::vector<size_t>& lost) {
  std::vector<size_t> rest;
  for (size_t disk = 0; disk < 6; ++disk) {
    if (std::find(lost.begin(), lost.end(), disk) == lost.end()) {
      rest.push_back(disk);
    }
  }
  return rest;
}

enum class Area { kData, kBitmap, kSuper };

// All writes to one of the disk's areas fail from now on.
void FailWrites(TestArray& array, size_t disk, Area area, uint64_t nth = 0) {
  const MemberAreas& areas = array.areas(disk);
  const ByteRange& range = area == Area::kData     ? areas.data
                           : area == Area::kBitmap ? areas.bitmap
                                                   : areas.super;
  array.fault(disk).AddRule({.op = FaultOp::kWrite,
                             .offset_bytes = range.begin,
                             .length_bytes = range.size(),
                             .nth = nth});
}

void FailFlushes(TestArray& array, size_t disk, uint64_t nth = 0) {
  array.fault(disk).AddRule({.op = FaultOp::kFlush, .nth = nth});
}

// The disk was failed, durably and alone; it was left as it was, and nothing is lost.
void ExpectFailedAlone(TestArray& array, size_t disk, const Disks& before) {
  const std::vector<size_t> live = AllBut({disk});
  const testing::RecordedRun run = {array, before, array.recording().requests(), live};
  EXPECT_EQ(CheckFailureRecorded(run, disk), "");
  EXPECT_EQ(CheckOrder(run), "");
  EXPECT_EQ(array.CheckSupers(), "");
  EXPECT_TRUE(array->Snapshot().members[disk].faulty);
  EXPECT_EQ(array->Snapshot().degraded, 1U);
  EXPECT_EQ(array.CheckVolume(), "");
  EXPECT_EQ(array.CheckDisks(live), "");
  EXPECT_TRUE(absl::StartsWith(array.EventText("member failed"),
                               absl::StrCat("member failed d", disk, ": ")))
      << array.EventText("member failed");
}

// I3: each place of a member in turn.
TEST(ArrayFailureTest, AMemberThatFailsAWriteIsFailedBeforeTheWriteIsAcknowledged) {
  for (const Area area : {Area::kData, Area::kBitmap, Area::kSuper}) {
    TestArray array;
    MDVOL_ASSERT_OK(array.Open());
    const Disks before = array.disks().Copy();
    array.recording().Clear();
    FailWrites(array, 2, area);
    MDVOL_ASSERT_OK(array.Write(0, 200000));  // every disk
    ExpectFailedAlone(array, 2, before);
    if (area != Area::kSuper) {  // it was marked dirty with the others, and not touched again
      EXPECT_EQ(array.super(2).dev_roles[2], 2U);
    }
    MDVOL_ASSERT_OK(array.Write(100, 5000));
    EXPECT_EQ(array.CheckVolume(), "");
    MDVOL_ASSERT_OK(array.Stop());
    MDVOL_ASSERT_OK(array.Open());  // with the disk that was failed: it stays out
    EXPECT_EQ(array->Snapshot().degraded, 1U);
    EXPECT_EQ(array.CheckVolume(), "");
  }
}

// I11
TEST(ArrayFailureTest, AMemberThatFailsAFlushIsFailedThoughTheNextWouldSucceed) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Write(0, 200000));
  const Disks before = array.disks().Copy();
  array.recording().Clear();
  FailFlushes(array, 3, /*nth=*/1);
  MDVOL_ASSERT_OK(array->Flush());
  ExpectFailedAlone(array, 3, before);
  EXPECT_TRUE(absl::StrContains(array.EventText("member failed"), "flush failed"));
  MDVOL_ASSERT_OK(array->Flush());
  EXPECT_EQ(array->Snapshot().degraded, 1U);
}

// I11: of two flushes at once, only one is told of the error. The other must not be acknowledged
// before the failure is recorded either.
TEST(ArrayFailureTest, AFlushThatRunsBesideAFailedOneIsNotAcknowledgedEarlier) {
  for (int round = 0; round < 5; ++round) {
    TestArray array;
    MDVOL_ASSERT_OK(array.Open());
    MDVOL_ASSERT_OK(array.Write(0, 200000));
    FailFlushes(array, 0, /*nth=*/1);
    std::atomic<bool> first = true;
    array.recording().SetHook([&](const RecordedRequest& request) {
      if (request.kind == IoKind::kFlush && request.member == 5 && first.exchange(false)) {
        absl::SleepFor(absl::Milliseconds(30));  // disk 0's flush has failed already
      }
    });
    const auto flush = [&] {
      MDVOL_EXPECT_OK(array->Flush());
      EXPECT_EQ(array.super(1).dev_roles[0], kRoleFaulty);
    };
    std::thread other(flush);
    flush();
    other.join();
    array.recording().SetHook(nullptr);
  }
}

// One flush serves all who wait for it.
TEST(ArrayFlushTest, FlushesThatWaitShareOne) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Write(0, 200000));
  array.recording().Clear();
  std::atomic<bool> first = true;
  array.recording().SetHook([&](const RecordedRequest& request) {
    if (request.kind == IoKind::kFlush && first.exchange(false)) {
      absl::SleepFor(absl::Milliseconds(30));
    }
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { MDVOL_EXPECT_OK(array->Flush()); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  array.recording().SetHook(nullptr);
  EXPECT_EQ(array.recording().size(), 6U);  // one of each member, and nothing else
  MDVOL_EXPECT_OK(array->Flush());
  EXPECT_EQ(array.recording().size(), 6U);  // nothing new to flush
}

// A write that ends while a flush is under way is not covered by it.
TEST(ArrayFlushTest, AWriteBesideAFlushWantsAnother) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Write(0, 4096));
  const Disks before = array.disks().Copy();
  array.recording().Clear();
  absl::Notification flushing;
  absl::Notification may_flush;
  array.recording().SetHook([&](const RecordedRequest& request) {
    if (request.kind == IoKind::kFlush && !flushing.HasBeenNotified()) {
      flushing.Notify();
      may_flush.WaitForNotification();
    }
  });
  std::thread flusher([&] { MDVOL_EXPECT_OK(array->Flush()); });
  flushing.WaitForNotification();
  MDVOL_ASSERT_OK(array.Write(100, 4096));  // its bit is set already
  may_flush.Notify();
  flusher.join();
  array.recording().SetHook(nullptr);
  MDVOL_ASSERT_OK(array->Flush());
  const auto log = array.recording().requests();
  for (size_t i = 0; i < log.size(); ++i) {
    EXPECT_TRUE(!array.IsData(log[i]) || testing::DurableAt(log, i) != testing::kNever) << i;
  }
}

// I3: the bytes of another's write must not hide that the first's are not on the member.
TEST(ArrayFailureTest, FailuresOfTwoMembersInOneWriteAreOneTransition) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Write(0, 1));
  const uint64_t events = array.super(0).events;
  const Disks before = array.disks().Copy();
  array.recording().Clear();
  FailWrites(array, 1, Area::kData);
  FailWrites(array, 4, Area::kData);
  MDVOL_ASSERT_OK(array.Write(0, 200000));
  const testing::RecordedRun run = {array, before, array.recording().requests(), AllBut({1, 4})};
  EXPECT_EQ(CheckFailureRecorded(run, 1), "");
  EXPECT_EQ(CheckFailureRecorded(run, 4), "");
  EXPECT_EQ(CheckOrder(run), "");
  EXPECT_EQ(array.super(0).events, events + 1);
  EXPECT_EQ(array.CheckVolume(), "");
  EXPECT_EQ(array.CheckDisks(AllBut({1, 4})), "");
}

// md's re-add goes by it: a member that saw this many events has missed only what has bits.
TEST(ArrayFailureTest, TheBitmapRemembersWhenTheArrayWasLastWhole) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Write(0, 4096));
  const uint64_t events = array.super(0).events;
  EXPECT_EQ(array.bitmap_super(0).events_cleared, events);
  MDVOL_ASSERT_OK(array->FailMember(2, "by hand"));
  EXPECT_EQ(array.bitmap_super(0).events, events + 1);
  EXPECT_EQ(array.bitmap_super(0).events_cleared, events);
  EXPECT_EQ(array.super(2).events, events);
}

// ---- Every request in turn ----

// What an array does in a day: dirty, clean, bits set and cleared, a discard, a stop.
std::string LiveThrough(TestArray& array) {
  const auto pass = [&](uint64_t ns) {
    array.clock().Advance(ns);
    array->RunMaintenance();
  };
  for (const absl::Status& status :
       {array.Write(0, 40000), array.Write(70000, 13), array->Flush(), array.Write(4096, 4096)}) {
    if (!status.ok()) {
      return MessageOf(status);
    }
  }
  pass(kSecondNs / 5);
  for (int i = 0; i < 4; ++i) {
    pass(5 * kSecondNs);
  }
  for (const absl::Status& status :
       {array.Write(50000, 6000), array.Zero(16384, 40000), array.Write(1, 1)}) {
    if (!status.ok()) {
      return MessageOf(status);
    }
  }
  if (std::string problem = array.CheckVolume(); !problem.empty()) {
    return problem;
  }
  return MessageOf(array->Stop());
}

class ArrayFailureSweepTest : public ::testing::TestWithParam<ArraySpec> {};

INSTANTIATE_TEST_SUITE_P(Specs, ArrayFailureSweepTest,
                         ::testing::Values(ArraySpec{.stripes = 8, .bitmap_chunk_bytes = 4096},
                                           ArraySpec{.stripes = 8, .bitmap = false},
                                           ArraySpec{
                                               .stripes = 8, .minor = 0, .alignment_bytes = 4096}));

// I3, I7, I11: the k-th request of a member fails, for every k. The array goes on without it, and
// after the stop the survivors know.
TEST_P(ArrayFailureSweepTest, WhicheverRequestFailsNobodyNotices) {
  for (const FaultOp op : {FaultOp::kWrite, FaultOp::kFlush}) {
    for (const size_t disk : {size_t{0}, size_t{3}}) {
      for (uint64_t nth = 1;; ++nth) {
        TestArray array(GetParam());
        MDVOL_ASSERT_OK(array.Open());
        const Disks before = array.disks().Copy();
        array.recording().Clear();
        array.fault(disk).AddRule({.op = op, .nth = nth});
        ASSERT_EQ(LiveThrough(array), "") << nth;
        const bool fired = array.fault(disk).FiredCount() != 0;
        // A write of data may have been tried again and have worked then.
        const bool is_failed = array->Snapshot().members[disk].faulty;
        ASSERT_TRUE(is_failed == fired || op == FaultOp::kWrite) << nth;
        array.Crash();  // it has been stopped already
        const std::vector<size_t> live = is_failed ? AllBut({disk}) : AllBut({});
        ASSERT_EQ(array.CheckDisks(live), "") << nth;
        ASSERT_EQ(array.super(1).resync_offset, kResyncDone) << nth;
        const testing::RecordedRun run = {array, before, array.recording().requests(), live};
        ASSERT_EQ(CheckOrder(run), "") << nth;
        if (!fired) {
          EXPECT_GT(nth, 5U);
          break;
        }
        if (is_failed) {
          ASSERT_EQ(CheckFailureRecorded(run, disk), "") << nth;
        }
        MDVOL_ASSERT_OK(array.Open());
        ASSERT_EQ(array->Snapshot().degraded, is_failed ? 1U : 0U) << nth;
        ASSERT_EQ(array.CheckVolume(), "") << nth;
      }
    }
  }
}

// Two members fail, at any two requests.
TEST_P(ArrayFailureSweepTest, NobodyNoticesTwoFailuresEither) {
  Prng prng(TestSeed("TwoFailures"));
  for (int round = 0; round < (FullRun() ? 1000 : 60); ++round) {
    TestArray array(GetParam());
    MDVOL_ASSERT_OK(array.Open());
    const size_t a = prng.Below(6);
    const size_t b = (a + prng.Between(1, 5)) % 6;
    const Disks before = array.disks().Copy();
    array.recording().Clear();
    std::vector<size_t> live = AllBut({a, b});
    for (const size_t disk : {a, b}) {
      array.fault(disk).AddRule(
          {.op = prng.OneIn(2) ? FaultOp::kWrite : FaultOp::kFlush, .nth = prng.Between(1, 25)});
    }
    ASSERT_EQ(LiveThrough(array), "");
    for (const size_t disk : {a, b}) {
      if (!array->Snapshot().members[disk].faulty) {
        live.push_back(disk);
      }
    }
    array.Crash();
    ASSERT_EQ(array.CheckDisks(live), "");
    ASSERT_EQ(CheckOrder({array, before, array.recording().requests(), live}), "");
    MDVOL_ASSERT_OK(array.Open());
    ASSERT_EQ(array->Snapshot().degraded, 6 - live.size());
    ASSERT_EQ(array.CheckVolume(), "");
  }
}

// ---- The third loss (I13) ----

// Every chunk of the volume by itself: what can be read is right. Returns how many cannot.
size_t CountUnreadableChunks(TestArray& array) {
  const uint64_t chunk_bytes = array.geometry().chunk_bytes();
  std::vector<std::byte> chunk(chunk_bytes);
  size_t unreadable = 0;
  for (uint64_t at = 0; at < array.geometry().volume_bytes(); at += chunk_bytes) {
    const absl::Status status = array->Read(at, chunk);
    if (status.ok()) {
      EXPECT_FALSE(array.model().FirstDifference(at, chunk).has_value()) << at;
    } else {
      MDVOL_EXPECT_ERRNO(status, EIO);
      ++unreadable;
    }
  }
  return unreadable;
}

std::vector<uint16_t> Roles(const TestArray& array, size_t disk) {
  const Superblock super = array.super(disk);
  std::vector<uint16_t> roles;
  for (size_t number = 0; number < 6; ++number) {
    roles.push_back(super.dev_roles[number]);
  }
  return roles;
}

// I13: three members behind one cable. Nothing is recorded, so putting it back is enough.
TEST(ArrayThirdLossTest, ThreeMembersAtOnceAreNotRecorded) {
  for (const Area area : {Area::kData, Area::kBitmap}) {
    TestArray array;
    MDVOL_ASSERT_OK(array.Open());
    MDVOL_ASSERT_OK(array.Fill());
    MDVOL_ASSERT_OK(array->Flush());
    for (int i = 0; i < 4; ++i) {
      array.clock().Advance(5 * kSecondNs);
      array->RunMaintenance();
    }
    MDVOL_ASSERT_OK(array.Write(300000, 1));
    const uint64_t events = array.super(0).events;
    for (const size_t disk : {0U, 1U, 2U}) {
      FailWrites(array, disk, area);
    }
    MDVOL_EXPECT_ERRNO(array.Write(0, 16384), EIO);
    EXPECT_EQ(array->Snapshot().state, ArrayState::kFailed);
    MDVOL_EXPECT_ERRNO(array.Write(100000, 1), EIO);
    MDVOL_EXPECT_ERRNO(array.Zero(100000, 1), EIO);
    MDVOL_EXPECT_ERRNO(array->Flush(), EIO);
    MDVOL_EXPECT_ERRNO(array->FailMember(3, "by hand"), EBUSY);
    MDVOL_EXPECT_ERRNO(array->SetState("clean"), EBUSY);
    array.clock().Advance(60 * kSecondNs);
    EXPECT_EQ(array->RunMaintenance(), ~uint64_t{0});
    MDVOL_EXPECT_ERRNO(array->Stop(), EIO);
    EXPECT_EQ(CountUnreadableChunks(array), 0U);  // each disk can be read
    array.recording().Clear();
    array.fault(4).AddRule({.op = FaultOp::kRead, .until = FaultUntil::kWrite});
    // In the stripes that were being written it is one too many.
    EXPECT_LE(CountUnreadableChunks(array), area == Area::kData ? 2U : 0U);
    for (const RecordedRequest& request : array.recording().requests()) {
      EXPECT_FALSE(request.Changes());  // not even mended
    }
    EXPECT_TRUE(absl::StartsWith(array.EventText("array broken"), "array broken: /m/d"));
    array.Crash();
    for (const size_t disk : AllBut({})) {
      EXPECT_EQ(array.super(disk).events, events);
      EXPECT_EQ(Roles(array, disk), (std::vector<uint16_t>{0, 1, 2, 3, 4, 5}));
    }
    MDVOL_ASSERT_OK(array.Open());
    EXPECT_EQ(array->Snapshot().degraded, 0U);
    EXPECT_EQ(array.CheckVolume(), "");
    EXPECT_TRUE(array.InconsistentStripes().empty());
    MDVOL_ASSERT_OK(array.Stop());
  }
}

// I6, I13: the third of three, one after another. The stripe that was being written may be lost;
// everything else can be read as long as the member can.
TEST(ArrayThirdLossTest, TheThirdMemberIsNotRecorded) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Fill());
  FailWrites(array, 0, Area::kData);
  FailWrites(array, 1, Area::kData);
  MDVOL_ASSERT_OK(array.Write(0, 200000));
  MDVOL_ASSERT_OK(array->Flush());
  ASSERT_EQ(array->Snapshot().degraded, 2U);
  const uint64_t events = array.super(2).events;
  const std::vector<uint16_t> roles = {kRoleFaulty, kRoleFaulty, 2, 3, 4, 5};
  FailWrites(array, 2, Area::kData);
  const uint64_t stripe_bytes = array.geometry().stripe_bytes();
  MDVOL_EXPECT_ERRNO(array.Write(3 * stripe_bytes, stripe_bytes), EIO);
  MDVOL_EXPECT_ERRNO(array.Write(0, 1), EIO);
  EXPECT_LE(CountUnreadableChunks(array), 4U);
  array.recording().Clear();
  array.fault(2).ClearRules();
  array.fault(2).AddRule({.op = FaultOp::kRead});  // now it cannot be read either
  EXPECT_GT(CountUnreadableChunks(array), 4U);
  for (const RecordedRequest& request : array.recording().requests()) {
    EXPECT_FALSE(request.Changes());  // nor is anything mended
  }
  array.Crash();
  for (const size_t disk : {2U, 3U, 4U, 5U}) {
    EXPECT_EQ(array.super(disk).events, events);
    EXPECT_EQ(Roles(array, disk), roles);
  }
  MDVOL_EXPECT_ERRNO(array.Open(), EIO);  // dirty and degraded: force is wanted
  MDVOL_ASSERT_OK(array.Open({}, {.force = true}));
  EXPECT_EQ(array->Snapshot().degraded, 2U);
  EXPECT_EQ(array.CheckVolume(), "");
  MDVOL_ASSERT_OK(array.Write(0, 100000));
  EXPECT_EQ(array.CheckVolume(), "");
  MDVOL_ASSERT_OK(array.Stop());
}

// Not one byte of data is written when the dirty mark could not be.
TEST(ArrayThirdLossTest, NoDataAreWrittenWithoutADirtyMark) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  for (const size_t disk : {3U, 4U, 5U}) {
    FailWrites(array, disk, Area::kSuper);
  }
  array.recording().Clear();
  for (int i = 0; i < 2; ++i) {
    MDVOL_EXPECT_ERRNO(array.Write(0, 16384), EIO);
  }
  for (const RecordedRequest& request : array.recording().requests()) {
    EXPECT_FALSE(array.IsData(request));
  }
  array.Crash();
  MDVOL_ASSERT_OK(array.Open());
  EXPECT_EQ(array->Snapshot().degraded, 0U);
}

// I13: cut off while the second loss is recorded and the third comes, everybody is still within an
// event of everybody else.
TEST(ArrayThirdLossTest, ALossWhileALossIsRecordedLeavesTheArrayStartable) {
  for (uint64_t nth = 1; nth <= 3; ++nth) {
    TestArray array;
    MDVOL_ASSERT_OK(array.Open());
    MDVOL_ASSERT_OK(array.Fill());
    MDVOL_ASSERT_OK(array->FailMember(0, "by hand"));
    FailWrites(array, 1, Area::kData);
    FailFlushes(array, 2, nth);
    const absl::Status status = array.Write(0, 200000);
    array.Crash();
    EXPECT_EQ(array.CheckSupers(), "");
    uint64_t oldest = ~uint64_t{0};
    uint64_t newest = 0;
    for (const size_t disk : {2U, 3U, 4U, 5U}) {
      oldest = std::min<uint64_t>(oldest, array.super(disk).events);
      newest = std::max<uint64_t>(newest, array.super(disk).events);
    }
    EXPECT_LE(newest - oldest, 1U) << nth;
    MDVOL_ASSERT_OK(array.Open({}, {.force = true}));
    if (status.ok()) {
      EXPECT_EQ(array.CheckVolume(), "");
    }
    MDVOL_ASSERT_OK(array.Stop());
  }
}

// ---- Spares, and reads ----

TEST(ArrayFailureTest, ASpareThatFailsIsFailedAndMattersToNobody) {
  TestArray array({.spares = 1});
  MDVOL_ASSERT_OK(array.Open());
  FailWrites(array, 6, Area::kSuper);
  MDVOL_ASSERT_OK(array.Write(0, 4096));
  EXPECT_TRUE(array->Snapshot().members[6].faulty);
  EXPECT_EQ(array->Snapshot().degraded, 0U);
  EXPECT_EQ(array.super(0).dev_roles[6], kRoleFaulty);
  MDVOL_ASSERT_OK(array.Stop());
  MDVOL_ASSERT_OK(array.Open());
}

TEST(ArrayFailureTest, AReadErrorIsMendedAndCounted) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Fill());
  const size_t disk = array.DiskOf(4096);
  array.fault(disk).AddRule({.op = FaultOp::kRead,
                             .offset_bytes = array.DiskOffset(4096),
                             .length_bytes = 4096,
                             .until = FaultUntil::kWrite});
  EXPECT_EQ(array.CheckVolume(), "");
  EXPECT_EQ(array->Snapshot().members[disk].errors, 1U);
  EXPECT_EQ(array->Snapshot().degraded, 0U);
  EXPECT_NE(array.EventText("read error corrected"), "");
  EXPECT_EQ(array.CheckDisks(), "");
  MDVOL_ASSERT_OK(array.Stop());
  EXPECT_EQ(array.super(disk).cnt_corrected_read, 1U);
}

// I3 for readers: a block that can neither be read nor rewritten fails its member.
// As in md: a block of a member that has a bad-block log is noted there, and that is all.
TEST(ArrayFailureTest, AReadErrorThatCannotBeMendedIsNotedInTheBadBlockLog) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Fill());
  const size_t disk = array.DiskOf(4096);
  const ByteRange bad{array.DiskOffset(4096), array.DiskOffset(4096) + 4096};
  for (const FaultOp op : {FaultOp::kRead, FaultOp::kWrite}) {
    array.fault(disk).AddRule({.op = op, .offset_bytes = bad.begin, .length_bytes = bad.size()});
  }
  EXPECT_EQ(array.CheckVolume(), "");
  EXPECT_FALSE(array->Snapshot().members[disk].faulty);
  EXPECT_EQ(array->Snapshot().members[disk].bad_blocks, (std::vector<ByteRange>{bad}));
  EXPECT_TRUE(array.super(disk).has_feature(kFeatureBadBlocks));
  array.fault(disk).ClearRules();
  array.recording().Clear();
  EXPECT_EQ(array.CheckVolume(), "");  // not from there
  for (const auto& request : array.recording().requests()) {
    EXPECT_FALSE(request.member == disk && request.kind == IoKind::kRead &&
                 request.Touches(bad.begin, bad.end));
  }
  MDVOL_ASSERT_OK(array.Stop());
  MDVOL_ASSERT_OK(array.Open());
  EXPECT_EQ(array->Snapshot().members[disk].bad_blocks, (std::vector<ByteRange>{bad}));
  EXPECT_EQ(array.CheckVolume(), "");
  // Written over, it is bad no more, as soon as what was written is durable.
  array.recording().Clear();
  MDVOL_ASSERT_OK(array.Write(4096, 4096));
  EXPECT_TRUE(array->Snapshot().members[disk].bad_blocks.empty());
  const auto log = array.recording().requests();
  for (size_t i = 0; i < log.size(); ++i) {
    const ByteRange& area = array.areas(disk).bad_blocks;
    if (log[i].member == disk && log[i].Changes() && log[i].Touches(area.begin, area.end)) {
      for (size_t j = 0; j < i; ++j) {
        EXPECT_TRUE(!array.IsData(log[j]) || log[j].member != disk ||
                    testing::DurableAt(log, j) <= i);
      }
    }
  }
  MDVOL_ASSERT_OK(array.Stop());
  EXPECT_FALSE(array.super(disk).has_feature(kFeatureBadBlocks));
  MDVOL_ASSERT_OK(array.Open());
  EXPECT_TRUE(array->Snapshot().members[disk].bad_blocks.empty());
  EXPECT_EQ(array.CheckVolume(), "");
  EXPECT_EQ(array.CheckDisks(), "");
}

TEST(ArrayFailureTest, AReadErrorThatCannotBeMendedFailsAMemberWithoutABadBlockLog) {
  TestArray array;
  const size_t disk = array.DiskOf(4096);
  Superblock super = array.super(disk);
  super.bblog_size = 0;
  super.bblog_offset = 0;
  array.PutSuper(disk, super);
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Fill());
  const Disks before = array.disks().Copy();
  array.recording().Clear();
  array.fault(disk).AddRule(
      {.op = FaultOp::kRead, .offset_bytes = array.DiskOffset(4096), .length_bytes = 4096});
  FailWrites(array, disk, Area::kData);
  EXPECT_EQ(array.CheckVolume(), "");
  ExpectFailedAlone(array, disk, before);
}

}  // namespace
}  // namespace mdvol
