// Tests of the registry's table.

#include "policies/registry.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <initializer_list>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/policy/resync_pacing.h"

namespace mdvol {
namespace {

TEST(PolicyRegistryTest, EveryEntryIsFoundUnderItsFamilyAndNameAndOnlyOnce) {
  std::set<std::pair<PolicyFamily, std::string_view>> seen;
  const Registry registry;
  for (const PolicyEntry& entry : BuiltInPolicies()) {
    const PolicyEntry* const found = registry.Find(entry.family, entry.name);
    ASSERT_NE(found, nullptr) << entry.name;
    EXPECT_EQ(found->summary, entry.summary);
    EXPECT_TRUE(seen.emplace(entry.family, entry.name).second) << entry.name;
    EXPECT_FALSE(entry.summary.empty()) << entry.name;
    EXPECT_EQ(entry.summary.find('\n'), std::string_view::npos) << entry.name;
  }
}

TEST(PolicyRegistryTest, FamiliesPartitionTheTableInTheirOwnOrder) {
  const Registry registry;
  const PolicyEntry* next = BuiltInPolicies().data();
  for (const PolicyFamilyInfo& info : kPolicyFamilies) {
    ASSERT_FALSE(registry.Of(info.family).empty()) << info.name;
    for (const PolicyEntry& entry : registry.Of(info.family)) {
      EXPECT_EQ(entry.family, info.family);
      EXPECT_EQ(entry.name, next->name);
      ++next;
    }
  }
  EXPECT_EQ(next, BuiltInPolicies().data() + BuiltInPolicies().size());
}

TEST(PolicyRegistryTest, EveryPolicyIsMadeOfItsStandardOptions) {
  for (const PolicyEntry& entry : BuiltInPolicies()) {
    std::vector<double> numbers;
    for (const PolicyOptionInfo& option : entry.options) {
      EXPECT_LE(option.least, option.standard) << entry.name << ' ' << option.name;
      EXPECT_LE(option.standard, option.most) << entry.name << ' ' << option.name;
      EXPECT_FALSE(std::string_view(option.what).empty());
      numbers.push_back(option.standard);
    }
    EXPECT_NE(entry.make(numbers), nullptr) << entry.name;
  }
}

TEST(PolicyRegistryTest, UnknownNamesAreNull) {
  const Registry registry;
  EXPECT_EQ(registry.Find(PolicyFamily::kDegradedRead, ""), nullptr);
  EXPECT_EQ(registry.Find(PolicyFamily::kDegradedRead, "no-such"), nullptr);
  EXPECT_EQ(registry.Find(PolicyFamily::kDegradedRead, "inline"), nullptr);  // another family's
}

TEST(PolicyRegistryTest, NamesAreListedWithCommas) {
  const Registry registry;
  for (const PolicyFamilyInfo& info : kPolicyFamilies) {
    std::string expected;
    for (const PolicyEntry& entry : registry.Of(info.family)) {
      expected += (expected.empty() ? "" : ", ") + std::string(entry.name);
    }
    EXPECT_EQ(registry.Names(info.family), expected);
  }
}

class OtherPacing final : public ResyncPacing {
 public:
  explicit OtherPacing(PolicyNumbers /*numbers*/) {}
  ResyncDecision Decide(const ResyncFacts& /*facts*/) override { return {}; }
};

TEST(PolicyRegistryTest, MoreCanBeAddedBehindTheBuiltIn) {
  Registry registry;
  const auto before = registry.Of(PolicyFamily::kResyncPacing).size();
  ASSERT_TRUE(registry.Add(Entry<OtherPacing>("other", "for the test")).ok());
  EXPECT_EQ(registry.Of(PolicyFamily::kResyncPacing).size(), before + 1);
  EXPECT_EQ(registry.Of(PolicyFamily::kResyncPacing).back().name, "other");
  EXPECT_EQ(ErrnoOf(registry.Add(Entry<OtherPacing>("other", "again"))), EEXIST);
  const auto first = registry.Of(PolicyFamily::kResyncPacing).front().name;
  EXPECT_EQ(ErrnoOf(registry.Add(Entry<OtherPacing>(first, "in disguise"))), EEXIST);
}

TEST(PolicyRegistryTest, WhatIsMalformedIsNotAdded) {
  Registry registry;
  for (const char* const name : {"", "two words", "a/b", "line\nfeed"}) {
    EXPECT_TRUE(IsUsageError(registry.Add(Entry<OtherPacing>(name, "x")))) << name;
  }
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  for (const PolicyOptionInfo& option :
       std::initializer_list<PolicyOptionInfo>{{nullptr, 0, 0, 1, false, "x"},
                                               {"", 0, 0, 1, false, "x"},
                                               {"Big", 0, 0, 1, false, "x"},
                                               {"a", 2, 0, 1, false, "x"},
                                               {"a", 0, 0, kNone, false, "x"},
                                               {"a", kNone, 0, 1, false, "x"},
                                               {"a", 0, 0, 1, false, nullptr}}) {
    EXPECT_TRUE(IsUsageError(registry.Add(Entry<OtherPacing>("mine", "x", {&option, 1}))));
  }
  PolicyEntry no_maker = Entry<OtherPacing>("mine", "x");
  no_maker.make = nullptr;
  EXPECT_TRUE(IsUsageError(registry.Add(no_maker)));
  EXPECT_EQ(registry.Find(PolicyFamily::kResyncPacing, "mine"), nullptr);
}

}  // namespace
}  // namespace mdvol
