// What repeats say together: medians, how far they scatter, and whether one set of repeats is worse
// than another beyond what the scatter explains. Pure functions.

#ifndef MDVOL_TESTS_BENCH_FRAME_STATISTICS_H_
#define MDVOL_TESTS_BENCH_FRAME_STATISTICS_H_

#include <cstdint>
#include <vector>

namespace mdvol::bench {

// 0 for no values; the mean of the two in the middle for an even number.
double Median(std::vector<double> values);

// The standard deviation of one repeat, estimated so that a stray value counts little: from the
// median of the distances to the median (x 1.4826), and, as that says little about five values or
// fewer, at least their range over the expected range of as many normal deviates. 0 below two.
double Scatter(const std::vector<double>& values);

enum class Better : uint8_t { kHigher, kLower };

struct Comparison {
  // Ours over theirs, turned so that above 1 is better. Where we have nothing, no value or 0, it is
  // 0, whichever is better: a request that never ends has no latency. Where only they have nothing,
  // kOnlyOurs.
  double ratio = 0;
  // Relative: three standard errors of the ratio of two medians, kLeastMargin at least.
  double margin = 0;
  bool Loses() const { return ratio < 1 - margin; }
};

inline constexpr double kOnlyOurs = 1e6;

// Below this a difference is not worth a red test, whatever the scatter.
inline constexpr double kLeastMargin = 0.05;

Comparison Compare(const std::vector<double>& ours, const std::vector<double>& theirs,
                   Better better);

}  // namespace mdvol::bench

#endif  // MDVOL_TESTS_BENCH_FRAME_STATISTICS_H_
