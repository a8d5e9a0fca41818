// I9: read-only means that not one byte of any member changes, whatever state the array is in and
// whatever is asked of it.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "core/base/units.h"
#include "tests/support/test_array/test_array.h"

namespace mdvol {
namespace {

using testing::Disks;
using testing::Opening;
using testing::ReadOnly;
using testing::RecordedRequest;
using testing::TestArray;

constexpr uint64_t kSecondNs = 1000000000;

// Everything that a user could try.
void TryEverything(TestArray& array) {
  std::vector<std::byte> data(5000);
  MDVOL_EXPECT_ERRNO(array->Write(0, data), EROFS);
  MDVOL_EXPECT_ERRNO(array->Zero(0, 5000), EROFS);
  MDVOL_EXPECT_OK(array->Write(0, {}));
  MDVOL_EXPECT_OK(array->Flush());
  MDVOL_EXPECT_ERRNO(array->FailMember(0, "by hand"), EROFS);
  uint64_t skipped = 0;
  MDVOL_EXPECT_ERRNO(array->RecomputeParity({0, 1}, &skipped), EROFS);
  MDVOL_EXPECT_ERRNO(array->SetState("clean"), EROFS);
  MDVOL_EXPECT_ERRNO(array->SetState("active"), EBUSY);
  MDVOL_EXPECT_OK(array->SetState("readonly"));
  MDVOL_EXPECT_OK(array->SetRmwLevel(2));
  array->SetSafeModeDelay(1);
  array.clock().Advance(60 * kSecondNs);
  EXPECT_EQ(array->RunMaintenance(), ~uint64_t{0});
  array->StartMaintenance();
  EXPECT_TRUE(array->read_only());
  EXPECT_EQ(array->Snapshot().state, ArrayState::kReadonly);
  EXPECT_TRUE(array->NextData(0).ok());
  EXPECT_TRUE(array->NextHole(0).ok());
}

void ExpectUntouched(TestArray& array, const Disks& before) {
  EXPECT_EQ(array.disks().DifferenceFrom(before), "");
  for (const RecordedRequest& request : array.recording().requests()) {
    EXPECT_FALSE(request.Changes());
  }
}

// Opens read-only, tries everything, expects the volume to read as the model says.
void ExpectReadOnly(TestArray& array, Opening opening) {
  const Disks before = array.disks().Copy();
  array.recording().Clear();
  opening.options.assembly.read_only = true;
  MDVOL_ASSERT_OK(array.Open(opening));
  TryEverything(array);
  EXPECT_EQ(array.CheckVolume(), "");
  MDVOL_EXPECT_OK(array.Stop());
  ExpectUntouched(array, before);
}

// An array with something in it, left as `leave` leaves it.
void Prepare(TestArray& array, const std::function<void(TestArray&)>& leave) {
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Fill());
  MDVOL_ASSERT_OK(array.Write(5000, 70000));
  leave(array);
}

TEST(ArrayReadOnlyTest, ACleanArrayIsLeftAlone) {
  TestArray array;
  Prepare(array, [](TestArray& a) { MDVOL_ASSERT_OK(a.Stop()); });
  ExpectReadOnly(array, {});
}

TEST(ArrayReadOnlyTest, ADirtyArrayIsServedAsItStands) {
  TestArray array;
  Prepare(array, [](TestArray& a) { a.Crash(); });
  ExpectReadOnly(array, {});
  Opening forced;
  forced.options.assembly.force = true;
  ExpectReadOnly(array, forced);
}

TEST(ArrayReadOnlyTest, ADegradedArrayIsLeftAloneWithOneAndWithTwoLosses) {
  for (const bool dirty : {false, true}) {
    TestArray array;
    Prepare(array, [&](TestArray& a) {
      MDVOL_ASSERT_OK(a->SetState(dirty ? "active" : "clean"));
      a.Crash();
    });
    Opening opening;
    opening.options.assembly.run = true;
    opening.members = {0, 1, 3, 4, 5};
    ExpectReadOnly(array, opening);
    opening.members = {0, 1, 4, 5};
    ExpectReadOnly(array, opening);
    opening.options.assembly.force = true;
    ExpectReadOnly(array, opening);
  }
}

TEST(ArrayReadOnlyTest, MembersBehindStayBehind) {
  TestArray array;
  Prepare(array, [](TestArray& a) {
    MDVOL_ASSERT_OK(a->FailMember(1, "by hand"));
    MDVOL_ASSERT_OK(a.Stop());
  });
  ExpectReadOnly(array, {});
  Superblock super = array.super(3);
  super.events = super.events - 1;
  array.PutSuper(3, super);
  ExpectReadOnly(array, {});
}

TEST(ArrayReadOnlyTest, AStaleBitmapStaysStale) {
  TestArray array;
  Prepare(array, [](TestArray& a) { a.Crash(); });
  for (size_t disk = 0; disk < 6; ++disk) {
    BitmapSuperblock bitmap = array.bitmap_super(disk);
    bitmap.events = 0;
    array.PutBitmapSuper(disk, bitmap);
  }
  ExpectReadOnly(array, {});
}

// Reconstructed for the reader, but not rewritten.
TEST(ArrayReadOnlyTest, ReadErrorsAreNotMended) {
  TestArray array;
  Prepare(array, [](TestArray& a) { MDVOL_ASSERT_OK(a.Stop()); });
  const Disks before = array.disks().Copy();
  MDVOL_ASSERT_OK(array.Open(ReadOnly()));
  array.recording().Clear();
  for (const size_t disk : {1U, 4U}) {
    array.fault(disk).AddRule({.op = FaultOp::kRead});
  }
  EXPECT_EQ(array.CheckVolume(), "");
  EXPECT_EQ(array->Snapshot().degraded, 0U);
  EXPECT_EQ(array->Snapshot().members[1].errors, 0U);
  array.fault(5).AddRule({.op = FaultOp::kRead});
  EXPECT_NE(array.CheckVolume(), "");
  EXPECT_EQ(array->Snapshot().degraded, 0U);
  ExpectUntouched(array, before);
}

// What is missing then stays missed: a read-only mount between two read-write ones is as none.
TEST(ArrayReadOnlyTest, AReadWriteStartAfterwardsFindsTheSame) {
  TestArray array;
  Prepare(array, [](TestArray& a) { a.Crash(); });
  Opening opening = ReadOnly();
  opening.members = {0, 1, 2, 3};
  opening.options.assembly.run = true;
  MDVOL_ASSERT_OK(array.Open(opening));
  MDVOL_ASSERT_OK(array.Stop());
  MDVOL_ASSERT_OK(array.Open());
  EXPECT_EQ(array->Snapshot().degraded, 0U);
  EXPECT_EQ(array.CheckVolume(), "");
  MDVOL_ASSERT_OK(array.Stop());
}

// By request, while running: clean first, then as above.
TEST(ArrayReadOnlyTest, ARunningArrayCanBeMadeReadOnlyForGood) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Fill());
  MDVOL_ASSERT_OK(array->SetState("readonly"));
  EXPECT_EQ(array.super(0).resync_offset, kResyncDone);
  const Disks before = array.disks().Copy();
  array.recording().Clear();
  array.fault(2).AddRule({.op = FaultOp::kRead});
  TryEverything(array);
  EXPECT_EQ(array.CheckVolume(), "");
  MDVOL_EXPECT_OK(array.Stop());
  ExpectUntouched(array, before);
  MDVOL_ASSERT_OK(array.Open());
  EXPECT_FALSE(array->NextDoubt(0).has_value());
}

}  // namespace
}  // namespace mdvol
