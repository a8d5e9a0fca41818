// Tests of the gate: who is kept apart from whom, and that nobody is forgotten outside.

#include "core/array/shared_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "absl/synchronization/barrier.h"
#include "absl/synchronization/notification.h"
#include "tests/support/full.h"

namespace mdvol {
namespace {

// Long enough for a thread that is not held back to come through.
constexpr absl::Duration kAWhile = absl::Milliseconds(30);

TEST(SharedGateTest, ManyAreInsideAtOnce) {
  SharedGate gate;
  auto* barrier = new absl::Barrier(3);  // deleted by the last to leave it
  const auto meet = [&] {
    GateShare share(gate);
    if (barrier->Block()) {
      delete barrier;
    }
  };
  std::thread second(meet);
  std::thread third(meet);
  meet();
  second.join();
  third.join();
}

TEST(SharedGateTest, CloseWaitsForEverybodyInside) {
  SharedGate gate;
  absl::Notification inside;
  absl::Notification may_leave;
  std::thread other([&] {
    GateShare share(gate);
    inside.Notify();
    may_leave.WaitForNotification();
  });
  inside.WaitForNotification();
  absl::Notification closed;
  std::thread closer([&] {
    GateClosure closure(gate);
    closed.Notify();
  });
  EXPECT_FALSE(closed.WaitForNotificationWithTimeout(kAWhile));
  may_leave.Notify();
  closed.WaitForNotification();
  closer.join();
  other.join();
}

TEST(SharedGateTest, NobodyEntersAClosedGateAndAllDoWhenItOpens) {
  SharedGate gate;
  std::atomic<int> inside = 0;
  std::vector<std::thread> threads;
  {
    GateClosure closure(gate);
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        GateShare share(gate);
        ++inside;
      });
    }
    absl::SleepFor(kAWhile);
    EXPECT_EQ(inside, 0);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(inside, 4);
}

TEST(SharedGateTest, ClosersExcludeEachOther) {
  SharedGate gate;
  absl::Notification second_closed;
  std::thread second;
  {
    GateClosure closure(gate);
    second = std::thread([&] {
      GateClosure other(gate);
      second_closed.Notify();
    });
    EXPECT_FALSE(second_closed.WaitForNotificationWithTimeout(kAWhile));
  }
  second_closed.WaitForNotification();
  second.join();
}

// Everything at once, on plain variables: a lost wake-up or a closer that waits behind later
// arrivals hangs, a broken exclusion is counted here and seen by ThreadSanitizer.
TEST(SharedGateTest, KeepsClosersAloneUnderLoad) {
  SharedGate gate;
  const int rounds = testing::FullRun() ? 20000 : 2000;
  std::atomic<int> inside = 0;
  std::atomic<int> violations = 0;
  int64_t guarded = 0;
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  std::atomic<int64_t> sum = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (!done) {
        GateShare share(gate);
        ++inside;
        sum += guarded;
        --inside;
      }
    });
  }
  std::vector<std::thread> closers;
  for (int i = 0; i < 2; ++i) {
    closers.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) {
        GateClosure closure(gate);
        violations += inside == 0 ? 0 : 1;
        ++guarded;
      }
    });
  }
  for (std::thread& closer : closers) {
    closer.join();
  }
  done = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(violations, 0);
  EXPECT_EQ(guarded, 2 * rounds);
}

}  // namespace
}  // namespace mdvol
