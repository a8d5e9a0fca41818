// See pacing_bound.h.

#include "tests/support/resync/pacing_bound.h"

#include <algorithm>

namespace mdvol::testing {
namespace {

struct Costs {
  double bandwidth = 0;  // bytes per second
  double solo_s = 0;     // of a read, alone
  double window_s = 0;   // that each window costs the reader
  double read_s = 0;     // that each read costs the stream on its member
};

Costs CostsOf(const PacingBoundSpec& spec) {
  const auto bandwidth = static_cast<double>(spec.disk.bandwidth_bytes_per_s);
  const double seek_s = static_cast<double>(spec.disk.seek_ns) * 1e-9;
  const double before_s = static_cast<double>(spec.disk.latency_ns) * 1e-9 + seek_s;
  const double transfer_s = static_cast<double>(spec.request_bytes) / bandwidth;
  const double lasts_s = before_s + static_cast<double>(spec.window_bytes) / bandwidth;
  const bool is_alone = spec.disk.parallelism == 1;
  Costs costs;
  costs.bandwidth = bandwidth;
  costs.solo_s =
      1 / PredictRandomRate(spec.disk, spec.request_bytes, spec.member_bytes, /*depth=*/1);
  costs.window_s =
      std::max(0.0, lasts_s - costs.solo_s + (is_alone ? costs.solo_s / spec.members : -before_s));
  costs.read_s = is_alone                     ? costs.solo_s + seek_s
                 : spec.disk.parallelism == 2 ? std::max(before_s, transfer_s)
                                              : transfer_s;
  return costs;
}

}  // namespace

double MostReaderShare(const PacingBoundSpec& spec, double resync_bytes_per_s) {
  const Costs costs = CostsOf(spec);
  const double waiting =
      1 - resync_bytes_per_s / static_cast<double>(spec.window_bytes) * costs.window_s;
  const double reads_per_s =
      (1 - resync_bytes_per_s / costs.bandwidth) / costs.read_s * spec.members;
  return std::clamp(std::min(waiting, reads_per_s * costs.solo_s), 0.0, 1.0);
}

double MostResyncRate(const PacingBoundSpec& spec, double reader_share) {
  const Costs costs = CostsOf(spec);
  const double reads_per_s = reader_share / costs.solo_s;
  const double capacity = costs.bandwidth * (1 - reads_per_s / spec.members * costs.read_s);
  const double waiting = costs.window_s > 0 ? (1 - reader_share) / costs.window_s *
                                                  static_cast<double>(spec.window_bytes)
                                            : capacity;
  return std::max(0.0, std::min(waiting, capacity));
}

}  // namespace mdvol::testing
