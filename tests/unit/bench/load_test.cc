// Arrays, loads and tallies of mdvol-bench: that what is counted is what was done.

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/base/units.h"
#include "core/device/memory_device.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/bench/frame/bench_array.h"
#include "tests/bench/frame/measure.h"
#include "tests/bench/frame/tally_device.h"
#include "tests/bench/frame/workload.h"

namespace mdvol::bench {
namespace {

using ::testing::HasSubstr;

// Counts what it is asked; can be told to fail.
class CountingVolume final : public Volume {
 public:
  uint64_t volume_bytes() const override { return kMiB; }
  bool read_only() const override { return false; }
  absl::Status Read(uint64_t offset_bytes, std::span<std::byte> out) override {
    reads_ += 1;
    return Check(offset_bytes, out.size());
  }
  absl::Status Write(uint64_t offset_bytes, std::span<const std::byte> data) override {
    writes_ += 1;
    return Check(offset_bytes, data.size());
  }
  absl::Status Zero(uint64_t, uint64_t) override { return absl::OkStatus(); }
  absl::Status Flush() override {
    flushes_ += 1;
    return absl::OkStatus();
  }
  absl::StatusOr<uint64_t> NextData(uint64_t offset_bytes) override { return offset_bytes; }
  absl::StatusOr<uint64_t> NextHole(uint64_t) override { return volume_bytes(); }

  std::atomic<uint64_t> reads_ = 0;
  std::atomic<uint64_t> writes_ = 0;
  std::atomic<uint64_t> flushes_ = 0;
  std::atomic<uint64_t> begin_bytes_ = UINT64_MAX;
  std::atomic<uint64_t> end_bytes_ = 0;
  std::atomic<bool> fails_ = false;

 private:
  absl::Status Check(uint64_t offset_bytes, uint64_t length_bytes) {
    begin_bytes_ = std::min(begin_bytes_.load(), offset_bytes);
    end_bytes_ = std::max(end_bytes_.load(), offset_bytes + length_bytes);
    return fails_ ? ErrnoStatus(EIO, "told to fail") : absl::OkStatus();
  }
};

constexpr RunTimes kShort{0.005, 0.05};

absl::Status StartError(const WorkloadSpec& spec) {
  CountingVolume volume;
  return StartWorkload(volume, spec, SystemClock()).status();
}

TEST(WorkloadTest, ReadsOnlyReadsAndWritesOnlyWrites) {
  CountingVolume volume;
  const auto reads = RunWorkload(volume, {.name = "r"}, kShort, SystemClock());
  ASSERT_TRUE(reads.ok()) << reads.status();
  EXPECT_EQ(volume.writes_, 0U);
  EXPECT_GT(reads->reads.requests, 0U);
  EXPECT_LE(reads->reads.requests, volume.reads_);
  EXPECT_EQ(reads->reads.bytes, reads->reads.requests * 4096);
  EXPECT_GE(reads->Latency().count(), reads->reads.requests);
  EXPECT_NEAR(reads->seconds, 0.05, 0.05);

  volume.reads_ = 0;
  const auto writes = RunWorkload(volume, {.name = "w", .read_share = 0}, kShort, SystemClock());
  ASSERT_TRUE(writes.ok()) << writes.status();
  EXPECT_EQ(volume.reads_, 0U);
  EXPECT_GT(writes->writes.requests, 0U);
}

TEST(WorkloadTest, MixesReadsAndWritesByTheirShare) {
  CountingVolume volume;
  const WorkloadSpec spec{.name = "mix", .queue_depth = 2, .read_share = 0.75};
  ASSERT_TRUE(RunWorkload(volume, spec, kShort, SystemClock()).ok());
  const double all = static_cast<double>(volume.reads_ + volume.writes_);
  ASSERT_GT(all, 1000);
  EXPECT_NEAR(static_cast<double>(volume.reads_) / all, 0.75, 0.1);
}

TEST(WorkloadTest, FlushesAfterSoManyWrites) {
  CountingVolume volume;
  const WorkloadSpec spec{
      .name = "fsync", .jobs = 2, .queue_depth = 2, .read_share = 0, .fsync_every = 3};
  const auto result = RunWorkload(volume, spec, kShort, SystemClock());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_GT(result->flushes.requests, 0U);
  EXPECT_NEAR(static_cast<double>(volume.flushes_), static_cast<double>(volume.writes_) / 3, 2);
}

TEST(WorkloadTest, StaysInItsPart) {
  for (const bool random : {false, true}) {
    for (const bool own_regions : {false, true}) {
      CountingVolume volume;
      const WorkloadSpec spec{.name = "part",
                              .jobs = 3,
                              .random = random,
                              .begin_bytes = 8192,
                              .length_bytes = 64 * kKiB,
                              .own_regions = own_regions};
      ASSERT_TRUE(RunWorkload(volume, spec, kShort, SystemClock()).ok());
      EXPECT_EQ(volume.begin_bytes_, 8192U);
      // Three regions of five blocks, or one of sixteen.
      EXPECT_EQ(volume.end_bytes_, 8192U + (own_regions ? 60 : 64) * kKiB);
    }
  }
}

TEST(WorkloadTest, ManyThreadsAreNoTrouble) {
  CountingVolume volume;
  const WorkloadSpec spec{.name = "crowd", .jobs = 48, .queue_depth = 32, .think_ns = 10'000'000};
  auto load = StartWorkload(volume, spec, SystemClock());
  ASSERT_TRUE(load.ok()) << load.status();
  // Each has its turn at last, and rests so long that nobody has taken all.
  while (volume.reads_ < 1536) {
    SystemClock().SleepUntil(SystemClock().NowNs() + 1'000'000);
  }
  EXPECT_EQ((*load)->Stop().errors, 0U);
}

TEST(WorkloadTest, AFailedRequestIsTheRunsError) {
  CountingVolume volume;
  volume.fails_ = true;
  const auto result = RunWorkload(volume, {.name = "w"}, kShort, SystemClock());
  EXPECT_EQ(ErrnoOf(result.status()), EIO);
  EXPECT_THAT(MessageOf(result.status()), HasSubstr("requests failed, the first: told to fail"));
}

TEST(WorkloadTest, RefusesWhatMakesNoSense) {
  for (const WorkloadSpec& spec : std::vector<WorkloadSpec>{
           {.name = "no jobs", .jobs = 0},
           {.name = "no depth", .queue_depth = 0},
           {.name = "no block", .block_bytes = 0},
           {.name = "behind the end", .begin_bytes = 2 * kMiB},
           {.name = "over the end", .begin_bytes = 4096, .length_bytes = kMiB},
           {.name = "block too large", .block_bytes = 2 * kMiB},
           {.name = "share too small", .jobs = 512, .own_regions = true}}) {
    EXPECT_EQ(ErrnoOf(StartError(spec)), EINVAL) << spec.name;
    EXPECT_THAT(MessageOf(StartError(spec)), HasSubstr(spec.name));
  }
}

TEST(TallyDeviceTest, TellsApartForWhomAndWhat) {
  const auto device = NewTallyDevice(NewMemoryDevice("d", kMiB), {64 * kKiB, kMiB});
  std::vector<std::byte> bytes(8192);
  ASSERT_TRUE(WriteMember(*device, 0, bytes.data(), 4096).ok());
  ASSERT_TRUE(ReadMember(*device, 64 * kKiB, bytes.data(), 4096).ok());
  ASSERT_TRUE(ReadMember(*device, 68 * kKiB, bytes.data(), 8192).ok());
  const MemberTally before = device->Counts();
  {
    const ForegroundThread foreground;
    ASSERT_TRUE(WriteMember(*device, 128 * kKiB, bytes.data(), 8192).ok());
    ASSERT_TRUE(FlushMember(*device).ok());
  }
  const MemberTally counts = device->Counts();
  EXPECT_EQ(counts[IoClass::kMetadata].writes.requests, 1U);
  EXPECT_EQ(counts[IoClass::kSync].reads.requests, 2U);
  EXPECT_EQ(counts[IoClass::kSync].reads.MeanBytes(), 6144);
  EXPECT_EQ(counts[IoClass::kSync].reads.SequentialShare(), 0.5);
  EXPECT_EQ(counts[IoClass::kForeground].writes.bytes, 8192U);
  EXPECT_EQ(counts[IoClass::kForeground].flushes, 1U);
  const MemberTally between = counts - before;
  EXPECT_EQ(between[IoClass::kSync].reads.requests, 0U);
  EXPECT_EQ(between.Data().All().bytes, 8192U);
  EXPECT_EQ(device->MostWritesAtOnce(), 1U);
  device->ResetMostWritesAtOnce();
  EXPECT_EQ(device->MostWritesAtOnce(), 0U);
}

BenchArraySpec SmallSpec() {
  return {.members = 6, .chunk_bytes = 16 * kKiB, .member_bytes = 4 * kMiB};
}

uint64_t Mismatches(BenchArray& array) {
  EXPECT_TRUE(array.StartSync(SyncAction::kCheck).ok());
  while (array.sync().Status().action != SyncAction::kIdle) {
    SystemClock().SleepUntil(SystemClock().NowNs() + 1'000'000);
  }
  return array.sync().Status().mismatch_sectors;
}

TEST(BenchArrayTest, IsWholeAndCleanFromTheStart) {
  const auto array = BenchArray::Make(SmallSpec());
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ((*array)->array().Snapshot().degraded, 0U);
  EXPECT_FALSE((*array)->array().NextDoubt(0).has_value());
  const MemberTally before = (*array)->Total();
  EXPECT_EQ(Mismatches(**array), 0U);
  const MemberTally checked = (*array)->Total() - before;
  EXPECT_EQ(checked[IoClass::kSync].reads.bytes, 6 * 4 * kMiB);
  EXPECT_EQ(checked[IoClass::kForeground].reads.requests, 0U);
}

TEST(BenchArrayTest, KeepsItsBytesOverLossesAndReopening) {
  const auto made = BenchArray::Make(SmallSpec());
  ASSERT_TRUE(made.ok()) << made.status();
  BenchArray& array = **made;
  ASSERT_TRUE(array.Fill(3 * kMiB + 1000, 7).ok());
  EXPECT_EQ(Mismatches(array), 0U);
  ASSERT_TRUE(array.FailMember(2).ok());
  EXPECT_EQ(array.live_members(), 5U);
  EXPECT_EQ(ErrnoOf(array.FailMember(2)), ENODEV);
  ASSERT_TRUE(array.Close().ok());
  ASSERT_TRUE(array.Open({0, 2}).ok());
  EXPECT_EQ(array.array().Snapshot().degraded, 2U);
  const auto difference = array.FirstDifference(3 * kMiB + 1000, 7);
  ASSERT_TRUE(difference.ok()) << difference.status();
  EXPECT_EQ(*difference, 3 * kMiB + 1000);
  EXPECT_LT(*array.FirstDifference(4096, 8), 4096U);
}

TEST(BenchArrayTest, HasAsManyMembersAsMdAllowsForHere) {
  BenchArraySpec spec = SmallSpec();
  spec.members = 128;
  spec.member_bytes = kTiB;
  spec.chunk_bytes = 512 * kKiB;
  spec.model = kSsdModel;
  const auto array = BenchArray::Make(spec);
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ((*array)->array().volume_bytes(), 126 * kTiB);
  EXPECT_TRUE((*array)->Close().ok());
}

TEST(BenchArrayTest, AModelledMemberTakesItsTime) {
  BenchArraySpec spec = SmallSpec();
  spec.model = DiskModelParameters{.latency_ns = 2'000'000, .parallelism = 1};
  const auto array = BenchArray::Make(spec);
  ASSERT_TRUE(array.ok()) << array.status();
  const auto result = RunWorkload((*array)->array(), {.name = "r"}, kShort, SystemClock());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_GE(result->Latency().min_ns(), 2'000'000U);
}

TEST(MeasureTest, TellsWhatUsersGotAndWhatMembersWereAsked) {
  const auto made = BenchArray::Make(SmallSpec());
  ASSERT_TRUE(made.ok()) << made.status();
  BenchArray& array = **made;
  const WorkloadSpec reads{.name = "r"};
  const auto whole = Measure(array, {reads}, {0.005, 0.2}, SystemClock());
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_NEAR(whole->ReadAmplification(), 1, 0.05);  // a block of 4 KiB lies on one member
  EXPECT_EQ(whole->SyncBytesPerSecond(), 0);
  EXPECT_EQ(whole->MeanWriteBytes(), 0);
  EXPECT_EQ(whole->live_members, 6U);

  // With one member lost, a sixth of the blocks takes four reads at least.
  ASSERT_TRUE(array.FailMember(0).ok());
  const auto degraded = Measure(array, {reads}, {0.005, 0.2}, SystemClock());
  ASSERT_TRUE(degraded.ok()) << degraded.status();
  EXPECT_GT(degraded->ReadAmplification(), 1 + 3.0 / 6 - 0.1);
  EXPECT_EQ(degraded->live_members, 5U);
}

TEST(MeasureTest, WithoutLoadsItTellsOfTheSyncAlone) {
  BenchArraySpec spec = SmallSpec();
  spec.member_bytes = kTiB;
  const auto array = BenchArray::Make(spec);
  ASSERT_TRUE(array.ok()) << array.status();
  ASSERT_TRUE((*array)->StartSync(SyncAction::kCheck).ok());
  const auto measured = Measure(**array, {}, {0.005, 0.1}, SystemClock());
  ASSERT_TRUE(measured.ok()) << measured.status();
  EXPECT_TRUE(measured->loads.empty());
  const MemberTally& members = measured->members;
  EXPECT_GT(members[IoClass::kSync].reads.bytes, 0U);
  EXPECT_NEAR(measured->SyncBytesPerSecond() * measured->seconds * 6,
              static_cast<double>(members[IoClass::kSync].reads.bytes), 1);
  EXPECT_EQ(members[IoClass::kForeground].All().requests, 0U);
  EXPECT_TRUE((*array)->StopSync().ok());
}

TEST(BenchArrayTest, SwitchesPoliciesByName) {
  const auto array = BenchArray::Make(SmallSpec());
  ASSERT_TRUE(array.ok()) << array.status();
  for (const PolicyFamilyInfo& info : kPolicyFamilies) {
    ASSERT_FALSE(PolicyNamesOf(info.family).empty());
    for (const std::string& name : PolicyNamesOf(info.family)) {
      EXPECT_TRUE((*array)->Switch({info.family, name, {}}).ok()) << name;
    }
    EXPECT_TRUE(IsUsageError((*array)->Switch({info.family, "nobody", {}})));
  }
  const std::string pacing = PolicyNamesOf(PolicyFamily::kResyncPacing)[0];
  EXPECT_TRUE(IsUsageError(
      (*array)->Switch({PolicyFamily::kResyncPacing, pacing, {{"no_such_option", 1}}})));
}

TEST(BenchArrayTest, RefusesWhatCreateWouldRefuse) {
  BenchArraySpec spec = SmallSpec();
  spec.members = 3;
  EXPECT_FALSE(BenchArray::Make(spec).ok());
  spec = SmallSpec();
  spec.policies = {{PolicyFamily::kDegradedRead, "nobody", {}}};
  EXPECT_TRUE(IsUsageError(BenchArray::Make(spec).status()));
}

}  // namespace
}  // namespace mdvol::bench
