// resync_request in the engine: requests begin where the policy says, and whatever it says, what is
// found, mended and rebuilt is the same.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "gtest/gtest.h"
#include "tests/support/seed.h"
#include "tests/support/stripes/stripe_rig.h"

namespace mdvol {
namespace {

using testing::Prng;
using testing::RigOptions;
using testing::StripeRig;
using testing::TestSeed;

constexpr uint64_t kChunk = 4 * kLaneBytes;

class EveryBytes final : public ResyncRequest {
 public:
  explicit EveryBytes(uint64_t step_bytes) : step_bytes_(step_bytes) {}
  void Cut(const ResyncRequestFacts& facts, std::span<RequestCuts> cuts) const override {
    EXPECT_EQ(facts.members, cuts.size());
    for (RequestCuts& of_member : cuts) {
      for (uint64_t at = 0; at < facts.bytes_per_member; at += step_bytes_) {
        of_member.push_back(at);
      }
    }
  }

 private:
  const uint64_t step_bytes_;
};

// In no order, twice, between lanes, beyond the end.
class Anywhere final : public ResyncRequest {
 public:
  explicit Anywhere(uint64_t seed) : prng_(seed) {}
  void Cut(const ResyncRequestFacts& facts, std::span<RequestCuts> cuts) const override {
    for (RequestCuts& of_member : cuts) {
      for (uint64_t i = prng_.Below(20); i > 0; --i) {
        of_member.push_back(prng_.Below(8) == 0 ? ~uint64_t{0} - prng_.Below(5000)
                                                : prng_.Below(2 * facts.bytes_per_member));
      }
    }
  }

 private:
  mutable Prng prng_;
};

RigOptions Options(uint64_t seed) {
  return {.members = 6, .chunk_bytes = kChunk, .stripes = 8, .seed = seed};
}

// Now and then with chunks that take more than one window each.
RigOptions RandomOptions(uint64_t seed) {
  return seed % 10 == 0
             ? RigOptions{.members = 5, .chunk_bytes = 2 * kMiB, .stripes = 1, .seed = seed}
             : Options(seed);
}

SyncFindings Check(StripeRig& rig) {
  SyncFindings findings;
  EXPECT_EQ(
      rig.engine().CheckStripes(rig.view(), 0, rig.geometry().stripe_count(), &findings).error, 0);
  return findings;
}

TEST(RequestCutsTest, WithNoPolicyAMemberGetsOneRequest) {
  StripeRig rig(Options(1));
  rig.TakeTraffic();
  Check(rig);
  const auto traffic = rig.TakeTraffic();
  EXPECT_EQ(traffic.reads, 6U);
  EXPECT_EQ(traffic.read_bytes, 6 * 8 * kChunk);
}

TEST(RequestCutsTest, RequestsBeginWhereThePolicySays) {
  for (const uint64_t step : {kLaneBytes, 2 * kLaneBytes, 3 * kLaneBytes, 3 * kChunk}) {
    StripeRig rig(Options(1));
    rig.policies().resync_request.Set(std::make_shared<EveryBytes>(step));
    rig.TakeTraffic();
    Check(rig);
    const auto traffic = rig.TakeTraffic();
    EXPECT_EQ(traffic.reads, 6 * ((8 * kChunk + step - 1) / step)) << step;
    EXPECT_EQ(traffic.read_bytes, 6 * 8 * kChunk);
  }
}

TEST(RequestCutsTest, WhateverThePolicySaysTheSameIsFoundMendedAndRebuilt) {
  const uint64_t seed =
      TestSeed("RequestCutsTest.WhateverThePolicySaysTheSameIsFoundMendedAndRebuilt");
  for (uint64_t round = 0; round < 50; ++round) {
    StripeRig rig(RandomOptions(seed + round));
    const uint64_t component = rig.geometry().component_bytes();
    const uint64_t stripes = rig.geometry().stripe_count();
    rig.policies().resync_request.Set(std::make_shared<Anywhere>(seed + round));
    Prng prng(seed + round);
    const uint64_t wrong_at = prng.Below(component);
    const auto slot = static_cast<uint32_t>(prng.Below(rig.geometry().raid_disks()));
    rig.FlipBit(slot, wrong_at);
    SyncFindings findings;
    EXPECT_EQ(
        rig.engine().RepairStripes(rig.view(), 0, stripes, RepairMode::kLocate, &findings).error,
        0);
    ASSERT_EQ(findings.wrong.size(), 1U);
    EXPECT_EQ(findings.wrong[0].slot, slot);
    EXPECT_TRUE(findings.wrong[0].repaired);
    EXPECT_TRUE(rig.MembersAgree());
    EXPECT_EQ(Check(rig).mismatch_sectors, 0U);
  }
}

TEST(RequestCutsTest, RebuildsTheSameWhateverThePolicySays) {
  const uint64_t seed = TestSeed("RequestCutsTest.RebuildsTheSameWhateverThePolicySays");
  for (uint64_t round = 0; round < 50; ++round) {
    StripeRig rig(RandomOptions(seed + round));
    const uint64_t component = rig.geometry().component_bytes();
    const uint64_t stripes = rig.geometry().stripe_count();
    rig.policies().resync_request.Set(std::make_shared<Anywhere>(seed + round));
    const auto slot = static_cast<uint32_t>(Prng(seed + round).Below(rig.geometry().raid_disks()));
    MemberDevice* const device = rig.view().slots[slot].device;
    const uint64_t data_offset = rig.view().slots[slot].data_offset_bytes;
    rig.BeginRecovery(slot, 0);
    RecoverResult recovered;
    const RecoverTarget target{.slot = slot, .device = device, .data_offset_bytes = data_offset};
    rig.engine().MembersChanged(rig.view());
    EXPECT_EQ(
        rig.engine().RecoverStripes(rig.view(), 0, stripes, {&target, 1}, &recovered, {}).error, 0);
    EXPECT_TRUE(recovered.target_errors.empty());
    rig.view().slots[slot].valid_bytes = component;
    EXPECT_TRUE(rig.MembersAgree());
  }
}

}  // namespace
}  // namespace mdvol
