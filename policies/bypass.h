// degraded_read "bypass": md before 4.1. A chunk whose member is there is read straight from it. A
// chunk whose member is not is rebuilt from the same bytes of all others, whatever of them has been
// read before or is wanted besides, and nothing is kept. A stream with one member of n lost reads
// ((n-2)/n * (d-1 + n-1) + 2/n * d) / d bytes for each of its own, d = n-2: 1.8 at 10 members.

#ifndef MDVOL_POLICIES_BYPASS_H_
#define MDVOL_POLICIES_BYPASS_H_

#include "core/policy/degraded_read.h"

namespace mdvol {

class BypassReads final : public DegradedRead {
 public:
  explicit BypassReads(PolicyNumbers /*numbers*/) {}
  DegradedReadDecision Decide(const DegradedReadFacts& /*facts*/) override {
    return {.apart = true, .all_survivors = true};
  }
};

}  // namespace mdvol

#endif  // MDVOL_POLICIES_BYPASS_H_
