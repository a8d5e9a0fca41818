// The rig as a whole, on few states: what it takes for a violation and what not.

#include "tests/crash/enumeration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/crash/crash_point.h"
#include "tests/crash/state_checker.h"
#include "tests/support/temporary_folder.h"

namespace mdvol::crash {
namespace {

const Scenario& ScenarioOf(std::string_view name) {
  return *std::ranges::find(AllScenarios(), name, &Scenario::name);
}

EnumerationOptions OptionsFor(std::string_view scenario, uint64_t states) {
  EnumerationOptions options;
  options.states = states;
  options.seed = 3;
  options.scenarios = {&ScenarioOf(scenario)};
  return options;
}

EnumerationResult MustEnumerate(const EnumerationOptions& options) {
  auto result = Enumerate(options);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *std::move(result) : EnumerationResult{};
}

TEST(EnumerationTest, FindsTheWriteHoleWithoutAGuard) {
  EnumerationOptions options = OptionsFor("writes", 300);
  options.guard = Guard::kNone;
  const EnumerationResult result = MustEnumerate(options);
  EXPECT_GE(result.states, 300U);
  EXPECT_GT(result.violations, 0U);
  ASSERT_FALSE(result.examples.empty());
  EXPECT_NE(result.examples[0].find("parity of stripe"), std::string::npos);
}

TEST(EnumerationTest, FindsEveryPlantedBug) {
  for (const Plant plant : {Plant::kEarlyBitClear, Plant::kLateSuperblock}) {
    EnumerationOptions options = OptionsFor("stop", 1000);
    options.plant = plant;
    EXPECT_GT(MustEnumerate(options).violations, 0U) << static_cast<int>(plant);
  }
}

TEST(EnumerationTest, SeesTheSameStatesHoweverManyThreadsLook) {
  EnumerationOptions options = OptionsFor("writes", 500);
  options.guard = Guard::kNone;
  const EnumerationResult alone = MustEnumerate(options);
  options.threads = 3;
  const EnumerationResult together = MustEnumerate(options);
  EXPECT_EQ(alone.states, together.states);
  EXPECT_EQ(alone.violations, together.violations);
}

TEST(EnumerationTest, EveryScenarioCanBePlayedAndPlaysTheSameAgain) {
  for (const Scenario& scenario : AllScenarios()) {
    const auto run = Record(scenario, 5);
    const auto same = Record(scenario, 5);
    ASSERT_TRUE(run.ok() && same.ok()) << scenario.name << run.status();
    EXPECT_EQ(run->log.size(), same->log.size()) << scenario.name;
    EXPECT_EQ(run->model.newest(), same->model.newest()) << scenario.name;
  }
}

TEST(EnumerationTest, NoScenarioHasAJournal) {
  EXPECT_TRUE(ScenariosOf(Guard::kJournal).empty());
  EXPECT_EQ(ScenariosOf(Guard::kBitmap).size(), AllScenarios().size());
}

// ---- Single states ----

class StateCheckerTest : public ::testing::Test {
 protected:
  std::string Check(CrashPoint& point, std::optional<size_t> lost = std::nullopt) {
    const AllowedContent allowed = run_.model.At(point.time());
    return CheckState({run_, allowed, point.pending_stripes(), lost}, point.images()).violation;
  }

  const RecordedRun run_ = *Record(ScenarioOf("stop"), 1);
};

TEST_F(StateCheckerTest, AStoppedArrayCanLoseAnyMember) {
  for (size_t disk = 0; disk < 6; ++disk) {
    CrashPoint point(run_, run_.log.size(), 16, 1);
    point.Choose(point.count() - 1);
    EXPECT_EQ(Check(point, disk), "") << disk;
  }
}

TEST_F(StateCheckerTest, OneWrongByteOfDataIsAViolation) {
  CrashPoint point(run_, run_.log.size(), 16, 1);
  point.Choose(point.count() - 1);
  point.images()[0].Write(run_.areas.data.begin + 4096 * 3, std::vector<std::byte>(1));
  EXPECT_NE(Check(point), "");
}

TEST_F(StateCheckerTest, AMissingSuperblockIsAViolation) {
  CrashPoint point(run_, 0, 16, 1);
  point.Choose(0);
  EXPECT_EQ(Check(point), "");
  point.Choose(0);
  point.images()[2].Zero(run_.areas.super.begin, 512);
  EXPECT_NE(Check(point).find("does not assemble"), std::string::npos);
}

TEST_F(StateCheckerTest, OneSlotMoreLostThanTheScenarioLosesIsAViolation) {
  CrashPoint point(run_, 0, 16, 1);
  point.Choose(0);
  EXPECT_EQ(Check(point, 4), "");
  RecordedRun degraded = *Record(ScenarioOf("degraded"), 1);
  degraded.most_lost = 0;
  CrashPoint late(degraded, degraded.log.size(), 16, 1);
  late.Choose(late.count() - 1);
  const AllowedContent allowed = degraded.model.At(late.time());
  const std::string violation =
      CheckState({degraded, allowed, late.pending_stripes(), std::nullopt}, late.images())
          .violation;
  EXPECT_NE(violation.find("slots have lost"), std::string::npos) << violation;
}

// ---- Dumps ----

TEST(StateDumpTest, WritesImagesOfDistinctMetadataAndAListOfThem) {
  const testing::TemporaryFolder folder;
  EnumerationOptions options = OptionsFor("degraded", 0);
  options.dump_folder = folder.path();
  options.dump_count = 5;
  const EnumerationResult result = MustEnumerate(options);
  EXPECT_EQ(result.states, 5U);
  EXPECT_EQ(result.violations, 0U);
  std::ifstream list(folder.Path("states"));
  std::set<std::string> names;
  for (std::string line; std::getline(list, line);) {
    std::istringstream words(line);
    std::string name;
    std::string scenario;
    words >> name >> scenario;
    EXPECT_EQ(scenario, "degraded");
    names.insert(name);
    EXPECT_EQ(std::filesystem::file_size(folder.path() / name / "volume"), 131072U);
    EXPECT_TRUE(std::filesystem::exists(folder.path() / name / "5.img"));
  }
  EXPECT_EQ(names.size(), 5U);
}

}  // namespace
}  // namespace mdvol::crash
