// The functions of all scenarios, a file each; entered in scenarios.cc.

#ifndef MDVOL_TESTS_BENCH_SCENARIOS_ALL_H_
#define MDVOL_TESTS_BENCH_SCENARIOS_ALL_H_

#include "absl/status/status.h"
#include "tests/bench/scenarios/scenario.h"

namespace mdvol::bench {

absl::Status RunResyncPacing(ScenarioContext& context);
absl::Status RunWideResync(ScenarioContext& context);
absl::Status RunWriteAdmission(ScenarioContext& context);
absl::Status RunDegradedRead(ScenarioContext& context);
absl::Status RunParityWorkers(ScenarioContext& context);

}  // namespace mdvol::bench

#endif  // MDVOL_TESTS_BENCH_SCENARIOS_ALL_H_
