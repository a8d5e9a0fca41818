// The program mdvol-bench: its command line, and what decides its exit code.

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/bench/frame/csv.h"
#include "tests/bench/program/options.h"
#include "tests/bench/program/run.h"
#include "tests/support/temporary_folder.h"

namespace mdvol::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Options Parse(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "mdvol-bench");
  std::vector<char*> pointers;
  for (std::string& argument : arguments) {
    pointers.push_back(argument.data());
  }
  return ParseOptions(static_cast<int>(pointers.size()), pointers.data());
}

TEST(OptionsTest, ReadsEverything) {
  const Options options =
      Parse({"wide-resync", "--quick", "--csv", "x.csv", "--svg", "charts", "--repeats", "7",
             "--seconds", "0.5", "--seed", "9", "--policy", "a", "--policy", "b"});
  EXPECT_EQ(options.command, Command::kRun);
  EXPECT_THAT(options.scenarios, ElementsAre("wide-resync"));
  EXPECT_TRUE(options.quick);
  EXPECT_EQ(options.csv, "x.csv");
  EXPECT_EQ(options.svg_folder, "charts");
  EXPECT_EQ(options.repeats, 7U);
  EXPECT_EQ(options.seconds, 0.5);
  EXPECT_EQ(options.seed, 9U);
  EXPECT_THAT(options.policies, ElementsAre("a", "b"));
}

TEST(OptionsTest, AllIsEveryScenario) {
  const Options options = Parse({"all"});
  EXPECT_THAT(options.scenarios, ElementsAre("resync-pacing", "wide-resync", "write-admission",
                                             "degraded-read", "parity-workers"));
}

TEST(OptionsTest, ChartAndListNeedNoScenario) {
  EXPECT_EQ(Parse({"--list"}).command, Command::kList);
  const Options chart = Parse({"chart", "a.csv", "b"});
  EXPECT_EQ(chart.command, Command::kChart);
  EXPECT_EQ(chart.csv, "a.csv");
  EXPECT_EQ(chart.svg_folder, "b");
}

TEST(OptionsTest, AWrongLineEndsWithTwoAndHelpWithZero) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {}, {"nothing"}, {"all", "--repeats", "0"}, {"all", "--nothing"}, {"chart", "a.csv"}}) {
    const Options options = Parse(arguments);
    EXPECT_EQ(options.command, Command::kExit);
    EXPECT_EQ(options.exit_code, 2);
  }
  EXPECT_EQ(Parse({"--help"}).exit_code, 0);
}

TEST(PoliciesTest, TheDefaultIsAlwaysMeasured) {
  const auto all = ChoosePolicies(PolicyFamily::kResyncRequest, {});
  ASSERT_TRUE(all.ok());
  EXPECT_THAT(*all, ::testing::ElementsAreArray(PolicyNamesOf(PolicyFamily::kResyncRequest)));
  const auto one = ChoosePolicies(PolicyFamily::kResyncRequest, {all->back()});
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->front(), all->front());
  // Of another family: nothing to add here.
  const auto other =
      ChoosePolicies(PolicyFamily::kResyncRequest, {PolicyNamesOf(PolicyFamily::kDegradedRead)[0]});
  ASSERT_TRUE(other.ok());
  EXPECT_THAT(*other, ElementsAre(all->front()));
  EXPECT_TRUE(IsUsageError(ChoosePolicies(PolicyFamily::kResyncRequest, {"nobody"}).status()));
}

// ---- Scenarios that measure nothing ----

int runs = 0;

// The default is worth `default_value` in its first run and 100 from the second on.
absl::Status RunFake(ScenarioContext& context, double first_value) {
  ++runs;
  for (uint32_t repeat = 0; repeat < context.repeats; ++repeat) {
    context.Add("default", "w", "iops", "1/s", runs == 1 ? first_value : 100, repeat);
    context.Add("other", "w", "iops", "1/s", 100, repeat);
  }
  context.verdicts.Contest(context.results, "X", "wins", "default", {"default", "other"}, "w",
                           "iops", Better::kHigher);
  context.verdicts.Demand("Y", "impossible", 0, Relation::kAtLeast, 1);
  return absl::OkStatus();
}

absl::Status RunLosesOnce(ScenarioContext& context) { return RunFake(context, 50); }
absl::Status RunLosesAlways(ScenarioContext& context) {
  runs = 0;
  return RunFake(context, 50);
}
absl::Status RunWins(ScenarioContext& context) { return RunFake(context, 200); }
absl::Status RunFails(ScenarioContext&) { return ErrnoStatus(EIO, "broken"); }

Scenario Fake(absl::Status (*run)(ScenarioContext&)) {
  return {"fake", "measures nothing", PolicyFamily::kDegradedRead, run};
}

Options Quick() {
  Options options;
  options.quick = true;
  return options;
}

TEST(RunTest, QuickJudgesByContestsAndRunsALostOneAgain) {
  std::ostringstream out;
  Results results;
  runs = 0;
  EXPECT_TRUE(*RunScenario(Fake(&RunLosesOnce), Quick(), out, &results));
  EXPECT_EQ(runs, 2);
  EXPECT_THAT(out.str(), HasSubstr("once more"));
  EXPECT_EQ(results.MedianOf("default", "w", "iops"), 100);  // the first run is forgotten

  runs = 0;
  EXPECT_TRUE(*RunScenario(Fake(&RunWins), Quick(), out, &results));
  EXPECT_EQ(runs, 1);
  EXPECT_FALSE(*RunScenario(Fake(&RunLosesAlways), Quick(), out, &results));
}

TEST(RunTest, AFullRunJudgesByEverythingOnce) {
  std::ostringstream out;
  Results results;
  runs = 0;
  EXPECT_FALSE(*RunScenario(Fake(&RunWins), Options(), out, &results));
  EXPECT_EQ(runs, 1);
}

TEST(RunTest, AScenariosErrorIsTheRuns) {
  std::ostringstream out;
  Results results;
  EXPECT_EQ(MessageOf(RunScenario(Fake(&RunFails), Quick(), out, &results).status()), "broken");
}

TEST(RunTest, ChartsAreDrawnFromACsvFileAlone) {
  const testing::TemporaryFolder temporary;
  const std::filesystem::path folder = temporary.path();
  Options options;
  options.command = Command::kChart;
  options.csv = (folder / "in.csv").string();
  options.svg_folder = (folder / "out").string();
  std::ostringstream out;
  std::ostringstream errors;
  EXPECT_EQ(RunBench(options, out, errors), 1);
  EXPECT_THAT(errors.str(), HasSubstr("in.csv: cannot be opened"));
  ASSERT_TRUE(WriteTextFile(options.csv, FormatCsv({{"s", "p", "w", "m", "", 1, 0, {}, {}}})).ok());
  EXPECT_EQ(RunBench(options, out, errors), 0);
  EXPECT_TRUE(std::filesystem::exists(folder / "out" / "s-m.svg"));
}

TEST(RunTest, TheListNamesScenariosAndPolicies) {
  Options options;
  options.command = Command::kList;
  std::ostringstream out;
  EXPECT_EQ(RunBench(options, out, out), 0);
  for (const Scenario& scenario : AllScenarios()) {
    EXPECT_THAT(out.str(), HasSubstr(std::string(scenario.name)));
    EXPECT_THAT(out.str(), HasSubstr(PolicyNamesOf(scenario.family)[0]));
  }
}

TEST(ContextTest, PoliciesTakeTurns) {
  ScenarioContext context{.scenario = "s",
                          .family = PolicyFamily::kDegradedRead,
                          .repeats = 2,
                          .times = {},
                          .policies = {"a", "b", "c"},
                          .log = std::cout,
                          .clock = SystemClock()};
  std::string order;
  ASSERT_TRUE(context
                  .ForEachTurn([&order](const std::string& policy, uint32_t repeat) {
                    order += policy + std::to_string(repeat) + " ";
                    return absl::OkStatus();
                  })
                  .ok());
  EXPECT_EQ(order, "a0 b0 c0 b1 c1 a1 ");
  context.Add("a", "w", "m", "", 10, 0);
  context.Add("a", "base", "m", "", 20, 0);
  context.Add("a", "w", "m", "", 30, 1);  // its base is missing
  context.AddRatio("a", "w", "m", "a", "base", "of base");
  EXPECT_THAT(context.results.Values("a", "w", "of base"), ElementsAre(0.5));
}

}  // namespace
}  // namespace mdvol::bench
