// resync_request "extent": one request for all that a window has on a member, however many members
// there are. The cost of a request is paid once for a mebibyte, at 4 members as at 128.

#ifndef MDVOL_POLICIES_EXTENT_H_
#define MDVOL_POLICIES_EXTENT_H_

#include "core/policy/resync_request.h"

namespace mdvol {

class ExtentRequests final : public ResyncRequest {
 public:
  explicit ExtentRequests(PolicyNumbers /*numbers*/) {}
  void Cut(const ResyncRequestFacts& /*facts*/, std::span<RequestCuts> /*cuts*/) const override {}
};

}  // namespace mdvol

#endif  // MDVOL_POLICIES_EXTENT_H_
