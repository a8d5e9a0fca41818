// Many threads, several members, limits that change all the time: nobody is forgotten, nothing is
// lost, and no more are at a member than may be. Under ThreadSanitizer too.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/units.h"
#include "core/device/admission_device.h"
#include "core/device/disk_model.h"
#include "core/device/fault_device.h"
#include "core/device/io_batch.h"
#include "core/device/memory_device.h"
#include "core/device/modelled_device.h"
#include "tests/support/seed.h"

namespace mdvol {
namespace {

using testing::Prng;
using testing::TestSeed;

constexpr uint64_t kBlock = 4 * kKiB;
constexpr uint64_t kMemberBytes = 4 * kMiB;
constexpr size_t kMembers = 4;
constexpr uint64_t kThreads = 24;
// Each thread has every kThreads-th block of each member: neighbours belong to different threads.
constexpr uint64_t kBlocksEach = kMemberBytes / kBlock / kThreads;

// One set of limits for all members, changed from outside.
class SharedJudge final : public AdmissionJudge {
 public:
  struct State {
    std::atomic<uint32_t> choice{0};
    std::atomic<uint64_t> version{0};
  };

  explicit SharedJudge(State& state) : state_(state) {}
  AdmissionRuling Judge(const AdmissionFacts& facts) override {
    static constexpr AdmissionLimits kChoices[] = {
        {.most_writes = 1},
        {.most_writes = 3, .wake_batch = 2},
        {.most_writes = 2, .most_in_flight = 1, .waiters_join = false},
        {.most_writes = 5, .most_in_flight = 3, .waiters_join = false, .wake_batch = 5},
        {.most_bytes = 1, .longest_bytes = 2 * kBlock},
        {.most_bytes = 8 * kBlock, .longest_bytes = 4 * kBlock},
        {},
    };
    const uint32_t choice = state_.choice.load();
    return {kChoices[choice % std::size(kChoices)], facts.note % 5 == 0, facts.note + 1};
  }
  uint64_t version() const override { return state_.version.load(std::memory_order_relaxed); }

 private:
  State& state_;
};

// Counts nothing; lets the admission device stand on anything.
class Uncounted final : public CountingDevice {
 public:
  explicit Uncounted(std::unique_ptr<MemberDevice> inner) : inner_(std::move(inner)) {}
  const std::string& path() const override { return inner_->path(); }
  uint64_t size_bytes() const override { return inner_->size_bytes(); }
  uint32_t alignment_bytes() const override { return inner_->alignment_bytes(); }
  bool read_only() const override { return inner_->read_only(); }
  void Submit(IoRequest& request) override {
    if (IsWrite(request)) {
      const uint32_t now = ++writes_;
      uint32_t most = most_writes_.load();
      while (now > most && !most_writes_.compare_exchange_weak(most, now)) {
      }
    }
    inner_->Submit(request);
  }
  void Wait(IoRequest& request) override {
    inner_->Wait(request);
    if (IsWrite(request)) {
      --writes_;
    }
  }
  absl::StatusOr<uint64_t> NextData(uint64_t offset_bytes) override {
    return inner_->NextData(offset_bytes);
  }
  absl::StatusOr<uint64_t> NextHole(uint64_t offset_bytes) override {
    return inner_->NextHole(offset_bytes);
  }
  MemberIoCounts Counts() const override { return {}; }
  void SetRange(uint64_t /*begin_bytes*/, uint64_t /*end_bytes*/) override {}

  uint32_t most_writes() const { return most_writes_.load(); }

 private:
  static bool IsWrite(const IoRequest& request) {
    return request.kind == IoKind::kWrite || request.kind == IoKind::kZero;
  }

  const std::unique_ptr<MemberDevice> inner_;
  std::atomic<uint32_t> writes_{0};
  std::atomic<uint32_t> most_writes_{0};
};

class AdmissionStressTest : public ::testing::Test {
 protected:
  void MakeMembers(const DiskModelParameters* model, double fault_probability) {
    for (size_t i = 0; i < kMembers; ++i) {
      std::unique_ptr<MemberDevice> device = NewMemoryDevice("d", kMemberBytes);
      if (model != nullptr) {
        device = NewModelledDevice(std::move(device), *model, SystemClock());
      }
      auto faults = NewFaultDevice(std::move(device), i, SystemClock());
      if (fault_probability > 0) {
        faults->AddRule({.op = FaultOp::kWrite, .probability = fault_probability});
      }
      auto counted = std::make_unique<Uncounted>(std::move(faults));
      counted_.push_back(counted.get());
      members_.push_back(NewAdmissionDevice(std::move(counted),
                                            std::make_unique<SharedJudge>(state_), SystemClock()));
      members_.back()->SetRange(0, kMemberBytes);
    }
  }

  void Choose(uint32_t choice) {
    state_.choice.store(choice);
    state_.version.fetch_add(1);
  }

  // Writes, zeroes, reads back and flushes blocks of its own on some of the members, in an order of
  // its own; errors that were planted are tried again until they are gone.
  void Work(uint64_t seed, uint64_t thread, uint32_t rounds) {
    Prng prng(seed + thread);
    std::array<std::vector<std::byte>, kMembers> written;
    std::vector<std::byte> back(kBlock);
    for (auto& bytes : written) {
      bytes.resize(kBlock);
    }
    for (uint32_t round = 0; round < rounds; ++round) {
      const uint64_t at = (prng.Below(kBlocksEach) * kThreads + thread) * kBlock;
      const size_t first = prng.Below(kMembers);
      const size_t count = 1 + prng.Below(kMembers);
      const bool zeroes = prng.Below(8) == 0;
      IoBatch batch;
      for (size_t i = 0; i < count; ++i) {
        const size_t member = (first + i) % kMembers;
        if (zeroes) {
          std::fill(written[member].begin(), written[member].end(), std::byte{0});
          batch.AddZero(members_[member].get(), at, kBlock);
        } else {
          prng.Fill(written[member]);
          batch.AddWrite(members_[member].get(), at, written[member].data(), kBlock);
        }
      }
      while (!batch.Run()) {
        ++failures_;
      }
      const size_t member = first;
      ASSERT_TRUE(ReadMember(*members_[member], at, back.data(), kBlock).ok());
      ASSERT_EQ(back, written[member]) << "thread " << thread << " round " << round;
      if (prng.Below(4) == 0) {
        ASSERT_TRUE(FlushMember(*members_[member]).ok());
      }
    }
  }

  void RunAll(uint32_t rounds, uint32_t switches) {
    const uint64_t seed = TestSeed("AdmissionStress");
    std::atomic<uint64_t> working{kThreads};
    std::vector<std::thread> threads;
    for (uint64_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([this, seed, i, rounds, &working] {
        Work(seed, i, rounds);
        --working;
      });
    }
    for (uint32_t i = 0; i < switches || (switches > 0 && working > 0); ++i) {
      Choose(i);
      SystemClock().SleepUntil(SystemClock().NowNs() + 200'000);
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    for (const auto& member : members_) {
      EXPECT_EQ(member->WaitingWrites(), 0U);
    }
  }

  SharedJudge::State state_;
  std::vector<Uncounted*> counted_;
  std::vector<std::unique_ptr<AdmissionDevice>> members_;
  std::atomic<uint64_t> failures_{0};
};

TEST_F(AdmissionStressTest, NobodyIsForgottenWhileLimitsChangeAThousandTimes) {
  MakeMembers(nullptr, 0);
  RunAll(1500, 1000);
}

TEST_F(AdmissionStressTest, MembersThatTakeTimeAreServedByWhoWaits) {
  const DiskModelParameters model{20'000, 0, 2'000'000'000, 2};
  MakeMembers(&model, 0);
  RunAll(150, 1000);
}

TEST_F(AdmissionStressTest, FailedWritesAreTheirCallersAlone) {
  MakeMembers(nullptr, 0.05);
  RunAll(400, 200);
  EXPECT_GT(failures_.load(), 0U);
}

TEST_F(AdmissionStressTest, NoMoreThanMayAreEverAtAMember) {
  MakeMembers(nullptr, 0);
  Choose(1);
  RunAll(400, 0);
  for (const Uncounted* const counted : counted_) {
    EXPECT_LE(counted->most_writes(), 3U);
    EXPECT_GE(counted->most_writes(), 1U);
  }
}

}  // namespace
}  // namespace mdvol
