// See disk_model.h.

#include "core/device/disk_model.h"

#include <algorithm>
#include <limits>

#include "core/base/check.h"

namespace mdvol {
namespace {

constexpr double kNsPerSecond = 1e9;
// No part of a request takes longer (eleven days): sums of what is in flight cannot overflow.
constexpr double kMaxPartNs = 1e15;

// 0 where the bandwidth is unlimited.
double TransferNs(const DiskModelParameters& parameters, uint64_t length_bytes) {
  if (parameters.bandwidth_bytes_per_s == 0) {
    return 0;
  }
  return static_cast<double>(length_bytes) * kNsPerSecond /
         static_cast<double>(parameters.bandwidth_bytes_per_s);
}

uint64_t RoundedNs(double duration_ns) {
  return static_cast<uint64_t>(std::min(duration_ns, kMaxPartNs) + 0.5);
}

double PredictRate(const DiskModelParameters& parameters, double positioning_ns, double transfer_ns,
                   uint32_t depth) {
  const double in_service = std::min(depth, parameters.parallelism);
  const double service_ns =
      static_cast<double>(parameters.latency_ns) + positioning_ns + transfer_ns;
  if (service_ns == 0) {
    return std::numeric_limits<double>::infinity();
  }
  return kNsPerSecond / std::max(service_ns / in_service, transfer_ns);
}

}  // namespace

DiskModelParameters Stretched(const DiskModelParameters& parameters, double factor) {
  MDVOL_CHECK(factor > 0);
  DiskModelParameters stretched = parameters;
  stretched.latency_ns = RoundedNs(static_cast<double>(parameters.latency_ns) * factor);
  stretched.seek_ns = RoundedNs(static_cast<double>(parameters.seek_ns) * factor);
  if (parameters.bandwidth_bytes_per_s != 0) {
    stretched.bandwidth_bytes_per_s = std::max<uint64_t>(
        1, RoundedNs(static_cast<double>(parameters.bandwidth_bytes_per_s) / factor));
  }
  return stretched;
}

DiskModel::DiskModel(const DiskModelParameters& parameters)
    : parameters_(parameters), completions_ns_(parameters.parallelism) {
  MDVOL_CHECK(parameters.parallelism > 0);
}

uint64_t DiskModel::PositioningNs(uint64_t offset_bytes) const {
  if (offset_bytes == head_bytes_) {
    return 0;
  }
  if (offset_bytes < head_bytes_ || parameters_.bandwidth_bytes_per_s == 0) {
    return parameters_.seek_ns;
  }
  return std::min(parameters_.seek_ns,
                  RoundedNs(TransferNs(parameters_, offset_bytes - head_bytes_)));
}

uint64_t DiskModel::Admit(uint64_t now_ns, IoKind kind, uint64_t offset_bytes,
                          uint64_t length_bytes) {
  if (kind == IoKind::kFlush) {
    return std::max(now_ns, last_completion_ns_);
  }
  const uint64_t start_ns = std::max(now_ns, completions_ns_[oldest_]);
  const uint64_t positioned_ns = start_ns + parameters_.latency_ns + PositioningNs(offset_bytes);
  const uint64_t transfer_ns =
      kind == IoKind::kZero ? 0 : RoundedNs(TransferNs(parameters_, length_bytes));
  head_bytes_ = offset_bytes + length_bytes;
  last_completion_ns_ = std::max(positioned_ns, last_completion_ns_) + transfer_ns;
  completions_ns_[oldest_] = last_completion_ns_;
  oldest_ = oldest_ + 1 == completions_ns_.size() ? 0 : oldest_ + 1;
  return last_completion_ns_;
}

double MeanPositioningNs(const DiskModelParameters& parameters, uint64_t span_bytes) {
  const double seek_ns = static_cast<double>(parameters.seek_ns);
  if (parameters.bandwidth_bytes_per_s == 0 || parameters.seek_ns == 0) {
    return seek_ns;
  }
  const double reach_bytes =
      seek_ns * static_cast<double>(parameters.bandwidth_bytes_per_s) / kNsPerSecond;
  const double span = static_cast<double>(span_bytes);
  if (reach_bytes <= span) {
    const double share = reach_bytes / span;
    return seek_ns * (1 - share / 2 + share * share / 6);
  }
  return seek_ns * (0.5 + span / reach_bytes / 6);
}

double PredictRandomRate(const DiskModelParameters& parameters, uint64_t length_bytes,
                         uint64_t span_bytes, uint32_t depth) {
  return PredictRate(parameters, MeanPositioningNs(parameters, span_bytes),
                     TransferNs(parameters, length_bytes), depth);
}

double PredictStreamRate(const DiskModelParameters& parameters, uint64_t length_bytes,
                         uint32_t depth) {
  return PredictRate(parameters, 0, TransferNs(parameters, length_bytes), depth) *
         static_cast<double>(length_bytes);
}

}  // namespace mdvol
