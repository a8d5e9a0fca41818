// What the kernels' two policies of write admission give out, for all lengths of the queue.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "policies/deadline_6_6.h"
#include "policies/unlimited.h"

namespace mdvol {
namespace {

TEST(UnlimitedWritesTest, WritesHaveAllSlotsWhoeverReads) {
  UnlimitedWrites policy(std::vector<double>{256, 254});
  WriteAdmissionFacts facts;
  for (const uint32_t reads : {0U, 1U, 64U}) {
    facts.reads_in_flight = reads;
    facts.since_read_ns = 0;
    const WriteAdmissionDecision decision = policy.Decide(facts);
    EXPECT_EQ(decision.most_writes, 256U);
    EXPECT_EQ(decision.most_in_flight, 254U);
    EXPECT_EQ(decision.most_bytes, UINT64_MAX);
    EXPECT_FALSE(decision.waiters_join);
    EXPECT_EQ(decision.wake_batch, 8U);
  }
}

// The report's device: 256 tags in four words of 64, 48 of each.
TEST(Deadline66Test, AQuarterIsKeptFromWritesWhetherAnybodyReadsOrNot) {
  Deadline66 policy(std::vector<double>{256, 254});
  const WriteAdmissionDecision decision = policy.Decide({});
  EXPECT_EQ(decision.most_writes, 192U);
  EXPECT_EQ(decision.most_in_flight, 254U);
  EXPECT_FALSE(decision.waiters_join);
  EXPECT_EQ(decision.wake_batch, 8U);
}

TEST(Deadline66Test, WordsShrinkUntilFourOfThemAreNoMoreThanTheTags) {
  EXPECT_EQ(TagWordShift(1024), 6U);
  EXPECT_EQ(TagWordShift(256), 6U);
  EXPECT_EQ(TagWordShift(255), 5U);
  EXPECT_EQ(TagWordShift(128), 5U);
  EXPECT_EQ(TagWordShift(127), 4U);
  EXPECT_EQ(TagWordShift(4), 0U);
  EXPECT_EQ(TagWordShift(3), 6U);
}

TEST(Deadline66Test, EachWordGivesThreeQuartersAndTheLastWhatItHas) {
  EXPECT_EQ(AsyncTags(128), 96U);
  EXPECT_EQ(AsyncTags(260), 4 * 48U + 4);
  EXPECT_EQ(AsyncTags(310), 4 * 48U + 48);
  EXPECT_EQ(AsyncTags(64), 48U);
  EXPECT_EQ(AsyncTags(65), 49U);
  EXPECT_EQ(AsyncTags(4), 4U);
  EXPECT_EQ(AsyncTags(1), 1U);
}

// Tag by tag: those whose bit lies in the first three quarters of its word.
TEST(Deadline66Test, TheSumIsThatOfItsBits) {
  for (uint32_t tags = 1; tags <= 1024; ++tags) {
    const uint32_t word = 1U << TagWordShift(tags);
    uint32_t open = 0;
    for (uint32_t tag = 0; tag < tags; ++tag) {
      open += tag % word < std::max(1U, 3 * word / 4) ? 1U : 0U;
    }
    EXPECT_EQ(AsyncTags(tags), open) << tags;
    EXPECT_GE(open, 1U);
    EXPECT_LE(open, tags);
  }
}

TEST(SchedulerQueueTest, AnEighthOfTheSlotsIsWokenAtOnceEightAtMost) {
  for (uint32_t slots = 1; slots <= 1024; ++slots) {
    EXPECT_EQ(WakeBatch(slots), std::max(1U, std::min(8U, slots / 8)));
  }
}

}  // namespace
}  // namespace mdvol
