// The policy of examples/plugin, as a plugin: its turns, and the two speeds that it keeps to.

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "core/policy/resync_pacing.h"
#include "policies/plugin_loader.h"

namespace mdvol {
namespace {

constexpr uint64_t kMs = 1000000;

class TurnsPolicyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const absl::Status status = LoadPlugin(MDVOL_TURNS_PLUGIN, registry_);
    ASSERT_TRUE(status.ok()) << status;
    const PolicyEntry* const entry = registry_.Find(PolicyFamily::kResyncPacing, "turns");
    ASSERT_NE(entry, nullptr);
    const std::vector<double> numbers = {100, 300};
    policy_ = entry->make(numbers);
  }

  // At this time, with so many bytes of the second since the mark.
  uint64_t WaitMs(uint64_t now_ms, uint64_t bytes_since_mark) {
    ResyncFacts facts;
    facts.now_ns = now_ms * kMs;
    facts.mark_ns = facts.now_ns - 1000 * kMs;
    facts.bytes_since_mark = bytes_since_mark;
    facts.speed_min = 1000;
    facts.speed_max = 2000;
    return static_cast<ResyncPacing&>(*policy_).Decide(facts).wait_ns / kMs;
  }

  Registry registry_;
  std::unique_ptr<Policy> policy_;
};

TEST_F(TurnsPolicyTest, WorksThenRests) {
  EXPECT_EQ(WaitMs(4000, 1500), 0U);
  EXPECT_EQ(WaitMs(4099, 1500), 0U);
  EXPECT_EQ(WaitMs(4100, 1500), 300U);
  EXPECT_EQ(WaitMs(4399, 1500), 1U);
  EXPECT_EQ(WaitMs(4400, 1500), 0U);
}

TEST_F(TurnsPolicyTest, BelowTheLeastSpeedThereIsNoRest) {
  EXPECT_EQ(WaitMs(4200, 999), 0U);
  EXPECT_EQ(WaitMs(4200, 1001), 200U);
}

TEST_F(TurnsPolicyTest, AboveTheHighestItWaitsInItsOwnTurnToo) {
  EXPECT_EQ(WaitMs(4000, 2000), 0U);
  EXPECT_EQ(WaitMs(4000, 3000), 500U);
  EXPECT_EQ(WaitMs(4200, 3000), 500U);
}

}  // namespace
}  // namespace mdvol
