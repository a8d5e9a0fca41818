// See clock.h.

#include "core/base/clock.h"

#include <chrono>
#include <thread>

namespace mdvol {
namespace {

class MachineClock final : public Clock {
 public:
  uint64_t NowNs() const override {
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                     std::chrono::steady_clock::now().time_since_epoch())
                                     .count());
  }

  uint64_t WallUs() const override {
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                     std::chrono::system_clock::now().time_since_epoch())
                                     .count());
  }

  void SleepUntil(uint64_t deadline_ns) override {
    std::this_thread::sleep_until(std::chrono::steady_clock::time_point(
        std::chrono::nanoseconds(static_cast<int64_t>(deadline_ns))));
  }
};

}  // namespace

Clock& SystemClock() {
  static MachineClock clock;
  return clock;
}

}  // namespace mdvol
