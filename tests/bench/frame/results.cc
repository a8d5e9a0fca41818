// See results.h.

#include "tests/bench/frame/results.h"

#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tests/bench/frame/statistics.h"

namespace mdvol::bench {
namespace {

constexpr std::string_view kMark = " @ ";

}  // namespace

std::vector<double> Results::Values(std::string_view policy, std::string_view workload,
                                    std::string_view metric) const {
  std::vector<double> values;
  for (const Record& record : records_) {
    if (record.policy == policy && record.workload == workload && record.metric == metric) {
      values.push_back(record.value);
    }
  }
  return values;
}

double Results::MedianOf(std::string_view policy, std::string_view workload,
                         std::string_view metric) const {
  const std::vector<double> values = Values(policy, workload, metric);
  return values.empty() ? std::numeric_limits<double>::quiet_NaN() : Median(values);
}

SeriesPoint ParseSeriesPoint(std::string_view workload) {
  SeriesPoint point{.name = std::string(workload), .key = "", .number = 0};
  const size_t mark = workload.rfind(kMark);
  const size_t equals = workload.rfind('=');
  if (mark == std::string_view::npos || equals == std::string_view::npos || equals < mark) {
    return point;
  }
  double number = 0;
  if (!absl::SimpleAtod(std::string(workload.substr(equals + 1)), &number)) {
    return point;
  }
  const size_t key = mark + kMark.size();
  return {std::string(workload.substr(0, mark)), std::string(workload.substr(key, equals - key)),
          number};
}

std::string SeriesWorkload(std::string_view name, std::string_view key, uint64_t number) {
  return absl::StrCat(std::string(name), std::string(kMark), std::string(key), "=", number);
}

}  // namespace mdvol::bench
