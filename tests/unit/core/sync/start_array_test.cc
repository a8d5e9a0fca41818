// StartArray and ResyncDoubtful with an array that only tells what it was asked; with real members
// they are tested in tests/unit/core/array/array_start_test.cc.

#include "core/sync/start_array.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "tests/support/test_array/test_array.h"
#include "tests/unit/core/sync/sync_array.h"

namespace mdvol {
namespace {

using testing::ReadOnly;
using testing::SyncArray;
using testing::TestArray;

TEST(ResyncDoubtfulTest, RecomputesWhatIsInDoubtByWindowsAndEndsTheDoubt) {
  SyncArray array;
  array.doubt.Add({8, 8});
  uint64_t skipped = 7;
  MDVOL_ASSERT_OK(ResyncDoubtful(array, &skipped));
  EXPECT_EQ(skipped, 0U);
  EXPECT_EQ(array.Pieces(), (std::vector<uint64_t>{8, 12}));
  EXPECT_TRUE(array.doubt.empty());
}

TEST(ResyncDoubtfulTest, DoesNothingWithoutDoubt) {
  SyncArray array;
  uint64_t skipped = 7;
  MDVOL_ASSERT_OK(ResyncDoubtful(array, &skipped));
  EXPECT_EQ(skipped, 0U);
  EXPECT_TRUE(array.Pieces().empty());
}

// The rest of the run is recomputed all the same, and its doubt stays as a whole.
TEST(ResyncDoubtfulTest, WhatWasSkippedKeepsItsRunInDoubt) {
  SyncArray array;
  array.doubt.Add({0, 16});
  array.skips_at = 1;
  uint64_t skipped = 0;
  MDVOL_ASSERT_OK(ResyncDoubtful(array, &skipped));
  EXPECT_EQ(skipped, 1U);
  EXPECT_EQ(array.Pieces().size(), 4U);
  EXPECT_TRUE(array.doubt.Contains(0));
  EXPECT_TRUE(array.doubt.Contains(7));
  EXPECT_FALSE(array.doubt.Contains(8));
}

// I13
TEST(ResyncDoubtfulTest, NoSpaceIsNoReasonToGiveUp) {
  for (const int error : {ENOSPC, EDQUOT}) {
    SyncArray array;
    array.doubt.Add({0, 16});
    array.skips_at = 9;
    {
      absl::MutexLock lock(&array.mutex);
      array.fails_at = 9;
      array.answer = ErrnoStatus(error, "full");
    }
    uint64_t skipped = 0;
    MDVOL_ASSERT_OK(ResyncDoubtful(array, &skipped));
    EXPECT_EQ(skipped, 1U);
    EXPECT_TRUE(array.doubt.Contains(9));
    EXPECT_FALSE(array.doubt.Contains(0));
  }
}

TEST(ResyncDoubtfulTest, AnyOtherErrorIs) {
  SyncArray array;
  array.doubt.Add({0, 16});
  {
    absl::MutexLock lock(&array.mutex);
    array.fails_at = 9;
    array.answer = ErrnoStatus(EIO, "three are lost");
  }
  uint64_t skipped = 0;
  MDVOL_EXPECT_ERRNO(ResyncDoubtful(array, &skipped), EIO);
  EXPECT_EQ(array.Pieces().size(), 2U);
  EXPECT_TRUE(array.doubt.Contains(15));
}

// ---- StartArray ----

TEST(StartArrayTest, ACleanArrayIsStartedWithoutAWord) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  EXPECT_EQ(array.EventText("resync started"), "");
  EXPECT_EQ(array.EventText("array started"), "array started: 6 of 6 members");
}

TEST(StartArrayTest, ADirtyArrayIsResyncedAndSaysSo) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Write(0, 1));
  array.Crash();
  MDVOL_ASSERT_OK(array.Open());
  EXPECT_NE(array.EventText("resync started"), "");
  EXPECT_NE(array.EventText("resync done"), "");
  EXPECT_FALSE(array->NextDoubt(0).has_value());
}

TEST(StartArrayTest, AReadOnlyArrayKeepsItsDoubt) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Write(0, 1));
  array.Crash();
  MDVOL_ASSERT_OK(array.Open(ReadOnly()));
  EXPECT_TRUE(array->NextDoubt(0).has_value());
  EXPECT_EQ(array.EventText("resync started"), "");
}

TEST(StartArrayTest, WhatCouldNotBeResyncedIsSaid) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Fill());
  array.Crash();
  std::vector<LoadedMember> members;
  for (size_t i = 0; i < array.disks().size(); ++i) {
    auto fault = NewFaultDevice(array.disks().Open(i), 1, array.clock());
    if (i == array.DiskOf(0)) {
      fault->AddRule(
          {.op = FaultOp::kRead, .offset_bytes = array.DiskOffset(0), .length_bytes = 4096});
    }
    auto member = LoadMember(std::move(fault));
    ASSERT_TRUE(member.ok());
    members.push_back(*std::move(member));
  }
  const auto started = StartArray(std::move(members), {}, array.clock(), array.events());
  ASSERT_TRUE(started.ok());
  EXPECT_TRUE((*started)->NextDoubt(0).has_value());
  EXPECT_TRUE(array.EventText("resync incomplete").starts_with("resync incomplete: 1 stripes"));
}

TEST(StartArrayTest, NoMembersAreAUsersMistake) {
  TestArray array;
  const auto started = StartArray({}, {}, array.clock(), array.events());
  EXPECT_TRUE(IsUsageError(started.status()));
}

}  // namespace
}  // namespace mdvol
