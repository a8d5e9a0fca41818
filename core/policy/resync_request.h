// resync_request: in what pieces a window of a resync, check or rebuild is read from the members.
// Asked by several threads at once, once for each window; so it keeps nothing. With no policy: one
// request for all that lies side by side on a member.
//
// A policy says where requests end, nothing else: what is read, and where to, is the engine's. Any
// answer is a right one, only not as fast.

#ifndef MDVOL_CORE_POLICY_RESYNC_REQUEST_H_
#define MDVOL_CORE_POLICY_RESYNC_REQUEST_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/policy/families.h"
#include "core/policy/policy.h"

namespace mdvol {

struct ResyncRequestFacts {
  uint32_t members = 0;           // that are read, in ascending order of their slots
  uint64_t bytes_per_member = 0;  // of the window, side by side on each member
};

// Of one member, where a new request begins, in bytes from the start of the window. Whole lanes of
// 4096 count, others are rounded down.
using RequestCuts = std::vector<uint64_t>;

class ResyncRequest : public Policy {
 public:
  static constexpr PolicyFamily kFamily = PolicyFamily::kResyncRequest;
  // `cuts` has an empty list for each member.
  virtual void Cut(const ResyncRequestFacts& facts, std::span<RequestCuts> cuts) const = 0;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_POLICY_RESYNC_REQUEST_H_
