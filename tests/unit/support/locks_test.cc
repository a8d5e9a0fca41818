// absl's locks order threads, and wake them, in every build.
//
// In a TSan build these run on the stand-in of tests/support/tsan/absl_mutex.cc: a lock that
// ordered nothing would be reported as a race here, a wake-up that is lost would hang until the
// time limit.

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/barrier.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace mdvol {
namespace {

constexpr int kThreads = 4;
constexpr int kRounds = 2000;

// Runs `work` in kThreads threads at once.
template <typename Work>
void InThreads(Work work) {
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) threads.emplace_back([&work, i] { work(i); });
  for (std::thread& thread : threads) thread.join();
}

struct Counter {
  absl::Mutex mutex;
  absl::CondVar changed;
  int value ABSL_GUARDED_BY(mutex) = 0;
};

TEST(LocksTest, MutexExcludes) {
  Counter counter;
  InThreads([&](int) {
    for (int i = 0; i < kRounds; ++i) {
      absl::MutexLock lock(&counter.mutex);
      ++counter.value;
    }
  });
  absl::MutexLock lock(&counter.mutex);
  EXPECT_EQ(counter.value, kThreads * kRounds);
}

TEST(LocksTest, TryLockExcludes) {
  Counter counter;
  InThreads([&](int) {
    for (int i = 0; i < kRounds;) {
      if (!counter.mutex.TryLock()) continue;
      ++counter.value;
      ++i;
      counter.mutex.Unlock();
    }
  });
  absl::ReaderMutexLock lock(&counter.mutex);
  EXPECT_EQ(counter.value, kThreads * kRounds);
}

TEST(LocksTest, ReadersSeeWhatWritersWrote) {
  Counter counter;
  InThreads([&](int thread) {
    for (int i = 0; i < kRounds; ++i) {
      if (thread == 0) {
        absl::WriterMutexLock lock(&counter.mutex);
        ++counter.value;
      } else {
        absl::ReaderMutexLock lock(&counter.mutex);
        EXPECT_GE(counter.value, 0);
      }
    }
  });
}

TEST(LocksTest, AwaitSeesEveryChange) {
  // The threads take turns by waiting for the value that is theirs: each release must wake the
  // next.
  Counter counter;
  InThreads([&](int thread) {
    for (int i = 0; i < kRounds / 10; ++i) {
      const int mine = i * kThreads + thread;
      auto is_mine = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(counter.mutex) {
        return counter.value == mine;
      };
      absl::MutexLock lock(&counter.mutex, absl::Condition(&is_mine));
      ++counter.value;
    }
  });
}

TEST(LocksTest, AwaitGivesUpAndKeepsTheLock) {
  Counter counter;
  absl::MutexLock lock(&counter.mutex);
  const auto never = [] { return false; };
  EXPECT_FALSE(counter.mutex.AwaitWithTimeout(absl::Condition(&never), absl::Milliseconds(5)));
  EXPECT_FALSE(counter.mutex.AwaitWithDeadline(absl::Condition(&never), absl::Now()));
  EXPECT_TRUE(counter.mutex.AwaitWithTimeout(absl::Condition::kTrue, absl::Milliseconds(5)));
  counter.mutex.AssertHeld();
}

TEST(LocksTest, CondVarPassesTurns) {
  Counter counter;
  InThreads([&](int thread) {
    for (int i = 0; i < kRounds / 10; ++i) {
      absl::MutexLock lock(&counter.mutex);
      while (counter.value != i * kThreads + thread) counter.changed.Wait(&counter.mutex);
      ++counter.value;
      counter.changed.SignalAll();
    }
  });
}

TEST(LocksTest, SignalReachesASleeperAmongThoseWhoGiveUp) {
  Counter counter;
  std::thread waiter([&] {
    absl::MutexLock lock(&counter.mutex);
    while (counter.value < 50) counter.changed.Wait(&counter.mutex);
  });
  for (int i = 0; i < 50; ++i) {
    absl::MutexLock lock(&counter.mutex);
    counter.changed.WaitWithTimeout(&counter.mutex, absl::Microseconds(200));
    ++counter.value;
    counter.changed.Signal();
  }
  waiter.join();
}

TEST(LocksTest, NotificationPublishesWhatCameBefore) {
  for (int i = 0; i < 50; ++i) {
    int value = 0;
    auto notification = std::make_unique<absl::Notification>();
    EXPECT_FALSE(notification->WaitForNotificationWithTimeout(absl::ZeroDuration()));
    std::thread other([&] {
      value = 1;
      notification->Notify();
    });
    notification->WaitForNotification();
    EXPECT_TRUE(notification->HasBeenNotified());
    EXPECT_EQ(value, 1);
    notification.reset();  // Allowed as soon as the wait has returned.
    other.join();
  }
}

TEST(LocksTest, CounterAndBarrierPublishWhatCameBefore) {
  std::vector<int> values(kThreads);
  absl::BlockingCounter counter(kThreads);
  auto* const barrier = new absl::Barrier(kThreads);
  std::atomic<int> last = 0;
  std::thread threads([&] {
    InThreads([&](int thread) {
      values[static_cast<size_t>(thread)] = 1;
      if (barrier->Block()) {
        delete barrier;
        ++last;
      }
      for (const int value : values) EXPECT_EQ(value, 1);
      counter.DecrementCount();
    });
  });
  counter.Wait();
  values.assign(kThreads, 2);
  threads.join();
  EXPECT_EQ(last, 1);
}

TEST(LocksTest, MutexMayGoAsSoonAsItIsFree) {
  for (int i = 0; i < 200; ++i) {
    auto counter = std::make_unique<Counter>();
    std::thread other([&] {
      absl::MutexLock lock(&counter->mutex);
      ++counter->value;
    });
    {
      const auto is_set = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(counter->mutex) {
        return counter->value == 1;
      };
      absl::MutexLock lock(&counter->mutex, absl::Condition(&is_set));
    }
    Counter* const raw = counter.release();
    delete raw;
    other.join();
  }
}

}  // namespace
}  // namespace mdvol
