// Tests of the active choice of policies.

#include "policies/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <thread>
#include <vector>

#include "core/base/status.h"

namespace mdvol {
namespace {

using ::testing::HasSubstr;

TEST(PolicySelectionTest, StartsWithTheFirstOfEachFamily) {
  const PolicySelection selection;
  for (const PolicyFamilyInfo& info : kPolicyFamilies) {
    EXPECT_EQ(selection.Active(info.family), PoliciesOf(info.family).front().name);
  }
}

TEST(PolicySelectionTest, SwitchesToEveryKnownPolicy) {
  PolicySelection selection;
  for (const PolicyEntry& entry : AllPolicies()) {
    EXPECT_TRUE(selection.Switch(entry.family, entry.name).ok());
    EXPECT_EQ(selection.Active(entry.family), entry.name);
    EXPECT_TRUE(selection.Switch(PolicyFamilyName(entry.family), entry.name).ok());
    const std::string assignment =
        std::string(PolicyFamilyName(entry.family)) + "=" + std::string(entry.name);
    EXPECT_TRUE(selection.SwitchByAssignment(assignment).ok());
  }
}

TEST(PolicySelectionTest, AnUnknownNameIsEinvalAndListsTheKnownOnes) {
  PolicySelection selection;
  const std::string_view before = selection.Active(PolicyFamily::kResyncPacing);
  const absl::Status status = selection.Switch(PolicyFamily::kResyncPacing, "warp");
  EXPECT_EQ(ErrnoOf(status), EINVAL);
  EXPECT_TRUE(IsUsageError(status));
  EXPECT_THAT(MessageOf(status), HasSubstr("resync_pacing"));
  EXPECT_THAT(MessageOf(status), HasSubstr("'warp'"));
  EXPECT_THAT(MessageOf(status), HasSubstr(PolicyNames(PolicyFamily::kResyncPacing)));
  EXPECT_EQ(selection.Active(PolicyFamily::kResyncPacing), before);
}

TEST(PolicySelectionTest, AnUnknownFamilyIsEinvalAndListsTheFamilies) {
  PolicySelection selection;
  const absl::Status status = selection.Switch("pace", "unthrottled");
  EXPECT_EQ(ErrnoOf(status), EINVAL);
  EXPECT_THAT(MessageOf(status), HasSubstr("'pace'"));
  for (const PolicyFamilyInfo& info : kPolicyFamilies) {
    EXPECT_THAT(MessageOf(status), HasSubstr(std::string(info.name)));
  }
}

TEST(PolicySelectionTest, AnAssignmentNeedsAnEqualsSign) {
  PolicySelection selection;
  EXPECT_THAT(MessageOf(selection.SwitchByAssignment("degraded_read")), HasSubstr("FAMILY=NAME"));
  EXPECT_THAT(MessageOf(selection.SwitchByAssignment("")), HasSubstr("FAMILY=NAME"));
  EXPECT_THAT(MessageOf(selection.SwitchByAssignment("degraded_read=")), HasSubstr("''"));
}

TEST(PolicySelectionTest, DescribesTheActiveOneInBrackets) {
  PolicySelection selection;
  for (const PolicyEntry& entry : AllPolicies()) {
    ASSERT_TRUE(selection.Switch(entry.family, entry.name).ok());
    std::string expected;
    for (const PolicyEntry& other : PoliciesOf(entry.family)) {
      const std::string name(other.name);
      expected +=
          (expected.empty() ? "" : " ") + (other.name == entry.name ? "[" + name + "]" : name);
    }
    EXPECT_EQ(selection.Describe(entry.family), expected);
  }
}

TEST(PolicySelectionTest, CanBeSwitchedAndReadFromManyThreads) {
  PolicySelection selection;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&selection] {
      for (int round = 0; round < 200; ++round) {
        for (const PolicyEntry& entry : AllPolicies()) {
          EXPECT_TRUE(selection.Switch(entry.family, entry.name).ok());
          EXPECT_NE(FindPolicy(entry.family, selection.Active(entry.family)), nullptr);
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
