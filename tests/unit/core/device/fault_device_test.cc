// What faults do to requests; which requests they meet is in fault_rules_test.cc.

#include "core/device/fault_device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <thread>
#include <vector>

#include "core/base/units.h"
#include "core/device/memory_device.h"
#include "tests/support/fake_clock.h"
#include "tests/support/seed.h"
#include "tests/unit/core/device/test_devices.h"

namespace mdvol {
namespace {

using testing::FakeClock;
using testing::Flush;
using testing::LoggedCall;
using testing::LoggingDevice;
using testing::Prng;
using testing::Read;
using testing::RequestFor;
using testing::RunRequest;
using testing::Write;
using testing::Zero;

constexpr uint64_t kSizeBytes = kMiB;
constexpr size_t kLengthBytes = 4096;

class FaultDeviceTest : public ::testing::Test {
 protected:
  FaultDeviceTest() : old_(kLengthBytes), new_(kLengthBytes) {
    Prng(1).Fill(old_);
    Prng(2).Fill(new_);
    auto logging = std::make_unique<LoggingDevice>(NewMemoryDevice("d0", kSizeBytes), &log_);
    inner_ = logging.get();
    device_ = NewFaultDevice(std::move(logging), 1, clock_);
    EXPECT_EQ(Write(*inner_, 0, old_), 0);
    log_.clear();
  }

  std::vector<std::byte> Stored(size_t length_bytes = kLengthBytes) {
    std::vector<std::byte> bytes(length_bytes);
    EXPECT_EQ(Read(*inner_, 0, bytes), 0);
    return bytes;
  }

  static size_t WrongBits(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
    size_t count = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      count += static_cast<size_t>(__builtin_popcount(std::to_integer<unsigned>(a[i] ^ b[i])));
    }
    return count;
  }

  FakeClock clock_;
  std::vector<LoggedCall> log_;
  LoggingDevice* inner_ = nullptr;
  std::unique_ptr<FaultDevice> device_;
  std::vector<std::byte> old_;
  std::vector<std::byte> new_;
};

TEST_F(FaultDeviceTest, WithoutRulesNothingHappens) {
  EXPECT_EQ(Write(*device_, 0, new_), 0);
  std::vector<std::byte> back(kLengthBytes);
  EXPECT_EQ(Read(*device_, 0, back), 0);
  EXPECT_EQ(back, new_);
  EXPECT_EQ(Flush(*device_), 0);
  EXPECT_EQ(log_.size(), 6u);
  EXPECT_EQ(device_->FiredCount(), 0u);
  EXPECT_TRUE(device_->Rules().empty());
}

TEST_F(FaultDeviceTest, AnErrorDoesNothing) {
  device_->AddRule({.error_number = EILSEQ});
  EXPECT_EQ(Write(*device_, 0, new_), EILSEQ);
  EXPECT_EQ(Zero(*device_, 0, 512), EILSEQ);
  EXPECT_EQ(Flush(*device_), EILSEQ);
  std::vector<std::byte> back(kLengthBytes);
  EXPECT_EQ(Read(*device_, 0, back), EILSEQ);
  EXPECT_EQ(back, std::vector<std::byte>(kLengthBytes));
  EXPECT_TRUE(log_.empty());
  EXPECT_EQ(Stored(), old_);
  EXPECT_EQ(device_->FiredCount(), 4u);
}

TEST_F(FaultDeviceTest, ErrorsOfTheDeviceItselfComeThrough) {
  inner_->set_fails([](const IoRequest&) { return ENOMEM; });
  device_->AddRule({.kind = FaultKind::kCorrupt});
  EXPECT_EQ(Write(*device_, 0, new_), ENOMEM);
  std::vector<std::byte> back = new_;
  EXPECT_EQ(Read(*device_, 0, back), ENOMEM);
  EXPECT_EQ(back, new_);  // nothing was read that could be corrupted
  device_->ClearRules();
  EXPECT_EQ(Flush(*device_), ENOMEM);
}

TEST_F(FaultDeviceTest, ADelayedRequestEndsLater) {
  device_->AddRule({.op = FaultOp::kRead, .kind = FaultKind::kDelay, .delay_ns = 5000});
  std::vector<std::byte> back(kLengthBytes);
  const uint64_t start_ns = clock_.NowNs();
  EXPECT_EQ(Write(*device_, 0, old_), 0);
  EXPECT_EQ(clock_.NowNs(), start_ns);
  EXPECT_EQ(Read(*device_, 0, back), 0);
  EXPECT_EQ(clock_.NowNs(), start_ns + 5000);
  EXPECT_EQ(back, old_);
}

TEST_F(FaultDeviceTest, DelaysRunSideBySide) {
  device_->AddRule({.kind = FaultKind::kDelay, .delay_ns = 5000});
  std::array<std::vector<std::byte>, 3> backs;
  std::array<IoRequest, 3> requests;
  const uint64_t start_ns = clock_.NowNs();
  for (size_t i = 0; i < 3; ++i) {
    backs[i].resize(512);
    requests[i] = RequestFor(IoKind::kRead, 512 * i, backs[i]);
    device_->Submit(requests[i]);
    clock_.Advance(100);
  }
  for (IoRequest& request : requests) {
    device_->Wait(request);
  }
  EXPECT_EQ(clock_.NowNs(), start_ns + 200 + 5000);
}

TEST_F(FaultDeviceTest, ADelayedErrorIsAnErrorLater) {
  device_->AddRule({.kind = FaultKind::kError});
  device_->AddRule({.kind = FaultKind::kDelay, .delay_ns = 5000});
  const uint64_t start_ns = clock_.NowNs();
  EXPECT_EQ(Flush(*device_), EIO);
  EXPECT_EQ(clock_.NowNs(), start_ns + 5000);
}

TEST_F(FaultDeviceTest, StackedDelaysTakeTheLongest) {
  auto outer = NewFaultDevice(std::move(device_), 1, clock_);
  FaultDevice* const inner = outer.get();
  auto outermost = NewFaultDevice(std::move(outer), 1, clock_);
  for (const auto& [inner_ns, outermost_ns] : {std::pair(9000, 4000), std::pair(4000, 9000)}) {
    inner->ClearRules();
    outermost->ClearRules();
    inner->AddRule({.kind = FaultKind::kDelay, .delay_ns = static_cast<uint64_t>(inner_ns)});
    inner->AddRule({.kind = FaultKind::kTorn});  // what is below sees another request
    outermost->AddRule(
        {.kind = FaultKind::kDelay, .delay_ns = static_cast<uint64_t>(outermost_ns)});
    const uint64_t start_ns = clock_.NowNs();
    EXPECT_EQ(Write(*outermost, 0, new_), 0);
    EXPECT_EQ(clock_.NowNs(), start_ns + 9000);
  }
}

TEST_F(FaultDeviceTest, ACorruptReadIsWrongEachTimeInTheSameWay) {
  device_->AddRule({.op = FaultOp::kRead, .kind = FaultKind::kCorrupt});
  std::vector<std::byte> first(kLengthBytes);
  std::vector<std::byte> second(kLengthBytes);
  EXPECT_EQ(Read(*device_, 0, first), 0);
  EXPECT_EQ(Read(*device_, 0, second), 0);
  EXPECT_EQ(first, second);
  EXPECT_EQ(WrongBits(first, old_), kLengthBytes / 512);
  EXPECT_EQ(Stored(), old_);
}

TEST_F(FaultDeviceTest, ACorruptReadIsWrongInAnyBuffer) {
  device_->AddRule({.op = FaultOp::kRead, .kind = FaultKind::kCorrupt});
  std::vector<std::byte> whole(kLengthBytes);
  EXPECT_EQ(Read(*device_, 0, whole), 0);
  std::vector<std::byte> back(kLengthBytes);
  IoRequest request = RequestFor(IoKind::kRead, 0, back);
  request.buffers.clear();
  for (size_t begin = 0; begin < kLengthBytes; begin += 256) {
    request.buffers.push_back({back.data() + begin, 256});
  }
  EXPECT_EQ(RunRequest(*device_, request), 0);
  EXPECT_EQ(back, whole);
}

TEST_F(FaultDeviceTest, ACorruptWriteLeavesTheCallersBufferAlone) {
  device_->AddRule({.op = FaultOp::kWrite, .kind = FaultKind::kCorrupt});
  const std::vector<std::byte> before = new_;
  IoRequest request = RequestFor(IoKind::kWrite, 0, new_);
  request.buffers.assign({{new_.data(), 1000}, {new_.data() + 1000, kLengthBytes - 1000}});
  EXPECT_EQ(RunRequest(*device_, request), 0);
  EXPECT_EQ(new_, before);
  EXPECT_EQ(WrongBits(Stored(), new_), kLengthBytes / 512);
}

TEST_F(FaultDeviceTest, ACorruptZeroingStoresNearlyZeroes) {
  device_->AddRule({.op = FaultOp::kWrite, .kind = FaultKind::kCorrupt});
  EXPECT_EQ(Zero(*device_, 0, kLengthBytes), 0);
  EXPECT_EQ(WrongBits(Stored(), std::vector<std::byte>(kLengthBytes)), kLengthBytes / 512);
}

TEST_F(FaultDeviceTest, CorruptionBothWaysIsStillWrong) {
  device_->AddRule({.kind = FaultKind::kCorrupt});
  std::vector<std::byte> back(kLengthBytes);
  EXPECT_EQ(Write(*device_, 0, new_), 0);
  EXPECT_EQ(Read(*device_, 0, back), 0);
  EXPECT_EQ(WrongBits(back, new_), 2 * kLengthBytes / 512);
}

TEST_F(FaultDeviceTest, ADroppedWriteReportsSuccess) {
  device_->AddRule({.kind = FaultKind::kDrop});
  EXPECT_EQ(Write(*device_, 0, new_), 0);
  EXPECT_EQ(Zero(*device_, 0, kLengthBytes), 0);
  EXPECT_EQ(Flush(*device_), 0);
  EXPECT_TRUE(log_.empty());
  EXPECT_EQ(Stored(), old_);
}

TEST_F(FaultDeviceTest, ATornWriteStoresItsFirstHalf) {
  device_->AddRule({.kind = FaultKind::kTorn});
  IoRequest request = RequestFor(IoKind::kWrite, 0, new_);
  request.buffers.assign(
      {{new_.data(), 100}, {new_.data() + 100, 3000}, {new_.data() + 3100, kLengthBytes - 3100}});
  EXPECT_EQ(RunRequest(*device_, request), 0);
  std::vector<std::byte> expected = old_;
  std::copy_n(new_.begin(), 2048, expected.begin());
  EXPECT_EQ(Stored(), expected);
  EXPECT_EQ(request.length_bytes, kLengthBytes);
  EXPECT_EQ(Zero(*device_, 0, 1000), 0);
  std::fill_n(expected.begin(), 512, std::byte{0});
  EXPECT_EQ(Stored(), expected);
}

TEST_F(FaultDeviceTest, ATornSectorIsLost) {
  device_->AddRule({.kind = FaultKind::kTorn});
  EXPECT_EQ(Write(*device_, 0, std::span(new_).first(512)), 0);
  EXPECT_TRUE(log_.empty());
  EXPECT_EQ(Stored(), old_);
}

TEST_F(FaultDeviceTest, ATornWriteMayBeCorruptToo) {
  device_->AddRule({.kind = FaultKind::kTorn});
  device_->AddRule({.kind = FaultKind::kCorrupt});
  EXPECT_EQ(Write(*device_, 0, new_), 0);
  std::vector<std::byte> expected = old_;
  std::copy_n(new_.begin(), 2048, expected.begin());
  EXPECT_EQ(WrongBits(Stored(), expected), 2048u / 512);
}

TEST_F(FaultDeviceTest, ASuccessfulWriteEndsTheFault) {
  device_->AddRule({.op = FaultOp::kRead,
                    .offset_bytes = 512,
                    .length_bytes = 1024,
                    .until = FaultUntil::kWrite});
  std::vector<std::byte> back(kLengthBytes);
  EXPECT_EQ(Read(*device_, 0, back), EIO);
  inner_->set_fails(
      [](const IoRequest& request) { return request.kind == IoKind::kWrite ? ENOSPC : 0; });
  EXPECT_EQ(Write(*device_, 0, new_), ENOSPC);
  EXPECT_EQ(Read(*device_, 0, back), EIO);
  inner_->set_fails(nullptr);
  EXPECT_EQ(Write(*device_, 0, std::span(new_).first(1024)), 0);
  EXPECT_EQ(Read(*device_, 512, std::span(back).first(512)), 0);
  EXPECT_EQ(Read(*device_, 0, back), EIO);
  EXPECT_EQ(device_->Rules().at(0).offset_bytes, 1024u);
  EXPECT_EQ(Zero(*device_, 1024, 512), 0);
  EXPECT_EQ(Read(*device_, 0, back), 0);
  EXPECT_TRUE(device_->Rules().empty());
}

TEST_F(FaultDeviceTest, AWriteThatWasItselfAlteredEndsNothing) {
  for (const FaultKind kind :
       {FaultKind::kError, FaultKind::kDrop, FaultKind::kTorn, FaultKind::kCorrupt}) {
    device_->ClearRules();
    device_->AddRule({.op = FaultOp::kRead, .until = FaultUntil::kWrite});
    device_->AddRule({.op = FaultOp::kWrite, .kind = kind});
    Write(*device_, 0, new_);
    EXPECT_EQ(device_->Rules().size(), 2u) << static_cast<int>(kind);
    std::vector<std::byte> back(kLengthBytes);
    EXPECT_EQ(Read(*device_, 0, back), EIO);
  }
}

TEST_F(FaultDeviceTest, ADelayedWriteEndsTheFault) {
  device_->AddRule({.kind = FaultKind::kDelay,
                    .length_bytes = kLengthBytes,
                    .delay_ns = 5,
                    .until = FaultUntil::kWrite});
  EXPECT_EQ(Write(*device_, 0, new_), 0);
  EXPECT_TRUE(device_->Rules().empty());
}

TEST_F(FaultDeviceTest, RulesMayComeAndGoBetweenSubmitAndWait) {
  IoRequest before = RequestFor(IoKind::kWrite, 0, new_);
  device_->Submit(before);
  device_->AddRule({});
  device_->Wait(before);
  EXPECT_EQ(before.error, 0);
  IoRequest doomed = RequestFor(IoKind::kWrite, 0, old_);
  device_->Submit(doomed);
  device_->ClearRules();
  device_->Wait(doomed);
  EXPECT_EQ(doomed.error, EIO);
  EXPECT_EQ(Stored(), new_);
}

TEST_F(FaultDeviceTest, TearsInTheDevicesOwnUnits) {
  auto device =
      NewFaultDevice(NewMemoryDevice("d0", kSizeBytes, {.alignment_bytes = 4096}), 1, clock_);
  device->AddRule({.op = FaultOp::kWrite, .kind = FaultKind::kTorn});
  EXPECT_EQ(device->alignment_bytes(), 4096u);
  alignas(4096) static std::array<std::byte, 3 * 4096> data;
  data.fill(std::byte{1});
  EXPECT_EQ(Write(*device, 0, data), 0);
  data.fill(std::byte{2});
  EXPECT_EQ(Read(*device, 0, data), 0);
  EXPECT_EQ(std::count(data.begin(), data.end(), std::byte{1}), 4096);
}

TEST_F(FaultDeviceTest, CountsExactlyUnderThreads) {
  auto device = NewFaultDevice(NewMemoryDevice("d0", kSizeBytes), 1, clock_);
  device->AddRule({.op = FaultOp::kRead, .nth = 1000});
  device->AddRule({.op = FaultOp::kRead, .nth = 1500});
  std::atomic<int> errors = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      std::array<std::byte, 512> data = {};
      for (int i = 0; i < 500; ++i) {
        errors += Read(*device, 0, data) != 0 ? 1 : 0;
        if (i % 50 == 0) {
          device->AddRule({.op = FaultOp::kWrite, .until = FaultUntil::kWrite});
        }
        Write(*device, 4096, data);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(errors, 2);
}

}  // namespace
}  // namespace mdvol
