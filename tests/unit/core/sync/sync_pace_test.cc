// SyncEngine and its pacing policy: what the policy is told, and how its word is obeyed, with an
// array that only records.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/clock.h"
#include "core/sync/sync_engine.h"
#include "tests/unit/core/sync/sync_array.h"

namespace mdvol {
namespace {

using testing::SyncArray;

constexpr uint64_t kStripes = SyncArray::kStripes;
constexpr uint64_t kChunkBytes = SyncArray::kChunkBytes;  // 256 KiB
constexpr uint64_t kMs = 1'000'000;

// Decides as the test says, and keeps what it was told.
class ScriptedPacing final : public ResyncPacing {
 public:
  using Script = std::function<ResyncDecision(const ResyncFacts&)>;
  explicit ScriptedPacing(Script script) : script_(std::move(script)) {}

  ResyncDecision Decide(const ResyncFacts& facts) override {
    EXPECT_FALSE(is_inside_.exchange(true));  // from one thread at a time
    const ResyncDecision decision = script_(facts);
    {
      absl::MutexLock lock(&mutex_);
      told_.push_back(facts);
      told_.back().members = {};
    }
    is_inside_ = false;
    return decision;
  }
  std::vector<ResyncFacts> told() const {
    absl::MutexLock lock(&mutex_);
    return told_;
  }

 private:
  const Script script_;
  std::atomic<bool> is_inside_{false};
  mutable absl::Mutex mutex_;
  std::vector<ResyncFacts> told_;
};

class SyncPaceTest : public ::testing::Test {
 protected:
  std::shared_ptr<ScriptedPacing> Use(ScriptedPacing::Script script) {
    auto pacing = std::make_shared<ScriptedPacing>(std::move(script));
    slot_.Set(pacing);
    return pacing;
  }
  void Start() {
    engine_ = std::make_unique<SyncEngine>(array_, slot_, SystemClock(), events_, SyncOptions{});
    engine_->Start();
    ASSERT_EQ(ErrnoOf(engine_->SetAction(SyncAction::kCheck)), 0);
  }
  void AwaitIdle() {
    while (engine_->Status().action != SyncAction::kIdle) {
      absl::SleepFor(absl::Milliseconds(1));
    }
  }
  uint64_t Inside() {
    absl::MutexLock lock(&array_.mutex);
    return array_.inside;
  }

  SyncArray array_;
  PolicySlot<ResyncPacing> slot_;
  EventLog events_{SystemClock()};
  std::unique_ptr<SyncEngine> engine_;
};

TEST_F(SyncPaceTest, SmallWindowsAreWholeStripesAndEightAtOnce) {
  array_.Hold(true);
  const auto pacing = Use([](const ResyncFacts&) { return ResyncDecision{.window_bytes = 1}; });
  Start();
  array_.AwaitInside(8);
  absl::SleepFor(absl::Milliseconds(20));
  EXPECT_EQ(Inside(), 8U);  // two mebibytes, and as many windows as there may be
  array_.Hold(false);
  AwaitIdle();
  EXPECT_EQ(array_.Pieces().size(), kStripes);
}

TEST_F(SyncPaceTest, LargeWindowsAreCutToAMebibyteAndTwoAtOnce) {
  array_.Hold(true);
  Use([](const ResyncFacts&) { return ResyncDecision{.window_bytes = ~uint64_t{0}}; });
  Start();
  array_.AwaitInside(2);
  absl::SleepFor(absl::Milliseconds(20));
  EXPECT_EQ(Inside(), 2U);
  array_.Hold(false);
  AwaitIdle();
  EXPECT_EQ(array_.Pieces().size(), kStripes / 4);
}

TEST_F(SyncPaceTest, TheFactsAddUp) {
  const auto pacing =
      Use([](const ResyncFacts&) { return ResyncDecision{.window_bytes = 2 * kChunkBytes}; });
  Start();
  AwaitIdle();
  const std::vector<ResyncFacts> told = pacing->told();
  ASSERT_EQ(told.size(), kStripes / 2);
  for (size_t i = 0; i < told.size(); ++i) {
    EXPECT_EQ(told[i].run, 1U);
    EXPECT_EQ(told[i].issued_bytes, i * 2 * kChunkBytes);
    EXPECT_EQ(told[i].in_flight_bytes(), told[i].windows_in_flight * 2 * kChunkBytes);
    EXPECT_EQ(told[i].done_bytes, told[i].windows_done * 2 * kChunkBytes);
    EXPECT_EQ(told[i].bytes_since_mark, told[i].done_bytes);
    EXPECT_EQ(told[i].least_window_bytes, kChunkBytes);
    if (told[i].windows_done > 0) {
      EXPECT_EQ(told[i].last_window_bytes, 2 * kChunkBytes);
      EXPECT_LE(told[i].last_done_ns, told[i].now_ns);
    }
  }
  ASSERT_EQ(ErrnoOf(engine_->SetAction(SyncAction::kCheck)), 0);
  AwaitIdle();
  EXPECT_EQ(pacing->told().back().run, 2U);
}

// md-4.2's wait: asked again when all has ended, not before, and not only after the time.
TEST_F(SyncPaceTest, AWaitForFewerWindowsEndsWithThem) {
  array_.piece_ms = 1;
  std::atomic<uint64_t> drained{0};
  bool is_draining = false;
  const auto pacing = Use([&](const ResyncFacts& facts) -> ResyncDecision {
    if (is_draining) {
      EXPECT_EQ(facts.windows_in_flight, 0U);
      ++drained;
    }
    is_draining = facts.windows_in_flight == 2;
    if (is_draining) {
      return {.wait_ns = 90 * kMs, .wait_for_fewer_windows = 1};
    }
    return {.wait_ns = 0, .wait_for_fewer_windows = 0, .window_bytes = kChunkBytes};
  });
  const uint64_t begun_ns = SystemClock().NowNs();
  Start();
  AwaitIdle();
  EXPECT_GT(drained, 4U);
  EXPECT_EQ(array_.Pieces().size(), kStripes);
  EXPECT_LT(SystemClock().NowNs() - begun_ns, kStripes / 2 * 90 * kMs);
}

TEST_F(SyncPaceTest, AWaitForTimeIsNotEndedByWindows) {
  array_.piece_ms = 1;
  std::atomic<uint64_t> asked{0};
  Use([&](const ResyncFacts& facts) -> ResyncDecision {
    ++asked;
    if (facts.windows_in_flight == 1) {
      return {.wait_ns = 20 * kMs};
    }
    EXPECT_EQ(facts.windows_in_flight, 0U);
    return {.wait_ns = 0, .wait_for_fewer_windows = 0, .window_bytes = 16 * kChunkBytes};
  });
  Start();
  AwaitIdle();
  EXPECT_LE(asked, 2 * kStripes / 4 + 1);
}

// A policy that waits for ever is no obstacle to another, nor to the end.
TEST_F(SyncPaceTest, ASwitchIsHeardByARunThatWaits) {
  Use([](const ResyncFacts&) { return ResyncDecision{.wait_ns = ~uint64_t{0}}; });
  Start();
  absl::SleepFor(absl::Milliseconds(20));
  EXPECT_TRUE(array_.Pieces().empty());
  slot_.Set(nullptr);
  AwaitIdle();
  EXPECT_EQ(array_.Pieces().size(), kStripes / 4);
  Use([](const ResyncFacts&) {
    return ResyncDecision{.wait_ns = ~uint64_t{0}, .wait_for_fewer_windows = ~uint64_t{0}};
  });
  ASSERT_EQ(ErrnoOf(engine_->SetAction(SyncAction::kCheck)), 0);
  absl::SleepFor(absl::Milliseconds(5));
  EXPECT_EQ(ErrnoOf(engine_->SetAction(SyncAction::kIdle)), 0);
}

TEST_F(SyncPaceTest, AThousandSwitchesStallNothing) {
  array_.piece_ms = 1;
  std::atomic<bool> stop{false};
  Start();
  std::thread switcher([&] {
    for (int i = 0; i < 1000; ++i) {
      Use([i](const ResyncFacts& facts) -> ResyncDecision {
        const uint64_t kind = (facts.now_ns / kMs + static_cast<uint64_t>(i)) % 4;
        return {.wait_ns = kind == 0 ? kMs / 10 : 0,
                .wait_for_fewer_windows = kind,
                .window_bytes = kind * kChunkBytes};
      });
      absl::SleepFor(absl::Microseconds(100));
    }
    stop = true;
  });
  uint64_t runs = 0;
  while (!stop) {
    const int error = ErrnoOf(engine_->SetAction(SyncAction::kCheck));
    ASSERT_TRUE(error == 0 || error == EBUSY);
    runs += error == 0 ? 1 : 0;
    absl::SleepFor(absl::Milliseconds(1));
  }
  switcher.join();
  slot_.Set(nullptr);
  AwaitIdle();
  EXPECT_GT(runs, 0U);
  EXPECT_GE(array_.Pieces().size(), kStripes / 4);
}

// What a failed window leaves behind ends the run of all threads.
TEST_F(SyncPaceTest, AFailureEndsTheRunHoweverManyWindowsAreInFlight) {
  {
    absl::MutexLock lock(&array_.mutex);
    array_.fails_at = 40;
    array_.answer = ErrnoStatus(EIO, "a window failed");
  }
  Use([](const ResyncFacts&) { return ResyncDecision{.window_bytes = 1}; });
  Start();
  AwaitIdle();
  EXPECT_LT(array_.Pieces().size(), kStripes);
}

}  // namespace
}  // namespace mdvol
