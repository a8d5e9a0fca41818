// Clock: where core takes time from, so that tests can set it. Implementations are thread-safe.

#ifndef MDVOL_CORE_BASE_CLOCK_H_
#define MDVOL_CORE_BASE_CLOCK_H_

#include <cstdint>

namespace mdvol {

class Clock {
 public:
  virtual ~Clock() = default;
  // Monotonic nanoseconds from an arbitrary start.
  virtual uint64_t NowNs() const = 0;
  // Microseconds since 1970 UTC.
  virtual uint64_t WallUs() const = 0;
  // Blocks the caller until NowNs() >= deadline_ns.
  virtual void SleepUntil(uint64_t deadline_ns) = 0;
};

// The machine's clock; lives for ever.
Clock& SystemClock();

}  // namespace mdvol

#endif  // MDVOL_CORE_BASE_CLOCK_H_
