// See speed_bounds.h. In floating point: products of bytes and nanoseconds do not fit 64 bits.

#include "policies/speed_bounds.h"

#include <algorithm>
#include <cmath>

namespace mdvol {
namespace {

constexpr double kNsPerSecond = 1e9;
constexpr double kLimitWindowSeconds = 0.010;
constexpr double kLimitSlackSeconds = 0.008;
constexpr double kFloorFactor = 1.5;
constexpr double kFloorWindowSeconds = 0.75;
constexpr double kFloorDebtSeconds = 3;
constexpr double kLeastFloorWindowBytes = 64 * 1024;

double SecondsBetween(uint64_t earlier_ns, uint64_t later_ns) {
  return later_ns <= earlier_ns ? 0 : static_cast<double>(later_ns - earlier_ns) / kNsPerSecond;
}

}  // namespace

uint64_t SpeedLimit::WaitNs(const ResyncFacts& facts) {
  const double speed = static_cast<double>(std::max<uint64_t>(facts.speed_max, 1));
  if (facts.run != run_) {
    run_ = facts.run;
    tokens_bytes_ = speed * kLimitSlackSeconds;
    last_ns_ = facts.now_ns;
    issued_bytes_ = facts.issued_bytes;
  }
  tokens_bytes_ += speed * SecondsBetween(last_ns_, facts.now_ns);
  tokens_bytes_ = std::min(tokens_bytes_, speed * kLimitSlackSeconds);
  tokens_bytes_ -= static_cast<double>(facts.issued_bytes - issued_bytes_);
  last_ns_ = std::max(last_ns_, facts.now_ns);
  issued_bytes_ = facts.issued_bytes;
  if (tokens_bytes_ >= 0) {
    return 0;
  }
  return static_cast<uint64_t>(std::min(-tokens_bytes_ / speed, 1e6) * kNsPerSecond) + 1;
}

uint64_t SpeedLimit::MostWindowBytes(const ResyncFacts& facts) {
  const double bytes = static_cast<double>(facts.speed_max) * kLimitWindowSeconds;
  return std::max(facts.least_window_bytes, static_cast<uint64_t>(std::min(bytes, 0x1p62)));
}

bool SpeedFloor::IsDue(const ResyncFacts& facts) {
  const double speed = static_cast<double>(std::min(facts.speed_min, facts.speed_max));
  if (facts.run != run_) {
    run_ = facts.run;
    owed_bytes_ = 0;
    last_ns_ = facts.now_ns;
    issued_bytes_ = facts.issued_bytes;
  }
  owed_bytes_ += speed * kFloorFactor * SecondsBetween(last_ns_, facts.now_ns);
  owed_bytes_ -= static_cast<double>(facts.issued_bytes - issued_bytes_);
  owed_bytes_ =
      std::clamp(owed_bytes_, -static_cast<double>(WindowBytes(facts)), speed * kFloorDebtSeconds);
  last_ns_ = std::max(last_ns_, facts.now_ns);
  issued_bytes_ = facts.issued_bytes;
  return owed_bytes_ > 0;
}

uint64_t SpeedFloor::WindowBytes(const ResyncFacts& facts) {
  const double bytes = static_cast<double>(facts.speed_min) * kFloorWindowSeconds;
  return std::max(facts.least_window_bytes,
                  static_cast<uint64_t>(std::clamp(bytes, kLeastFloorWindowBytes, 0x1p62)));
}

}  // namespace mdvol
