// parity_workers: which threads compute parity. Asked by many threads at once, once for each step
// of a write, so it keeps nothing. With no policy: the thread that carries the write.
//
// The other ways are those in which md has shared the work out. What they have in common is the
// stripe_head: every lane of 4 KiB is handed over, and comes back, by itself.

#ifndef MDVOL_CORE_POLICY_PARITY_WORKERS_H_
#define MDVOL_CORE_POLICY_PARITY_WORKERS_H_

#include <cstdint>

#include "core/policy/families.h"
#include "core/policy/policy.h"

namespace mdvol {

enum class ParityWorkersWay : uint8_t {
  kInline,  // the caller's own thread, in pieces as large as fit the caches
  kSingle,  // one thread of the array's, lane by lane, in the order of arrival: raid5d
  kPasses,  // raid5d gives each pass over a lane to a pool and waits for all lanes before the next
  kOperations,  // raid5d keeps the passes and gives the pool the arithmetic of each lane alone
};

struct ParityWorkersFacts {
  uint64_t bytes = 0;       // of one member that the step's parity covers
  uint32_t raid_disks = 0;  // of each stripe
  uint32_t processors = 1;
};

struct ParityWorkersDecision {
  ParityWorkersWay way = ParityWorkersWay::kInline;
  uint32_t threads = 1;  // of the pool; between 1 and 64
  uint32_t passes = 1;   // over a lane, kPasses only; between 1 and 16
};

class ParityWorkers : public Policy {
 public:
  static constexpr PolicyFamily kFamily = PolicyFamily::kParityWorkers;
  virtual ParityWorkersDecision Decide(const ParityWorkersFacts& facts) const = 0;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_POLICY_PARITY_WORKERS_H_
