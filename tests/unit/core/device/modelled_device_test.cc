// What a modelled member takes: to the nanosecond on a fake clock, and within 5 % of the prediction
// in real time.

#include "core/device/modelled_device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/aligned_buffer.h"
#include "core/base/units.h"
#include "core/device/counting_device.h"
#include "core/device/fault_device.h"
#include "core/device/io_batch.h"
#include "core/device/memory_device.h"
#include "tests/support/fake_clock.h"
#include "tests/support/seed.h"
#include "tests/unit/core/device/test_devices.h"

namespace mdvol {
namespace {

using testing::FakeClock;
using testing::Flush;
using testing::Prng;
using testing::Read;
using testing::RequestFor;
using testing::TestSeed;
using testing::Write;
using testing::Zero;

constexpr uint64_t kUs = 1000;
constexpr DiskModelParameters kPlain{100 * kUs, 0, 1'000'000, 2};  // a byte takes 1 us

class ModelledDeviceTest : public ::testing::Test {
 protected:
  // The time that `run` takes on the fake clock.
  template <typename Run>
  uint64_t TimeOf(Run run) {
    const uint64_t start_ns = clock_.NowNs();
    run();
    return clock_.NowNs() - start_ns;
  }

  FakeClock clock_;
  std::unique_ptr<MemberDevice> device_ =
      NewModelledDevice(NewMemoryDevice("d0", kMiB), kPlain, clock_);
  std::array<std::byte, 1000> data_ = {};
};

TEST_F(ModelledDeviceTest, RequestsTakeWhatTheModelSays) {
  EXPECT_EQ(TimeOf([&] { EXPECT_EQ(Read(*device_, 0, data_), 0); }), 1100 * kUs);
  EXPECT_EQ(TimeOf([&] { EXPECT_EQ(Write(*device_, 500, data_), 0); }), 1100 * kUs);
  EXPECT_EQ(TimeOf([&] { EXPECT_EQ(Zero(*device_, 0, kMiB), 0); }), 100 * kUs);
  EXPECT_EQ(TimeOf([&] { EXPECT_EQ(Flush(*device_), 0); }), 0u);
}

TEST_F(ModelledDeviceTest, TheBytesAreMovedAtTheSubmit) {
  std::array<std::byte, 1> one = {std::byte{1}};
  IoRequest write = RequestFor(IoKind::kWrite, 9, one);
  std::array<std::byte, 1> seen = {};
  IoRequest read = RequestFor(IoKind::kRead, 9, seen);
  device_->Submit(write);
  device_->Submit(read);
  EXPECT_EQ(clock_.NowNs(), FakeClock::kStartNs);
  EXPECT_EQ(seen, one);
  device_->Wait(write);
  EXPECT_EQ(clock_.NowNs(), FakeClock::kStartNs + 101 * kUs);
  device_->Wait(read);
  EXPECT_EQ(clock_.NowNs(), FakeClock::kStartNs + 102 * kUs);
}

TEST_F(ModelledDeviceTest, MembersWorkSideBySideInABatch) {
  const auto other = NewModelledDevice(NewMemoryDevice("d1", kMiB), kPlain, clock_);
  IoBatch batch;
  batch.AddRead(device_.get(), 0, data_.data(), 400);
  batch.AddRead(other.get(), 0, data_.data() + 400, 600);
  EXPECT_EQ(TimeOf([&] { EXPECT_TRUE(batch.Run()); }), 700 * kUs);
}

TEST_F(ModelledDeviceTest, OneSideOfALongerWaitIsKept) {
  IoRequest later = RequestFor(IoKind::kRead, 0, data_);
  later.ready_ns = clock_.NowNs() + 5000 * kUs;
  EXPECT_EQ(TimeOf([&] { testing::RunRequest(*device_, std::move(later)); }), 5000 * kUs);
  IoRequest sooner = RequestFor(IoKind::kRead, 0, data_);
  sooner.ready_ns = clock_.NowNs() + 50 * kUs;
  EXPECT_EQ(TimeOf([&] { testing::RunRequest(*device_, std::move(sooner)); }), 1100 * kUs);
}

TEST_F(ModelledDeviceTest, ErrorsPassAndAreCharged) {
  auto device = NewModelledDevice(NewMemoryDevice("d1", kMiB, {.read_only = true}), kPlain, clock_);
  EXPECT_TRUE(device->read_only());
  EXPECT_EQ(TimeOf([&] { EXPECT_NE(Write(*device, 0, data_), 0); }), 1100 * kUs);
}

TEST_F(ModelledDeviceTest, UnderFaultsAndCountersTheLongerDelayHoldsAndIsSeen) {
  auto fault = NewFaultDevice(std::move(device_), 1, clock_);
  FaultDevice* const faults = fault.get();
  const auto stack = NewCountingDevice(std::move(fault), clock_);
  EXPECT_EQ(TimeOf([&] { EXPECT_EQ(Read(*stack, 0, data_), 0); }), 1100 * kUs);
  EXPECT_EQ(stack->Counts().reads.busy_ns, 1100 * kUs);
  faults->AddRule({.kind = FaultKind::kDelay, .delay_ns = 3000 * kUs});
  EXPECT_EQ(TimeOf([&] { EXPECT_EQ(Read(*stack, 0, data_), 0); }), 3000 * kUs);
  faults->ClearRules();
  faults->AddRule({.kind = FaultKind::kDelay, .delay_ns = 30 * kUs});
  EXPECT_EQ(TimeOf([&] { EXPECT_EQ(Write(*stack, 0, data_), 0); }), 1100 * kUs);
  faults->AddRule({.op = FaultOp::kWrite, .kind = FaultKind::kTorn});
  EXPECT_EQ(TimeOf([&] { EXPECT_EQ(Write(*stack, 0, data_), 0); }), (100 + 512) * kUs);
  faults->ClearRules();
  faults->AddRule({.op = FaultOp::kWrite, .kind = FaultKind::kDrop});
  EXPECT_EQ(TimeOf([&] { EXPECT_EQ(Write(*stack, 0, data_), 0); }), 0u);
}

// ---- In real time -----------------------------------------------------------------------------

// A closed load on a device: its threads, what they read, and how long each request took.
struct Load {
  const char* name;
  DiskModelParameters parameters;
  uint32_t depth;
  uint64_t length_bytes;
  bool is_random;
  int requests_per_thread;
};

constexpr uint64_t kSpanBytes = 64 * kMiB;

uint64_t MedianLatencyNs(const Load& load, uint64_t seed) {
  Clock& clock = SystemClock();
  const auto device = NewModelledDevice(NewMemoryDevice("d0", kSpanBytes), load.parameters, clock);
  std::atomic<uint64_t> next_bytes = 0;
  std::vector<std::vector<uint64_t>> latencies_ns(load.depth);
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < load.depth; ++t) {
    threads.emplace_back([&, t] {
      Prng prng(seed + t);
      AlignedBuffer data(load.length_bytes);
      for (int i = 0; i < load.requests_per_thread; ++i) {
        const uint64_t offset_bytes = load.is_random
                                          ? RoundDown(prng.Below(kSpanBytes), load.length_bytes)
                                          : next_bytes.fetch_add(load.length_bytes) % kSpanBytes;
        const uint64_t start_ns = clock.NowNs();
        EXPECT_EQ(Read(*device, offset_bytes, data.span()), 0);
        latencies_ns[t].push_back(clock.NowNs() - start_ns);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::vector<uint64_t> all_ns;
  for (const std::vector<uint64_t>& some : latencies_ns) {
    all_ns.insert(all_ns.end(), some.begin(), some.end());
  }
  const auto middle = all_ns.begin() + static_cast<ptrdiff_t>(all_ns.size() / 2);
  std::nth_element(all_ns.begin(), middle, all_ns.end());
  return *middle;
}

double PredictedLatencyNs(const Load& load) {
  const double rate =
      load.is_random ? PredictRandomRate(load.parameters, load.length_bytes, kSpanBytes, load.depth)
                     : PredictStreamRate(load.parameters, load.length_bytes, load.depth) /
                           static_cast<double>(load.length_bytes);
  return 1e9 * load.depth / rate;
}

class ModelledLoadTest : public ::testing::TestWithParam<Load> {};

// The machine may be busy with other things: one of many tries must come close, and never may the
// model be undercut.
TEST_P(ModelledLoadTest, TakesWhatIsPredictedWithinFivePercent) {
  const Load& load = GetParam();
  const uint64_t seed = TestSeed("ModelledLoad");
  const double predicted_ns = PredictedLatencyNs(load);
  double best = 10;
  for (int attempt = 0; attempt < 30 && std::abs(best - 1) > 0.05; ++attempt) {
    const double ratio =
        static_cast<double>(MedianLatencyNs(load, seed + 1000 * static_cast<uint64_t>(attempt))) /
        predicted_ns;
    // (With several callers one that the machine holds up makes the queue shorter for the others.)
    EXPECT_TRUE(ratio > 0.95 || load.depth > 1) << ratio;
    best = std::abs(ratio - 1) < std::abs(best - 1) ? ratio : best;
  }
  EXPECT_NEAR(best, 1, 0.05) << "predicted " << predicted_ns << " ns";
  RecordProperty("ratio_percent", static_cast<int>(std::lround(best * 100)));
}

INSTANTIATE_TEST_SUITE_P(
    , ModelledLoadTest,
    ::testing::Values(Load{"SsdRandomAlone", kSsdModel, 1, 4 * kKiB, true, 300},
                      Load{"SsdRandomFourDeep", kSsdModel, 4, 4 * kKiB, true, 300},
                      Load{"SsdStreamAlone", kSsdModel, 1, kMiB, false, 40},
                      Load{"SsdStreamFourDeep", kSsdModel, 4, kMiB, false, 20},
                      Load{"HddRandomAlone", kHddModel, 1, 4 * kKiB, true, 20},
                      Load{"HddRandomFourDeep", kHddModel, 4, 4 * kKiB, true, 8},
                      Load{"HddStreamAlone", kHddModel, 1, kMiB, false, 20},
                      Load{"HddStreamFourDeep", kHddModel, 4, kMiB, false, 10}),
    [](const auto& load) { return std::string(load.param.name); });

}  // namespace
}  // namespace mdvol
