// See precise_sleep.h.

#include "core/base/precise_sleep.h"

#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

namespace mdvol {
namespace {

constexpr uint64_t kNsPerSecond = 1'000'000'000;
constexpr uint64_t kStepNs = 500;
constexpr uint64_t kMaxLeadNs = 25'000;  // what one sleep may spend looking at the clock

// Follows the median of how late sleeps end: a step up after each that was later, a step down
// otherwise. One for the process, for lateness is the machine's; threads may overwrite each other's
// steps.
std::atomic<uint64_t> lead_ns = 15'000;

void TightenTimerSlack() {
  // It can only fail for values that it is not given; sleeps would then be late, no more.
  thread_local const int result = ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  static_cast<void>(result);
}

void SleepUntilRoughly(uint64_t wake_ns) {
  const timespec wake{static_cast<time_t>(wake_ns / kNsPerSecond),
                      static_cast<decltype(timespec::tv_nsec)>(wake_ns % kNsPerSecond)};
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, nullptr) == EINTR) {
  }
}

}  // namespace

uint64_t MonotonicNowNs() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * kNsPerSecond + static_cast<uint64_t>(now.tv_nsec);
}

void SleepPreciselyUntil(uint64_t deadline_ns) {
  uint64_t now_ns = MonotonicNowNs();
  if (now_ns >= deadline_ns) {
    return;
  }
  const uint64_t lead = lead_ns.load(std::memory_order_relaxed);
  bool was_later = false;
  if (deadline_ns - now_ns > lead) {
    TightenTimerSlack();
    SleepUntilRoughly(deadline_ns - lead);
    now_ns = MonotonicNowNs();
    was_later = now_ns > deadline_ns;
  }
  // Also where there was no time to sleep: a lead that has become too long for every sleep would
  // otherwise stay so.
  lead_ns.store(was_later ? std::min(lead + kStepNs, kMaxLeadNs) : lead - std::min(lead, kStepNs),
                std::memory_order_relaxed);
  while (now_ns < deadline_ns) {
    now_ns = MonotonicNowNs();
  }
}

}  // namespace mdvol
