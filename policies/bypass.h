// degraded_read "bypass": what can be read is read for its own sake, a lost chunk is rebuilt from
// its own columns, and nothing is kept: md before 4.1.

#ifndef MDVOL_POLICIES_BYPASS_H_
#define MDVOL_POLICIES_BYPASS_H_

#include "core/policy/degraded_read.h"

namespace mdvol {

class BypassReads final : public DegradedRead {
 public:
  explicit BypassReads(PolicyNumbers /*numbers*/) {}
  DegradedReadDecision Decide(const DegradedReadFacts& /*facts*/) override { return {}; }
};

}  // namespace mdvol

#endif  // MDVOL_POLICIES_BYPASS_H_
