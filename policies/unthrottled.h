// resync_pacing "unthrottled": as fast as the members allow and sync_speed_max permits, whatever
// else the members are asked for, two windows in flight. For an array that nobody else uses at the
// time; users of the volume feel it.

#ifndef MDVOL_POLICIES_UNTHROTTLED_H_
#define MDVOL_POLICIES_UNTHROTTLED_H_

#include "core/policy/resync_pacing.h"
#include "policies/speed_bounds.h"

namespace mdvol {

class UnthrottledPacing final : public ResyncPacing {
 public:
  explicit UnthrottledPacing(PolicyNumbers /*numbers*/ = {}) {}
  ResyncDecision Decide(const ResyncFacts& facts) override;

 private:
  SpeedLimit limit_;
};

}  // namespace mdvol

#endif  // MDVOL_POLICIES_UNTHROTTLED_H_
