// What "adaptive" decides, with facts that are made up, and steered against a model of a disk.

#include "policies/adaptive_writes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace mdvol {
namespace {

constexpr uint64_t kUs = 1000;
constexpr uint64_t kMs = 1000 * kUs;
constexpr uint64_t kLane = 4096;
constexpr uint64_t kNow = 1'000'000 * kMs;

std::vector<double> Standard() {
  std::vector<double> numbers;
  for (const PolicyOptionInfo& option : AdaptiveWrites::kOptions) {
    numbers.push_back(option.standard);
  }
  return numbers;
}

class AdaptiveWritesTest : public ::testing::Test {
 protected:
  // A reader at work who takes `least` alone.
  static WriteAdmissionFacts Reader(uint64_t least_ns, uint64_t note) {
    WriteAdmissionFacts facts;
    facts.now_ns = kNow;
    facts.reads_in_flight = 1;
    facts.since_read_ns = 0;
    facts.least_read_ns = least_ns;
    facts.since_learn_ns = 0;
    facts.note = note;
    return facts;
  }

  // One who comes to a member of which nothing is known yet.
  static WriteAdmissionFacts FirstReader() {
    WriteAdmissionFacts facts = Reader(0, 0);
    facts.since_learn_ns = WriteAdmissionFacts::kNever;
    return facts;
  }

  // A member that nobody reads, asked at `now_ns`.
  static WriteAdmissionFacts Unread(uint64_t now_ns, uint64_t note) {
    WriteAdmissionFacts facts;
    facts.now_ns = now_ns;
    facts.note = note;
    return facts;
  }

  // From the first read to the first bound that follows from a measurement.
  WriteAdmissionDecision Learned(uint64_t least_ns) {
    WriteAdmissionFacts facts = FirstReader();
    facts.note = policy_.Decide(facts).note;
    facts.since_learn_ns = kMs;
    facts.least_read_ns = least_ns;
    facts.reads = 8;
    facts.median_read_ns = least_ns;
    return policy_.Decide(facts);
  }

  WriteAdmissionDecision Measured(uint64_t note, uint64_t least_ns, uint64_t median_ns) {
    WriteAdmissionFacts facts = Reader(least_ns, note);
    facts.reads = 8;
    facts.median_read_ns = median_ns;
    return policy_.Decide(facts);
  }

  AdaptiveWrites policy_{Standard()};
};

// T1, T2: nobody reads, nothing is kept.
TEST_F(AdaptiveWritesTest, WithoutReadersWritesHaveAllOfTheQueue) {
  for (const uint64_t since : {WriteAdmissionFacts::kNever, 100 * kMs, 101 * kMs}) {
    AdaptiveWrites policy(Standard());
    WriteAdmissionFacts facts;
    facts.now_ns = kNow;
    facts.since_read_ns = since;
    const WriteAdmissionDecision decision = policy.Decide(facts);
    EXPECT_EQ(decision.most_writes, 256U);
    EXPECT_EQ(decision.most_in_flight, 254U);
    EXPECT_EQ(decision.most_bytes, UINT64_MAX);
  }
}

TEST_F(AdaptiveWritesTest, AReadIsRememberedForATenthOfASecondAndNotLonger) {
  WriteAdmissionFacts facts = Reader(100 * kUs, 0);
  facts.reads_in_flight = 0;
  EXPECT_LT(policy_.Decide(facts).most_bytes, UINT64_MAX);
  facts.since_read_ns = 100 * kMs - 1;
  facts.now_ns = kNow + facts.since_read_ns;
  EXPECT_LT(policy_.Decide(facts).most_bytes, UINT64_MAX);
  ++facts.since_read_ns;
  ++facts.now_ns;
  EXPECT_EQ(policy_.Decide(facts).most_bytes, UINT64_MAX);
  facts.reads_in_flight = 1;
  EXPECT_LT(policy_.Decide(facts).most_bytes, UINT64_MAX);
}

// One who reads at random comes to each member seldom: what one sees holds for all.
TEST_F(AdaptiveWritesTest, AReaderAtOneMemberIsAReaderAtAll) {
  WriteAdmissionFacts other;
  other.now_ns = kNow;
  EXPECT_EQ(policy_.Decide(other).most_bytes, UINT64_MAX);
  policy_.Decide(Reader(100 * kUs, 0));
  other.now_ns = kNow + 100 * kMs - 1;
  EXPECT_LT(policy_.Decide(other).most_bytes, UINT64_MAX);
  other.now_ns = kNow - kMs;  // asked a little earlier, served a little later
  EXPECT_LT(policy_.Decide(other).most_bytes, UINT64_MAX);
  other.now_ns = kNow + 100 * kMs;
  EXPECT_EQ(policy_.Decide(other).most_bytes, UINT64_MAX);
}

// T4: for every length of the queue, and every lesser depth of the member.
TEST_F(AdaptiveWritesTest, TheBoundIsExactForEveryLengthOfTheQueue) {
  for (uint32_t nr = 1; nr <= 1024; ++nr) {
    for (const uint32_t depth : {1U, nr, 254U, 1024U}) {
      std::vector<double> numbers = Standard();
      numbers[0] = nr;
      numbers[1] = depth;
      AdaptiveWrites policy(numbers);
      const WriteAdmissionDecision decision = policy.Decide({});
      EXPECT_EQ(decision.most_writes, nr);
      EXPECT_EQ(decision.most_in_flight, depth);
      // T6
      EXPECT_GE(decision.wake_batch, std::min(8U, std::min(nr, depth) / 8));
      EXPECT_GE(decision.wake_batch, 1U);
    }
  }
}

// T5: whether there are readers or not.
TEST_F(AdaptiveWritesTest, WhoWaitsCanAlwaysBeJoined) {
  EXPECT_TRUE(policy_.Decide({}).waiters_join);
  EXPECT_TRUE(policy_.Decide(Reader(0, 0)).waiters_join);
  EXPECT_TRUE(Learned(100 * kUs).waiters_join);
}

TEST_F(AdaptiveWritesTest, TheFirstReaderIsMeasuredWithOneWriteAtATime) {
  const WriteAdmissionDecision decision = policy_.Decide(FirstReader());
  EXPECT_EQ(decision.most_bytes, kLane);
  EXPECT_TRUE(decision.learn);
  // Still one at a time while there are too few reads to tell.
  EXPECT_EQ(policy_.Decide(Reader(90 * kUs, decision.note)).most_bytes, kLane);
  EXPECT_GT(Learned(100 * kUs).most_bytes, kLane);
}

TEST_F(AdaptiveWritesTest, SlowReadsTakeBytesFromWritesAndFastOnesGiveThem) {
  const WriteAdmissionDecision first = Learned(100 * kUs);
  // 100 + 2 x (400 - 100) = 700 us are more than three times 100.
  const WriteAdmissionDecision fewer = Measured(first.note, 100 * kUs, 400 * kUs);
  EXPECT_LT(fewer.most_bytes, first.most_bytes);
  EXPECT_GE(fewer.most_bytes, first.most_bytes / 2);
  const WriteAdmissionDecision more = Measured(first.note, 100 * kUs, 110 * kUs);
  EXPECT_GT(more.most_bytes, first.most_bytes);
  EXPECT_LE(more.most_bytes, first.most_bytes * 5 / 4);
  // Where it aims nothing moves: 100 + 2 x 64 = 228 us, 0.76 of the goal.
  EXPECT_EQ(Measured(first.note, 100 * kUs, 164 * kUs).most_bytes, first.most_bytes);
  // One count is not believed whole: twice the aim costs less than a tenth.
  const WriteAdmissionDecision damped = Measured(first.note, 100 * kUs, 278 * kUs);
  EXPECT_LT(damped.most_bytes, first.most_bytes);
  EXPECT_GT(damped.most_bytes, first.most_bytes * 9 / 10);
}

TEST_F(AdaptiveWritesTest, OneOutlierMovesNothing) {
  const WriteAdmissionDecision first = Learned(100 * kUs);
  WriteAdmissionFacts facts = Reader(100 * kUs, first.note);
  facts.reads = 8;
  facts.median_read_ns = 190 * kUs;
  const uint64_t without = policy_.Decide(facts).most_bytes;
  facts.slowest_read_ns = 4000 * kMs;
  EXPECT_EQ(policy_.Decide(facts).most_bytes, without);
}

// Of short requests more than two would fit into the bytes, and each is waited for by itself.
TEST_F(AdaptiveWritesTest, AFewBytesAreTwoRequestsAndManyAreMore) {
  EXPECT_EQ(Learned(100 * kUs).most_in_flight, 2U);
  uint64_t note = Learned(100 * kUs).note;
  WriteAdmissionDecision decision;
  for (int i = 0; i < 400; ++i) {
    decision = Measured(note, 100 * kUs, 100 * kUs);
    note = decision.note;
  }
  EXPECT_EQ(decision.most_bytes, 16U << 20);
  EXPECT_EQ(decision.most_in_flight, 254U);
}

TEST_F(AdaptiveWritesTest, AJoinedRequestIsAtMostHalfOfTheBytes) {
  uint64_t note = Learned(100 * kUs).note;
  for (int i = 0; i < 60; ++i) {
    const WriteAdmissionDecision decision = Measured(note, 100 * kUs, 110 * kUs);
    note = decision.note;
    EXPECT_LE(decision.longest_bytes, std::max(decision.most_bytes / 2, kLane));
    EXPECT_EQ(decision.longest_bytes % kLane, 0U);
    EXPECT_LE(decision.longest_bytes, 1U << 20);
  }
}

TEST_F(AdaptiveWritesTest, TheBoundStaysBetweenOneLaneAndSixteenMebibytes) {
  uint64_t note = Learned(100 * kUs).note;
  for (int i = 0; i < 200; ++i) {
    note = Measured(note, 100 * kUs, 100 * kUs).note;
  }
  EXPECT_EQ(policy_.Decide(Reader(100 * kUs, note)).most_bytes, 16U << 20);
  for (int i = 0; i < 200; ++i) {
    note = Measured(note, 100 * kUs, 90 * kMs).note;
  }
  EXPECT_EQ(policy_.Decide(Reader(100 * kUs, note)).most_bytes, kLane);
}

// Memory and the page cache: three times two microseconds are nobody's pain.
TEST_F(AdaptiveWritesTest, ReadsThatAreFastAnywayAreLetBe) {
  const WriteAdmissionDecision first = Learned(2 * kUs);
  EXPECT_GT(Measured(first.note, 2 * kUs, 20 * kUs).most_bytes, first.most_bytes);
  EXPECT_LT(Measured(first.note, 2 * kUs, 60 * kUs).most_bytes, first.most_bytes);
}

TEST_F(AdaptiveWritesTest, TheTimeOfAReadAloneIsMeasuredAnewNowAndThen) {
  const WriteAdmissionDecision first = Learned(100 * kUs);
  WriteAdmissionFacts facts = Reader(100 * kUs, first.note);
  facts.since_learn_ns = 5000 * kMs - 1;
  EXPECT_FALSE(policy_.Decide(facts).learn);
  facts.since_learn_ns = 5000 * kMs;
  const WriteAdmissionDecision learning = policy_.Decide(facts);
  EXPECT_TRUE(learning.learn);
  EXPECT_EQ(learning.most_bytes, kLane);
  // Asked for once; what was before comes back with the first reads.
  facts.note = learning.note;
  facts.since_learn_ns = kMs;
  facts.least_read_ns = 0;
  EXPECT_FALSE(policy_.Decide(facts).learn);
  facts.least_read_ns = 95 * kUs;
  facts.reads = 8;
  facts.median_read_ns = 100 * kUs;
  EXPECT_EQ(policy_.Decide(facts).most_bytes, first.most_bytes);
}

// Who reads one chunk again and again keeps one member busy; the others have writes to join.
TEST_F(AdaptiveWritesTest, AMemberThatNobodyReadsIsNotMeasured) {
  uint64_t note = 0;
  for (uint64_t at = 0; at < 20'000 * kMs; at += 10 * kMs) {
    WriteAdmissionFacts reader = Reader(100 * kUs, 0);
    reader.now_ns = kNow + at;
    policy_.Decide(reader);
    const WriteAdmissionDecision unread = policy_.Decide(Unread(kNow + at, note));
    EXPECT_EQ(unread.most_bytes, 112U << 10);
    EXPECT_EQ(unread.longest_bytes, 56U << 10);
    EXPECT_FALSE(unread.learn);
    note = unread.note;
  }
}

// One that has learned, and whose readers went elsewhere as it was about to do so anew.
TEST_F(AdaptiveWritesTest, AMemberWhoseReadersHaveGoneIsMeasuredForHalfASecondAndGetsItsBoundBack) {
  const WriteAdmissionDecision learned = Learned(100 * kUs);
  WriteAdmissionFacts facts = Reader(100 * kUs, learned.note);
  facts.since_learn_ns = 5000 * kMs;
  WriteAdmissionDecision decision = policy_.Decide(facts);
  EXPECT_EQ(decision.most_bytes, kLane);
  for (uint64_t at = kMs; at < 20'000 * kMs; at += kMs) {
    WriteAdmissionFacts elsewhere = Reader(100 * kUs, 0);
    elsewhere.now_ns = kNow + at;
    policy_.Decide(elsewhere);
    WriteAdmissionFacts left = Unread(kNow + at, decision.note);
    left.since_read_ns = at;
    left.since_learn_ns = at;
    decision = policy_.Decide(left);
    EXPECT_EQ(decision.most_bytes, at < 500 * kMs ? kLane : learned.most_bytes) << at;
    EXPECT_FALSE(decision.learn);
  }
}

// Reads that fail are never measured.
TEST_F(AdaptiveWritesTest, ReadsThatShowNothingAreAloneForHalfASecondInFive) {
  uint64_t alone_ms = 0;
  uint64_t learned_at = 0;
  WriteAdmissionFacts facts = FirstReader();
  for (uint64_t at = 0; at < 20'000; ++at) {
    facts.now_ns = kNow + at * kMs;
    const WriteAdmissionDecision decision = policy_.Decide(facts);
    alone_ms += decision.most_bytes == kLane ? 1 : 0;
    learned_at = decision.learn ? at : learned_at;
    facts.note = decision.note;
    facts.since_learn_ns = (at + 1 - learned_at) * kMs;
  }
  EXPECT_EQ(alone_ms, 4 * 500U);
}

// One reader at random over many members: each is read five times in two seconds, and is bounded
// all the time, by what a read takes there that met no write.
TEST_F(AdaptiveWritesTest, AReaderWhoComesSeldomToEachMemberIsProtectedAndMeasuredAlone) {
  WriteAdmissionFacts facts = FirstReader();
  WriteAdmissionDecision decision = policy_.Decide(facts);
  EXPECT_TRUE(decision.learn);
  for (uint64_t at = 1; at < 4000; ++at) {
    WriteAdmissionFacts elsewhere = Reader(100 * kUs, 0);
    elsewhere.now_ns = kNow + at * kMs;
    policy_.Decide(elsewhere);
    facts = Unread(kNow + at * kMs, decision.note);
    facts.since_read_ns = at % 400 * kMs;
    facts.since_learn_ns = at * kMs;
    facts.least_read_ns = 100 * kUs;
    if (at % 800 == 0) {
      facts.reads = 2;
      facts.median_read_ns = 400 * kUs;
    }
    decision = policy_.Decide(facts);
    EXPECT_LE(decision.most_bytes, 112U << 10) << at;
    if (at <= 400) {  // the second read of the measuring meets one write
      EXPECT_EQ(decision.most_bytes, kLane) << at;
    }
  }
  EXPECT_LT(decision.most_bytes, 16U << 10);
}

TEST_F(AdaptiveWritesTest, TheNextReaderFindsTheLastBound) {
  const WriteAdmissionDecision first = Learned(100 * kUs);
  WriteAdmissionFacts facts;
  facts.now_ns = kNow + 200 * kMs;
  facts.note = first.note;
  const WriteAdmissionDecision open = policy_.Decide(facts);
  EXPECT_EQ(open.most_bytes, UINT64_MAX);
  EXPECT_EQ(policy_.Decide(Reader(100 * kUs, open.note)).most_bytes, first.most_bytes);
}

// A member that moves 500 bytes in a microsecond and takes 100 us besides: the bound settles where
// the slowest reads take less than three times a read alone, and not far below.
TEST_F(AdaptiveWritesTest, TheBoundSettlesWhereTheReadersGoalIs) {
  const uint64_t least = 108 * kUs;
  WriteAdmissionDecision decision = Learned(least);
  const auto slowest = [](uint64_t bytes) { return 8 * kUs + bytes * 1000 / 500; };
  for (int i = 0; i < 100; ++i) {
    const uint64_t median = (least + std::max(slowest(decision.most_bytes), least)) / 2;
    decision = Measured(decision.note, least, median);
    if (i > 30) {
      EXPECT_LE(slowest(decision.most_bytes), 3 * least);
      EXPECT_GE(2 * slowest(decision.most_bytes), 3 * least);
    }
  }
}

}  // namespace
}  // namespace mdvol
