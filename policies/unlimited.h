// write_admission "unlimited": no bound. Right where nobody reads, or where the member itself puts
// reads first.

#ifndef MDVOL_POLICIES_UNLIMITED_H_
#define MDVOL_POLICIES_UNLIMITED_H_

#include "core/policy/write_admission.h"

namespace mdvol {

class UnlimitedWrites final : public WriteAdmission {
 public:
  explicit UnlimitedWrites(PolicyNumbers /*numbers*/) {}
  WriteAdmissionDecision Decide(const WriteAdmissionFacts& /*facts*/) override { return {}; }
};

}  // namespace mdvol

#endif  // MDVOL_POLICIES_UNLIMITED_H_
