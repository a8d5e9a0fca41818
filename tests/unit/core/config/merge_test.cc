// Tests of laying the command line over a file.

#include "core/config/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/base/status.h"

namespace mdvol {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Every value said, each different from `salt` to `salt`.
Config FullConfig(uint32_t salt) {
  const std::string text = std::to_string(salt);
  Config config;
  config.array = {{"m" + text}, salt % 2 == 0, salt % 2 == 0, salt % 2 == 0};
  config.volume = {"n" + text, salt, salt + 1, salt + 2, salt % 2 == 0};
  config.io = {salt % 2 == 0 ? IoBackend::kSync : IoBackend::kUring, salt % 2 == 0, salt};
  config.cache = {salt};
  for (auto& choice : config.policy.choices) {
    choice = PolicyChoice{"p" + text, "w" + text};
  }
  config.policy.plugins = {"so" + text};
  config.policy.options = {{PolicyFamily::kResyncPacing, "x", "k", int64_t{salt}, ""}};
  config.sync = {salt, salt + 1, salt + 2,
                 salt % 2 == 0 ? RepairMode::kLocate : RepairMode::kParity};
  config.member_model = {std::nullopt, salt, salt + 1, salt + 2, salt + 3};
  config.faults = {{"f" + text, "", {}}};
  return config;
}

void ExpectSame(const Config& a, const Config& b) {
  EXPECT_EQ(a.array.members, b.array.members);
  EXPECT_EQ(a.array.read_only, b.array.read_only);
  EXPECT_EQ(a.array.force, b.array.force);
  EXPECT_EQ(a.array.run, b.array.run);
  EXPECT_EQ(a.volume.name, b.volume.name);
  EXPECT_EQ(a.volume.uid, b.volume.uid);
  EXPECT_EQ(a.volume.gid, b.volume.gid);
  EXPECT_EQ(a.volume.mode, b.volume.mode);
  EXPECT_EQ(a.volume.writeback, b.volume.writeback);
  EXPECT_EQ(a.io.backend, b.io.backend);
  EXPECT_EQ(a.io.direct, b.io.direct);
  EXPECT_EQ(a.io.threads, b.io.threads);
  EXPECT_EQ(a.cache.stripe_cache_size, b.cache.stripe_cache_size);
  for (size_t i = 0; i < kPolicyFamilyCount; ++i) {
    ASSERT_EQ(a.policy.choices[i].has_value(), b.policy.choices[i].has_value());
    if (a.policy.choices[i].has_value()) {
      EXPECT_EQ(a.policy.choices[i]->name, b.policy.choices[i]->name);
      EXPECT_EQ(a.policy.choices[i]->where, b.policy.choices[i]->where);
    }
  }
  EXPECT_EQ(a.policy.plugins, b.policy.plugins);
  ASSERT_EQ(a.policy.options.size(), b.policy.options.size());
  for (size_t i = 0; i < a.policy.options.size(); ++i) {
    EXPECT_EQ(a.policy.options[i].value, b.policy.options[i].value);
  }
  EXPECT_EQ(a.sync.speed_min_bytes, b.sync.speed_min_bytes);
  EXPECT_EQ(a.sync.speed_max_bytes, b.sync.speed_max_bytes);
  EXPECT_EQ(a.sync.checkpoint_interval_ms, b.sync.checkpoint_interval_ms);
  EXPECT_EQ(a.sync.repair, b.sync.repair);
  EXPECT_EQ(a.member_model.kind, b.member_model.kind);
  EXPECT_EQ(a.member_model.latency_us, b.member_model.latency_us);
  EXPECT_EQ(a.member_model.seek_us, b.member_model.seek_us);
  EXPECT_EQ(a.member_model.bandwidth_bytes, b.member_model.bandwidth_bytes);
  EXPECT_EQ(a.member_model.parallelism, b.member_model.parallelism);
  ASSERT_EQ(a.faults.size(), b.faults.size());
  for (size_t i = 0; i < a.faults.size(); ++i) {
    EXPECT_EQ(a.faults[i].member, b.faults[i].member);
  }
}

TEST(MergeConfigTest, NothingSaidChangesNothing) {
  ExpectSame(MergeConfig(FullConfig(10), Config{}), FullConfig(10));
}

TEST(MergeConfigTest, EverythingSaidReplacesEverything) {
  ExpectSame(MergeConfig(FullConfig(10), FullConfig(21)), FullConfig(21));
  ExpectSame(MergeConfig(Config{}, FullConfig(21)), FullConfig(21));
}

TEST(MergeConfigTest, PoliciesAreOverriddenPerFamily) {
  Config overrides;
  overrides.policy.choices[IndexOf(PolicyFamily::kParityWorkers)] = PolicyChoice{"new", "--policy"};
  const Config merged = MergeConfig(FullConfig(10), overrides);
  EXPECT_EQ(merged.policy.choices[IndexOf(PolicyFamily::kParityWorkers)]->name, "new");
  EXPECT_EQ(merged.policy.choices[IndexOf(PolicyFamily::kDegradedRead)]->name, "p10");
}

TEST(MergeConfigTest, PolicyOptionsAreOverriddenPerKey) {
  Config overrides;
  overrides.policy.options = {{PolicyFamily::kResyncPacing, "x", "other", int64_t{1}, ""},
                              {PolicyFamily::kResyncPacing, "y", "k", int64_t{2}, ""},
                              {PolicyFamily::kDegradedRead, "x", "k", int64_t{3}, ""},
                              {PolicyFamily::kResyncPacing, "x", "k", int64_t{4}, ""}};
  const Config merged = MergeConfig(FullConfig(10), overrides);
  ASSERT_EQ(merged.policy.options.size(), 4U);
  EXPECT_EQ(merged.policy.options[0].value, PolicyOptionValue(int64_t{4}));
}

TEST(MergeConfigTest, AModelIsReplacedAsAWhole) {
  Config overrides;
  overrides.member_model.kind = MemberModelKind::kHdd;
  Config merged = MergeConfig(FullConfig(10), overrides);
  EXPECT_EQ(merged.member_model.kind, MemberModelKind::kHdd);
  EXPECT_EQ(merged.member_model.latency_us, std::nullopt);
  overrides.member_model = {};
  overrides.member_model.seek_us = 7;
  merged = MergeConfig(std::move(merged), overrides);
  EXPECT_EQ(merged.member_model.kind, std::nullopt);
  EXPECT_EQ(merged.member_model.seek_us, 7U);
}

TEST(CheckConfigTest, NeedsMembers) {
  EXPECT_TRUE(CheckConfig(FullConfig(1)).ok());
  const absl::Status status = CheckConfig(Config{});
  EXPECT_TRUE(IsUsageError(status));
  EXPECT_THAT(MessageOf(status), HasSubstr("no members"));
}

}  // namespace
}  // namespace mdvol
