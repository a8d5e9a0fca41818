// See histogram.h. Values below 128 have a bucket each; above, every power of two is cut into 64.

#include "tests/bench/frame/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace mdvol::bench {
namespace {

constexpr uint64_t kPerPowerOfTwo = 64;
constexpr int kPerPowerOfTwoBits = 6;
constexpr uint64_t kLargestNs = (uint64_t{1} << 40) - 1;  // 18 minutes: what is longer counts there

int ShiftOf(uint64_t ns) {
  return std::max(0, static_cast<int>(std::bit_width(ns)) - (kPerPowerOfTwoBits + 1));
}

size_t BucketOf(uint64_t ns) {
  const int shift = ShiftOf(ns);
  return static_cast<uint64_t>(shift) * kPerPowerOfTwo + (ns >> shift);
}

uint64_t MiddleOf(size_t bucket) {
  if (bucket < 2 * kPerPowerOfTwo) {
    return bucket;
  }
  const uint64_t shift = bucket / kPerPowerOfTwo - 1;
  const uint64_t begin = (bucket - shift * kPerPowerOfTwo) << shift;
  return begin + (uint64_t{1} << shift) / 2;
}

}  // namespace

void LatencyHistogram::Add(uint64_t ns) {
  if (buckets_.empty()) {
    buckets_.resize(BucketOf(kLargestNs) + 1);
  }
  ++buckets_[BucketOf(std::min(ns, kLargestNs))];
  min_ns_ = count_ == 0 ? ns : std::min(min_ns_, ns);
  max_ns_ = std::max(max_ns_, ns);
  ++count_;
  const auto value = static_cast<double>(ns);
  sum_ns_ += value;
  sum_of_squares_ += value * value;
}

void LatencyHistogram::Merge(const LatencyHistogram& other) {
  if (other.count_ == 0) {
    return;
  }
  if (count_ == 0) {
    *this = other;
    return;
  }
  for (size_t i = 0; i < buckets_.size(); ++i) {
    buckets_[i] += other.buckets_[i];
  }
  count_ += other.count_;
  min_ns_ = std::min(min_ns_, other.min_ns_);
  max_ns_ = std::max(max_ns_, other.max_ns_);
  sum_ns_ += other.sum_ns_;
  sum_of_squares_ += other.sum_of_squares_;
}

double LatencyHistogram::MeanNs() const {
  return count_ == 0 ? 0 : sum_ns_ / static_cast<double>(count_);
}

double LatencyHistogram::StdevNs() const {
  if (count_ == 0) {
    return 0;
  }
  const double mean = MeanNs();
  return std::sqrt(std::max(0.0, sum_of_squares_ / static_cast<double>(count_) - mean * mean));
}

uint64_t LatencyHistogram::QuantileNs(double quantile) const {
  if (count_ == 0) {
    return 0;
  }
  const double share = std::clamp(quantile, 0.0, 1.0);
  const auto rank =
      std::max(uint64_t{1}, static_cast<uint64_t>(std::ceil(share * static_cast<double>(count_))));
  if (rank == count_) {
    return max_ns_;
  }
  uint64_t seen = 0;
  for (size_t i = 0; i < buckets_.size(); ++i) {
    seen += buckets_[i];
    if (seen >= rank) {
      return std::clamp(MiddleOf(i), min_ns_, max_ns_);
    }
  }
  return max_ns_;
}

}  // namespace mdvol::bench
