// degraded_read "stripe-cache": md since 4.1. As soon as any member is missing, every read goes
// through the stripe cache in lanes of 4 KiB, those of stripes that have lost nothing too. A live
// block is read alone; where a lost one is wanted, all n-1 survivors of its lane are, Q included.
// Lanes stay until their room is needed. A stream with one member of n lost reads
// ((n-2)/n * (n-1) + 2/n * d) / d bytes for each of its own, d = n-2: 1.1 at 10 members.

#ifndef MDVOL_POLICIES_STRIPE_CACHE_READS_H_
#define MDVOL_POLICIES_STRIPE_CACHE_READS_H_

#include "core/policy/degraded_read.h"

namespace mdvol {

class StripeCacheReads final : public DegradedRead {
 public:
  explicit StripeCacheReads(PolicyNumbers /*numbers*/) {}
  DegradedReadDecision Decide(const DegradedReadFacts& /*facts*/) override {
    return {.all_survivors = true, .keep = true};
  }
};

}  // namespace mdvol

#endif  // MDVOL_POLICIES_STRIPE_CACHE_READS_H_
