// Results and verdicts as text for people. Functions without state.

#ifndef MDVOL_TESTS_BENCH_FRAME_TABLES_H_
#define MDVOL_TESTS_BENCH_FRAME_TABLES_H_

#include <string>
#include <vector>

#include "tests/bench/frame/results.h"
#include "tests/bench/frame/verdicts.h"

namespace mdvol::bench {

// Columns as wide as they must be, the first two to the left, the others to the right.
std::string FormatTable(const std::vector<std::vector<std::string>>& rows);

// A number with four significant digits, without an exponent: "0.9123", "178984", "12.50".
std::string FormatNumber(double value);

// One line for one scenario, workload, metric and policy: the median of the repeats, their scatter,
// the ratio to the policy that was measured first on it, the report's value and the bound where
// there are any.
std::string FormatResults(const std::vector<Record>& records);

// One line each: "met   P1  text: 0.93 >= 0.90 x". Demands are marked as such when `demands_count`
// is false: they are told then, not judged.
std::string FormatVerdicts(const Verdicts& verdicts, bool demands_count);

}  // namespace mdvol::bench

#endif  // MDVOL_TESTS_BENCH_FRAME_TABLES_H_
