// parity_workers "inline": the thread that carries a write computes its parity, in cache-sized
// pieces, from start to end. Nothing is handed over, so nothing has to be big enough to be worth
// it; as many cores work as there are callers.

#ifndef MDVOL_POLICIES_INLINE_PARITY_H_
#define MDVOL_POLICIES_INLINE_PARITY_H_

#include "core/policy/parity_workers.h"

namespace mdvol {

class InlineParity final : public ParityWorkers {
 public:
  explicit InlineParity(PolicyNumbers /*numbers*/) {}
  ParityWorkersDecision Decide(const ParityWorkersFacts& /*facts*/) const override { return {}; }
};

}  // namespace mdvol

#endif  // MDVOL_POLICIES_INLINE_PARITY_H_
