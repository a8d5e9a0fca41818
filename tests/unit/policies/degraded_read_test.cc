// The degraded_read policies: made-up facts in, decisions out.

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "policies/adaptive_reads.h"
#include "policies/bypass.h"
#include "policies/stripe_cache_reads.h"

namespace mdvol {
namespace {

constexpr uint64_t kChunk = 128 * 1024;
constexpr uint64_t kMs = 1000000;

AdaptiveReads Adaptive() {
  std::vector<double> numbers;
  for (const PolicyOptionInfo& option : AdaptiveReads::kOptions) {
    numbers.push_back(option.standard);
  }
  return AdaptiveReads(numbers);
}

// A 4 KiB read that continues a stream in a stripe of the report's array with chunk 3 lost.
DegradedReadFacts StreamFacts() {
  return {.now_ns = 1000 * kMs,
          .raid_disks = 10,
          .chunk_bytes = kChunk,
          .degraded = 1,
          .lost_chunks = 1,
          .first_lost = 3,
          .last_lost = 3,
          .first_chunk = 0,
          .last_chunk = 0,
          .part_bytes = 4096,
          .run_requests = 100,
          .run_bytes = 100 * 4096,
          .run_gap_ns = kMs,
          .active_runs = 1,
          .cache_lanes = 4096};
}

bool IsPlain(const DegradedReadDecision& decision) {
  return !decision.keep && !decision.apart && !decision.all_survivors;
}

TEST(BypassReadsTest, TakesEachChunkByItselfAndAllSurvivorsForALostOne) {
  BypassReads policy{PolicyNumbers{}};
  const DegradedReadDecision decision = policy.Decide(StreamFacts());
  EXPECT_TRUE(decision.apart);
  EXPECT_TRUE(decision.all_survivors);
  EXPECT_FALSE(decision.keep);
}

TEST(StripeCacheReadsTest, KeepsEverythingAndReadsNothingAhead) {
  StripeCacheReads policy{PolicyNumbers{}};
  DegradedReadFacts facts = StreamFacts();
  for (const uint32_t lost : {0u, 1u}) {
    facts.lost_chunks = lost;
    const DegradedReadDecision decision = policy.Decide(facts);
    EXPECT_TRUE(decision.keep);
    EXPECT_TRUE(decision.all_survivors);
    EXPECT_EQ(decision.ahead_bytes, 0u);
    EXPECT_EQ(decision.retention_ns, 0u);
    EXPECT_FALSE(decision.until_delivered);
  }
}

TEST(AdaptiveReadsTest, AStreamAheadOfALostChunkReadsTheStripeAhead) {
  AdaptiveReads policy = Adaptive();
  for (const uint32_t chunk : {0u, 2u, 3u}) {
    DegradedReadFacts facts = StreamFacts();
    facts.first_chunk = facts.last_chunk = chunk;
    const DegradedReadDecision decision = policy.Decide(facts);
    EXPECT_TRUE(decision.keep);
    EXPECT_TRUE(decision.until_delivered);
    EXPECT_FALSE(decision.all_survivors);
    EXPECT_EQ(decision.ahead_bytes, 512u * 1024);
    EXPECT_TRUE(decision.next_stripe);
    EXPECT_EQ(decision.retention_ns, 100 * kMs);
  }
}

TEST(AdaptiveReadsTest, BehindTheLastLostChunkOnlyWhatIsKeptIsUsed) {
  AdaptiveReads policy = Adaptive();
  DegradedReadFacts facts = StreamFacts();
  facts.first_chunk = facts.last_chunk = 4;
  EXPECT_TRUE(policy.Decide(facts).keep);
  EXPECT_EQ(policy.Decide(facts).ahead_bytes, 0u);
  facts.lost_chunks = 2;
  facts.last_lost = 6;
  EXPECT_NE(policy.Decide(facts).ahead_bytes, 0u);
}

TEST(AdaptiveReadsTest, WhatHasLostNoDataIsReadStraight) {
  AdaptiveReads policy = Adaptive();
  DegradedReadFacts facts = StreamFacts();
  facts.lost_chunks = 0;
  EXPECT_TRUE(IsPlain(policy.Decide(facts)));
}

TEST(AdaptiveReadsTest, AReadAtRandomTakesWhatItMust) {
  AdaptiveReads policy = Adaptive();
  DegradedReadFacts facts = StreamFacts();
  facts.run_requests = 0;
  facts.run_bytes = 0;
  for (const bool wants_lost : {false, true}) {
    facts.wants_lost = wants_lost;
    EXPECT_TRUE(IsPlain(policy.Decide(facts)));
  }
}

TEST(AdaptiveReadsTest, TwoReadsInARowAreKeptEightSmallOnesOrThreeLargeOnesAreAStream) {
  AdaptiveReads policy = Adaptive();
  DegradedReadFacts facts = StreamFacts();
  facts.run_requests = 2;
  facts.run_bytes = 2 * 4096;
  EXPECT_TRUE(policy.Decide(facts).keep);
  EXPECT_EQ(policy.Decide(facts).ahead_bytes, 0u);
  facts.run_requests = 7;
  EXPECT_EQ(policy.Decide(facts).ahead_bytes, 0u);
  facts.run_requests = 8;
  EXPECT_NE(policy.Decide(facts).ahead_bytes, 0u);
  facts.run_requests = 3;
  facts.run_bytes = 3 * 128 * 1024;
  EXPECT_NE(policy.Decide(facts).ahead_bytes, 0u);
  facts.run_gap_ns = 100 * kMs;
  EXPECT_TRUE(IsPlain(policy.Decide(facts))) << "what was kept is gone by then";
}

TEST(AdaptiveReadsTest, AWholeStripeNeedsNoCache) {
  AdaptiveReads policy = Adaptive();
  DegradedReadFacts facts = StreamFacts();
  facts.last_chunk = 7;
  facts.part_bytes = 8 * kChunk;
  EXPECT_TRUE(IsPlain(policy.Decide(facts)));
  facts.part_bytes -= 4096;
  EXPECT_TRUE(policy.Decide(facts).keep);
}

TEST(AdaptiveReadsTest, WithoutRoomForThreeStripesOfEachStreamNothingIsKept) {
  AdaptiveReads policy = Adaptive();
  DegradedReadFacts facts = StreamFacts();
  facts.cache_lanes = 95;
  EXPECT_TRUE(IsPlain(policy.Decide(facts)));
  facts.cache_lanes = 96;
  EXPECT_TRUE(policy.Decide(facts).keep);
  facts.active_runs = 2;
  EXPECT_TRUE(IsPlain(policy.Decide(facts)));
}

TEST(AdaptiveReadsTest, GoesByItsOptions) {
  const std::vector<double> numbers = {20, 64, 9};
  AdaptiveReads policy(numbers);
  DegradedReadFacts facts = StreamFacts();
  EXPECT_EQ(policy.Decide(facts).ahead_bytes, 64u * 1024);
  EXPECT_EQ(policy.Decide(facts).retention_ns, 20 * kMs);
  facts.run_requests = 8;
  facts.run_bytes = 8 * 4096;
  EXPECT_EQ(policy.Decide(facts).ahead_bytes, 0u);
  facts.run_requests = 9;
  EXPECT_NE(policy.Decide(facts).ahead_bytes, 0u);
  facts.run_gap_ns = 20 * kMs;
  EXPECT_TRUE(IsPlain(policy.Decide(facts)));
}

}  // namespace
}  // namespace mdvol
