// What "adaptive" is to do over time, on one array of modelled disks: P4 to P7 and P9, each a
// verdict.

#ifndef MDVOL_TESTS_BENCH_SCENARIOS_RESYNC_PACING_CHECKS_H_
#define MDVOL_TESTS_BENCH_SCENARIOS_RESYNC_PACING_CHECKS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "core/base/units.h"
#include "tests/bench/scenarios/scenario.h"

namespace mdvol::bench {

inline constexpr uint64_t kNoSpeedMax = kTiB;  // per second

struct ReactionSpec {
  std::string disk_name;
  double stream_bytes_per_s = 0;  // of a member
  double solo_iops = 0;           // of one reader
  double least_of_solo = 0;       // that it keeps
};

absl::Status CheckReactions(ScenarioContext& context, BenchArray& array, const ReactionSpec& spec);

}  // namespace mdvol::bench

#endif  // MDVOL_TESTS_BENCH_SCENARIOS_RESYNC_PACING_CHECKS_H_
