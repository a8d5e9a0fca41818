// StartArray and ResyncDoubtful with an array that only tells what it was asked; with real members
// they are tested in tests/unit/core/array/array_start_test.cc.

#include "core/sync/start_array.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "tests/support/test_array/test_array.h"

namespace mdvol {
namespace {

using testing::Opening;
using testing::ReadOnly;
using testing::TestArray;

// Stripes of 64 MiB, so that a step is one of them; eight of them, doubt by fours.
class DoubtfulArray final : public Array {
 public:
  DoubtfulArray() : doubt_(8, 4) {}

  std::vector<std::pair<uint64_t, uint64_t>> recomputed;
  absl::Status answer;
  std::optional<uint64_t> skips_at;
  DoubtMap& doubt() { return doubt_; }

  const ArrayGeometry& geometry() const override { return geometry_; }
  std::optional<StripeRange> NextDoubt(uint64_t from) const override { return doubt_.Next(from); }
  void EndDoubt(StripeRange stripes) override { doubt_.Remove(stripes); }
  absl::Status RecomputeParity(StripeRange stripes, uint64_t* skipped) override {
    recomputed.emplace_back(stripes.first, stripes.count);
    *skipped = skips_at == stripes.first ? 1 : 0;
    return *skipped != 0 ? answer : absl::OkStatus();
  }

  bool read_only() const override { return false; }
  absl::Status Read(uint64_t, std::span<std::byte>) override { return Unused(); }
  absl::Status Write(uint64_t, std::span<const std::byte>) override { return Unused(); }
  absl::Status Zero(uint64_t, uint64_t) override { return Unused(); }
  absl::Status Flush() override { return Unused(); }
  absl::StatusOr<uint64_t> NextData(uint64_t) override { return Unused(); }
  absl::StatusOr<uint64_t> NextHole(uint64_t) override { return Unused(); }
  absl::Status FailMember(size_t, std::string_view) override { return Unused(); }
  ArraySnapshot Snapshot() const override { return {}; }
  absl::Status SetRmwLevel(uint32_t) override { return Unused(); }
  void SetSafeModeDelay(uint32_t) override {}
  void SetMaxReadErrors(uint32_t) override {}
  absl::Status SetBitmapTimeBase(uint32_t) override { return Unused(); }
  absl::Status SetState(std::string_view) override { return Unused(); }
  void StartMaintenance() override {}
  uint64_t RunMaintenance() override { return 0; }
  absl::Status Stop() override { return Unused(); }

 private:
  static absl::Status Unused() { return ErrnoStatus(ENOSYS, "not asked for"); }

  const ArrayGeometry geometry_ =
      *ArrayGeometry::Make(Layout::kLeftSymmetric, 6, uint64_t{16} << 20, uint64_t{8} * 16 << 20);
  DoubtMap doubt_;
};

using Ranges = std::vector<std::pair<uint64_t, uint64_t>>;

TEST(ResyncDoubtfulTest, RecomputesWhatIsInDoubtInStepsAndEndsTheDoubt) {
  DoubtfulArray array;
  array.doubt().Add({4, 4});
  uint64_t skipped = 7;
  Ranges seen;
  MDVOL_ASSERT_OK(ResyncDoubtful(array, &skipped, [&](const ResyncProgress& progress) {
    seen.emplace_back(progress.done_stripes, progress.total_stripes);
  }));
  EXPECT_EQ(skipped, 0U);
  EXPECT_EQ(array.recomputed, (Ranges{{4, 1}, {5, 1}, {6, 1}, {7, 1}}));
  EXPECT_EQ(seen, (Ranges{{5, 8}, {6, 8}, {7, 8}, {8, 8}}));
  EXPECT_TRUE(array.doubt().empty());
}

TEST(ResyncDoubtfulTest, DoesNothingWithoutDoubt) {
  DoubtfulArray array;
  uint64_t skipped = 7;
  MDVOL_ASSERT_OK(ResyncDoubtful(array, &skipped));
  EXPECT_EQ(skipped, 0U);
  EXPECT_TRUE(array.recomputed.empty());
}

// The rest of the run is recomputed all the same, and its doubt stays as a whole.
TEST(ResyncDoubtfulTest, WhatWasSkippedKeepsItsRunInDoubt) {
  DoubtfulArray array;
  array.doubt().Add({0, 8});
  array.skips_at = 1;
  uint64_t skipped = 0;
  MDVOL_ASSERT_OK(ResyncDoubtful(array, &skipped));
  EXPECT_EQ(skipped, 1U);
  EXPECT_EQ(array.recomputed.size(), 8U);
  EXPECT_TRUE(array.doubt().Contains(0));
  EXPECT_TRUE(array.doubt().Contains(3));
  EXPECT_FALSE(array.doubt().Contains(4));
}

// I13
TEST(ResyncDoubtfulTest, NoSpaceIsNoReasonToGiveUp) {
  for (const int error : {ENOSPC, EDQUOT}) {
    DoubtfulArray array;
    array.doubt().Add({0, 8});
    array.skips_at = 5;
    array.answer = ErrnoStatus(error, "full");
    uint64_t skipped = 0;
    MDVOL_ASSERT_OK(ResyncDoubtful(array, &skipped));
    EXPECT_EQ(skipped, 1U);
    EXPECT_TRUE(array.doubt().Contains(5));
    EXPECT_FALSE(array.doubt().Contains(0));
  }
}

TEST(ResyncDoubtfulTest, AnyOtherErrorIs) {
  DoubtfulArray array;
  array.doubt().Add({0, 8});
  array.skips_at = 2;
  array.answer = ErrnoStatus(EIO, "three are lost");
  uint64_t skipped = 0;
  MDVOL_EXPECT_ERRNO(ResyncDoubtful(array, &skipped), EIO);
  EXPECT_EQ(array.recomputed.size(), 3U);
  EXPECT_TRUE(array.doubt().Contains(7));
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
