// parity_workers: which threads compute parity. Asked by many threads at once, for each write. With
// no policy: the thread that carries the write.

#ifndef MDVOL_CORE_POLICY_PARITY_WORKERS_H_
#define MDVOL_CORE_POLICY_PARITY_WORKERS_H_

#include <cstdint>

#include "core/policy/families.h"
#include "core/policy/policy.h"

namespace mdvol {

enum class ParityWorkersWay : uint8_t {
  kInline,
};

struct ParityWorkersFacts {
  uint64_t bytes = 0;  // that the write brings
};

struct ParityWorkersDecision {
  ParityWorkersWay way = ParityWorkersWay::kInline;
};

class ParityWorkers : public Policy {
 public:
  static constexpr PolicyFamily kFamily = PolicyFamily::kParityWorkers;
  virtual ParityWorkersDecision Decide(const ParityWorkersFacts& facts) = 0;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_POLICY_PARITY_WORKERS_H_
