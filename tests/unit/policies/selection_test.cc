// Tests of the active choice of policies.

#include "policies/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cmath>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/status.h"

namespace mdvol {
namespace {

using ::testing::HasSubstr;

class Steady final : public ResyncPacing {
 public:
  explicit Steady(PolicyNumbers numbers) : wait_ns_(static_cast<uint64_t>(numbers[1])) {}
  ResyncDecision Decide(const ResyncFacts& /*facts*/) override { return {wait_ns_}; }

 private:
  const uint64_t wait_ns_;
};

constexpr PolicyOptionInfo kSteadyOptions[] = {{"share", 0.5, 0, 1, false, "of nothing"},
                                               {"wait_ns", 7, 1, 100, true, "between windows"}};

// The built-in policies and one with options.
class PolicySelectionTest : public ::testing::Test {
 protected:
  static Registry Filled() {
    Registry registry;
    EXPECT_TRUE(registry.Add(Entry<Steady>("steady", "for the test", kSteadyOptions)).ok());
    return registry;
  }
  uint64_t WaitNs() const { return set.resync_pacing.Get()->Decide({}).wait_ns; }

  static constexpr PolicyFamily kPacing = PolicyFamily::kResyncPacing;
  const Registry registry = Filled();
  PolicySet set;
  PolicySelection selection{registry, set};
};

TEST_F(PolicySelectionTest, StartsWithTheFirstOfEachFamily) {
  for (const PolicyFamilyInfo& info : kPolicyFamilies) {
    EXPECT_EQ(selection.Active(info.family), registry.Of(info.family).front().name);
  }
}

TEST_F(PolicySelectionTest, SwitchesToEveryKnownPolicy) {
  for (const PolicyEntry& entry : BuiltInPolicies()) {
    EXPECT_TRUE(selection.Switch(entry.family, entry.name).ok());
    EXPECT_EQ(selection.Active(entry.family), entry.name);
    EXPECT_TRUE(selection.Switch(PolicyFamilyName(entry.family), entry.name).ok());
    const std::string assignment =
        std::string(PolicyFamilyName(entry.family)) + "=" + std::string(entry.name);
    EXPECT_TRUE(selection.SwitchByAssignment(assignment).ok());
  }
}

TEST_F(PolicySelectionTest, AnUnknownNameIsEinvalAndListsTheKnownOnes) {
  const std::string_view before = selection.Active(PolicyFamily::kResyncPacing);
  const absl::Status status = selection.Switch(PolicyFamily::kResyncPacing, "warp");
  EXPECT_EQ(ErrnoOf(status), EINVAL);
  EXPECT_TRUE(IsUsageError(status));
  EXPECT_THAT(MessageOf(status), HasSubstr("resync_pacing"));
  EXPECT_THAT(MessageOf(status), HasSubstr("'warp'"));
  EXPECT_THAT(MessageOf(status), HasSubstr(registry.Names(PolicyFamily::kResyncPacing)));
  EXPECT_EQ(selection.Active(PolicyFamily::kResyncPacing), before);
}

TEST_F(PolicySelectionTest, AnUnknownFamilyIsEinvalAndListsTheFamilies) {
  const absl::Status status = selection.Switch("pace", "unthrottled");
  EXPECT_EQ(ErrnoOf(status), EINVAL);
  EXPECT_THAT(MessageOf(status), HasSubstr("'pace'"));
  for (const PolicyFamilyInfo& info : kPolicyFamilies) {
    EXPECT_THAT(MessageOf(status), HasSubstr(std::string(info.name)));
  }
}

TEST_F(PolicySelectionTest, AnAssignmentNeedsAnEqualsSign) {
  EXPECT_THAT(MessageOf(selection.SwitchByAssignment("degraded_read")), HasSubstr("FAMILY=NAME"));
  EXPECT_THAT(MessageOf(selection.SwitchByAssignment("")), HasSubstr("FAMILY=NAME"));
  EXPECT_THAT(MessageOf(selection.SwitchByAssignment("degraded_read=")), HasSubstr("''"));
}

TEST_F(PolicySelectionTest, DescribesTheActiveOneInBrackets) {
  for (const PolicyEntry& entry : BuiltInPolicies()) {
    ASSERT_TRUE(selection.Switch(entry.family, entry.name).ok());
    std::string expected;
    for (const PolicyEntry& other : registry.Of(entry.family)) {
      const std::string name(other.name);
      expected +=
          (expected.empty() ? "" : " ") + (other.name == entry.name ? "[" + name + "]" : name);
    }
    EXPECT_EQ(selection.Describe(entry.family), expected);
  }
}

TEST_F(PolicySelectionTest, PutsWhatIsActiveIntoTheSet) {
  EXPECT_NE(set.degraded_read.Get(), nullptr);
  EXPECT_NE(set.resync_request.Get(), nullptr);
  EXPECT_NE(set.write_admission.Get(), nullptr);
  EXPECT_NE(set.parity_workers.Get(), nullptr);
  const uint64_t version = set.resync_pacing.version();
  ASSERT_TRUE(selection.Switch(kPacing, "steady").ok());
  EXPECT_EQ(WaitNs(), 7U);
  EXPECT_GT(set.resync_pacing.version(), version);
}

TEST_F(PolicySelectionTest, ASwitchToTheActivePolicyKeepsWhatItHasLearned) {
  const auto before = set.resync_pacing.Get();
  ASSERT_TRUE(selection.Switch(kPacing, selection.Active(kPacing)).ok());
  EXPECT_EQ(set.resync_pacing.Get(), before);
}

TEST_F(PolicySelectionTest, OptionsAreKeptForEachPolicy) {
  ASSERT_TRUE(selection.SetOption(kPacing, "steady", "wait_ns", 11).ok());
  ASSERT_TRUE(selection.Switch(kPacing, "steady").ok());
  EXPECT_EQ(WaitNs(), 11U);
  ASSERT_TRUE(selection.SetActiveOption(kPacing, "wait_ns", "12").ok());
  EXPECT_EQ(WaitNs(), 12U);
  ASSERT_TRUE(selection.Switch(kPacing, registry.Of(kPacing).front().name).ok());
  ASSERT_TRUE(selection.Switch(kPacing, "steady").ok());
  EXPECT_EQ(WaitNs(), 12U);
  using Pair = std::pair<std::string_view, std::string>;
  EXPECT_THAT(selection.ActiveOptions(kPacing),
              ::testing::ElementsAre(Pair("share", "0.5"), Pair("wait_ns", "12")));
}

TEST_F(PolicySelectionTest, BadOptionsChangeNothingAndSayWhatIsRight) {
  ASSERT_TRUE(selection.Switch(kPacing, "steady").ok());
  const auto is_refused = [&](const absl::Status& status, const std::string& remedy) {
    EXPECT_TRUE(IsUsageError(status));
    EXPECT_THAT(MessageOf(status), HasSubstr(remedy));
    EXPECT_EQ(WaitNs(), 7U);
  };
  is_refused(selection.SetOption(kPacing, "steady", "wait", 1), "it has share, wait_ns");
  is_refused(selection.SetOption(kPacing, "steady", "wait_ns", 0), "between 1 and 100");
  is_refused(selection.SetOption(kPacing, "steady", "wait_ns", 101), "between 1 and 100");
  is_refused(selection.SetOption(kPacing, "steady", "wait_ns", 1.5), "whole number");
  is_refused(selection.SetOption(kPacing, "steady", "share", std::nan("")), "between 0 and 1");
  is_refused(selection.SetOption(kPacing, "hasty", "share", 1), "use ");
  is_refused(selection.SetActiveOption(kPacing, "share", "half"), "'half' is not a number");
  is_refused(selection.SetActiveOption(kPacing, "share", ""), "not a number");
  is_refused(selection.SetActiveOption(PolicyFamily::kResyncRequest, "share", "1"), "it has none");
}

TEST_F(PolicySelectionTest, CanBeSwitchedAndReadFromManyThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] {
      for (int round = 0; round < 200; ++round) {
        for (const PolicyEntry& entry : BuiltInPolicies()) {
          EXPECT_TRUE(selection.Switch(entry.family, entry.name).ok());
          EXPECT_NE(registry.Find(entry.family, selection.Active(entry.family)), nullptr);
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

}  // namespace
}  // namespace mdvol
