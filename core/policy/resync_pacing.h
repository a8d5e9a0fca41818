// resync_pacing: how much of the members a resync takes while others use them. The policy is asked
// before every window, and again after the wait that it demanded; it sees facts and knows nothing
// of members. With no policy: never a wait. Implementations are in policies/. A policy may keep
// state of its own; the engine asks from one thread at a time.

#ifndef MDVOL_CORE_POLICY_RESYNC_PACING_H_
#define MDVOL_CORE_POLICY_RESYNC_PACING_H_

#include <cstdint>

#include "core/policy/families.h"
#include "core/policy/policy.h"

namespace mdvol {

struct ResyncFacts {
  uint64_t now_ns = 0;
  // The start of the interval over which speed is judged, as md's marks: half a minute ago, or the
  // beginning of the run.
  uint64_t mark_ns = 0;
  uint64_t bytes_since_mark = 0;  // of each member
  // Bytes per second and member: below the first a resync is never held back, above the second
  // always.
  uint64_t speed_min = 0;
  uint64_t speed_max = 0;
};

struct ResyncDecision {
  uint64_t wait_ns = 0;  // 0: go
};

class ResyncPacing : public Policy {
 public:
  static constexpr PolicyFamily kFamily = PolicyFamily::kResyncPacing;
  virtual ResyncDecision Decide(const ResyncFacts& facts) = 0;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_POLICY_RESYNC_PACING_H_
