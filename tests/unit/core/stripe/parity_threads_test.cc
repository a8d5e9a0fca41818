// ParityThreads: every lane is done once, by whatever way, before Run returns.

#include "core/stripe/parity_threads.h"

#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/stripes/parity_by.h"

namespace mdvol {
namespace {

using testing::kParityWays;

void ExpectEachOnce(ParityThreads& threads, const ParityWorkersDecision& decision, size_t lanes) {
  std::vector<std::atomic<int>> done(lanes);
  threads.Run(decision, lanes, [&](size_t lane) { ++done[lane]; });
  for (const auto& times : done) {
    ASSERT_EQ(times, 1) << static_cast<int>(decision.way);
  }
}

TEST(ParityThreadsTest, EveryLaneIsDoneOnceBeforeRunReturns) {
  ParityThreads threads;
  for (const ParityWorkersWay way : kParityWays) {
    for (const size_t lanes : {0U, 1U, 2U, 100U}) {
      ExpectEachOnce(threads, {way, 3, 4}, lanes);
    }
  }
}

TEST(ParityThreadsTest, AbsurdDecisionsAreBroughtWithinBounds) {
  ParityThreads threads;
  for (const ParityWorkersWay way : kParityWays) {
    for (const uint32_t number : {0U, ~0U}) {
      ExpectEachOnce(threads, {way, number, number}, 10);
    }
  }
  ExpectEachOnce(threads, {static_cast<ParityWorkersWay>(99), 3, 4}, 10);
}

TEST(ParityThreadsTest, AnOnlyPassDoesTheWork) {
  ParityThreads threads;
  ExpectEachOnce(threads, {ParityWorkersWay::kPasses, 2, 1}, 10);
}

TEST(ParityThreadsTest, HandOversAreCounted) {
  const auto count = [](ParityWorkersWay way) {
    ParityThreads threads;
    ExpectEachOnce(threads, {way, 2, 4}, 10);
    return threads.hand_overs();
  };
  EXPECT_EQ(count(ParityWorkersWay::kInline), 0U);
  EXPECT_EQ(count(ParityWorkersWay::kSingle), 10U);
  EXPECT_EQ(count(ParityWorkersWay::kOperations), 20U);
  EXPECT_EQ(count(ParityWorkersWay::kPasses), 50U);
}

TEST(ParityThreadsTest, ManyCallersOfEveryWayAtOnce) {
  ParityThreads threads;
  std::vector<std::thread> callers;
  for (const ParityWorkersWay way : kParityWays) {
    for (int i = 0; i < 3; ++i) {
      callers.emplace_back([&threads, way] {
        for (size_t round = 0; round < 200; ++round) {
          ExpectEachOnce(threads, {way, 2, static_cast<uint32_t>(1 + round % 4)}, round % 7);
        }
      });
    }
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
}

}  // namespace
}  // namespace mdvol
