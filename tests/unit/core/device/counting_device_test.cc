// What is counted, when, and in which range.

#include "core/device/counting_device.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <memory>
#include <thread>
#include <vector>

#include "core/base/units.h"
#include "core/device/fault_device.h"
#include "core/device/io_batch.h"
#include "core/device/memory_device.h"
#include "core/device/sync_io.h"
#include "tests/support/fake_clock.h"
#include "tests/unit/core/device/test_devices.h"

namespace mdvol {
namespace {

using testing::FakeClock;
using testing::Flush;
using testing::Read;
using testing::RequestFor;
using testing::Write;
using testing::Zero;

class CountingDeviceTest : public ::testing::Test {
 protected:
  CountingDeviceTest() {
    auto fault = NewFaultDevice(NewMemoryDevice("d0", kMiB), 1, clock_);
    fault_ = fault.get();
    device_ = NewCountingDevice(std::move(fault), clock_);
  }

  FakeClock clock_;
  FaultDevice* fault_ = nullptr;
  std::unique_ptr<CountingDevice> device_;
  std::array<std::byte, 4096> data_ = {};
};

TEST_F(CountingDeviceTest, CountsRequestsBytesAndPieces) {
  IoBatch batch;
  for (size_t i = 0; i < 4; ++i) {
    batch.AddRead(device_.get(), 1024 * i, data_.data() + 1024 * i, 1024);
  }
  ASSERT_TRUE(batch.Run());
  EXPECT_EQ(Read(*device_, 8192, data_), 0);
  EXPECT_EQ(Write(*device_, 0, std::span(data_).first(512)), 0);
  EXPECT_EQ(Zero(*device_, 0, 65536), 0);
  EXPECT_EQ(Flush(*device_), 0);
  const MemberIoCounts counts = device_->Counts();
  EXPECT_EQ(counts.reads.requests, 2u);
  EXPECT_EQ(counts.reads.bytes, 8192u);
  EXPECT_EQ(counts.reads.merged, 3u);
  EXPECT_EQ(counts.writes.requests, 2u);
  EXPECT_EQ(counts.writes.bytes, 66048u);
  EXPECT_EQ(counts.writes.merged, 0u);
  EXPECT_EQ(counts.flushes, 1u);
  EXPECT_EQ(counts.errors, 0u);
}

TEST_F(CountingDeviceTest, MeasuresFromSubmitToTheEndOfWait) {
  fault_->AddRule({.op = FaultOp::kRead, .kind = FaultKind::kDelay, .delay_ns = 700});
  EXPECT_EQ(Read(*device_, 0, data_), 0);
  EXPECT_EQ(Read(*device_, 0, data_), 0);
  IoRequest write = RequestFor(IoKind::kWrite, 0, data_);
  device_->Submit(write);
  clock_.Advance(50);
  device_->Wait(write);
  EXPECT_EQ(device_->Counts().reads.busy_ns, 1400u);
  EXPECT_EQ(device_->Counts().writes.busy_ns, 50u);
}

TEST_F(CountingDeviceTest, CountsWhatStartsInItsRange) {
  device_->SetRange(4096, 8192);
  EXPECT_EQ(Read(*device_, 4095, std::span(data_).first(2)), 0);
  EXPECT_EQ(Read(*device_, 4096, std::span(data_).first(1)), 0);
  EXPECT_EQ(Read(*device_, 8191, std::span(data_).first(2)), 0);
  EXPECT_EQ(Read(*device_, 8192, std::span(data_).first(1)), 0);
  EXPECT_EQ(Flush(*device_), 0);
  EXPECT_EQ(device_->Counts().reads.requests, 2u);
  EXPECT_EQ(device_->Counts().reads.bytes, 3u);
  EXPECT_EQ(device_->Counts().flushes, 1u);
}

// A batch makes its requests once and uses them again.
TEST_F(CountingDeviceTest, CountsWhatEachRunOfABatchIssuesForAResync) {
  IoBatch batch;
  const auto run = [&] {
    batch.Clear();
    batch.AddRead(device_.get(), 0, data_.data(), 512);
    batch.AddRead(device_.get(), 2048, data_.data() + 2048, 512);
    EXPECT_TRUE(batch.Run());
  };
  {
    const SyncIoScope as_sync;
    run();
  }
  EXPECT_EQ(device_->Counts().sync_issued_bytes, 1024u);
  run();
  EXPECT_EQ(device_->Counts().sync_issued_bytes, 1024u);
  {
    const SyncIoScope as_sync;
    run();
    EXPECT_EQ(Read(*device_, 0, data_), 0);
  }
  EXPECT_EQ(device_->Counts().sync_issued_bytes, 2048u + 4096);
}

TEST_F(CountingDeviceTest, CountsErrorsEverywhere) {
  device_->SetRange(4096, 8192);
  fault_->AddRule({});
  EXPECT_EQ(Read(*device_, 0, data_), EIO);
  EXPECT_EQ(Write(*device_, 4096, data_), EIO);
  EXPECT_EQ(Flush(*device_), EIO);
  EXPECT_EQ(device_->Counts().errors, 3u);
  EXPECT_EQ(device_->Counts().reads.requests, 0u);
  EXPECT_EQ(device_->Counts().writes.requests, 1u);
  EXPECT_EQ(device_->Counts().flushes, 1u);
}

TEST_F(CountingDeviceTest, ARangeSetWhileARequestIsUnderWayDoesNotMatterToIt) {
  IoRequest counted = RequestFor(IoKind::kRead, 0, data_);
  device_->Submit(counted);
  device_->SetRange(4096, 8192);
  IoRequest uncounted = RequestFor(IoKind::kRead, 0, data_);
  device_->Submit(uncounted);
  device_->SetRange(0, kMiB);
  clock_.Advance(5);
  device_->Wait(uncounted);
  device_->Wait(counted);
  EXPECT_EQ(device_->Counts().reads.requests, 1u);
  EXPECT_EQ(device_->Counts().reads.busy_ns, 5u);
}

TEST_F(CountingDeviceTest, LosesNoCountBetweenThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this] {
      std::array<std::byte, 512> data = {};
      for (int i = 0; i < 1000; ++i) {
        ASSERT_EQ(Read(*device_, 0, data), 0);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(device_->Counts().reads.requests, 4000u);
  EXPECT_EQ(device_->Counts().reads.bytes, 4000u * 512);
}

}  // namespace
}  // namespace mdvol
