// What is active, and which version that is.

#include "core/policy/policy_slot.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace mdvol {
namespace {

TEST(PolicySlotTest, IsEmptyUntilAPolicyIsSet) {
  PolicySlot<int> slot;
  EXPECT_EQ(slot.Get(), nullptr);
  EXPECT_EQ(slot.GetVersioned().policy, nullptr);
  EXPECT_EQ(slot.GetVersioned().version, slot.version());
}

TEST(PolicySlotTest, ASetReplacesThePolicyAndLetsGoOfTheOldOne) {
  PolicySlot<int> slot;
  const auto first = std::make_shared<int>(1);
  slot.Set(first);
  const uint64_t version = slot.version();
  slot.Set(std::make_shared<int>(2));
  EXPECT_EQ(*slot.Get(), 2);
  EXPECT_GT(slot.version(), version);
  EXPECT_EQ(slot.GetVersioned().version, slot.version());
  EXPECT_EQ(first.use_count(), 1);
}

// The policies are numbered as their versions.
TEST(PolicySlotTest, APolicyComesWithItsOwnVersionWhileOthersAreSet) {
  constexpr uint64_t kSets = 300'000;
  PolicySlot<uint64_t> slot;
  const uint64_t none = slot.version();
  slot.Set(std::make_shared<uint64_t>(none + 1));
  std::thread setter([&slot, none] {
    for (uint64_t i = 2; i <= kSets; ++i) {
      slot.Set(std::make_shared<uint64_t>(none + i));
    }
  });
  std::atomic<uint64_t> strangers{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&slot, &strangers, none] {
      for (uint64_t seen = 0; seen != none + kSets;) {
        const auto [policy, version] = slot.GetVersioned();
        seen = *policy;
        strangers.fetch_add(version == seen ? 0 : 1);
      }
    });
  }
  setter.join();
  for (std::thread& reader : readers) {
    reader.join();
  }
  EXPECT_EQ(strangers.load(), 0U);
}

}  // namespace
}  // namespace mdvol
