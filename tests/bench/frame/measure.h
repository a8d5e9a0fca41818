// Measure: what one window held, at both ends of an array: what its users got, and what its members
// were asked for. Functions without state; as thread-safe as the array.

#ifndef MDVOL_TESTS_BENCH_FRAME_MEASURE_H_
#define MDVOL_TESTS_BENCH_FRAME_MEASURE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/clock.h"
#include "tests/bench/frame/bench_array.h"
#include "tests/bench/frame/tally_device.h"
#include "tests/bench/frame/workload.h"

namespace mdvol::bench {

struct Measurement {
  double seconds = 0;
  uint32_t live_members = 0;
  std::vector<WorkloadResult> loads;  // in the order of the specs
  MemberTally members;                // of all members; requests that were submitted in the window

  // Per second and member, what a check or resync read.
  double SyncBytesPerSecond() const;
  // Member bytes that were read for a byte that users read; not a number when they read none.
  // Requests at the edges of the window are on one side alone: with b requests in the window and d
  // under way at its edges, it is right to about d / b.
  double ReadAmplification() const;
  // Of data, whoever wrote it.
  double MeanWriteBytes() const;
};

// Loads the array with all of `specs` (none: only waits, say for a sync that was started before),
// and measures after the warm-up. An error of any request is the call's error, and so is the end of
// a sync within the window: what was measured beside it is of two kinds.
absl::StatusOr<Measurement> Measure(BenchArray& array, const std::vector<WorkloadSpec>& specs,
                                    const RunTimes& times, Clock& clock);

}  // namespace mdvol::bench

#endif  // MDVOL_TESTS_BENCH_FRAME_MEASURE_H_
