// Tests of the registry's table.

#include "policies/registry.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

namespace mdvol {
namespace {

TEST(PolicyRegistryTest, EveryEntryIsFoundUnderItsFamilyAndNameAndOnlyOnce) {
  std::set<std::pair<PolicyFamily, std::string_view>> seen;
  for (const PolicyEntry& entry : AllPolicies()) {
    EXPECT_EQ(FindPolicy(entry.family, entry.name), &entry);
    EXPECT_TRUE(seen.emplace(entry.family, entry.name).second) << entry.name;
    EXPECT_FALSE(entry.summary.empty()) << entry.name;
    EXPECT_EQ(entry.summary.find('\n'), std::string_view::npos) << entry.name;
  }
}

TEST(PolicyRegistryTest, FamiliesPartitionTheTableInTheirOwnOrder) {
  const PolicyEntry* next = AllPolicies().data();
  for (const PolicyFamilyInfo& info : kPolicyFamilies) {
    const auto entries = PoliciesOf(info.family);
    ASSERT_FALSE(entries.empty()) << info.name;
    EXPECT_EQ(entries.data(), next) << info.name;
    for (const PolicyEntry& entry : entries) {
      EXPECT_EQ(entry.family, info.family);
    }
    next += entries.size();
  }
  EXPECT_EQ(next, AllPolicies().data() + AllPolicies().size());
}

TEST(PolicyRegistryTest, UnknownNamesAreNull) {
  EXPECT_EQ(FindPolicy(PolicyFamily::kDegradedRead, ""), nullptr);
  EXPECT_EQ(FindPolicy(PolicyFamily::kDegradedRead, "no-such"), nullptr);
  EXPECT_EQ(FindPolicy(PolicyFamily::kDegradedRead, "inline"), nullptr);  // another family's
}

TEST(PolicyRegistryTest, NamesAreListedWithCommas) {
  for (const PolicyFamilyInfo& info : kPolicyFamilies) {
    std::string expected;
    for (const PolicyEntry& entry : PoliciesOf(info.family)) {
      expected += (expected.empty() ? "" : ", ") + std::string(entry.name);
    }
    EXPECT_EQ(PolicyNames(info.family), expected);
  }
}

}  // namespace
}  // namespace mdvol
