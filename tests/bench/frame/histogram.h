// LatencyHistogram: how long requests took, in logarithmic buckets of constant relative width, so
// that a percentile is right to 1 % from a nanosecond to a quarter of an hour and a recording costs
// a few instructions (the idea of HdrHistogram). Empty histograms hold no memory. One thread at a
// time; threads keep one each and merge them.

#ifndef MDVOL_TESTS_BENCH_FRAME_HISTOGRAM_H_
#define MDVOL_TESTS_BENCH_FRAME_HISTOGRAM_H_

#include <cstdint>
#include <vector>

namespace mdvol::bench {

class LatencyHistogram {
 public:
  void Add(uint64_t ns);
  void Merge(const LatencyHistogram& other);

  uint64_t count() const { return count_; }
  uint64_t min_ns() const { return count_ == 0 ? 0 : min_ns_; }
  uint64_t max_ns() const { return max_ns_; }
  // Exact, from sums; 0 when empty.
  double MeanNs() const;
  double StdevNs() const;
  // The value that the share `quantile` (0..1) of all requests did not exceed: the middle of its
  // bucket, kept between min and max; of 1 the max itself. 0 when empty.
  uint64_t QuantileNs(double quantile) const;

 private:
  std::vector<uint64_t> buckets_;
  uint64_t count_ = 0;
  uint64_t min_ns_ = 0;
  uint64_t max_ns_ = 0;
  double sum_ns_ = 0;
  double sum_of_squares_ = 0;
};

}  // namespace mdvol::bench

#endif  // MDVOL_TESTS_BENCH_FRAME_HISTOGRAM_H_
