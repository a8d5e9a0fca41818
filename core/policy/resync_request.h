// resync_request: in what pieces a window of a resync, check or rebuild is asked of the members.
// Asked by several threads at once, once for each window. With no policy: one request a member.

#ifndef MDVOL_CORE_POLICY_RESYNC_REQUEST_H_
#define MDVOL_CORE_POLICY_RESYNC_REQUEST_H_

#include <cstdint>

#include "core/policy/families.h"
#include "core/policy/policy.h"

namespace mdvol {

struct ResyncRequestFacts {
  uint32_t members = 0;           // that are read
  uint64_t bytes_per_member = 0;  // of the window, side by side on each member
};

struct ResyncRequestDecision {
  uint64_t request_bytes = 0;  // the longest request; 0: no bound
};

class ResyncRequest : public Policy {
 public:
  static constexpr PolicyFamily kFamily = PolicyFamily::kResyncRequest;
  virtual ResyncRequestDecision Decide(const ResyncRequestFacts& facts) = 0;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_POLICY_RESYNC_REQUEST_H_
