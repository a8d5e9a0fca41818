// See adaptive_reads.h.

#include "policies/adaptive_reads.h"

#include <algorithm>

namespace mdvol {
namespace {

constexpr uint64_t kLaneBytes = 4096;
constexpr uint64_t kNsPerMs = 1000000;
// The one that is being read, the next one, and the rest of the one before.
constexpr uint64_t kStripesPerStream = 3;
// Three reads of so much, one behind the other, are no chance.
constexpr uint64_t kLargeRunBytes = 384 * 1024;

}  // namespace

AdaptiveReads::AdaptiveReads(PolicyNumbers numbers)
    : retention_ns_(static_cast<uint64_t>(numbers[0]) * kNsPerMs),
      ahead_bytes_(static_cast<uint64_t>(numbers[1]) * 1024),
      stream_requests_(static_cast<uint32_t>(numbers[2])) {}

// What was kept for the last one is there still.
bool AdaptiveReads::IsInRow(const DegradedReadFacts& facts) const {
  return facts.run_requests >= 2 && facts.run_gap_ns < retention_ns_;
}

bool AdaptiveReads::IsStream(const DegradedReadFacts& facts) const {
  return facts.run_requests >= stream_requests_ ||
         (facts.run_requests >= 3 && facts.run_bytes >= kLargeRunBytes);
}

bool AdaptiveReads::HasRoom(const DegradedReadFacts& facts) {
  const uint64_t stripe_lanes = facts.chunk_bytes / kLaneBytes;
  return kStripesPerStream * stripe_lanes * std::max(facts.active_runs, 1U) <= facts.cache_lanes;
}

DegradedReadDecision AdaptiveReads::Decide(const DegradedReadFacts& facts) {
  const uint64_t stripe_bytes = facts.chunk_bytes * (facts.raid_disks - 2);
  if (facts.lost_chunks == 0 || facts.part_bytes == stripe_bytes || !IsInRow(facts) ||
      !HasRoom(facts)) {
    return {};
  }
  DegradedReadDecision decision{
      .keep = true, .retention_ns = retention_ns_, .until_delivered = true};
  if (facts.first_chunk <= facts.last_lost && IsStream(facts)) {
    decision.ahead_bytes = ahead_bytes_;
    decision.next_stripe = true;
  }
  return decision;
}

}  // namespace mdvol
