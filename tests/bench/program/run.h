// Runs scenarios: makes their contexts, prints their tables and verdicts, and decides whether the
// run as a whole is a success.

#ifndef MDVOL_TESTS_BENCH_PROGRAM_RUN_H_
#define MDVOL_TESTS_BENCH_PROGRAM_RUN_H_

#include <ostream>

#include "absl/status/statusor.h"
#include "tests/bench/frame/results.h"
#include "tests/bench/program/options.h"
#include "tests/bench/scenarios/scenario.h"

namespace mdvol::bench {

// The policies of the family, the default first; when some were named, the default and those. A
// name that no family has is an error.
absl::StatusOr<std::vector<std::string>> ChoosePolicies(PolicyFamily family,
                                                        const std::vector<std::string>& named);

// One scenario; its records are added to *results. True when every criterion that counts is met:
// without `quick` all, with it the contests, and those after a second run if the first lost one
// (its records are forgotten then).
absl::StatusOr<bool> RunScenario(const Scenario& scenario, const Options& options,
                                 std::ostream& out, Results* results);

// What main does; returns the exit code: 0, 1 when criteria were missed or something failed, 2 for
// usage.
int RunBench(const Options& options, std::ostream& out, std::ostream& errors);

}  // namespace mdvol::bench

#endif  // MDVOL_TESTS_BENCH_PROGRAM_RUN_H_
