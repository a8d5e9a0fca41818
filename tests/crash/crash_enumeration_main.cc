// crash_enumeration: looks for crashes that the array does not survive. Exit 1 when it finds any,
// or cannot work, 2 for wrong usage. See enumeration.h; docs/testing.md says how it is used.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>

#include "core/base/status.h"
#include "tests/crash/enumeration.h"
#include "tests/support/full.h"

namespace mdvol::crash {
namespace {

constexpr int kUsageExit = 2;
constexpr uint64_t kEverydayStates = 100000;
constexpr uint64_t kFullStates = 10 * kEverydayStates;

Guard GuardOf(std::string_view word) {
  if (word == "none") {
    return Guard::kNone;
  }
  return word == "bitmap" ? Guard::kBitmap : Guard::kJournal;
}

Plant PlantOf(std::string_view word) {
  if (word.empty()) {
    return Plant::kNone;
  }
  return word == "early-bit-clear" ? Plant::kEarlyBitClear : Plant::kLateSuperblock;
}

// Throws CLI::ParseError, as the parser does.
void ChooseScenarios(const std::vector<std::string>& names, EnumerationOptions* options) {
  const std::vector<const Scenario*> all = ScenariosOf(options->guard);
  if (all.empty()) {
    throw CLI::ValidationError("--guard journal",
                               "no scenario's array has a write journal, create makes none");
  }
  for (const Scenario* scenario : all) {
    if (names.empty() || std::ranges::find(names, scenario->name) != names.end()) {
      options->scenarios.push_back(scenario);
    }
  }
  for (const std::string& name : names) {
    if (std::ranges::find(all, name, &Scenario::name) == all.end()) {
      throw CLI::ValidationError("--scenario " + name,
                                 "the guard has none of this name, see --list");
    }
  }
}

EnumerationOptions ParseOptions(int argc, char** argv) {
  EnumerationOptions options;
  options.states = testing::FullRun() ? kFullStates : kEverydayStates;
  options.threads = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::string> scenarios;
  bool list = false;
  CLI::App app{
      "Crashes a running array everywhere, and checks what each crash may leave.\n"
      "The last line is \"N states, M violations\"; exit 1 when M > 0."};
  app.name("crash_enumeration");
  std::string guard;
  std::string plant;
  app.add_option("--guard", guard,
                 "none: dirty marks and bits are suppressed; bitmap: no member is lost before the\n"
                 "resync has ended; journal: any one member is lost as well")
      ->required()
      ->check(CLI::IsMember({"none", "bitmap", "journal"}));
  app.add_option("--states", options.states,
                 "Distinct states, at least (100000, with MDVOL_TEST_FULL ten times that)");
  app.add_option("--seed", options.seed, "Of everything random (1)");
  app.add_option("--plant", plant, "A bug that must be found")
      ->check(CLI::IsMember({"early-bit-clear", "late-superblock"}));
  app.add_option("--scenario", scenarios, "Only this one (may be given again)")
      ->allow_extra_args(false);
  app.add_option("--threads", options.threads, "As many as there are processors")
      ->check(CLI::Range(1U, 1024U));
  auto* dump = app.add_option("--dump", options.dump_folder,
                              "Write states of distinct metadata there, for the kernel to assemble")
                   ->check(CLI::ExistingDirectory);
  auto* count = app.add_option("--dump-count", options.dump_count, "How many");
  dump->needs(count);
  count->needs(dump);
  app.add_flag("--list", list, "Tell the scenarios");
  try {
    app.parse(argc, argv);
    options.guard = GuardOf(guard);
    options.plant = PlantOf(plant);
    ChooseScenarios(scenarios, &options);
  } catch (const CLI::ParseError& error) {
    const bool is_help = error.get_exit_code() == 0;
    if (is_help) {
      app.exit(error);
    } else {
      std::cerr << "crash_enumeration: " << error.what() << '\n';
    }
    std::exit(is_help ? 0 : kUsageExit);
  }
  if (list) {
    for (const Scenario* scenario : options.scenarios) {
      std::cout << scenario->name << '\n';
    }
    std::exit(0);
  }
  return options;
}

int Main(int argc, char** argv) {
  const EnumerationOptions options = ParseOptions(argc, argv);
  const auto result = Enumerate(options);
  if (!result.ok()) {
    std::cerr << "crash_enumeration: " << MessageOf(result.status()) << '\n';
    return 1;
  }
  for (const std::string& example : result->examples) {
    std::cout << example << '\n';
  }
  std::cout << result->runs << " runs of " << options.scenarios.size() << " scenarios, "
            << result->points << " moments of crash\n"
            << result->states << " states, " << result->violations << " violations" << std::endl;
  return result->violations > 0 ? 1 : 0;
}

}  // namespace
}  // namespace mdvol::crash

int main(int argc, char** argv) { return mdvol::crash::Main(argc, argv); }
