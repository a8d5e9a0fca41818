// I11: whatever file system is full, whoever fails and whenever the power goes, live members are
// one event apart at most; I12: a bitmap that cannot be believed says so until its bits can.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/sync/start_array.h"
#include "tests/support/full.h"
#include "tests/support/test_array/log_checks.h"
#include "tests/support/test_array/test_array.h"

namespace mdvol {
namespace {

using testing::ArraySpec;
using testing::CheckEventOrder;
using testing::CrashAt;
using testing::Disks;
using testing::FullRun;
using testing::Opening;
using testing::Prng;
using testing::RecordedRequest;
using testing::TestArray;
using testing::TestSeed;

constexpr uint64_t kSecondNs = 1000000000;

void AddError(TestArray& array, size_t disk, const ByteRange& area, int error, uint64_t nth = 0) {
  array.fault(disk).AddRule({.op = FaultOp::kWrite,
                             .error_number = error,
                             .offset_bytes = area.begin,
                             .length_bytes = area.size(),
                             .nth = nth});
}

// Open, full of something, marked clean.
void Prepare(TestArray& array) {
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Fill());
  array.clock().Advance(kSecondNs);
  array->RunMaintenance();
  ASSERT_EQ(array.super(0).resync_offset, kResyncDone);
}

std::vector<size_t> Live(TestArray& array) {
  std::vector<size_t> live;
  for (const MemberSnapshot& member : array->Snapshot().members) {
    if (!member.faulty) {
      live.push_back(member.index);
    }
  }
  return live;
}

TEST(ArrayGenerationsTest, TheNextWaitsForMembersThatLackTheLast) {
  TestArray array;
  Prepare(array);
  const Disks before = array.disks().Copy();
  const uint64_t events = array.super(5).events;
  array.recording().Clear();
  AddError(array, 5, array.areas(5).super, ENOSPC);
  MDVOL_EXPECT_ERRNO(array.Write(0, 1000), ENOSPC);  // the dirty mark, everywhere but there
  MDVOL_EXPECT_ERRNO(array->FailMember(1, "by hand"), ENOSPC);
  EXPECT_EQ(array.super(5).events, events);
  EXPECT_EQ(array.super(0).events, events + 1);
  EXPECT_EQ(CheckEventOrder({array, before, array.recording().requests(), {0, 2, 3, 4, 5}}), "");
  array.fault(5).ClearRules();
  MDVOL_ASSERT_OK(array.Write(0, 1000));
  for (const size_t disk : {0U, 2U, 3U, 4U, 5U}) {
    EXPECT_EQ(array.super(disk).dev_roles[1], kRoleFaulty);
    EXPECT_EQ(array.super(disk).events, events + 2);
  }
  EXPECT_EQ(CheckEventOrder({array, before, array.recording().requests(), {0, 2, 3, 4, 5}}), "");
}

// No space at any one request of the metadata, or from there on, while another member fails.
TEST(ArrayGenerationsTest, NoMixOfFullAndFailedMembersPutsThemTwoEventsApart) {
  Prng prng(TestSeed("FullAndFailed"));
  for (int round = 0; round < (FullRun() ? 1000 : 60); ++round) {
    TestArray array({.bitmap = prng.OneIn(2)});
    Prepare(array);
    const Disks before = array.disks().Copy();
    array.recording().Clear();
    for (const size_t disk : {4U, 5U}) {
      const MemberAreas& areas = array.areas(disk);
      const bool in_bitmap = array.spec().bitmap && prng.OneIn(2);
      AddError(array, disk, in_bitmap ? areas.bitmap : areas.super, ENOSPC, prng.Below(4));
    }
    const MemberAreas& areas = array.areas(1);
    AddError(array, 1, prng.OneIn(2) ? areas.data : areas.super, EIO, prng.Below(4));
    for (int i = 0; i < 6; ++i) {
      const uint64_t length = prng.Between(1, 20000);
      (void)array.Write(prng.Below(array.geometry().volume_bytes() - length), length);
      if (prng.OneIn(4)) {
        (void)array->FailMember(2, "by hand");
      }
      if (prng.OneIn(3)) {
        array.clock().Advance(kSecondNs);
        array->RunMaintenance();
      }
      if (prng.OneIn(3)) {
        array.fault(prng.OneIn(2) ? 4 : 5).ClearRules();
      }
    }
    const std::vector<size_t> live = Live(array);
    ASSERT_EQ(CheckEventOrder({array, before, array.recording().requests(), live}), "") << round;
    const size_t time = prng.Below(array.recording().size() + 1);
    TestArray after(array, CrashAt(before, array.recording().requests(), time, &prng));
    MDVOL_ASSERT_OK(after.Open({}, {.force = true, .run = true}));
    MDVOL_ASSERT_OK(after.Stop());
  }
}

// A write of superblock and bits may be torn: the superblock that vouches again comes after bits
// that are durable.
TEST(ArrayGenerationsTest, AStaleBitmapIsStaleUntilItsBitsAreDurable) {
  TestArray array;
  for (size_t disk = 0; disk < 6; ++disk) {
    Superblock super = array.super(disk);
    super.resync_offset = 0;
    array.PutSuper(disk, super);
    BitmapSuperblock bitmap = array.bitmap_super(disk);
    bitmap.state = bitmap.state | kBitmapStale;
    array.PutBitmapSuper(disk, bitmap);
  }
  Opening opening;
  opening.resync = false;
  MDVOL_ASSERT_OK(array.Open(opening));
  const auto log = array.recording().requests();
  std::vector<bool> is_believed(6);
  std::vector<size_t> durable_at(6, testing::kNever);  // stale, with every bit
  for (size_t i = 0; i < log.size(); ++i) {
    const RecordedRequest& request = log[i];
    if (!array.IsBitmap(request)) {
      continue;
    }
    ASSERT_EQ(request.offset_bytes, array.areas(request.member).bitmap.begin);
    BitmapSuperblock super;
    std::memcpy(&super, request.bytes.data(), sizeof(super));
    const bool has_bits = request.bytes[kBitmapSuperBytes] == std::byte{0xff};
    if ((super.state & kBitmapStale) != 0) {
      durable_at[request.member] = has_bits ? DurableAt(log, i) : testing::kNever;
    } else {
      is_believed[request.member] = true;
      EXPECT_LE(durable_at[request.member], i) << request.member;
    }
  }
  EXPECT_EQ(is_believed, std::vector<bool>(6, true));
}

// Storing superblocks takes longer than safe_mode_delay: the array is not idle for that.
TEST(ArrayGenerationsTest, AStartThatTookLongIsNotIdleAtOnce) {
  TestArray array;
  Prepare(array);
  MDVOL_ASSERT_OK(array.Stop());
  array.recording().SetHook([&](const RecordedRequest& request) {
    if (array.IsSuper(request)) {
      array.clock().Advance(kSecondNs);
    }
  });
  MDVOL_ASSERT_OK(array.Open({0, 1, 3, 4, 5}, {.run = true}));
  array->RunMaintenance();
  EXPECT_TRUE(array->Snapshot().dirty);
  array.recording().SetHook({});
}

}  // namespace
}  // namespace mdvol
