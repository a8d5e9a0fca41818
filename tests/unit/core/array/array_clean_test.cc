// I2: the array is dirty on all members before the first write after clean, and clean again only
// when nothing is in flight, everything is durable and no stripe awaits parity. And the stop, which
// leaves a whole array clean with an empty bitmap, whenever power is lost on the way.

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "core/base/units.h"
#include "tests/support/test_array/log_checks.h"
#include "tests/support/test_array/test_array.h"

namespace mdvol {
namespace {

using testing::ArraySpec;
using testing::CheckCleanOrder;
using testing::CheckOrder;
using testing::CrashAt;
using testing::Disks;
using testing::Prng;
using testing::RecordedRequest;
using testing::TestArray;
using testing::TestSeed;

constexpr uint64_t kMsNs = 1000000;
const std::vector<size_t> kAllSix = {0, 1, 2, 3, 4, 5};

bool IsClean(const TestArray& array, size_t disk) {
  return array.super(disk).resync_offset == kResyncDone;
}

// Every superblock says the same: clean or not, this many events.
void ExpectSupers(const TestArray& array, bool clean, uint64_t events) {
  EXPECT_EQ(array.CheckSupers(), "");
  for (const size_t disk : kAllSix) {
    EXPECT_EQ(IsClean(array, disk), clean) << disk;
    EXPECT_EQ(array.super(disk).events, events) << disk;
  }
}

class ArrayCleanTest : public ::testing::TestWithParam<ArraySpec> {};

INSTANTIATE_TEST_SUITE_P(Specs, ArrayCleanTest,
                         ::testing::Values(ArraySpec(), ArraySpec{.bitmap = false},
                                           ArraySpec{.minor = 0}, ArraySpec{.minor = 1},
                                           ArraySpec{.alignment_bytes = 4096},
                                           ArraySpec{.minor = 0, .alignment_bytes = 512}));

// I2, I7: each transition is one event, on all members.
TEST_P(ArrayCleanTest, GoesDirtyBeforeTheFirstWriteAndCleanAfterTheDelay) {
  TestArray array(GetParam());
  MDVOL_ASSERT_OK(array.Open());
  const uint64_t events = array.super(0).events;
  ExpectSupers(array, true, events);
  const Disks before = array.disks().Copy();
  array.recording().Clear();

  MDVOL_ASSERT_OK(array.Write(5, 5000));
  ExpectSupers(array, false, events + 1);
  EXPECT_EQ(array->Snapshot().state, ArrayState::kActive);
  MDVOL_ASSERT_OK(array.Write(50000, 5000));
  ExpectSupers(array, false, events + 1);

  array.clock().Advance(199 * kMsNs);
  array->RunMaintenance();
  ExpectSupers(array, false, events + 1);
  array.clock().Advance(1 * kMsNs);
  array->RunMaintenance();
  ExpectSupers(array, true, events + 2);
  EXPECT_EQ(array->Snapshot().state, ArrayState::kClean);
  EXPECT_EQ(array->Snapshot().events, events + 2);

  MDVOL_ASSERT_OK(array.Zero(4096, 100));
  ExpectSupers(array, false, events + 3);
  MDVOL_ASSERT_OK(array.Write(0, 5));
  EXPECT_EQ(CheckOrder({array, before, array.recording().requests(), kAllSix}), "");
  MDVOL_ASSERT_OK(array.Stop());
  ExpectSupers(array, true, events + 4);
  EXPECT_EQ(array.CheckDisks(), "");
}

// What neither reads nor writes bytes leaves a clean array alone.
TEST_P(ArrayCleanTest, NothingIsWrittenWithoutAWrite) {
  TestArray array(GetParam());
  MDVOL_ASSERT_OK(array.Open());
  const Disks before = array.disks().Copy();
  EXPECT_EQ(array.CheckVolume(), "");
  MDVOL_EXPECT_OK(array.Write(0, 0));
  MDVOL_EXPECT_OK(array.Zero(0, 0));
  MDVOL_EXPECT_OK(array->Flush());
  array.clock().Advance(60000 * kMsNs);
  array->RunMaintenance();
  MDVOL_ASSERT_OK(array.Stop());
  EXPECT_EQ(array.disks().DifferenceFrom(before), "");
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Stop());
  EXPECT_EQ(array.disks().DifferenceFrom(before), "");
}

// I2: cut off at any point, with or without the operating system, a stop leaves an array that
// starts and holds every byte; it is clean only with an empty bitmap.
TEST_P(ArrayCleanTest, AStopMayBeCutOffAnywhere) {
  TestArray array(GetParam());
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Write(0, 100000));
  MDVOL_ASSERT_OK(array.Write(200000, 3));
  const Disks before = array.disks().Copy();
  array.recording().Clear();
  MDVOL_ASSERT_OK(array.Stop());
  ExpectSupers(array, true, array.super(0).events);
  if (GetParam().bitmap) {
    for (const size_t disk : kAllSix) {
      EXPECT_EQ(array.CountBits(disk), 0U) << disk;
    }
  }
  const auto log = array.recording().requests();
  EXPECT_EQ(CheckOrder({array, before, log, kAllSix}), "");
  Prng prng(TestSeed("StopCutOff"));
  for (size_t time = 0; time <= log.size(); ++time) {
    for (Prng* power_loss : {static_cast<Prng*>(nullptr), &prng}) {
      TestArray after(array, CrashAt(before, log, time, power_loss));
      if (GetParam().bitmap && IsClean(after, 0)) {
        EXPECT_EQ(after.CountBits(0), 0U);
      }
      MDVOL_ASSERT_OK(after.Open());
      EXPECT_EQ(after.CheckVolume(), "") << time;
      EXPECT_TRUE(after.InconsistentStripes().empty()) << time;
      MDVOL_ASSERT_OK(after.Stop());
    }
  }
}

TEST(ArrayStopTest, StoppedDegradedTheArrayIsCleanAndKeepsItsBits) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Write(0, 100000));
  MDVOL_ASSERT_OK(array->FailMember(4, "by hand"));
  const uint64_t bits = array.CountBits(0);
  EXPECT_GT(bits, 0U);
  MDVOL_ASSERT_OK(array.Stop());
  EXPECT_TRUE(IsClean(array, 0));
  EXPECT_EQ(array.CountBits(0), bits);
  EXPECT_EQ(array.EventText("array stopped"), "array stopped: clean");
}

// Bits that were left set when the array went clean by itself go at the stop, at no cost in events.
TEST(ArrayStopTest, ACleanArrayIsStoppedByClearingItsBits) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Write(0, 100000));
  array.clock().Advance(200 * kMsNs);
  array->RunMaintenance();
  ASSERT_TRUE(IsClean(array, 0));
  EXPECT_GT(array.CountBits(0), 0U);
  const uint64_t events = array.super(0).events;
  MDVOL_ASSERT_OK(array.Stop());
  ExpectSupers(array, true, events);
  EXPECT_EQ(array.CountBits(5), 0U);
}

// ---- When not ----

TEST(ArrayCleanMarkTest, EveryWritePutsTheCleanMarkOff) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  for (int i = 0; i < 5; ++i) {
    MDVOL_ASSERT_OK(array.Write(0, 1));
    array.clock().Advance(150 * kMsNs);
    array->RunMaintenance();
    EXPECT_FALSE(IsClean(array, 0));
  }
  array.clock().Advance(50 * kMsNs);
  array->RunMaintenance();
  EXPECT_TRUE(IsClean(array, 0));
}

TEST(ArrayCleanMarkTest, ADelayOfZeroMeansNeverByItself) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  array->SetSafeModeDelay(0);
  MDVOL_ASSERT_OK(array.Write(0, 1));
  array.clock().Advance(60000 * kMsNs);
  array->RunMaintenance();
  EXPECT_FALSE(IsClean(array, 0));
  array->SetSafeModeDelay(1000);
  array->RunMaintenance();
  EXPECT_TRUE(IsClean(array, 0));
}

TEST(ArrayCleanMarkTest, RunMaintenanceSaysWhenItIsDue) {
  TestArray array({.bitmap = false});
  MDVOL_ASSERT_OK(array.Open());
  EXPECT_EQ(array->RunMaintenance(), ~uint64_t{0});
  MDVOL_ASSERT_OK(array.Write(0, 1));
  const uint64_t due = array.clock().NowNs() + 200 * kMsNs;
  array.clock().Advance(50 * kMsNs);
  EXPECT_EQ(array->RunMaintenance(), due);
  array.clock().Advance(150 * kMsNs);
  EXPECT_EQ(array->RunMaintenance(), ~uint64_t{0});
  EXPECT_TRUE(IsClean(array, 0));
}

// I2: a write that is under way keeps the array dirty, however long it takes.
TEST(ArrayCleanMarkTest, WaitsForWritesInFlight) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Write(0, 1));
  const Disks before = array.disks().Copy();
  array.recording().Clear();
  absl::Notification writing;
  absl::Notification may_write;
  array.recording().SetHook([&](const RecordedRequest& request) {
    if (array.IsData(request) && !writing.HasBeenNotified()) {
      writing.Notify();
      may_write.WaitForNotification();
    }
  });
  std::thread writer([&] { MDVOL_EXPECT_OK(array->Write(40000, std::vector<std::byte>(100))); });
  writing.WaitForNotification();
  std::thread cleaner([&] { MDVOL_EXPECT_OK(array->SetState("clean")); });
  absl::SleepFor(absl::Milliseconds(50));
  EXPECT_FALSE(IsClean(array, 0));
  may_write.Notify();
  writer.join();
  cleaner.join();
  array.recording().SetHook(nullptr);
  EXPECT_TRUE(IsClean(array, 0));
  EXPECT_EQ(CheckCleanOrder({array, before, array.recording().requests(), kAllSix}), "");
}

// I2: most is flushed while writers go on; what they wrote meanwhile is flushed too.
TEST(ArrayCleanMarkTest, CoversWhatIsWrittenWhileItFlushes) {
  TestArray array({.bitmap = false});  // whose own flush would hide it
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Write(0, 40000));
  const Disks before = array.disks().Copy();
  array.recording().Clear();
  std::atomic<bool> first = true;
  array.recording().SetHook([&](const RecordedRequest& request) {
    if (request.kind == IoKind::kFlush && request.member == 5 && first.exchange(false)) {
      std::thread([&] { MDVOL_EXPECT_OK(array.Write(100, 20000)); }).join();
    }
  });
  MDVOL_ASSERT_OK(array->SetState("clean"));
  array.recording().SetHook(nullptr);
  EXPECT_EQ(CheckCleanOrder({array, before, array.recording().requests(), kAllSix}), "");
  EXPECT_TRUE(IsClean(array, 0));
}

// I2, I3: a write has failed on a member, and the writer is on its way to fail the member. A clean
// mark in between would let a crash bring the member back with old bytes, in an array that need not
// be resynced.
TEST(ArrayCleanMarkTest, IsNotSetBetweenAMembersErrorAndItsFailure) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Write(0, 4096));
  const size_t bad = array.DiskOf(0);
  array.fault(bad).AddRule({.op = FaultOp::kWrite,
                            .offset_bytes = array.areas(bad).data.begin,
                            .length_bytes = array.areas(bad).data.size()});
  array.recording().Clear();
  absl::Notification writing;
  absl::Notification may_write;
  array.recording().SetHook([&](const RecordedRequest& request) {
    if (array.IsData(request) && !writing.HasBeenNotified()) {
      writing.Notify();
      may_write.WaitForNotification();
    }
  });
  std::thread writer([&] { MDVOL_EXPECT_OK(array->Write(0, std::vector<std::byte>(4096))); });
  writing.WaitForNotification();
  std::thread cleaner([&] { (void)array->SetState("clean"); });
  absl::SleepFor(absl::Milliseconds(50));  // so that it waits at the gate
  may_write.Notify();
  writer.join();
  cleaner.join();
  array.recording().SetHook(nullptr);
  for (const RecordedRequest& request : array.recording().requests()) {
    if (array.IsSuper(request)) {
      Superblock super;
      std::memcpy(&super, request.bytes.data(), sizeof(super));
      EXPECT_TRUE(super.resync_offset != kResyncDone || super.dev_roles[bad] == kRoleFaulty);
    }
  }
}

}  // namespace
}  // namespace mdvol
