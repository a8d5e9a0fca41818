// Records as a CSV file (RFC 4180), one line each under a header line; charts are drawn from such
// files alone. What was written is read back equal, but for digits beyond the ninth. Functions
// without state.

#ifndef MDVOL_TESTS_BENCH_FRAME_CSV_H_
#define MDVOL_TESTS_BENCH_FRAME_CSV_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/bench/frame/results.h"

namespace mdvol::bench {

std::string FormatCsv(const std::vector<Record>& records);
// Errors name the line: another header, too few or too many fields, a number that is none, a quote
// that does not end.
absl::StatusOr<std::vector<Record>> ParseCsv(std::string_view text);

// Errors name the file.
absl::Status WriteTextFile(const std::string& path, std::string_view text);
absl::StatusOr<std::string> ReadTextFile(const std::string& path);

}  // namespace mdvol::bench

#endif  // MDVOL_TESTS_BENCH_FRAME_CSV_H_
