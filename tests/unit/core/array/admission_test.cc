// A member under the policy of a slot: facts go in, the decision is obeyed, a switch is noticed.

#include "core/array/admission.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "core/base/units.h"
#include "core/device/memory_device.h"
#include "core/device/sync_io.h"
#include "tests/support/fake_clock.h"

namespace mdvol {
namespace {

using testing::FakeClock;

class FixedWrites final : public WriteAdmission {
 public:
  explicit FixedWrites(const WriteAdmissionDecision& decision) : decision_(decision) {}
  WriteAdmissionDecision Decide(const WriteAdmissionFacts& facts) override {
    absl::MutexLock lock(&mutex_);
    notes_.push_back(facts.note);
    return decision_;
  }
  std::vector<uint64_t> notes() const {
    absl::MutexLock lock(&mutex_);
    return notes_;
  }

 private:
  const WriteAdmissionDecision decision_;
  mutable absl::Mutex mutex_;
  std::vector<uint64_t> notes_ ABSL_GUARDED_BY(mutex_);
};

class AdmissionTest : public ::testing::Test {
 protected:
  AdmissionTest() { device_->SetRange(0, kMiB); }

  std::shared_ptr<FixedWrites> Choose(const WriteAdmissionDecision& decision) {
    auto policy = std::make_shared<FixedWrites>(decision);
    slot_.Set(policy);
    return policy;
  }
  IoRequest Request(uint64_t block) {
    IoRequest request;
    request.kind = IoKind::kWrite;
    request.offset_bytes = block * 4096;
    request.length_bytes = bytes_.size();
    request.buffers.push_back({bytes_.data(), bytes_.size()});
    return request;
  }
  void Write(uint64_t block) {
    IoRequest request = Request(block);
    device_->Submit(request);
    device_->Wait(request);
    EXPECT_EQ(request.error, 0);
  }

  FakeClock clock_;
  PolicySlot<WriteAdmission> slot_;
  std::vector<std::byte> bytes_ = std::vector<std::byte>(4096);
  std::unique_ptr<CountingDevice> device_ =
      NewAdmittedDevice(NewCountingDevice(NewMemoryDevice("d", kMiB), clock_), slot_, clock_);
};

TEST_F(AdmissionTest, WithoutAPolicyEverythingPasses) {
  Write(1);
  EXPECT_EQ(device_->Counts().writes.requests, 1U);
  EXPECT_EQ(device_->path(), "d");
}

TEST_F(AdmissionTest, APolicyIsAskedAndWhatItNotesComesBackButNotToAnother) {
  WriteAdmissionDecision decision;
  decision.note = 7;
  const auto first = Choose(decision);
  Write(1);
  clock_.Advance(1'000'000);
  decision.most_bytes = 4096;  // each write is asked about under the lock
  decision.note = 9;
  const auto second = Choose(decision);
  Write(2);
  clock_.Advance(1'000'000);
  Write(3);
  EXPECT_EQ(first->notes().front(), 0U);
  EXPECT_EQ(second->notes().front(), 0U);
  EXPECT_EQ(second->notes().back(), 9U);
}

// Notes its own number, and counts what it gets of others.
class NumberedWrites final : public WriteAdmission {
 public:
  NumberedWrites(uint64_t number, std::atomic<uint64_t>& strangers)
      : number_(number), strangers_(strangers) {}
  WriteAdmissionDecision Decide(const WriteAdmissionFacts& facts) override {
    strangers_.fetch_add(facts.note == 0 || facts.note == number_ ? 0 : 1);
    WriteAdmissionDecision decision;
    decision.note = number_;
    decision.most_bytes = 4096;
    return decision;
  }

 private:
  const uint64_t number_;
  std::atomic<uint64_t>& strangers_;
};

TEST_F(AdmissionTest, APolicyThatIsSetWhileItIsAskedForGetsNoNoteOfAnother) {
  std::atomic<uint64_t> strangers{0};
  std::atomic<bool> is_over{false};
  std::thread setter([&] {
    for (uint64_t number = 1; number <= 1'000'000; ++number) {
      slot_.Set(std::make_shared<NumberedWrites>(number, strangers));
    }
    is_over.store(true);
  });
  while (!is_over.load()) {
    clock_.Advance(1'000'000);  // a ruling holds no longer
    Write(1);
  }
  setter.join();
  slot_.Set(nullptr);
  EXPECT_EQ(strangers.load(), 0U);
}

// The counter stands below the queue: it counts what reaches the member.
TEST_F(AdmissionTest, JoinedWritesAreCountedAsOneRequest) {
  WriteAdmissionDecision decision;
  decision.most_writes = 1;
  Choose(decision);
  // In one thread: the second and third wait until the first has been waited for.
  IoRequest first = Request(9);
  IoRequest second = Request(2);
  IoRequest third = Request(1);
  device_->Submit(first);
  device_->Submit(second);
  device_->Submit(third);
  device_->Wait(first);
  device_->Wait(second);
  device_->Wait(third);
  EXPECT_EQ(device_->Counts().writes.requests, 2U);
  EXPECT_EQ(device_->Counts().writes.merged, 1U);
  EXPECT_EQ(device_->Counts().writes.bytes, 3 * 4096U);
}

// Not when they reach the member: by then they may be in the hands of any thread.
TEST_F(AdmissionTest, WritesAreAResyncsIfTheyWereMadeForIt) {
  WriteAdmissionDecision decision;
  decision.most_writes = 1;
  Choose(decision);
  const auto write_behind = [this](IoRequest& first, IoRequest& second, bool ends_in_sync) {
    device_->Submit(first);
    device_->Submit(second);
    device_->Wait(first);
    if (ends_in_sync) {
      const SyncIoScope as_sync;
      device_->Wait(second);
    } else {
      device_->Wait(second);
    }
  };
  const auto sync_request = [this](uint64_t block) {
    const SyncIoScope as_sync;
    return Request(block);
  };
  IoRequest user = Request(9);
  IoRequest sync = sync_request(2);
  write_behind(user, sync, false);
  EXPECT_EQ(device_->Counts().sync_issued_bytes, 4096U);
  user = Request(9);
  IoRequest other_user = Request(3);
  write_behind(user, other_user, true);
  EXPECT_EQ(device_->Counts().sync_issued_bytes, 4096U);
}

// Also when the thread waits for what waits before it waits for what is at the member.
TEST_F(AdmissionTest, TheOrderOfTheWaitsDoesNotMatter) {
  WriteAdmissionDecision decision;
  decision.most_writes = 1;
  Choose(decision);
  IoRequest first = Request(9);
  IoRequest second = Request(2);
  device_->Submit(first);
  device_->Submit(second);
  device_->Wait(second);
  device_->Wait(first);
  EXPECT_EQ(first.error + second.error, 0);
}

TEST_F(AdmissionTest, SwitchingAThousandTimesUnderLoadForgetsNobody) {
  std::vector<std::thread> writers;
  for (uint64_t i = 0; i < 6; ++i) {
    writers.emplace_back([this, i] {
      for (int round = 0; round < 3000; ++round) {
        Write(6 * static_cast<uint64_t>(round % 40) + i);
      }
    });
  }
  for (uint32_t i = 0; i < 1000; ++i) {
    WriteAdmissionDecision decision;
    decision.most_writes = 1 + i % 3;
    decision.waiters_join = i % 2 == 0;
    decision.most_bytes = i % 5 == 0 ? 4096 : UINT64_MAX;
    decision.wake_batch = i % 4;
    decision.learn = i % 7 == 0;
    Choose(decision);
    clock_.Advance(100'000);
  }
  for (std::thread& writer : writers) {
    writer.join();
  }
  EXPECT_EQ(device_->Counts().errors, 0U);
}

}  // namespace
}  // namespace mdvol
