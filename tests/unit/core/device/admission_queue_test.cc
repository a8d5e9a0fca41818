// Which writes go, in which order and how joined, as a plain data structure.

#include "core/device/admission_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include "core/base/units.h"
#include "tests/support/seed.h"

namespace mdvol {
namespace {

constexpr uint64_t kBlock = 4 * kKiB;

class AdmissionQueueTest : public ::testing::Test {
 protected:
  void Add(uint64_t block, uint64_t blocks = 1, IoKind kind = IoKind::kWrite) {
    requests_.emplace_back();
    requests_.back().kind = kind;
    requests_.back().offset_bytes = block * kBlock;
    requests_.back().length_bytes = blocks * kBlock;
    writes_.push_back({&requests_.back(), nullptr, false});
    queue_.Add(writes_.back(), in_flight_);
  }

  // The blocks of the next run, and it is in flight; empty if none may go.
  std::vector<uint64_t> Next() {
    std::vector<uint64_t> blocks;
    if (!queue_.IsReady(in_flight_)) {
      return blocks;
    }
    WriteRun run;
    queue_.Take(&run);
    ++in_flight_.writes;
    for (const WaitingWrite* const write : run) {
      blocks.push_back(write->request->offset_bytes / kBlock);
      in_flight_.bytes += write->request->length_bytes;
    }
    return blocks;
  }

  void End(uint32_t writes) {
    for (; writes > 0; --writes) {
      --in_flight_.writes;
      queue_.NoteEnd(in_flight_);
    }
  }

  using Blocks = std::vector<uint64_t>;

  std::deque<IoRequest> requests_;
  std::deque<WaitingWrite> writes_;
  AdmissionQueue queue_;
  InFlight in_flight_;
};

TEST_F(AdmissionQueueTest, NeighboursGoTogetherWhateverTheOrderTheyCameIn) {
  queue_.SetLimits({});
  for (const uint64_t block : {7U, 3U, 1U, 2U, 9U}) {
    Add(block);
  }
  EXPECT_EQ(Next(), Blocks{7});
  EXPECT_EQ(Next(), (Blocks{1, 2, 3}));
  EXPECT_EQ(Next(), Blocks{9});
  EXPECT_EQ(Next(), Blocks{});
  EXPECT_TRUE(queue_.empty());
}

TEST_F(AdmissionQueueTest, OneKindIsNotJoinedWithAnother) {
  queue_.SetLimits({});
  Add(1);
  Add(2, 1, IoKind::kZero);
  Add(3, 1, IoKind::kZero);
  EXPECT_EQ(Next(), Blocks{1});
  EXPECT_EQ(Next(), (Blocks{2, 3}));
}

TEST_F(AdmissionQueueTest, ARunEndsAtItsGreatestLengthAndNoWriteIsCut) {
  queue_.SetLimits({.longest_bytes = 3 * kBlock});
  Add(0, 2);
  Add(2, 2);
  Add(4, 1);
  Add(5, 9);
  EXPECT_EQ(Next(), Blocks{0});
  EXPECT_EQ(Next(), (Blocks{2, 4}));
  EXPECT_EQ(Next(), Blocks{5});
}

TEST_F(AdmissionQueueTest, WhoHasWaitedLongestGoesNextWhateverGrowsBesideHim) {
  queue_.SetLimits({.most_in_flight = 1, .longest_bytes = 2 * kBlock});
  Add(0);
  Add(1000);
  EXPECT_EQ(Next(), Blocks{0});
  for (uint64_t block = 1; block < 10; ++block) {
    Add(block);
  }
  End(1);
  EXPECT_EQ(Next(), Blocks{1000});
  End(1);
  EXPECT_EQ(Next(), (Blocks{1, 2}));
}

TEST_F(AdmissionQueueTest, ARunGrowsBehindTheOldestFirst) {
  queue_.SetLimits({.longest_bytes = 3 * kBlock});
  for (const uint64_t block : {5U, 3U, 4U, 6U, 7U, 8U}) {
    Add(block);
  }
  EXPECT_EQ(Next(), (Blocks{5, 6, 7}));
  EXPECT_EQ(Next(), (Blocks{3, 4}));
  EXPECT_EQ(Next(), Blocks{8});
  Add(2);
  Add(1);
  Add(3);
  EXPECT_EQ(Next(), (Blocks{1, 2, 3}));
}

TEST_F(AdmissionQueueTest, AWriteThatComesPassesOnlyWhereNobodyWaitsAndThereIsRoom) {
  queue_.SetLimits({.most_writes = 2});
  EXPECT_TRUE(queue_.MayPass({0, 0}));
  EXPECT_TRUE(queue_.MayPass({1, kMiB}));
  EXPECT_FALSE(queue_.MayPass({2, 0}));
  Add(0);
  EXPECT_FALSE(queue_.MayPass({0, 0}));
}

TEST_F(AdmissionQueueTest, BytesInFlightAreBoundedButOneWriteAlwaysGoes) {
  queue_.SetLimits({.most_bytes = 8 * kBlock, .longest_bytes = 4 * kBlock});
  Add(0, 64);
  Add(100, 4);
  Add(200, 4);
  Add(300, 4);
  EXPECT_EQ(Next(), Blocks{0});
  EXPECT_EQ(Next(), Blocks{});
  in_flight_ = {};
  EXPECT_EQ(Next(), Blocks{100});
  EXPECT_EQ(Next(), Blocks{200});
  EXPECT_EQ(Next(), Blocks{});
  EXPECT_FALSE(queue_.MayPass({1, 8 * kBlock}));
}

TEST_F(AdmissionQueueTest, WhoWaitsGoesInBatches) {
  queue_.SetLimits({.most_writes = 16, .wake_batch = 4});
  for (uint64_t i = 0; i < 40; ++i) {
    Add(10 * i);
  }
  for (uint32_t i = 0; i < 16; ++i) {
    EXPECT_EQ(Next().size(), 1U);
  }
  for (uint32_t round = 0; round < 3; ++round) {
    End(3);
    EXPECT_EQ(Next(), Blocks{});
    End(1);
    for (uint32_t i = 0; i < 4; ++i) {
      EXPECT_EQ(Next().size(), 1U);
    }
    EXPECT_EQ(Next(), Blocks{});
  }
}

TEST_F(AdmissionQueueTest, SleepersCannotBeJoinedAndAreLetOnInBatchesFirstComeFirstServed) {
  queue_.SetLimits(
      {.most_writes = 8, .most_in_flight = 10, .waiters_join = false, .wake_batch = 4});
  for (uint64_t i = 0; i < 8; ++i) {
    Add(100 * i);
  }
  for (uint32_t i = 0; i < 8; ++i) {
    EXPECT_EQ(Next().size(), 1U);
  }
  Add(51);
  Add(50);
  Add(49);
  Add(48);
  Add(47);
  EXPECT_EQ(Next(), Blocks{});
  End(3);
  EXPECT_EQ(Next(), Blocks{});
  End(1);
  // Four slots are free, and the member has room: they go as they are, each by itself.
  for (const uint64_t block : {51U, 50U, 49U, 48U}) {
    EXPECT_EQ(Next(), Blocks{block});
  }
  EXPECT_EQ(Next(), Blocks{});
  EXPECT_EQ(queue_.size(), 1U);
}

// What the same thread would hand in next under a kernel, where it is the thread that sleeps.
TEST_F(AdmissionQueueTest, SleepersThatContinueOneWhoStandsComeAlong) {
  queue_.SetLimits({.most_writes = 3, .most_in_flight = 2, .waiters_join = false});
  Add(100);
  EXPECT_EQ(Next(), Blocks{100});
  Add(200);
  EXPECT_EQ(Next(), Blocks{200});
  Add(300);  // stands with the last slot
  for (const uint64_t block : {1U, 50U, 2U, 3U}) {
    Add(block);  // sleep
  }
  End(1);
  EXPECT_EQ(Next(), Blocks{300});
  queue_.NoteEnd(in_flight_);
  End(1);
  EXPECT_EQ(Next(), (Blocks{1, 2, 3}));
  End(1);
  EXPECT_EQ(Next(), Blocks{50});
}

TEST_F(AdmissionQueueTest, WritesWithASlotThatTheMemberHasNoRoomForCanBeJoinedWithoutAnother) {
  queue_.SetLimits({.most_writes = 4, .most_in_flight = 2, .waiters_join = false});
  Add(0);
  EXPECT_EQ(Next(), Blocks{0});
  Add(100);
  EXPECT_EQ(Next(), Blocks{100});
  Add(200);
  Add(300);  // the last slot
  Add(201);
  Add(299);
  Add(400);  // sleeps
  End(2);
  EXPECT_EQ(Next(), (Blocks{200, 201}));
  EXPECT_EQ(Next(), (Blocks{299, 300}));
}

TEST_F(AdmissionQueueTest, SleepersAreWokenWhenNothingIsInFlightThatCouldWakeThem) {
  queue_.SetLimits({.most_writes = 64, .waiters_join = false, .wake_batch = 8});
  for (uint64_t i = 0; i < 65; ++i) {
    Add(10 * i);
  }
  for (uint32_t i = 0; i < 64; ++i) {
    EXPECT_EQ(Next().size(), 1U);
  }
  queue_.SetLimits({.most_writes = 128, .waiters_join = false, .wake_batch = 128});
  End(64);
  EXPECT_EQ(Next(), Blocks{640});
}

TEST_F(AdmissionQueueTest, ASwitchTakesSleepersAlong) {
  queue_.SetLimits({.most_writes = 1, .waiters_join = false});
  Add(0);
  EXPECT_EQ(Next(), Blocks{0});
  Add(3);
  Add(2);
  Add(1);
  queue_.SetLimits({});
  EXPECT_EQ(Next(), (Blocks{1, 2, 3}));
  queue_.SetLimits({.most_writes = 2});
  Add(7);
  Add(9);
  queue_.SetLimits({.most_writes = 1, .waiters_join = false});
  EXPECT_EQ(Next(), Blocks{});
  End(2);
  EXPECT_EQ(Next(), Blocks{7});
  End(1);
  EXPECT_EQ(Next(), Blocks{9});
  EXPECT_EQ(queue_.size(), 0U);
}

TEST_F(AdmissionQueueTest, AbsurdLimitsStillLetOneGo) {
  queue_.SetLimits({.most_writes = 0,
                    .most_in_flight = 0,
                    .most_bytes = 0,
                    .longest_bytes = 0,
                    .wake_batch = 0});
  Add(1);
  Add(2);
  EXPECT_EQ(Next(), Blocks{1});
  EXPECT_EQ(Next(), Blocks{});
  End(1);
  in_flight_ = {};
  EXPECT_EQ(Next(), Blocks{2});
  constexpr uint32_t kMost = std::numeric_limits<uint32_t>::max();
  queue_.SetLimits({kMost, kMost, UINT64_MAX, UINT64_MAX, false, kMost});
  End(0);
  Add(3);
  EXPECT_EQ(Next(), Blocks{3});
}

// Whatever comes in whatever order, and however the limits change: all of it goes, and while there
// is nothing at the member something always may.
TEST_F(AdmissionQueueTest, NothingStaysBehind) {
  testing::Prng prng(testing::TestSeed("AdmissionQueue"));
  uint64_t added = 0;
  uint64_t gone = 0;
  for (uint32_t step = 0; step < 200'000; ++step) {
    if (step % 500 == 0) {
      queue_.SetLimits({.most_writes = static_cast<uint32_t>(1 + prng.Below(20)),
                        .most_in_flight = static_cast<uint32_t>(1 + prng.Below(20)),
                        .longest_bytes = (1 + prng.Below(6)) * kBlock,
                        .waiters_join = prng.OneIn(3),
                        .wake_batch = static_cast<uint32_t>(prng.Below(9))});
    }
    if (prng.OneIn(2) && queue_.size() < 200) {
      Add(prng.Below(60), 1 + prng.Below(2));
      ++added;
    } else if (const Blocks next = Next(); !next.empty()) {
      gone += next.size();
    } else {
      ASSERT_TRUE(queue_.empty() || in_flight_.writes > 0) << "step " << step;
      End(std::min<uint32_t>(in_flight_.writes, 1));
    }
  }
  while (!queue_.empty()) {
    const Blocks next = Next();
    gone += next.size();
    ASSERT_TRUE(!next.empty() || in_flight_.writes > 0);
    End(next.empty() ? 1 : 0);
  }
  EXPECT_EQ(gone, added);
}

// T4: for every queue length and every bound up to it, and after each change of either, exactly as
// many writes are let on, however long the bitmap's words of a kernel would be.
TEST_F(AdmissionQueueTest, ExactlyAsManyGoAsMayForEveryLengthAndEveryBound) {
  for (uint32_t nr = 1; nr <= 1024; ++nr) {
    Add(3 * nr);
    for (uint32_t k = 1; k <= nr; ++k) {
      queue_.SetLimits({.most_writes = k, .most_in_flight = nr, .wake_batch = (nr + k) % 9});
      uint32_t admitted = 0;
      while (admitted <= nr && queue_.IsReady({admitted, admitted * kBlock})) {
        ++admitted;
      }
      ASSERT_EQ(admitted, k) << "of " << nr;
    }
  }
}

// The same with writes that pass, wait and sleep: all of them go through, k at once.
TEST_F(AdmissionQueueTest, AllGoThroughAndNeverMoreAtOnce) {
  for (const bool joins : {true, false}) {
    for (const uint32_t k : {1U, 2U, 3U, 7U, 8U, 63U, 64U, 65U, 191U, 192U, 193U, 255U, 257U}) {
      queue_.SetLimits({.most_writes = k, .waiters_join = joins, .wake_batch = k / 8});
      for (uint64_t i = 0; i < 2 * k + 5; ++i) {
        Add(2 * i);
      }
      uint64_t gone = 0;
      uint32_t most = 0;
      while (!queue_.empty()) {
        while (!Next().empty()) {
          ++gone;
        }
        most = std::max(most, in_flight_.writes);
        ASSERT_GT(in_flight_.writes, 0U);
        End(1);
      }
      EXPECT_EQ(gone, 2 * k + 5);
      EXPECT_EQ(most, k);
      End(in_flight_.writes);
    }
  }
}

}  // namespace
}  // namespace mdvol
