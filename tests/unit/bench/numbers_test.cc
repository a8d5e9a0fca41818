// Histograms, statistics and verdicts: what mdvol-bench makes of numbers.

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/bench/frame/histogram.h"
#include "tests/bench/frame/statistics.h"
#include "tests/bench/frame/verdicts.h"

namespace mdvol::bench {
namespace {

TEST(HistogramTest, AnEmptyOneIsAllZeroes) {
  const LatencyHistogram histogram;
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.QuantileNs(0.5), 0U);
  EXPECT_EQ(histogram.min_ns(), 0U);
  EXPECT_EQ(histogram.max_ns(), 0U);
  EXPECT_EQ(histogram.MeanNs(), 0);
  EXPECT_EQ(histogram.StdevNs(), 0);
}

TEST(HistogramTest, SmallValuesAreExact) {
  for (uint64_t value = 0; value < 128; ++value) {
    LatencyHistogram histogram;
    histogram.Add(0);
    histogram.Add(value);
    histogram.Add(1000);
    EXPECT_EQ(histogram.QuantileNs(0.6), value);
  }
}

TEST(HistogramTest, EveryQuantileIsWithinOnePercent) {
  LatencyHistogram histogram;
  std::vector<uint64_t> values;
  for (uint64_t value = 1; value < (uint64_t{1} << 39); value += value / 7 + 1) {
    values.push_back(value);
    histogram.Add(value);
  }
  for (size_t i = 0; i < values.size(); ++i) {
    // The middle of the share that belongs to values[i], so that rounding cannot choose another.
    const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(values.size());
    const auto expected = static_cast<double>(values[i]);
    EXPECT_NEAR(static_cast<double>(histogram.QuantileNs(share)), expected, expected * 0.01)
        << values[i];
  }
  EXPECT_EQ(histogram.QuantileNs(1), values.back());
  EXPECT_EQ(histogram.QuantileNs(0), 1U);
}

TEST(HistogramTest, MeanAndDeviationAreThoseOfTheValues) {
  LatencyHistogram histogram;
  for (const uint64_t value : {2000U, 4000U, 4000U, 4000U, 5000U, 5000U, 7000U, 9000U}) {
    histogram.Add(value);
  }
  EXPECT_DOUBLE_EQ(histogram.MeanNs(), 5000);
  EXPECT_DOUBLE_EQ(histogram.StdevNs(), 2000);
}

TEST(HistogramTest, WhatIsLongerThanTheScaleIsKeptInTheExtremes) {
  LatencyHistogram histogram;
  histogram.Add(uint64_t{1} << 50);
  EXPECT_EQ(histogram.max_ns(), uint64_t{1} << 50);
  EXPECT_EQ(histogram.count(), 1U);
}

TEST(HistogramTest, MergedIsAsIfAddedTogether) {
  LatencyHistogram one;
  LatencyHistogram other;
  LatencyHistogram both;
  for (uint64_t i = 0; i < 1000; ++i) {
    (i % 3 == 0 ? one : other).Add(i * i);
    both.Add(i * i);
  }
  LatencyHistogram merged;
  merged.Merge({});
  merged.Merge(one);
  merged.Merge(other);
  EXPECT_EQ(merged.count(), both.count());
  EXPECT_EQ(merged.min_ns(), both.min_ns());
  EXPECT_EQ(merged.max_ns(), both.max_ns());
  EXPECT_DOUBLE_EQ(merged.MeanNs(), both.MeanNs());
  EXPECT_NEAR(merged.StdevNs(), both.StdevNs(), 1e-3);
  for (const double quantile : {0.01, 0.5, 0.99}) {
    EXPECT_EQ(merged.QuantileNs(quantile), both.QuantileNs(quantile));
  }
}

TEST(StatisticsTest, TheMedianIsTheMiddleOrTheMeanOfTwo) {
  EXPECT_EQ(Median({}), 0);
  EXPECT_EQ(Median({3}), 3);
  EXPECT_EQ(Median({9, 1, 3}), 3);
  EXPECT_EQ(Median({9, 1, 3, 5}), 4);
}

TEST(StatisticsTest, AStrayValueAmongManyHardlyCounts) {
  EXPECT_NEAR(Scatter({98, 99, 100, 101, 102, 99, 101, 10000}), 1.4826 * 1, 0.75);
}

TEST(StatisticsTest, FewValuesScatterByTheirRange) {
  EXPECT_EQ(Scatter({100}), 0);
  EXPECT_NEAR(Scatter({100, 110}), 10 / 1.128, 1e-9);
  EXPECT_NEAR(Scatter({100, 100, 130}), 30 / 1.693, 1e-9);
}

TEST(CompareTest, AClearLossOfSteadyValuesIsALoss) {
  EXPECT_TRUE(Compare({80, 81, 79}, {100, 101, 99}, Better::kHigher).Loses());
  EXPECT_TRUE(Compare({125, 126, 124}, {100, 101, 99}, Better::kLower).Loses());
}

TEST(CompareTest, AWinIsNoLoss) {
  EXPECT_FALSE(Compare({125, 126, 124}, {100, 101, 99}, Better::kHigher).Loses());
  EXPECT_FALSE(Compare({80, 81, 79}, {100, 101, 99}, Better::kLower).Loses());
}

TEST(CompareTest, AFewPercentAreNoLossHoweverSteady) {
  EXPECT_FALSE(Compare({96, 96, 96}, {100, 100, 100}, Better::kHigher).Loses());
  EXPECT_TRUE(Compare({94, 94, 94}, {100, 100, 100}, Better::kHigher).Loses());
}

TEST(CompareTest, WhatTheScatterExplainsIsNoLoss) {
  EXPECT_FALSE(Compare({80, 110, 60}, {100, 70, 130}, Better::kHigher).Loses());
}

TEST(CompareTest, WhoHasNothingLoses) {
  for (const Better better : {Better::kHigher, Better::kLower}) {
    EXPECT_TRUE(Compare({}, {100, 100}, better).Loses());
    EXPECT_TRUE(Compare({0, 0, 0}, {100, 100, 100}, better).Loses());
    EXPECT_TRUE(Compare({0, 0}, {0, 0}, better).Loses());
    EXPECT_FALSE(Compare({100, 100}, {0, 0}, better).Loses());
  }
}

Results ResultsOf(const std::vector<std::pair<std::string, double>>& medians) {
  Results results;
  for (uint32_t repeat = 0; repeat < 3; ++repeat) {
    for (const auto& [policy, value] : medians) {
      results.Add({"s", policy, "w", "iops", "1/s", value + repeat, repeat, {}, {}});
    }
  }
  return results;
}

TEST(VerdictsTest, ADemandIsMetAtItsThreshold) {
  Verdicts verdicts;
  verdicts.Demand("P1", "enough", 0.9, Relation::kAtLeast, 0.9);
  verdicts.Demand("D1", "little enough", 1.02, Relation::kAtMost, 1.02);
  EXPECT_TRUE(verdicts.AllMet(CriterionKind::kDemand));
  verdicts.Demand("P1", "not enough", 0.899, Relation::kAtLeast, 0.9);
  EXPECT_FALSE(verdicts.AllMet(CriterionKind::kDemand));
  EXPECT_TRUE(verdicts.AllMet(CriterionKind::kContest));
}

TEST(VerdictsTest, AContestNamesTheStrongestRival) {
  const Results results = ResultsOf({{"default", 1000}, {"weak", 500}, {"strong", 1900}});
  Verdicts verdicts;
  verdicts.Contest(results, "P1", "fast", "default", {"default", "weak", "strong"}, "w", "iops",
                   Better::kHigher);
  ASSERT_EQ(verdicts.criteria().size(), 1U);
  EXPECT_EQ(verdicts.criteria()[0].text, "fast (against strong)");
  EXPECT_NEAR(verdicts.criteria()[0].value, 1001.0 / 1901, 1e-9);
  EXPECT_FALSE(verdicts.AllMet(CriterionKind::kContest));
}

TEST(VerdictsTest, AContestThatTheDefaultWinsIsMet) {
  const Results results = ResultsOf({{"default", 1000}, {"other", 990}});
  Verdicts verdicts;
  verdicts.Contest(results, "P1", "fast", "default", {"default", "other"}, "w", "iops",
                   Better::kHigher);
  EXPECT_TRUE(verdicts.AllMet(CriterionKind::kContest));
}

TEST(VerdictsTest, RepeatsThatScatterTellNothing) {
  Results results;
  uint32_t repeat = 0;
  for (const double value : {100.0, 20.0, 100.0}) {
    results.Add({"s", "default", "w", "iops", "1/s", value, repeat, {}, {}});
    results.Add({"s", "other", "w", "iops", "1/s", 300, repeat, {}, {}});
    ++repeat;
  }
  Verdicts verdicts;
  verdicts.Contest(results, "P1", "fast", "default", {"default", "other"}, "w", "iops",
                   Better::kHigher);
  ASSERT_EQ(verdicts.criteria().size(), 1U);
  EXPECT_FALSE(verdicts.criteria()[0].is_telling);
  EXPECT_TRUE(verdicts.AllMet(CriterionKind::kContest));
}

TEST(VerdictsTest, WhatWasNotMeasuredMeetsNothing) {
  Verdicts verdicts;
  const double nothing = Results().MedianOf("default", "w", "no such metric");
  verdicts.Demand("D1", "at most", nothing, Relation::kAtMost, 1.02);
  verdicts.Demand("D1", "at least", nothing, Relation::kAtLeast, 0);
  EXPECT_FALSE(verdicts.criteria()[0].IsMet());
  EXPECT_FALSE(verdicts.criteria()[1].IsMet());
}

TEST(VerdictsTest, WithoutAlternativesThereIsNoContest) {
  const Results results = ResultsOf({{"default", 1000}});
  Verdicts verdicts;
  verdicts.Contest(results, "P1", "fast", "default", {"default"}, "w", "iops", Better::kHigher);
  EXPECT_TRUE(verdicts.criteria().empty());
}

}  // namespace
}  // namespace mdvol::bench
