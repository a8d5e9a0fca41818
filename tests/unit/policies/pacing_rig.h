// PacingRig: a resync without an array: a policy of resync_pacing is asked, windows go and end as
// the test says, and the clock is the test's.

#ifndef MDVOL_TESTS_UNIT_POLICIES_PACING_RIG_H_
#define MDVOL_TESTS_UNIT_POLICIES_PACING_RIG_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "core/policy/resync_pacing.h"

namespace mdvol::testing {

inline constexpr uint64_t kMs = 1'000'000;
inline constexpr uint64_t kSecond = 1000 * kMs;
inline constexpr uint64_t kKib = 1024;
inline constexpr uint64_t kMib = 1024 * kKib;
inline constexpr uint64_t kSector = 512;

class PacingRig {
 public:
  PacingRig() {
    facts.now_ns = 100 * kSecond;
    facts.run = 1;
    facts.mark_ns = facts.now_ns;
    facts.speed_min = 1000 * kKib;
    facts.speed_max = 200'000 * kKib;
    facts.least_window_bytes = 64 * kKib;
    members.resize(4);
    facts.members = members;
  }

  // Asks; a window that goes is in flight from then on, and its I/O issued.
  ResyncDecision Ask(ResyncPacing& policy) {
    const ResyncDecision decision = policy.Decide(facts);
    if (decision.wait_ns == 0) {
      const uint64_t bytes =
          std::max(facts.least_window_bytes,
                   std::min(decision.window_bytes == 0 ? kMib : decision.window_bytes, kMib));
      in_flight.push_back({bytes, facts.now_ns});
      facts.issued_bytes += bytes;
      ++facts.windows_in_flight;
      for (ResyncMemberFacts& member : members) {
        member.sync_issued_bytes += bytes;
      }
    }
    return decision;
  }
  bool Goes(ResyncPacing& policy) { return Ask(policy).wait_ns == 0; }

  // The oldest window in flight ends.
  void EndWindow() {
    const Window window = in_flight.front();
    in_flight.pop_front();
    --facts.windows_in_flight;
    ++facts.windows_done;
    facts.done_bytes += window.bytes;
    facts.bytes_since_mark += window.bytes;
    facts.last_window_bytes = window.bytes;
    facts.last_window_ns = facts.now_ns - window.begun_ns;
    facts.last_done_ns = facts.now_ns;
    for (ResyncMemberFacts& member : members) {
      member.completed_bytes += window.bytes;
    }
  }
  void EndAll() {
    while (!in_flight.empty()) {
      EndWindow();
    }
  }

  void Pass(uint64_t ns) { facts.now_ns += ns; }

  // Users' requests that end now.
  void Quiet(uint64_t count, uint64_t each_ns) {
    facts.foreground.quiet.count += count;
    facts.foreground.quiet.sum_ns += count * each_ns;
  }
  void Disturbed(uint64_t count, uint64_t each_ns) {
    facts.foreground.disturbed.count += count;
    facts.foreground.disturbed.sum_ns += count * each_ns;
  }

  struct Window {
    uint64_t bytes;
    uint64_t begun_ns;
  };
  ResyncFacts facts;
  std::vector<ResyncMemberFacts> members;
  std::deque<Window> in_flight;
};

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_UNIT_POLICIES_PACING_RIG_H_
