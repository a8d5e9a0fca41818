// See clock.h.

#include "core/base/clock.h"

#include <chrono>

#include "core/base/precise_sleep.h"

namespace mdvol {
namespace {

class MachineClock final : public Clock {
 public:
  uint64_t NowNs() const override { return MonotonicNowNs(); }

  uint64_t WallUs() const override {
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                     std::chrono::system_clock::now().time_since_epoch())
                                     .count());
  }

  void SleepUntil(uint64_t deadline_ns) override { SleepPreciselyUntil(deadline_ns); }
};

}  // namespace

Clock& SystemClock() {
  static MachineClock clock;
  return clock;
}

}  // namespace mdvol
