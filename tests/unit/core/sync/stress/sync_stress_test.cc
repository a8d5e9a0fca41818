// Syncing under load: writers that verify what they wrote, while actions begin and end, members
// fail, leave and come back, spares take over, members are replaced, and the pacing policy is
// switched all the time. Afterwards the array is whole,
// every byte is right, and a check finds nothing. Runs under ThreadSanitizer too.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "core/base/clock.h"
#include "core/sync/sync_engine.h"
#include "policies/registry.h"
#include "tests/support/full.h"
#include "tests/support/test_array/test_array.h"

namespace mdvol {
namespace {

using testing::ArraySpec;
using testing::FullRun;
using testing::Opening;
using testing::Prng;
using testing::TestArray;
using testing::TestSeed;

constexpr uint64_t kWriters = 2;

ArraySpec Spec(bool bitmap) {
  ArraySpec spec;
  spec.stripes = 64;
  spec.bitmap = bitmap;
  return spec;
}

class SyncStress {
 public:
  SyncStress(bool bitmap, uint64_t seed) : array_(Spec(bitmap)), prng_(seed), seed_(seed) {
    Opening opening;
    opening.options.safe_mode_delay_ms = 1;
    MDVOL_EXPECT_OK(array_.Open(opening));
    content_ = array_.model().bytes();
    SyncOptions options;
    options.speed_max_bytes = uint64_t{1} << 40;
    engine_ =
        std::make_unique<SyncEngine>(*array_, pacing_, SystemClock(), array_.events(), options);
    engine_->Start();
  }

  void Run(int rounds) {
    std::vector<std::thread> writers;
    for (uint64_t id = 0; id < kWriters; ++id) {
      writers.emplace_back([this, id] { Writer(id); });
    }
    std::thread switcher([this] { SwitchPacing(); });
    for (int round = 0; round < rounds; ++round) {
      Disturb();
    }
    stop_ = true;
    switcher.join();
    for (std::thread& writer : writers) {
      writer.join();
    }
  }

  void ExpectWholeAndRight() {
    MDVOL_EXPECT_OK(engine_->SetAction(SyncAction::kIdle));
    while (array_->Snapshot().degraded > 0) {
      AddSpare();
      AwaitIdle();
    }
    AwaitIdle();
    MDVOL_EXPECT_OK(engine_->SetAction(SyncAction::kCheck));
    AwaitIdle();
    EXPECT_EQ(engine_->Status().mismatch_sectors, 0U);
    std::vector<std::byte> bytes(content_.size());
    MDVOL_EXPECT_OK(array_->Read(0, bytes));
    EXPECT_TRUE(bytes == content_);
    engine_.reset();
    MDVOL_EXPECT_OK(array_.Stop());
  }

 private:
  // Writes into its own part of the volume, and finds there what it wrote.
  void Writer(uint64_t id) {
    Prng prng(seed_ + 1 + id);
    const uint64_t part = content_.size() / kWriters;
    std::vector<std::byte> read;
    while (!stop_) {
      const uint64_t length = 1 + prng.Below(20000);
      const uint64_t offset = id * part + prng.Below(part - length);
      const auto mine = std::span(content_).subspan(offset, length);
      for (std::byte& byte : mine) {
        byte = static_cast<std::byte>(prng.Below(256));
      }
      MDVOL_EXPECT_OK(array_->Write(offset, mine));
      const uint64_t from = id * part + prng.Below(part - length);
      read.resize(length);
      MDVOL_EXPECT_OK(array_->Read(from, read));
      EXPECT_TRUE(
          std::equal(read.begin(), read.end(), content_.begin() + static_cast<ptrdiff_t>(from)));
    }
  }

  // A thousand times at least; the last one is none.
  void SwitchPacing() {
    const Registry registry;
    const auto entries = registry.Of(PolicyFamily::kResyncPacing);
    Prng prng(seed_ + 100);
    for (int i = 0; i < 1000 || !stop_; ++i) {
      const PolicyEntry& entry = entries[prng.Below(entries.size())];
      std::vector<double> numbers;
      for (const PolicyOptionInfo& option : entry.options) {
        numbers.push_back(option.standard);
      }
      pacing_.Set(
          std::shared_ptr<ResyncPacing>(static_cast<ResyncPacing*>(entry.make(numbers).release())));
      absl::SleepFor(absl::Microseconds(prng.Below(200)));
    }
    pacing_.Set(nullptr);
  }

  void Disturb() {
    constexpr std::array kActions{SyncAction::kIdle, SyncAction::kFrozen, SyncAction::kCheck,
                                  SyncAction::kRepair, SyncAction::kResync};
    const absl::Status ignored = engine_->SetAction(kActions[prng_.Below(kActions.size())]);
    static_cast<void>(ignored);  // another may be running
    const ArraySnapshot snapshot = array_->Snapshot();
    const MemberSnapshot& member = snapshot.members[prng_.Below(snapshot.members.size())];
    switch (prng_.Below(5)) {
      case 0:
        ExpectDoneOrRefused(array_->FailMember(member.index, "by the test"));
        break;
      case 1:
        ExpectDoneOrRefused(array_->RemoveMember(member.index));
        break;
      case 2:
        AddSpare();
        break;
      case 3:
        ExpectDoneOrRefused(array_->SetReplacement(member.index, std::nullopt));
        break;
      default:
        break;
    }
    engine_->Poke();
    absl::SleepFor(absl::Milliseconds(prng_.Below(4)));
  }

  // What cannot be done at the moment is refused with an errno of md's, and nothing else.
  static void ExpectDoneOrRefused(const absl::Status& status) {
    const int error = ErrnoOf(status);
    EXPECT_TRUE(error == 0 || error == EBUSY || error == EINVAL || error == ENODEV)
        << MessageOf(status);
  }

  // No more than a few at a time.
  void AddSpare() {
    const ArraySnapshot snapshot = array_->Snapshot();
    const auto spares = std::count_if(snapshot.members.begin(), snapshot.members.end(),
                                      [](const MemberSnapshot& m) { return m.spare; });
    if (spares < 2) {
      MDVOL_EXPECT_OK(array_.AddMember(array_.AddDisk()).status());
      engine_->Poke();
    }
  }

  void AwaitIdle() {
    for (SyncAction action = SyncAction::kCheck; action != SyncAction::kIdle;) {
      absl::SleepFor(absl::Milliseconds(1));
      action = engine_->Status().action;
    }
  }

  TestArray array_;
  Prng prng_;
  const uint64_t seed_;
  std::vector<std::byte> content_;
  PolicySlot<ResyncPacing> pacing_;
  std::unique_ptr<SyncEngine> engine_;
  std::atomic<bool> stop_{false};
};

class SyncStressTest : public ::testing::TestWithParam<bool> {};

TEST_P(SyncStressTest, NothingIsLostWhileMembersComeAndGo) {
  SyncStress stress(GetParam(), TestSeed("SyncStress"));
  stress.Run(FullRun() ? 3000 : 150);
  stress.ExpectWholeAndRight();
}

INSTANTIATE_TEST_SUITE_P(Bitmap, SyncStressTest, ::testing::Bool());

}  // namespace
}  // namespace mdvol
