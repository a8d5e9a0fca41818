// See statistics.h.

#include "tests/bench/frame/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace mdvol::bench {
namespace {

constexpr double kMadToSigma = 1.4826;           // of a normal distribution
constexpr double kMedianOverMeanError = 1.2533;  // sqrt(pi / 2): the median's standard error
constexpr double kStandardErrors = 3;
// The expected range of n standard normal deviates, by n (d2 of control charts).
constexpr std::array<double, 6> kExpectedRange{0, 0, 1.128, 1.693, 2.059, 2.326};

// The standard error of the median, as a part of the median.
double RelativeError(const std::vector<double>& values) {
  const double median = Median(values);
  if (median == 0 || values.empty()) {
    return 0;
  }
  return kMedianOverMeanError * Scatter(values) / std::sqrt(static_cast<double>(values.size())) /
         std::abs(median);
}

}  // namespace

double Median(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double Scatter(const std::vector<double>& values) {
  if (values.size() < 2) {
    return 0;
  }
  const double median = Median(values);
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) {
    distances.push_back(std::abs(value - median));
  }
  const double from_distances = kMadToSigma * Median(distances);
  if (values.size() >= kExpectedRange.size()) {
    return from_distances;
  }
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return std::max(from_distances, (*most - *least) / kExpectedRange[values.size()]);
}

Comparison Compare(const std::vector<double>& ours, const std::vector<double>& theirs,
                   Better better) {
  const double our_median = Median(ours);
  const double their_median = Median(theirs);
  Comparison result;
  if (our_median > 0 && their_median > 0) {
    result.ratio =
        better == Better::kHigher ? our_median / their_median : their_median / our_median;
  } else if (our_median > 0) {
    result.ratio = kOnlyOurs;
  }
  result.margin = std::max(
      kLeastMargin, kStandardErrors * std::hypot(RelativeError(ours), RelativeError(theirs)));
  return result;
}

}  // namespace mdvol::bench
