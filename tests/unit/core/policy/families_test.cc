// Tests of the table of families.

#include "core/policy/families.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace mdvol {
namespace {

TEST(PolicyFamiliesTest, AreTheirOwnIndexAndCanBeFoundByName) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < kPolicyFamilies.size(); ++i) {
    const PolicyFamilyInfo& info = kPolicyFamilies[i];
    EXPECT_EQ(IndexOf(info.family), i);
    EXPECT_EQ(PolicyFamilyName(info.family), info.name);
    EXPECT_EQ(FindPolicyFamily(info.name), info.family);
    EXPECT_FALSE(info.decides.empty());
    names.insert(info.name);
  }
  EXPECT_EQ(names.size(), kPolicyFamilyCount);
}

TEST(PolicyFamiliesTest, HaveTheNamesOfTheConfiguration) {
  EXPECT_EQ(FindPolicyFamily("degraded_read"), PolicyFamily::kDegradedRead);
  EXPECT_EQ(FindPolicyFamily("resync_pacing"), PolicyFamily::kResyncPacing);
  EXPECT_EQ(FindPolicyFamily("resync_request"), PolicyFamily::kResyncRequest);
  EXPECT_EQ(FindPolicyFamily("write_admission"), PolicyFamily::kWriteAdmission);
  EXPECT_EQ(FindPolicyFamily("parity_workers"), PolicyFamily::kParityWorkers);
}

TEST(PolicyFamiliesTest, OtherNamesAreUnknown) {
  for (const std::string_view name :
       {"", "degraded", "degraded_read ", "Degraded_Read", "plugins"}) {
    EXPECT_EQ(FindPolicyFamily(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace mdvol
