// BoundWrites: how much can be written to modelled members while a reader's slowest reads stay
// below a bound. What no policy can pass, to judge one by. Pure: it plays the disk model through,
// in no time.
//
// On every member a writer keeps `depth` requests of `write_bytes` outstanding, one after another;
// one reader reads 4 KiB of a member at random, and again as soon as it has it.

#ifndef MDVOL_TESTS_BENCH_SCENARIOS_WRITE_BOUND_H_
#define MDVOL_TESTS_BENCH_SCENARIOS_WRITE_BOUND_H_

#include <cstdint>

#include "core/device/disk_model.h"

namespace mdvol::bench {

struct MixedLoad {
  uint32_t members = 1;
  uint32_t depth = 1;  // 0: nobody writes
  uint64_t write_bytes = 0;
  bool reads = true;
};

struct MixedRate {
  double write_bytes_per_s = 0;  // of all members
  double read_p99_ns = 0;
};

MixedRate PlayMixedLoad(const DiskModelParameters& model, const MixedLoad& load, uint64_t seed);

struct WriteBounds {
  double write_bytes_per_s = 0;  // the most that is written
  uint64_t request_bytes = 0;    // the longest request of loads that write `least_share` of it
};

// Over depths up to 4 and requests of 4 KiB to 1 MiB, of loads that keep the reader's p99 at most
// at `read_p99_ns`. 0 if none does.
WriteBounds BoundWrites(const DiskModelParameters& model, uint32_t members, double read_p99_ns,
                        double least_share, uint64_t seed);

}  // namespace mdvol::bench

#endif  // MDVOL_TESTS_BENCH_SCENARIOS_WRITE_BOUND_H_
