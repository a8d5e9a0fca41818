// What is shown and what can be turned: the snapshot, the knobs of md/, failing a member by hand,
// the members' names, errors of the range checks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "core/base/units.h"
#include "core/sync/start_array.h"
#include "tests/support/test_array/log_checks.h"
#include "tests/support/test_array/test_array.h"

namespace mdvol {
namespace {

using testing::CheckFailureRecorded;
using testing::Disks;
using ::testing::ElementsAre;
using testing::FakeClock;
using testing::TestArray;

constexpr uint64_t kSecondNs = 1000000000;

// ---- Snapshot ----

TEST(ArraySnapshotTest, ShowsTheArrayAsItIs) {
  TestArray array({.layout = Layout::kRightAsymmetric, .raid_disks = 5, .spares = 1, .minor = 1});
  MDVOL_ASSERT_OK(array.Open());
  const ArraySnapshot snapshot = array->Snapshot();
  EXPECT_EQ(snapshot.name, "test");
  EXPECT_EQ(snapshot.uuid.bytes[0], 0xaa);
  EXPECT_EQ(snapshot.minor, 1);
  EXPECT_EQ(snapshot.layout, Layout::kRightAsymmetric);
  EXPECT_EQ(snapshot.raid_disks, 5U);
  EXPECT_EQ(snapshot.chunk_bytes, 4096U);
  EXPECT_EQ(snapshot.component_bytes, 32U * 4096);
  EXPECT_EQ(snapshot.array_bytes, 32U * 4096 * 3);
  EXPECT_EQ(array->volume_bytes(), snapshot.array_bytes);
  EXPECT_EQ(snapshot.state, ArrayState::kClean);
  EXPECT_FALSE(snapshot.read_only);
  EXPECT_EQ(snapshot.degraded, 0U);
  EXPECT_EQ(snapshot.events, array.super(0).events);
  EXPECT_EQ(snapshot.resync_bytes, kResyncDone);
  EXPECT_EQ(snapshot.created_s, FakeClock::kStartWallUs / 1000000);
  EXPECT_EQ(snapshot.rmw_level, 1U);
  EXPECT_EQ(snapshot.safe_mode_delay_ms, 200U);
  EXPECT_EQ(snapshot.max_read_errors, 20U);
  EXPECT_EQ(snapshot.mismatch_cnt, 0U);
  ASSERT_TRUE(snapshot.bitmap.has_value());
  EXPECT_EQ(snapshot.bitmap->chunk_bytes, 16384U);
  EXPECT_EQ(snapshot.bitmap->time_base_s, 5U);
  EXPECT_TRUE(snapshot.bitmap->can_clear);
  EXPECT_EQ(snapshot.bitmap->offset_sectors, array.super(0).bitmap_offset.get());
  EXPECT_EQ(snapshot.bitmap->bits, 8U);
  EXPECT_EQ(snapshot.bitmap->bits_set, 0U);
  EXPECT_EQ(snapshot.bitmap->pages, 1U);
  EXPECT_EQ(snapshot.bitmap->pages_set, 0U);
  ASSERT_EQ(snapshot.members.size(), 6U);
  for (size_t i = 0; i < 6; ++i) {
    const MemberSnapshot& member = snapshot.members[i];
    EXPECT_EQ(member.index, i);
    EXPECT_EQ(member.name, absl::StrCat("d", i));
    EXPECT_EQ(member.path, absl::StrCat("/m/d", i));
    EXPECT_EQ(member.dev_number, i);
    EXPECT_EQ(member.slot, i < 5 ? std::optional<uint32_t>(i) : std::nullopt);
    EXPECT_EQ(member.in_sync, i < 5);
    EXPECT_EQ(member.spare, i == 5);
    EXPECT_FALSE(member.faulty || member.recovering || member.write_mostly);
    EXPECT_EQ(member.uuid.bytes[0], 0x10 + i);
    EXPECT_EQ(member.device_bytes, array.disks()[i].size_bytes());
    EXPECT_EQ(member.data_offset_bytes, 64 * kKiB);
    EXPECT_EQ(member.data_bytes, 32U * 4096);
    EXPECT_EQ(member.errors, 0U);
    EXPECT_TRUE(member.bad_blocks.empty());
  }
}

TEST(ArraySnapshotTest, FollowsWhatHappens) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Write(0, 4096));
  array.clock().Advance(10 * kSecondNs);
  ArraySnapshot snapshot = array->Snapshot();
  EXPECT_EQ(snapshot.state, ArrayState::kActiveIdle);
  EXPECT_EQ(snapshot.bitmap->bits_set, 1U);
  EXPECT_EQ(snapshot.bitmap->pages_set, 1U);
  MDVOL_ASSERT_OK(array->FailMember(1, "by hand"));
  MDVOL_ASSERT_OK(array.Write(0, 4096));
  snapshot = array->Snapshot();
  EXPECT_EQ(snapshot.state, ArrayState::kActive);
  EXPECT_EQ(snapshot.degraded, 1U);
  EXPECT_EQ(snapshot.updated_s, (FakeClock::kStartWallUs / 1000000) + 10);
  EXPECT_TRUE(snapshot.members[1].faulty);
  EXPECT_FALSE(snapshot.members[1].slot.has_value());
  EXPECT_FALSE(snapshot.members[1].in_sync);
  EXPECT_FALSE(snapshot.bitmap->can_clear);
  EXPECT_LT(snapshot.members[1].events, snapshot.members[0].events);
}

// iostat counts the data area alone.
TEST(ArraySnapshotTest, CountsTheDataOfEachMember) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  for (const MemberSnapshot& member : array->Snapshot().members) {
    EXPECT_EQ(member.io.writes.bytes, 0U);
  }
  MDVOL_ASSERT_OK(array.Write(0, array.geometry().stripe_bytes()));  // one chunk on each
  for (const MemberSnapshot& member : array->Snapshot().members) {
    EXPECT_EQ(member.io.writes.bytes, 4096U);
    EXPECT_EQ(member.io.writes.requests, 1U);
    EXPECT_GT(member.io.flushes, 0U);
  }
}

TEST(ArraySnapshotTest, StatesHaveTheKernelsWords) {
  EXPECT_STREQ(ArrayStateWord(ArrayState::kClean), "clean");
  EXPECT_STREQ(ArrayStateWord(ArrayState::kActive), "active");
  EXPECT_STREQ(ArrayStateWord(ArrayState::kActiveIdle), "active-idle");
  EXPECT_STREQ(ArrayStateWord(ArrayState::kReadonly), "readonly");
  EXPECT_STREQ(ArrayStateWord(ArrayState::kFailed), "broken");
}

// Members called alike, as /a/disk.img and /b/disk.img are.
TEST(ArrayNamesTest, EveryMemberHasANameOfItsOwn) {
  TestArray array;
  const std::vector<std::string> paths = {"/a/disk", "/b/disk", "disk-2", "/c/disk", "plain", "/x"};
  Disks disks;
  for (size_t i = 0; i < 6; ++i) {
    disks.Add(paths[i], array.disks()[i].size_bytes());
    disks.Put(i, 0, array.disks().Bytes(i, 0, array.disks()[i].size_bytes()));
  }
  TestArray renamed(array, disks.Copy());
  MDVOL_ASSERT_OK(renamed.Open());
  std::vector<std::string> names;
  for (const MemberSnapshot& member : renamed->Snapshot().members) {
    names.push_back(member.name);
  }
  EXPECT_THAT(names, ElementsAre("disk", "disk-2", "disk-2-2", "disk-3", "plain", "x"));
}

// ---- Knobs ----

TEST(ArrayKnobsTest, TheStripeCacheHasAsManyLanesAs256MiBHoldOr4096UnlessTold) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  EXPECT_EQ(array->Snapshot().stripe_cache_size, 4096U);
  EXPECT_EQ(array->Snapshot().stripe_cache_active, 0U);
  for (const uint32_t lanes : {17U, 32768U, 256U}) {
    MDVOL_EXPECT_OK(array->SetStripeCacheSize(lanes));
    EXPECT_EQ(array->Snapshot().stripe_cache_size, lanes);
  }
  for (const uint32_t lanes : {0U, 16U, 32769U}) {
    MDVOL_EXPECT_ERRNO(array->SetStripeCacheSize(lanes), EINVAL);
  }
  EXPECT_EQ(array->Snapshot().stripe_cache_size, 256U);
  array.Crash();
  testing::Opening opening;
  opening.options.stripe_cache_size = 100;
  MDVOL_ASSERT_OK(array.Open(opening));
  EXPECT_EQ(array->Snapshot().stripe_cache_size, 100U);
}

TEST(ArrayKnobsTest, RmwLevelIsZeroToTwo) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  for (const uint32_t level : {0U, 2U, 1U}) {
    MDVOL_EXPECT_OK(array->SetRmwLevel(level));
    EXPECT_EQ(array->Snapshot().rmw_level, level);
    MDVOL_EXPECT_OK(array.Write(5, 600));
  }
  MDVOL_EXPECT_ERRNO(array->SetRmwLevel(3), EINVAL);
  EXPECT_EQ(array->Snapshot().rmw_level, 1U);
  EXPECT_EQ(array.CheckVolume(), "");
}

TEST(ArrayKnobsTest, OptionsOfTheStartAreKept) {
  TestArray array;
  testing::Opening opening;
  opening.options.rmw_level = 2;
  opening.options.safe_mode_delay_ms = 7;
  MDVOL_ASSERT_OK(array.Open(opening));
  array->SetMaxReadErrors(3);
  EXPECT_EQ(array->Snapshot().rmw_level, 2U);
  EXPECT_EQ(array->Snapshot().safe_mode_delay_ms, 7U);
  EXPECT_EQ(array->Snapshot().max_read_errors, 3U);
}

TEST(ArrayKnobsTest, TheBitmapsTimeBaseIsKeptOnTheMembers) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_EXPECT_ERRNO(array->SetBitmapTimeBase(0), EINVAL);
  MDVOL_EXPECT_ERRNO(array->SetBitmapTimeBase(24 * 3600 + 1), EINVAL);
  MDVOL_ASSERT_OK(array->SetBitmapTimeBase(60));
  EXPECT_EQ(array->Snapshot().bitmap->time_base_s, 60U);
  MDVOL_ASSERT_OK(array.Write(0, 1));
  for (int i = 0; i < 4; ++i) {
    array.clock().Advance(14 * kSecondNs);
    array->RunMaintenance();
  }
  EXPECT_TRUE(array.Bit(0, 0));
  for (int i = 0; i < 3; ++i) {
    array.clock().Advance(60 * kSecondNs);
    array->RunMaintenance();
  }
  EXPECT_FALSE(array.Bit(0, 0));
  MDVOL_ASSERT_OK(array.Stop());
  EXPECT_EQ(array.bitmap_super(3).daemon_sleep, 60U);
  MDVOL_ASSERT_OK(array.Open());
  EXPECT_EQ(array->Snapshot().bitmap->time_base_s, 60U);
}

TEST(ArrayKnobsTest, WithoutABitmapThereIsNoTimeBase) {
  TestArray array({.bitmap = false});
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_EXPECT_ERRNO(array->SetBitmapTimeBase(5), EINVAL);
  EXPECT_FALSE(array->Snapshot().bitmap.has_value());
}

TEST(ArrayKnobsTest, TheStateCanBeSetToCleanActiveAndReadonly) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  const auto is_clean = [&] { return array.super(2).resync_offset == kResyncDone; };
  const uint64_t events = array.super(0).events;
  MDVOL_EXPECT_OK(array->SetState("clean"));  // it is
  EXPECT_EQ(array.super(0).events, events);
  MDVOL_EXPECT_OK(array->SetState("active"));
  EXPECT_FALSE(is_clean());
  EXPECT_EQ(array->Snapshot().state, ArrayState::kActive);
  MDVOL_EXPECT_OK(array->SetState("active"));
  EXPECT_EQ(array.super(0).events, events + 1);
  MDVOL_EXPECT_OK(array->SetState("clean"));
  EXPECT_TRUE(is_clean());
  EXPECT_EQ(array.super(0).events, events + 2);
  for (const char* word : {"", "inactive", "read-auto", "CLEAN", "clean\n", "write-pending"}) {
    MDVOL_EXPECT_ERRNO(array->SetState(word), EINVAL);
  }
  MDVOL_ASSERT_OK(array.Write(0, 5000));
  MDVOL_EXPECT_OK(array->SetState("readonly"));
  EXPECT_TRUE(is_clean());
  EXPECT_EQ(array->Snapshot().state, ArrayState::kReadonly);
  MDVOL_EXPECT_ERRNO(array->SetState("active"), EBUSY);
  MDVOL_EXPECT_ERRNO(array->SetState("nonsense"), EINVAL);
  EXPECT_EQ(array.CheckVolume(), "");
}

// ---- Failing by hand ----

TEST(ArrayFailMemberTest, IsDurableInTheSurvivorsWhenItReturns) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  const Disks before = array.disks().Copy();
  array.recording().Clear();
  MDVOL_ASSERT_OK(array->FailMember(4, "by hand"));
  const testing::RecordedRun run = {array, before, array.recording().requests(), {0, 1, 2, 3, 5}};
  EXPECT_EQ(CheckFailureRecorded(run, 4), "");
  EXPECT_EQ(array.EventText("member failed"), "member failed d4: by hand");
  const uint64_t events = array.super(0).events;
  MDVOL_ASSERT_OK(array->FailMember(4, "again"));
  EXPECT_EQ(array.super(0).events, events);
  EXPECT_EQ(array.super(0).resync_offset, kResyncDone);  // clean it was, clean it is
}

TEST(ArrayFailMemberTest, NeverTakesAMemberThatTheArrayNeeds) {
  TestArray array({.spares = 1});
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Fill());
  MDVOL_EXPECT_ERRNO(array->FailMember(7, "by hand"), ENODEV);
  MDVOL_EXPECT_ERRNO(array->FailMember(~size_t{0}, "by hand"), ENODEV);
  MDVOL_ASSERT_OK(array->FailMember(0, "by hand"));
  MDVOL_ASSERT_OK(array->FailMember(5, "by hand"));
  const uint64_t events = array.super(1).events;
  for (const size_t disk : {1U, 2U, 3U, 4U}) {
    MDVOL_EXPECT_ERRNO(array->FailMember(disk, "by hand"), EBUSY);
  }
  EXPECT_EQ(array.super(1).events, events);
  EXPECT_EQ(array.CheckVolume(), "");
  MDVOL_ASSERT_OK(array->FailMember(6, "by hand"));  // the spare
  EXPECT_TRUE(array->Snapshot().members[6].faulty);
  EXPECT_FALSE(array->Snapshot().members[6].spare);
  EXPECT_EQ(array.super(1).dev_roles[6], kRoleFaulty);
  EXPECT_EQ(array->Snapshot().degraded, 2U);
  MDVOL_ASSERT_OK(array.Write(0, 300000));
  EXPECT_EQ(array.CheckVolume(), "");
}

// ---- Ranges ----

TEST(ArrayRangeTest, NothingBeyondTheEndIsReadOrWritten) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  const uint64_t end = array->volume_bytes();
  std::vector<std::byte> two(2);
  for (const uint64_t offset : {end - 1, end, end + 1, std::numeric_limits<uint64_t>::max()}) {
    MDVOL_EXPECT_ERRNO(array->Read(offset, two), EINVAL);
    MDVOL_EXPECT_ERRNO(array->Write(offset, two), EINVAL);
    MDVOL_EXPECT_ERRNO(array->Zero(offset, 2), EINVAL);
    MDVOL_EXPECT_ERRNO(array->Zero(offset, std::numeric_limits<uint64_t>::max()), EINVAL);
  }
  MDVOL_EXPECT_ERRNO(array->Write(end + 1, {}), EINVAL);
  MDVOL_EXPECT_OK(array->Write(end, {}));
  MDVOL_EXPECT_OK(array->Read(end, {}));
  MDVOL_EXPECT_OK(array.Write(end - 2, 2));
  MDVOL_EXPECT_OK(array->Read(end - 2, two));
  EXPECT_EQ(array.CheckVolume(), "");
  EXPECT_EQ(*array->NextData(end + 5), end);
  EXPECT_EQ(*array->NextHole(end), end);
}

// ---- The maintenance thread ----

TEST(ArrayMaintenanceThreadTest, MarksCleanByItselfAndEndsWithTheArray) {
  TestArray array;
  testing::Opening opening;
  opening.options.safe_mode_delay_ms = 1;
  MDVOL_ASSERT_OK(array.Open(opening));
  array->StartMaintenance();
  array->StartMaintenance();  // one is enough
  for (int i = 0; i < 3; ++i) {
    MDVOL_ASSERT_OK(array.Write(0, 100));
    array.clock().Advance(2000000);
    while (array->Snapshot().state != ArrayState::kClean) {
      absl::SleepFor(absl::Milliseconds(1));
    }
  }
  MDVOL_ASSERT_OK(array.Write(0, 100));
  MDVOL_ASSERT_OK(array.Stop());
  MDVOL_ASSERT_OK(array.Open());
  array->StartMaintenance();
  MDVOL_ASSERT_OK(array.Write(0, 100));
  array.Crash();
}

}  // namespace
}  // namespace mdvol
