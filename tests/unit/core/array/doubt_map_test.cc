// Tests of the map of stripes in doubt (I12).

#include "core/array/doubt_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

#include "tests/support/full.h"
#include "tests/support/seed.h"

namespace mdvol {
namespace {

using testing::FullRun;
using testing::Prng;
using testing::TestSeed;

TEST(DoubtMapTest, StartsWithoutDoubt) {
  const DoubtMap map(10, 4);
  EXPECT_TRUE(map.empty());
  EXPECT_FALSE(map.Contains(0));
  EXPECT_FALSE(map.Next(0).has_value());
  EXPECT_EQ(map.CountStripes(), 0U);
}

TEST(DoubtMapTest, AddMarksEveryBitThatTheRangeTouches) {
  DoubtMap map(16, 4);
  map.Add({3, 2});  // the last stripe of bit 0, the first of bit 1
  for (uint64_t stripe = 0; stripe < 16; ++stripe) {
    EXPECT_EQ(map.Contains(stripe), stripe < 8) << stripe;
  }
  EXPECT_FALSE(map.empty());
  EXPECT_EQ(map.CountStripes(), 8U);
}

TEST(DoubtMapTest, RemoveClearsOnlyBitsThatItCoversWholly) {
  DoubtMap map(16, 4);
  map.Add({0, 16});
  map.Remove({1, 10});  // all of bit 1, parts of bits 0 and 2
  for (uint64_t stripe = 0; stripe < 16; ++stripe) {
    EXPECT_EQ(map.Contains(stripe), stripe < 4 || stripe >= 8) << stripe;
  }
  map.Remove({0, 4});
  map.Remove({8, 8});
  EXPECT_TRUE(map.empty());
}

TEST(DoubtMapTest, TheLastBitMayBeShort) {
  DoubtMap map(10, 4);
  map.Add({0, 10});
  EXPECT_EQ(map.CountStripes(), 10U);
  const auto last = map.Next(8);
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(last->first, 8U);
  EXPECT_EQ(last->count, 2U);
  EXPECT_EQ(map.Next(9)->count, 1U);
  EXPECT_FALSE(map.Next(10).has_value());  // or a walk through the map would never end
  EXPECT_FALSE(map.Next(11).has_value());
  map.Remove({8, 2});
  EXPECT_FALSE(map.Contains(9));
  EXPECT_TRUE(map.Contains(7));
}

TEST(DoubtMapTest, NextGoesBitByBitAndMayStartInsideOne) {
  DoubtMap map(100, 10);
  map.Add({20, 20});
  map.Add({70, 1});
  std::vector<std::pair<uint64_t, uint64_t>> runs;
  for (auto run = map.Next(0); run.has_value(); run = map.Next(run->first + run->count)) {
    runs.emplace_back(run->first, run->count);
  }
  const std::vector<std::pair<uint64_t, uint64_t>> expected = {{20, 10}, {30, 10}, {70, 10}};
  EXPECT_EQ(runs, expected);
  EXPECT_EQ(map.Next(33)->first, 33U);
  EXPECT_EQ(map.Next(33)->count, 7U);
}

// A resync that had to leave the last run in doubt asks for what comes behind it.
TEST(DoubtMapTest, NextFindsNothingBehindTheEnd) {
  DoubtMap map(100, 64);
  map.Add({0, 100});
  EXPECT_FALSE(map.Next(100).has_value());
  EXPECT_FALSE(map.Next(101).has_value());
}

TEST(DoubtMapTest, RunOfIsTheWholeBit) {
  DoubtMap map(25, 10);
  map.Add({12, 1});
  map.Add({24, 1});
  EXPECT_FALSE(map.RunOf(9).has_value());
  EXPECT_EQ(map.RunOf(19)->first, 10U);
  EXPECT_EQ(map.RunOf(19)->count, 10U);
  EXPECT_EQ(map.RunOf(20)->first, 20U);
  EXPECT_EQ(map.RunOf(20)->count, 5U);
}

TEST(DoubtMapTest, RangesBeyondTheEndAndEmptyOnesDoNoHarm) {
  DoubtMap map(8, 4);
  map.Add({3, 0});
  EXPECT_TRUE(map.empty());
  map.Add({6, 100});
  EXPECT_TRUE(map.Contains(7));
  EXPECT_FALSE(map.Contains(3));
  EXPECT_FALSE(map.Next(8).has_value());
  map.Remove({4, 0});
  EXPECT_TRUE(map.Contains(7));
  map.Remove({0, 1000});
  EXPECT_TRUE(map.empty());
}

// A map that is as fine as stripes, or finer than a caller may ask for.
TEST(DoubtMapTest, OneStripePerBitIsTheFinest) {
  for (const uint64_t stripes_per_bit : {uint64_t{0}, uint64_t{1}}) {
    DoubtMap map(5, stripes_per_bit);
    map.Add({2, 1});
    EXPECT_EQ(map.CountStripes(), 1U);
    EXPECT_TRUE(map.Contains(2));
  }
}

TEST(DoubtMapTest, HugeArraysAreKeptMoreCoarsely) {
  const uint64_t stripe_count = (uint64_t{1} << 50) + 1;
  DoubtMap doubt(stripe_count, 1);
  EXPECT_FALSE(doubt.Next(0).has_value());
  doubt.Add({stripe_count - 1, 1});
  const auto last = doubt.Next(0);
  ASSERT_TRUE(last.has_value());
  EXPECT_GT(last->count, 0u);
  EXPECT_EQ(last->first + last->count, stripe_count);
  doubt.Add({5, 1});
  const auto first = doubt.Next(0);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->first, 0u);
  EXPECT_EQ(first->count, (uint64_t{1} << 30) + 1);
  doubt.Remove(*first);
  EXPECT_FALSE(doubt.Contains(5));
  EXPECT_TRUE(doubt.Contains(stripe_count - 1));
}

TEST(DoubtMapTest, ClearForgetsAll) {
  DoubtMap map(64, 8);
  map.Add({0, 64});
  map.Clear();
  EXPECT_TRUE(map.empty());
  EXPECT_FALSE(map.Next(0).has_value());
}

TEST(DoubtMapTest, AgreesWithAModel) {
  Prng prng(TestSeed("DoubtMapModel"));
  for (int round = 0; round < (FullRun() ? 2000 : 200); ++round) {
    const uint64_t stripes = prng.Between(1, 200);
    const uint64_t per_bit = prng.Between(1, 20);
    DoubtMap map(stripes, per_bit);
    std::vector<bool> model(stripes);
    for (int step = 0; step < 20; ++step) {
      const uint64_t first = prng.Below(stripes);
      const uint64_t count = prng.Between(1, stripes - first);
      const bool add = prng.OneIn(2);
      add ? map.Add({first, count}) : map.Remove({first, count});
      for (uint64_t bit = 0; bit * per_bit < stripes; ++bit) {
        const uint64_t begin = bit * per_bit;
        const uint64_t end = std::min(begin + per_bit, stripes);
        const bool touched = first < end && begin < first + count;
        const bool covered = first <= begin && end <= first + count;
        if (add ? touched : covered) {
          std::fill(model.begin() + static_cast<int64_t>(begin),
                    model.begin() + static_cast<int64_t>(end), add);
        }
      }
      uint64_t marked = 0;
      for (uint64_t stripe = 0; stripe < stripes; ++stripe) {
        ASSERT_EQ(map.Contains(stripe), model[stripe]) << stripe;
        marked += model[stripe] ? 1U : 0U;
      }
      ASSERT_EQ(map.CountStripes(), marked);
      ASSERT_EQ(map.empty(), marked == 0);
    }
  }
}

TEST(DoubtMapTest, ManyThreadsRemoveAndAsk) {
  constexpr uint64_t kStripes = 4096;
  DoubtMap map(kStripes, 1);
  map.Add({0, kStripes});
  std::vector<std::thread> threads;
  for (uint64_t part = 0; part < 4; ++part) {
    threads.emplace_back([&map, part] {
      for (uint64_t stripe = part; stripe < kStripes; stripe += 4) {
        EXPECT_TRUE(map.Contains(stripe));
        map.Remove({stripe, 1});
        EXPECT_FALSE(map.Contains(stripe));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_TRUE(map.empty());
  EXPECT_EQ(map.CountStripes(), 0U);
}

}  // namespace
}  // namespace mdvol
