// Results: everything that was measured, one record for one number, in the order in which it was
// measured; the tables, the charts and the CSV file are all drawn from it. What a record is about
// is said by its scenario, policy, workload and metric; the repeats of one thing differ in `repeat`
// alone. Not thread-safe.
//
// A workload that is one point of a series is named "NAME @ KEY=NUMBER" ("sequential read @
// block_kib=64"): charts draw the points with the same NAME and KEY as a line.

#ifndef MDVOL_TESTS_BENCH_FRAME_RESULTS_H_
#define MDVOL_TESTS_BENCH_FRAME_RESULTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mdvol::bench {

struct Record {
  std::string scenario;
  std::string policy;  // of the scenario's family; "" where none matters
  std::string workload;
  std::string metric;  // "iops", "p99", "iops of solo"
  std::string unit;    // "1/s", "us", "MB/s", "" for ratios
  double value = 0;
  uint32_t repeat = 0;
  std::optional<double> report_value = std::nullopt;  // what the report has for it
  std::optional<double> bound = std::nullopt;         // what cannot be passed, or must be reached

  bool operator==(const Record&) const = default;
};

class Results {
 public:
  void Add(Record record) { records_.push_back(std::move(record)); }
  void Append(const std::vector<Record>& records) {
    records_.insert(records_.end(), records.begin(), records.end());
  }
  const std::vector<Record>& records() const { return records_; }

  // Of all repeats, in their order.
  std::vector<double> Values(std::string_view policy, std::string_view workload,
                             std::string_view metric) const;
  // Not a number when there is none, so that no criterion is met by what was not measured.
  double MedianOf(std::string_view policy, std::string_view workload,
                  std::string_view metric) const;

 private:
  std::vector<Record> records_;
};

// The NAME, KEY and NUMBER of a workload; no key, and 0, for one that is no point of a series.
struct SeriesPoint {
  std::string name;
  std::string key;
  double number = 0;
};
SeriesPoint ParseSeriesPoint(std::string_view workload);
std::string SeriesWorkload(std::string_view name, std::string_view key, uint64_t number);

}  // namespace mdvol::bench

#endif  // MDVOL_TESTS_BENCH_FRAME_RESULTS_H_
