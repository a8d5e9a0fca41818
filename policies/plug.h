// resync_request "plug-16" and "plug-64": what became of md's resync under a plug of the block
// layer.
//
// md asks for a lane of 4 KiB of the first member, of the second, ... of the last, then for the
// next lane of each. A plug gathers these: a lane that continues the request which the plug holds
// for the same member joins it, up to the longest request a disk takes; any other becomes a new
// request. Before one is added, all are sent off if there are as many as the plug holds (16 before
// Linux 5.16, 64 for several queues since), or if the last one added has reached 128 KiB. So with
// more members than the plug holds requests, it is emptied before any member gets its second lane:
// nothing is joined and every request is of 4 KiB. With no more than that, requests grow large.
//
// For studying the cliff; there is no other reason to choose them.

#ifndef MDVOL_POLICIES_PLUG_H_
#define MDVOL_POLICIES_PLUG_H_

#include <cstdint>

#include "core/policy/resync_request.h"

namespace mdvol {

inline constexpr uint64_t kPlugFlushBytes = 128 * 1024;    // BLK_PLUG_FLUSH_SIZE
inline constexpr uint64_t kPlugRequestBytes = 512 * 1024;  // what most disks take at once

class PlugRequests : public ResyncRequest {
 public:
  void Cut(const ResyncRequestFacts& facts, std::span<RequestCuts> cuts) const final;

 protected:
  explicit PlugRequests(uint32_t most_requests) : most_requests_(most_requests) {}

 private:
  const uint32_t most_requests_;
};

class Plug16Requests final : public PlugRequests {
 public:
  explicit Plug16Requests(PolicyNumbers /*numbers*/) : PlugRequests(16) {}
};

class Plug64Requests final : public PlugRequests {
 public:
  explicit Plug64Requests(PolicyNumbers /*numbers*/) : PlugRequests(64) {}
};

}  // namespace mdvol

#endif  // MDVOL_POLICIES_PLUG_H_
