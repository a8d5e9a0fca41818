// Scenario: one of the reports, measured. This is what a writer of scenarios works with.
//
// A scenario is a function in a file of its own in this folder, entered in scenarios.cc. It
// measures, adds records to context.results, states criteria to context.verdicts, and returns;
// tables, CSV file, charts, retries and the exit code are the program's. resync_pacing.cc is the
// example.
//
//   for (each repeat, policy: ForEachTurn)          policies take turns inside one run: what the
//     array.Switch(context.Choice(policy))          machine does meanwhile hits all of them alike
//     context.Measure, Add, AddWorkload
//   from context.results: ratios, medians           only ratios of one run are ever judged
//   context.verdicts.Demand / .Contest
//
// Pieces (tests/bench/frame): BenchArray makes arrays, whole or without members, on members as slow
// as a DiskModel says, and starts and stops a sync. Measure (measure.h) loads one with any number
// of workloads and tells what users got and what members were asked for, for whom. For what happens
// inside a window: StartWorkload, completed_requests(), BenchArray::Counts().
//
// Time. The windows are context.times; the number of turns is context.repeats. With --quick a
// scenario must take at most kQuickSeconds: leave workloads out (context.quick), or divide a budget
// (context.TimesFor). It is run a second time when a contest was lost, and has 30 s for both.
//
// Absolute numbers of a report belong to other hardware: give report_value on ratio metrics only
// ("iops of solo"), and bound where the model of the members says what cannot be passed.
//
// One thread calls a scenario.

#ifndef MDVOL_TESTS_BENCH_SCENARIOS_SCENARIO_H_
#define MDVOL_TESTS_BENCH_SCENARIOS_SCENARIO_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "core/base/clock.h"
#include "core/policy/families.h"
#include "tests/bench/frame/bench_array.h"
#include "tests/bench/frame/measure.h"
#include "tests/bench/frame/results.h"
#include "tests/bench/frame/verdicts.h"
#include "tests/bench/frame/workload.h"

namespace mdvol::bench {

inline constexpr double kQuickSeconds = 14;

// A number of a report, or a computed limit, beside a measured one.
struct Beside {
  std::optional<double> report_value = std::nullopt;
  std::optional<double> bound = std::nullopt;
};

struct ScenarioContext {
  std::string scenario;
  PolicyFamily family;
  bool quick = false;
  uint32_t repeats = 5;
  RunTimes times = {};
  uint64_t seed = 1;
  // Those to measure: of the family, or what --policy left of it. The default is always the first.
  std::vector<std::string> policies;
  std::ostream& log;  // progress, a line each
  Clock& clock;

  Results results = {};
  Verdicts verdicts = {};

  const std::string& default_policy() const { return policies.front(); }
  PolicyChoice Choice(std::string_view policy) const { return {family, std::string(policy), {}}; }

  // Window and warm-up (a quarter of it) such that `runs` of them take the budget of a quick run;
  // without --quick: times.
  RunTimes TimesFor(uint32_t runs) const;

  // bench::Measure with this context's clock.
  absl::StatusOr<Measurement> Measure(BenchArray& array, const std::vector<WorkloadSpec>& specs,
                                      const RunTimes& window) const {
    return bench::Measure(array, specs, window, clock);
  }

  // body(policy, repeat) for every repeat and policy, policies innermost and in an order that turns
  // by one with each repeat. Ends with the first error.
  absl::Status ForEachTurn(
      const std::function<absl::Status(const std::string& policy, uint32_t repeat)>& body) const;

  void Add(std::string_view policy, std::string_view workload, std::string_view metric,
           std::string_view unit, double value, uint32_t repeat, const Beside& beside = {});
  // iops, throughput (MB/s), latency mean, stdev, p50, p99, max (us); flush p99 when there were
  // any.
  void AddWorkload(std::string_view policy, std::string_view workload, const WorkloadResult& result,
                   uint32_t repeat);
  // For every repeat that both have: a new metric, the first's over the second's, say "iops of
  // solo" of a workload under a policy to that of `base_workload` under `base_policy`.
  void AddRatio(std::string_view policy, std::string_view workload, std::string_view metric,
                std::string_view base_policy, std::string_view base_workload,
                std::string_view ratio_metric, const Beside& beside = {});
};

struct Scenario {
  std::string_view name;     // on the command line
  std::string_view summary;  // one line
  PolicyFamily family;
  absl::Status (*run)(ScenarioContext& context);
};

// All of them, in the order of the reports.
std::span<const Scenario> AllScenarios();
const Scenario* FindScenario(std::string_view name);

}  // namespace mdvol::bench

#endif  // MDVOL_TESTS_BENCH_SCENARIOS_SCENARIO_H_
