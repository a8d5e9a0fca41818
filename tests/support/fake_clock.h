// FakeClock: a Clock that stands still until a test moves it. Thread-safe.
//
// SleepUntil moves the time forward to the deadline and returns, so that code which waits runs at
// full speed and the test can see how long it "slept". After HoldSleepers it blocks instead, until
// Advance or ReleaseSleepers has brought the time to its deadline: then a test decides when who
// wakes up. A wait for a sleeper that never comes ends with the test's own time limit.

#ifndef MDVOL_TESTS_SUPPORT_FAKE_CLOCK_H_
#define MDVOL_TESTS_SUPPORT_FAKE_CLOCK_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "core/base/clock.h"

namespace mdvol::testing {

class FakeClock final : public Clock {
 public:
  // Neither starts at 0, which code might take for "unset".
  static constexpr uint64_t kStartNs = 1'000'000'000;
  static constexpr uint64_t kStartWallUs = 1'700'000'000'000'000;

  explicit FakeClock(uint64_t now_ns = kStartNs, uint64_t wall_us = kStartWallUs)
      : start_ns_(now_ns), now_ns_(now_ns), wall_us_(wall_us) {}

  uint64_t NowNs() const override {
    absl::MutexLock lock(&mutex_);
    return now_ns_;
  }

  // Runs with NowNs.
  uint64_t WallUs() const override {
    absl::MutexLock lock(&mutex_);
    return wall_us_ + (now_ns_ - start_ns_) / 1000;
  }

  void SleepUntil(uint64_t deadline_ns) override {
    absl::MutexLock lock(&mutex_);
    ++sleep_count_;
    if (deadline_ns > now_ns_ && holds_sleepers_) {
      const auto sleeper = deadlines_ns_.insert(deadline_ns);
      const auto may_wake = [this, deadline_ns]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
        return now_ns_ >= deadline_ns || !holds_sleepers_;
      };
      mutex_.Await(absl::Condition(&may_wake));
      deadlines_ns_.erase(sleeper);
    }
    MoveTo(deadline_ns);
  }

  void Advance(uint64_t duration_ns) {
    absl::MutexLock lock(&mutex_);
    MoveTo(now_ns_ + duration_ns);
  }

  void HoldSleepers() {
    absl::MutexLock lock(&mutex_);
    holds_sleepers_ = true;
  }

  // All sleepers wake up, the time at the latest of their deadlines; nobody is held any longer.
  void ReleaseSleepers() {
    absl::MutexLock lock(&mutex_);
    holds_sleepers_ = false;
  }

  // Returns once `count` threads or more are asleep; those that Advance has woken no longer are.
  void AwaitSleepers(size_t count) const {
    absl::MutexLock lock(&mutex_);
    const auto are_asleep = [this, count]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
      return static_cast<size_t>(
                 std::distance(deadlines_ns_.upper_bound(now_ns_), deadlines_ns_.end())) >= count;
    };
    mutex_.Await(absl::Condition(&are_asleep));
  }

  // How often SleepUntil was called.
  uint64_t SleepCount() const {
    absl::MutexLock lock(&mutex_);
    return sleep_count_;
  }

 private:
  void MoveTo(uint64_t time_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    now_ns_ = std::max(now_ns_, time_ns);
  }

  const uint64_t start_ns_;
  mutable absl::Mutex mutex_;
  uint64_t now_ns_ ABSL_GUARDED_BY(mutex_);
  const uint64_t wall_us_;
  uint64_t sleep_count_ ABSL_GUARDED_BY(mutex_) = 0;
  bool holds_sleepers_ ABSL_GUARDED_BY(mutex_) = false;
  // Of the threads in SleepUntil, also of those that may wake up but have not run yet.
  std::multiset<uint64_t> deadlines_ns_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_SUPPORT_FAKE_CLOCK_H_
