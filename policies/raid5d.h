// parity_workers "single", "handle-stripe" and "run-ops": one raid5d, and the two forms of 2009
// that shared its work out (multicore raid456, Linux 2.6.32). For studying what they cost.
//
//   single         one thread computes the parity of the whole array, lane by lane.
//   handle-stripe  the first form: each pass over a stripe goes to a pool of threads, and the next
//                  pass begins when all stripes have ended theirs. A stripe is passed over when it
//                  is taken up, when what it needs has been read, when its parity is there, and
//                  when all is written.
//   run-ops        the second form: the passes stay with raid5d, and the copying and the arithmetic
//                  of a stripe go to the pool, one hand-over and one way back each.

#ifndef MDVOL_POLICIES_RAID5D_H_
#define MDVOL_POLICIES_RAID5D_H_

#include <algorithm>
#include <cstdint>

#include "core/policy/parity_workers.h"

namespace mdvol {

// Shared by the two forms that have a pool.
inline constexpr PolicyOptionInfo kPoolOptions[] = {
    {"threads", 0, 0, 64, true, "threads of the pool; 0: one for each processor"}};

class SingleParity final : public ParityWorkers {
 public:
  explicit SingleParity(PolicyNumbers /*numbers*/) {}
  ParityWorkersDecision Decide(const ParityWorkersFacts& /*facts*/) const override {
    return {ParityWorkersWay::kSingle, 1, 1};
  }
};

class PooledParity : public ParityWorkers {
 protected:
  explicit PooledParity(PolicyNumbers numbers) : threads_(static_cast<uint32_t>(numbers[0])) {}
  uint32_t Threads(const ParityWorkersFacts& facts) const {
    return threads_ == 0 ? std::max<uint32_t>(1, facts.processors) : threads_;
  }

 private:
  const uint32_t threads_;
};

class HandleStripeParity final : public PooledParity {
 public:
  explicit HandleStripeParity(PolicyNumbers numbers) : PooledParity(numbers) {}
  ParityWorkersDecision Decide(const ParityWorkersFacts& facts) const override {
    return {ParityWorkersWay::kPasses, Threads(facts), kPasses};
  }

 private:
  static constexpr uint32_t kPasses = 4;
};

class RunOpsParity final : public PooledParity {
 public:
  explicit RunOpsParity(PolicyNumbers numbers) : PooledParity(numbers) {}
  ParityWorkersDecision Decide(const ParityWorkersFacts& facts) const override {
    return {ParityWorkersWay::kOperations, Threads(facts), 1};
  }
};

}  // namespace mdvol

#endif  // MDVOL_POLICIES_RAID5D_H_
