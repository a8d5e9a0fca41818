// See run.h.

#include "tests/bench/program/run.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/base/status.h"
#include "tests/bench/frame/charts.h"
#include "tests/bench/frame/csv.h"
#include "tests/bench/frame/tables.h"

namespace mdvol::bench {
namespace {

constexpr uint32_t kRepeats = 5;
constexpr uint32_t kQuickRepeats = 3;
constexpr double kSeconds = 5;
constexpr double kQuickWindowSeconds = 1;  // the most; TimesFor leaves less

void List(std::ostream& out) {
  for (const Scenario& scenario : AllScenarios()) {
    out << scenario.name << ": " << scenario.summary << "\n  " << PolicyFamilyName(scenario.family)
        << ": " << absl::StrJoin(PolicyNamesOf(scenario.family), ", ") << '\n';
  }
}

ScenarioContext MakeContext(const Scenario& scenario, const Options& options,
                            std::vector<std::string> policies, std::ostream& out) {
  const double seconds = options.seconds.value_or(options.quick ? kQuickWindowSeconds : kSeconds);
  return {.scenario = std::string(scenario.name),
          .family = scenario.family,
          .quick = options.quick,
          .repeats = options.repeats.value_or(options.quick ? kQuickRepeats : kRepeats),
          .times = {seconds / 4, seconds},
          .seed = options.seed,
          .policies = std::move(policies),
          .log = out,
          .clock = SystemClock()};
}

absl::Status WriteFiles(const Options& options, const Results& results) {
  if (!options.csv.empty()) {
    MDVOL_RETURN_IF_ERROR(WriteTextFile(options.csv, FormatCsv(results.records())));
  }
  return options.svg_folder.empty() ? absl::OkStatus()
                                    : WriteCharts(results.records(), options.svg_folder);
}

absl::Status Chart(const Options& options) {
  MDVOL_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(options.csv));
  absl::StatusOr<std::vector<Record>> records = ParseCsv(text);
  if (!records.ok()) {
    return Annotate(records.status(), options.csv);
  }
  return WriteCharts(*records, options.svg_folder);
}

absl::Status RunAll(const Options& options, std::ostream& out, bool* all_met) {
  Results results;
  for (const std::string& name : options.scenarios) {
    absl::StatusOr<bool> met = RunScenario(*FindScenario(name), options, out, &results);
    if (!met.ok()) {
      return Annotate(met.status(), name);
    }
    *all_met = *all_met && *met;
  }
  return WriteFiles(options, results);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ChoosePolicies(PolicyFamily family,
                                                        const std::vector<std::string>& named) {
  const std::vector<std::string> all = PolicyNamesOf(family);
  for (const std::string& name : named) {
    const bool is_known =
        std::any_of(kPolicyFamilies.begin(), kPolicyFamilies.end(), [&](const auto& info) {
          const std::vector<std::string> names = PolicyNamesOf(info.family);
          return std::find(names.begin(), names.end(), name) != names.end();
        });
    if (!is_known) {
      return UsageError(absl::StrCat("--policy ", name, ": no family has it"));
    }
  }
  std::vector<std::string> chosen;
  for (const std::string& name : all) {
    const bool is_named = std::find(named.begin(), named.end(), name) != named.end();
    if (named.empty() || name == all.front() || is_named) {
      chosen.push_back(name);
    }
  }
  return chosen;
}

absl::StatusOr<bool> RunScenario(const Scenario& scenario, const Options& options,
                                 std::ostream& out, Results* results) {
  MDVOL_ASSIGN_OR_RETURN(const std::vector<std::string> policies,
                         ChoosePolicies(scenario.family, options.policies));
  const int attempts = options.quick ? 2 : 1;
  for (int attempt = 1;; ++attempt) {
    ScenarioContext context = MakeContext(scenario, options, policies, out);
    out << absl::StrFormat("\n== %s (%s: %s), %d repeats, windows of up to %g s, seed %d\n",
                           context.scenario, std::string(PolicyFamilyName(scenario.family)),
                           absl::StrJoin(policies, ", "), context.repeats, context.times.seconds,
                           context.seed);
    const uint64_t begin_ns = context.clock.NowNs();
    MDVOL_RETURN_IF_ERROR(scenario.run(context));
    const double seconds = static_cast<double>(context.clock.NowNs() - begin_ns) * 1e-9;
    out << FormatResults(context.results.records()) << '\n'
        << FormatVerdicts(context.verdicts, !options.quick)
        << absl::StrFormat("(%.1f s%s)\n", seconds,
                           options.quick && seconds > kQuickSeconds
                               ? ", more than a quick run should take"
                               : "");
    const bool met = context.verdicts.AllMet(CriterionKind::kContest) &&
                     (options.quick || (!context.verdicts.criteria().empty() &&
                                        context.verdicts.AllMet(CriterionKind::kDemand)));
    if (met || attempt == attempts) {
      results->Append(context.results.records());
      return met;
    }
    out << "a default lost: once more, as noise comes and goes\n";
  }
}

int RunBench(const Options& options, std::ostream& out, std::ostream& errors) {
  absl::Status status;
  bool all_met = true;
  switch (options.command) {
    case Command::kExit:
      return options.exit_code;
    case Command::kList:
      List(out);
      return 0;
    case Command::kChart:
      status = Chart(options);
      break;
    case Command::kRun:
      status = RunAll(options, out, &all_met);
      break;
  }
  if (!status.ok()) {
    errors << "mdvol-bench: " << MessageOf(status) << '\n';
    return IsUsageError(status) ? 2 : 1;
  }
  return all_met ? 0 : 1;
}

}  // namespace mdvol::bench
