// SyncEngine: what starts, what ends it, and what is shown, with an array that only records.

#include "core/sync/sync_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "tests/unit/core/sync/sync_array.h"

namespace mdvol {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::SyncArray;

constexpr uint64_t kStripes = SyncArray::kStripes;
constexpr uint64_t kChunkBytes = SyncArray::kChunkBytes;

// Lets everything go, or nothing; remembers what it was told.
class TestPacing final : public ResyncPacing {
 public:
  ResyncDecision Decide(const ResyncFacts& facts) override {
    last_speed_max = facts.speed_max;
    ++asked;
    return {waits ? uint64_t{1'000'000} : 0};
  }
  std::atomic<bool> waits{false};
  std::atomic<uint64_t> asked{0};
  std::atomic<uint64_t> last_speed_max{0};
};

class SyncEngineTest : public ::testing::Test {
 protected:
  SyncEngineTest() {
    slot_.Set(std::shared_ptr<ResyncPacing>(&pacing_, [](ResyncPacing*) {}));
    Make({});
  }

  void Make(SyncOptions options) {
    engine_ =
        std::make_unique<SyncEngine>(array_, slot_, SystemClock(), events_, std::move(options));
    engine_->Start();
  }

  void AwaitIdle() {
    while (engine_->Status().action != SyncAction::kIdle) {
      absl::SleepFor(absl::Milliseconds(1));
    }
  }
  void AwaitAction(SyncAction action) {
    while (engine_->Status().action != action) {
      absl::SleepFor(absl::Milliseconds(1));
    }
  }
  // Who is inside a piece may end it; nobody begins another.
  void LetOnlyTheseEnd() {
    pacing_.waits = true;
    array_.Hold(false);
  }
  int Set(SyncAction action) { return ErrnoOf(engine_->SetAction(action)); }

  std::string Events() const {
    std::string text;
    for (const Event& event : events_.All()) {
      text += event.what + ": " + event.why + '\n';
    }
    return text;
  }

  static std::vector<uint64_t> AllWindows(uint64_t from = 0) {
    std::vector<uint64_t> firsts;
    for (uint64_t first = from; first < kStripes; first += 4) {
      firsts.push_back(first);
    }
    return firsts;
  }

  SyncArray array_;
  TestPacing pacing_;
  PolicySlot<ResyncPacing> slot_;
  EventLog events_{SystemClock()};
  std::unique_ptr<SyncEngine> engine_;
};

TEST_F(SyncEngineTest, NothingRunsByItselfWhenNothingIsNeeded) {
  engine_->Poke();
  EXPECT_EQ(engine_->Status().action, SyncAction::kIdle);
  EXPECT_FALSE(engine_->Status().last_action.has_value());
  engine_->Stop();
  EXPECT_TRUE(array_.Pieces().empty());
}

TEST_F(SyncEngineTest, TheArrayIsToldThatARunHasEnded) {
  ASSERT_EQ(Set(SyncAction::kCheck), 0);
  AwaitIdle();
  absl::MutexLock lock(&array_.mutex);
  EXPECT_EQ(array_.runs_ended, 1U);
}

TEST_F(SyncEngineTest, ACheckGoesOverEveryStripeOnce) {
  ASSERT_EQ(Set(SyncAction::kCheck), 0);
  AwaitIdle();
  EXPECT_EQ(array_.Pieces(), AllWindows());
  const SyncStatus status = engine_->Status();
  EXPECT_EQ(status.last_action, SyncAction::kCheck);
  EXPECT_EQ(status.mismatch_sectors, 0U);
  EXPECT_EQ(status.total_bytes, 0U);
  EXPECT_THAT(Events(), HasSubstr("check done"));
}

TEST_F(SyncEngineTest, WhatACheckFindsIsCountedAndListed) {
  {
    absl::MutexLock lock(&array_.mutex);
    array_.wrong = {{.stripe = 3, .columns = {0, 4096}, .kind = WrongKind::kP},
                    {.stripe = 60, .columns = {4096, 8192}, .kind = WrongKind::kData, .slot = 2}};
  }
  ASSERT_EQ(Set(SyncAction::kCheck), 0);
  AwaitIdle();
  SyncStatus status = engine_->Status();
  EXPECT_EQ(status.mismatch_sectors, 16U);
  EXPECT_EQ(status.located_count, 2U);
  ASSERT_EQ(status.located.size(), 2U);
  {
    absl::MutexLock lock(&array_.mutex);
    array_.wrong.clear();
  }
  ASSERT_EQ(Set(SyncAction::kCheck), 0);  // what the last one found is forgotten
  AwaitIdle();
  status = engine_->Status();
  EXPECT_EQ(status.mismatch_sectors, 0U);
  EXPECT_TRUE(status.located.empty());
}

TEST_F(SyncEngineTest, TheListHasAnEndTheCountHasNot) {
  {
    absl::MutexLock lock(&array_.mutex);
    array_.wrong.assign(kMaxLocated + 5, WrongBlock());
  }
  ASSERT_EQ(Set(SyncAction::kCheck), 0);
  AwaitIdle();
  EXPECT_EQ(engine_->Status().located.size(), kMaxLocated);
  EXPECT_EQ(engine_->Status().located_count, kMaxLocated + 5);
}

TEST_F(SyncEngineTest, OneActionAtATime) {
  array_.Hold(true);
  ASSERT_EQ(Set(SyncAction::kCheck), 0);
  EXPECT_EQ(engine_->Status().action, SyncAction::kCheck);  // at once
  for (const SyncAction other :
       {SyncAction::kCheck, SyncAction::kRepair, SyncAction::kResync, SyncAction::kRecover}) {
    EXPECT_EQ(Set(other), EBUSY);
  }
  array_.Hold(false);
  AwaitIdle();
}

TEST_F(SyncEngineTest, IdleEndsACheckWhichGoesOnThereNextTime) {
  array_.Hold(true);
  ASSERT_EQ(Set(SyncAction::kCheck), 0);
  array_.AwaitInside(2);
  LetOnlyTheseEnd();
  ASSERT_EQ(Set(SyncAction::kIdle), 0);
  pacing_.waits = false;
  const SyncStatus status = engine_->Status();
  EXPECT_EQ(status.action, SyncAction::kIdle);
  const std::vector<uint64_t> before = array_.Pieces();
  EXPECT_EQ(status.min_bytes, before.size() * 4 * kChunkBytes);
  ASSERT_EQ(Set(SyncAction::kCheck), 0);
  AwaitIdle();
  EXPECT_EQ(array_.Pieces(), AllWindows());  // no window twice
  EXPECT_EQ(engine_->Status().min_bytes, 0U);
}

TEST_F(SyncEngineTest, FrozenNothingStartsByItself) {
  ASSERT_EQ(Set(SyncAction::kFrozen), 0);
  {
    absl::MutexLock lock(&array_.mutex);
    array_.recovery_from = 0;
  }
  engine_->Poke();
  EXPECT_EQ(engine_->Status().action, SyncAction::kFrozen);
  absl::SleepFor(absl::Milliseconds(20));
  EXPECT_TRUE(array_.Pieces().empty());
  ASSERT_EQ(Set(SyncAction::kIdle), 0);
  AwaitIdle();
  EXPECT_EQ(array_.Pieces(), AllWindows());
}

TEST_F(SyncEngineTest, ARequestEndsAFreeze) {
  ASSERT_EQ(Set(SyncAction::kFrozen), 0);
  ASSERT_EQ(Set(SyncAction::kCheck), 0);
  AwaitIdle();
  EXPECT_EQ(array_.Pieces(), AllWindows());
}

TEST_F(SyncEngineTest, ANeededRecoveryStartsWhenPokedAndAgainAfterIdle) {
  {
    absl::MutexLock lock(&array_.mutex);
    array_.recovery_from = 8;
    array_.held = true;
  }
  engine_->Poke();
  array_.AwaitInside(2);
  EXPECT_EQ(engine_->Status().action, SyncAction::kRecover);
  EXPECT_EQ(engine_->Status().done_bytes, 8 * kChunkBytes);
  EXPECT_EQ(engine_->Status().total_bytes, kStripes * kChunkBytes);
  LetOnlyTheseEnd();
  ASSERT_EQ(Set(SyncAction::kIdle), 0);
  pacing_.waits = false;
  AwaitIdle();
  absl::MutexLock lock(&array_.mutex);
  EXPECT_EQ(array_.recoveries_begun, 2U);
  EXPECT_EQ(array_.recoveries_ended, 1U);
  EXPECT_GE(array_.recovery_checkpoints, 1U);
}

TEST_F(SyncEngineTest, ARecoveryThatFailsIsLeftAloneUntilSomethingChanges) {
  {
    absl::MutexLock lock(&array_.mutex);
    array_.recovery_from = 0;
    array_.fails_at = 12;
    array_.answer = ErrnoStatus(EIO, "a window failed");
  }
  engine_->Poke();
  while (Events().find("recover failed: a window failed") == std::string::npos) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  absl::SleepFor(absl::Milliseconds(20));
  EXPECT_EQ(engine_->Status().action, SyncAction::kIdle);
  {
    absl::MutexLock lock(&array_.mutex);
    EXPECT_EQ(array_.recoveries_begun, 1U);
    EXPECT_EQ(array_.recoveries_ended, 0U);
    array_.fails_at = kStripes;
  }
  engine_->Poke();
  for (bool ended = false; !ended;) {
    absl::MutexLock lock(&array_.mutex);
    ended = array_.recoveries_ended == 1;
  }
}

TEST_F(SyncEngineTest, ARecoveryThatCannotBeginIsTold) {
  {
    absl::MutexLock lock(&array_.mutex);
    array_.recovery_from = 0;
    array_.begin_answer = ErrnoStatus(ENOSPC, "no room");
  }
  engine_->Poke();
  while (Events().find("recover failed: no room") == std::string::npos) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  EXPECT_TRUE(array_.Pieces().empty());
}

TEST_F(SyncEngineTest, ParityInDoubtComesBeforeRecovery) {
  array_.doubt.Add({16, 16});
  {
    absl::MutexLock lock(&array_.mutex);
    array_.recovery_from = 0;
    array_.held = true;
  }
  engine_->Poke();
  array_.AwaitInside(1);
  EXPECT_EQ(engine_->Status().action, SyncAction::kResync);
  array_.Hold(false);
  AwaitIdle();
  EXPECT_TRUE(array_.doubt.empty());
  absl::MutexLock lock(&array_.mutex);
  EXPECT_EQ(array_.recoveries_ended, 1U);
}

TEST_F(SyncEngineTest, WhatCannotBeResyncedStaysInDoubtAndIsNotTriedInALoop) {
  engine_.reset();
  array_.doubt.Add({0, 16});
  array_.skips_at = 9;
  Make({});  // It finds them by itself: a poke amid the run would have it try once more.
  while (Events().find("resync incomplete") == std::string::npos) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  absl::SleepFor(absl::Milliseconds(20));
  EXPECT_FALSE(array_.doubt.Contains(0));
  EXPECT_TRUE(array_.doubt.Contains(9));
  // A poke that comes when the run has begun already has it try once more, with the half that is
  // left.
  const size_t pieces = array_.Pieces().size();
  EXPECT_THAT(pieces, ::testing::AnyOf(4U, 6U));
  absl::SleepFor(absl::Milliseconds(20));
  EXPECT_EQ(array_.Pieces().size(), pieces);
  EXPECT_EQ(engine_->Status().action, SyncAction::kIdle);
}

// A crash, and then a member fails before parity has been recomputed: without its data it cannot be
// where the doubt is, and without a recovery they would be missing for good.
TEST_F(SyncEngineTest, RecoveryIsNotHeldUpByWhatCannotBeResynced) {
  array_.doubt.Add({0, 16});
  array_.skips_at = 9;
  {
    absl::MutexLock lock(&array_.mutex);
    array_.recovery_from = 0;
  }
  engine_->Poke();
  const auto recoveries = [this] {
    absl::MutexLock lock(&array_.mutex);
    return array_.recoveries_ended;
  };
  while (recoveries() == 0) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  AwaitIdle();
  EXPECT_EQ(recoveries(), 1U);
  // The resync has had another try by then, which got stuck as before, and no more than that.
  EXPECT_TRUE(array_.doubt.Contains(9));
  absl::SleepFor(absl::Milliseconds(20));
  const size_t pieces = array_.Pieces().size();
  absl::SleepFor(absl::Milliseconds(20));
  EXPECT_EQ(array_.Pieces().size(), pieces);
  // Once it can be told there, a poke is enough.
  array_.skips_at = SyncArray::kStripes;
  engine_->Poke();
  while (!array_.doubt.empty()) {
    absl::SleepFor(absl::Milliseconds(1));
  }
}

TEST_F(SyncEngineTest, ARequestedResyncOfACleanArrayRewritesParityEverywhere) {
  ASSERT_EQ(Set(SyncAction::kResync), 0);
  AwaitIdle();
  EXPECT_EQ(array_.Pieces(), AllWindows());
  absl::MutexLock lock(&array_.mutex);
  EXPECT_EQ(array_.repair_mode, RepairMode::kParity);
}

TEST_F(SyncEngineTest, RepairObeysItsModeAndTellsWhichBytesItChanged) {
  engine_->Stop();
  std::vector<std::pair<uint64_t, uint64_t>> told;
  absl::Mutex told_mutex;
  SyncOptions options;
  options.repair_mode = RepairMode::kParity;
  options.on_repaired = [&](uint64_t offset, uint64_t length) {
    absl::MutexLock lock(&told_mutex);
    told.emplace_back(offset, length);
  };
  Make(options);
  {
    absl::MutexLock lock(&array_.mutex);
    array_.wrong = {
        {.stripe = 2,
         .columns = {4096, 12288},
         .kind = WrongKind::kData,
         .data_index = 3,
         .repaired = true},
        {.stripe = 2, .columns = {0, 4096}, .kind = WrongKind::kQ, .repaired = true},
        {.stripe = 5, .columns = {0, 4096}, .kind = WrongKind::kData, .repaired = false}};
  }
  ASSERT_EQ(Set(SyncAction::kRepair), 0);
  AwaitIdle();
  engine_->Stop();
  EXPECT_THAT(told,
              ElementsAre(std::pair(2 * 4 * kChunkBytes + 3 * kChunkBytes + 4096, uint64_t{8192})));
  absl::MutexLock lock(&array_.mutex);
  EXPECT_EQ(array_.repair_mode, RepairMode::kParity);
}

TEST_F(SyncEngineTest, ARunWaitsAtSyncMaxAndGoesOnWithIt) {
  ASSERT_EQ(ErrnoOf(engine_->SetMax(8 * kChunkBytes)), 0);
  ASSERT_EQ(Set(SyncAction::kCheck), 0);
  while (array_.Pieces().size() < 2) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  absl::SleepFor(absl::Milliseconds(10));
  EXPECT_EQ(engine_->Status().action, SyncAction::kCheck);
  EXPECT_EQ(engine_->Status().done_bytes, 8 * kChunkBytes);
  EXPECT_EQ(ErrnoOf(engine_->SetMax(4 * kChunkBytes)), EBUSY);
  EXPECT_EQ(ErrnoOf(engine_->SetMin(0)), EBUSY);
  ASSERT_EQ(ErrnoOf(engine_->SetMax(std::nullopt)), 0);
  AwaitIdle();
  EXPECT_EQ(array_.Pieces(), AllWindows());
}

TEST_F(SyncEngineTest, SyncMinAndMaxKeepToMdsRules) {
  EXPECT_EQ(ErrnoOf(engine_->SetMax(kChunkBytes + 4096)), EINVAL);
  EXPECT_EQ(ErrnoOf(engine_->SetMin(2 * kChunkBytes + 100)), 0);
  EXPECT_EQ(engine_->Status().min_bytes, 2 * kChunkBytes);
  EXPECT_EQ(ErrnoOf(engine_->SetMax(kChunkBytes)), EINVAL);
  EXPECT_EQ(ErrnoOf(engine_->SetMax(4 * kChunkBytes)), 0);
  EXPECT_EQ(ErrnoOf(engine_->SetMin(5 * kChunkBytes)), EINVAL);
}

TEST_F(SyncEngineTest, SyncMinEndsWhereTheMembersDataDo) {
  const uint64_t component_bytes = array_.geometry().component_bytes();
  EXPECT_EQ(ErrnoOf(engine_->SetMin(component_bytes + 1)), EINVAL);
  EXPECT_EQ(ErrnoOf(engine_->SetMin(std::numeric_limits<uint64_t>::max())), EINVAL);
  EXPECT_EQ(engine_->Status().min_bytes, 0U);
  ASSERT_EQ(ErrnoOf(engine_->SetMin(component_bytes)), 0);
  ASSERT_EQ(Set(SyncAction::kCheck), 0);
  AwaitIdle();
  EXPECT_TRUE(array_.Pieces().empty());
}

TEST_F(SyncEngineTest, ThePolicyHoldsARunBackAndIdleStillEndsIt) {
  pacing_.waits = true;
  engine_->SetSpeedMax(uint64_t{7} << 20);
  ASSERT_EQ(Set(SyncAction::kCheck), 0);
  while (pacing_.asked < 3) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  EXPECT_EQ(pacing_.last_speed_max, uint64_t{7} << 20);
  EXPECT_TRUE(array_.Pieces().empty());
  ASSERT_EQ(Set(SyncAction::kIdle), 0);
  EXPECT_EQ(engine_->Status().action, SyncAction::kIdle);
}

TEST_F(SyncEngineTest, AStopEndsARunWithACheckpoint) {
  array_.doubt.Add({0, kStripes});
  array_.Hold(true);
  engine_->Poke();
  array_.AwaitInside(2);
  LetOnlyTheseEnd();
  engine_->Stop();
  absl::MutexLock lock(&array_.mutex);
  EXPECT_GE(array_.resync_checkpoints.size(), 1U);
  EXPECT_LT(array_.pieces.size(), kStripes / 4);
}

TEST_F(SyncEngineTest, AReadOnlyArrayIsLeftAlone) {
  array_.is_read_only = true;
  array_.doubt.Add({0, 8});
  engine_->Poke();
  EXPECT_EQ(Set(SyncAction::kCheck), EROFS);
  EXPECT_EQ(Set(SyncAction::kIdle), 0);
  EXPECT_EQ(engine_->Status().action, SyncAction::kIdle);
  EXPECT_TRUE(array_.Pieces().empty());
}

TEST_F(SyncEngineTest, LongRecoveriesAreCheckpointedOnTheWay) {
  array_.piece_ms = 2;
  {
    absl::MutexLock lock(&array_.mutex);
    array_.recovery_from = 0;
  }
  engine_->Poke();
  while (Events().find("recover done") == std::string::npos) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  absl::MutexLock lock(&array_.mutex);
  EXPECT_GE(array_.recovery_checkpoints, 4U);
}

TEST_F(SyncEngineTest, StartingAndEndingAThousandTimesNeverHangs) {
  for (int i = 0; i < 1000; ++i) {
    const SyncAction action = i % 3 == 0 ? SyncAction::kRepair : SyncAction::kCheck;
    const int error = Set(action);
    ASSERT_TRUE(error == 0 || error == EBUSY);
    ASSERT_EQ(Set(i % 2 == 0 ? SyncAction::kFrozen : SyncAction::kIdle), 0);
  }
  EXPECT_NE(engine_->Status().action, SyncAction::kCheck);
}

}  // namespace
}  // namespace mdvol
