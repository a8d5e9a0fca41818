// See options.h.

#include "tests/bench/program/options.h"

#include <CLI/CLI.hpp>

#include "tests/bench/scenarios/scenario.h"

namespace mdvol::bench {
namespace {

constexpr int kUsageExit = 2;

void ReplaceAll(std::vector<std::string>* scenarios) {
  const bool all = std::find(scenarios->begin(), scenarios->end(), "all") != scenarios->end();
  if (all) {
    scenarios->clear();
    for (const Scenario& scenario : AllScenarios()) {
      scenarios->emplace_back(scenario.name);
    }
  }
}

}  // namespace

Options ParseOptions(int argc, char** argv) {
  Options options;
  uint32_t repeats = 0;
  double seconds = 0;
  bool list = false;
  CLI::App app{"Measures mdvol's policies on arrays in memory, one scenario for each report."};
  app.name("mdvol-bench");
  std::vector<std::string> names{"all"};
  for (const Scenario& scenario : AllScenarios()) {
    names.emplace_back(scenario.name);
  }
  app.add_option("scenario", options.scenarios, "What to measure; all: every scenario")
      ->check(CLI::IsMember(names));
  app.add_flag("--list", list, "Tell the scenarios and their policies");
  app.add_flag("--quick", options.quick,
               "At most half a minute each; exit 1 only when a default loses to another policy");
  app.add_option("--csv", options.csv, "Write every number to this file");
  app.add_option("--svg", options.svg_folder, "Draw charts into this folder");
  auto* repeats_option =
      app.add_option("--repeats", repeats, "Turns of each policy (5, with --quick 3)")
          ->check(CLI::Range(1U, 1000U));
  auto* seconds_option = app.add_option("--seconds", seconds, "Of each window (5, with --quick 1)")
                             ->check(CLI::Range(0.01, 3600.0));
  app.add_option("--seed", options.seed, "Of everything random");
  app.add_option("--policy", options.policies,
                 "Measure this policy beside the default instead of all (may be given again)")
      ->allow_extra_args(false);
  auto* chart = app.add_subcommand("chart", "Draw charts from a CSV file");
  chart->add_option("csv", options.csv, "A file that --csv has written")->required();
  chart->add_option("folder", options.svg_folder, "Where the charts go")->required();
  try {
    app.parse(argc, argv);
    if (!list && !*chart && options.scenarios.empty()) {
      throw CLI::RequiredError("a scenario, \"all\", \"chart\" or --list");
    }
  } catch (const CLI::ParseError& error) {
    options.command = Command::kExit;
    options.exit_code = app.exit(error) == 0 ? 0 : kUsageExit;
    return options;
  }
  options.command = list ? Command::kList : *chart ? Command::kChart : Command::kRun;
  if (*repeats_option) {
    options.repeats = repeats;
  }
  if (*seconds_option) {
    options.seconds = seconds;
  }
  ReplaceAll(&options.scenarios);
  return options;
}

}  // namespace mdvol::bench
