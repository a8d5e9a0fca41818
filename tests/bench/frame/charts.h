// Charts: one SVG picture for every scenario and metric, drawn from records alone (a CSV file holds
// all that is needed). Workloads that are points of a series (results.h) become lines over a
// logarithmic axis, others groups of bars; policies are the colours. A point or bar is the median
// of the repeats, the whisker their range; a dashed line is a bound, a dotted one the report's
// value. Functions without state.

#ifndef MDVOL_TESTS_BENCH_FRAME_CHARTS_H_
#define MDVOL_TESTS_BENCH_FRAME_CHARTS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tests/bench/frame/results.h"

namespace mdvol::bench {

struct Picture {
  std::string file_name;  // "resync-pacing-iops-of-solo.svg"; lines have "-by-KEY"
  std::string svg;
};

// A metric whose workloads are partly points gets two pictures.
std::vector<Picture> DrawCharts(const std::vector<Record>& records);

// Into a folder, which is made if need be. Errors name the file.
absl::Status WriteCharts(const std::vector<Record>& records, const std::string& folder);

// The upper end of an axis that shows 0 .. `largest`, and the distance of its ticks: 1, 2 or 5
// times a power of ten, four to ten of them.
struct Ticks {
  double end = 1;
  double step = 0.2;
};
Ticks TicksFor(double largest);

}  // namespace mdvol::bench

#endif  // MDVOL_TESTS_BENCH_FRAME_CHARTS_H_
