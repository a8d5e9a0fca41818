// degraded_read: how a read is served while members are missing. Asked by many threads at once, for
// each read that touches a stripe with a lost chunk. With no policy: kBypass.

#ifndef MDVOL_CORE_POLICY_DEGRADED_READ_H_
#define MDVOL_CORE_POLICY_DEGRADED_READ_H_

#include <cstdint>

#include "core/policy/families.h"
#include "core/policy/policy.h"

namespace mdvol {

enum class DegradedReadWay : uint8_t {
  kBypass,  // what can be read is read for its own sake; a lost chunk is rebuilt from its own
            // columns
};

struct DegradedReadFacts {
  uint64_t now_ns = 0;
  uint32_t raid_disks = 0;
  uint32_t lost_members = 0;  // of the stripe
};

struct DegradedReadDecision {
  DegradedReadWay way = DegradedReadWay::kBypass;
};

class DegradedRead : public Policy {
 public:
  static constexpr PolicyFamily kFamily = PolicyFamily::kDegradedRead;
  virtual DegradedReadDecision Decide(const DegradedReadFacts& facts) = 0;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_POLICY_DEGRADED_READ_H_
