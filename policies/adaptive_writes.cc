// See adaptive_writes.h. The note is the bound in bytes, shifted by one, and a bit that says that
// the time of a read alone is being measured; 0 before the first reader.

#include "policies/adaptive_writes.h"

#include <algorithm>
#include <cmath>

namespace mdvol {
namespace {

constexpr uint64_t kNsPerMs = 1'000'000;
constexpr uint64_t kLaneBytes = 4096;
constexpr uint64_t kLeastBytes = kLaneBytes;
constexpr uint64_t kFirstBytes = 112 << 10;
constexpr uint64_t kMostBytes = 16 << 20;
constexpr uint64_t kLongestBytes = 1 << 20;
// So many bytes for each request at the member beyond two: of short ones more would fit into the
// bound, and a reader waits for each by itself.
constexpr uint64_t kBytesPerRequest = 64 << 10;
constexpr double kUnhurtNs = 60'000;
// Reads that are to be measured alone have one write at a time beside them for so long at most.
constexpr uint64_t kLongestAloneNs = 500 * kNsPerMs;

// Where the inferred slowest reads are kept, as a share of the goal. What is inferred is too low
// for a disk that serves two requests at once, by a quarter or so.
constexpr double kAimShare = 0.76;
// A median of eight reads is a fifth off as often as not: a step that would follow it whole would
// keep the bound swinging, and the slowest reads are those of its peaks.
constexpr double kGain = 0.05;
constexpr double kMostGrowth = 1.1;
// Far above the goal it is followed at once.
constexpr double kAlarmShare = 2;
constexpr double kDeepestCut = 0.5;

constexpr uint64_t Note(uint64_t bytes, bool is_learning) { return bytes << 1 | is_learning; }

}  // namespace

AdaptiveWrites::AdaptiveWrites(PolicyNumbers numbers)
    : queue_(numbers),
      read_latency_(numbers[2]),
      hold_ns_(static_cast<uint64_t>(numbers[3]) * kNsPerMs),
      learn_ns_(static_cast<uint64_t>(numbers[4]) * kNsPerMs) {}

WriteAdmissionDecision AdaptiveWrites::Open() const {
  WriteAdmissionDecision decision;
  decision.most_writes = queue_.nr_requests;
  decision.most_in_flight = queue_.device_depth;
  decision.longest_bytes = kLongestBytes;
  decision.wake_batch = WakeBatch(std::min(queue_.nr_requests, queue_.device_depth));
  return decision;
}

WriteAdmissionDecision AdaptiveWrites::Bounded(uint64_t bytes) const {
  WriteAdmissionDecision decision = Open();
  decision.most_bytes = bytes;
  decision.most_in_flight = static_cast<uint32_t>(
      std::clamp<uint64_t>(bytes / kBytesPerRequest, 2, decision.most_in_flight));
  decision.longest_bytes =
      std::clamp(bytes / 2 / kLaneBytes * kLaneBytes, kLaneBytes, kLongestBytes);
  return decision;
}

uint64_t AdaptiveWrites::Steer(uint64_t bytes, const WriteAdmissionFacts& facts) const {
  const auto least_ns = static_cast<double>(facts.least_read_ns);
  const double goal_ns = std::max(read_latency_ * least_ns, kUnhurtNs);
  const double median_ns = std::max(static_cast<double>(facts.median_read_ns), least_ns);
  const double slowest_ns = least_ns + 2 * (median_ns - least_ns);
  const double share = slowest_ns / goal_ns;
  const double factor = share > kAlarmShare
                            ? std::max(kAimShare / share, kDeepestCut)
                            : std::min(std::pow(kAimShare / share, kGain), kMostGrowth);
  const auto steered = static_cast<uint64_t>(static_cast<double>(bytes) * factor + 0.5);
  return std::clamp(steered, kLeastBytes, kMostBytes);
}

// Members ask at the same time, and with times that differ a little: the latest read counts.
bool AdaptiveWrites::HasReader(const WriteAdmissionFacts& facts) {
  uint64_t last_ns = last_read_ns_.load(std::memory_order_relaxed);
  const uint64_t since_ns = facts.reads_in_flight > 0 ? 0 : facts.since_read_ns;
  if (since_ns <= facts.now_ns) {
    const uint64_t seen_ns = facts.now_ns - since_ns;
    while (seen_ns > last_ns &&
           !last_read_ns_.compare_exchange_weak(last_ns, seen_ns, std::memory_order_relaxed)) {
    }
    last_ns = std::max(last_ns, seen_ns);
  }
  return last_ns != 0 && (last_ns > facts.now_ns || facts.now_ns - last_ns < hold_ns_);
}

// Whether to measure is asked of this member's own readers: without them it would never end. Once
// begun, the member is kept free for the next of them for a while, and not longer.
WriteAdmissionDecision AdaptiveWrites::Decide(const WriteAdmissionFacts& facts) {
  uint64_t bytes = facts.note >> 1;
  bool is_learning = (facts.note & 1) != 0;
  if (!HasReader(facts)) {
    WriteAdmissionDecision open = Open();
    open.note = Note(bytes, false);
    return open;
  }
  if (bytes == 0) {
    bytes = kFirstBytes;
  }
  const bool is_read_here = facts.reads_in_flight > 0 || facts.since_read_ns < hold_ns_;
  const bool begins_to_learn =
      is_read_here && facts.since_learn_ns >= learn_ns_ && !(is_learning && facts.reads > 0);
  if (begins_to_learn) {
    is_learning = true;
  } else if (facts.reads > 0) {
    if (!is_learning) {
      bytes = Steer(bytes, facts);
    }
    is_learning = false;
  }
  const bool is_alone = begins_to_learn || (is_learning && facts.since_learn_ns < kLongestAloneNs);
  WriteAdmissionDecision decision = Bounded(is_alone ? kLeastBytes : bytes);
  decision.learn = begins_to_learn;
  decision.note = Note(bytes, is_learning);
  return decision;
}

}  // namespace mdvol
