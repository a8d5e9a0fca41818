// resync_request "extent": one request for all that a window has on a member.

#ifndef MDVOL_POLICIES_EXTENT_H_
#define MDVOL_POLICIES_EXTENT_H_

#include "core/policy/resync_request.h"

namespace mdvol {

class ExtentRequests final : public ResyncRequest {
 public:
  explicit ExtentRequests(PolicyNumbers /*numbers*/) {}
  ResyncRequestDecision Decide(const ResyncRequestFacts& /*facts*/) override { return {}; }
};

}  // namespace mdvol

#endif  // MDVOL_POLICIES_EXTENT_H_
