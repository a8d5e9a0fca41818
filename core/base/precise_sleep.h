// A sleep that ends on time to a microsecond or so where the machine lets it, for modelled disks
// whose requests take 20 to 100 us.
//
// Linux wakes a thread late: by its timer slack, 50 us unless told otherwise, and by what the timer
// interrupt, the idle state and the scheduler need. So the slack of a thread that sleeps here is
// set to 1 ns, for good, and the sleep is begun too short by how late sleeps of this process have
// lately been in the median, at most 25 us; the rest, half of the time nothing, is spent looking at
// the clock. That bounds what a sleep can burn however many threads there are.
//
// Measured on two virtual cores that other work kept busy; how late, median / 90 %, and processor
// time per sleep:
//                            slack 50 us           slack 1 ns            as here
//   1 thread,  100 us     71 / 77 us, 16 us     20 / 25 us, 15 us     0.2 /  5 us, 16 us
//   8 threads, 100 us     76 / 97 us,  4 us     25 / 49 us,  5 us      18 / 39 us,  5 us
//   1 thread,   20 us     66 / 71 us, 14 us     14 / 16 us, 14 us     0.1 /  4 us, 19 us
//   8 threads,  20 us     72 / 90 us,  4 us     32 / 50 us,  7 us     0.1 / 48 us, 21 us
// (The last line is the price of 20 us: sleeps that short are waited for, not slept.) Waits for a
// core, milliseconds where there are more threads than cores, remain in every column.
//
// Any thread.

#ifndef MDVOL_CORE_BASE_PRECISE_SLEEP_H_
#define MDVOL_CORE_BASE_PRECISE_SLEEP_H_

#include <cstdint>

namespace mdvol {

// CLOCK_MONOTONIC in nanoseconds.
uint64_t MonotonicNowNs();

// Returns as soon as possible after MonotonicNowNs() >= deadline_ns, never before.
void SleepPreciselyUntil(uint64_t deadline_ns);

}  // namespace mdvol

#endif  // MDVOL_CORE_BASE_PRECISE_SLEEP_H_
