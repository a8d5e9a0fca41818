// write_admission: how many writes a member is given at once. Asked by many threads at once. With
// no policy: no bound.

#ifndef MDVOL_CORE_POLICY_WRITE_ADMISSION_H_
#define MDVOL_CORE_POLICY_WRITE_ADMISSION_H_

#include <cstdint>

#include "core/policy/families.h"
#include "core/policy/policy.h"

namespace mdvol {

struct WriteAdmissionFacts {
  uint64_t now_ns = 0;
};

struct WriteAdmissionDecision {
  uint32_t most_writes = UINT32_MAX;  // in flight at the member
};

class WriteAdmission : public Policy {
 public:
  static constexpr PolicyFamily kFamily = PolicyFamily::kWriteAdmission;
  virtual WriteAdmissionDecision Decide(const WriteAdmissionFacts& facts) = 0;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_POLICY_WRITE_ADMISSION_H_
