// PolicySet: the active policies of one array, family by family.

#ifndef MDVOL_CORE_POLICY_POLICY_SET_H_
#define MDVOL_CORE_POLICY_POLICY_SET_H_

#include "core/policy/degraded_read.h"
#include "core/policy/parity_workers.h"
#include "core/policy/policy_slot.h"
#include "core/policy/resync_pacing.h"
#include "core/policy/resync_request.h"
#include "core/policy/write_admission.h"

namespace mdvol {

// Belongs to whoever puts the array together, and outlives it.
struct PolicySet {
  PolicySlot<DegradedRead> degraded_read;
  PolicySlot<ResyncPacing> resync_pacing;
  PolicySlot<ResyncRequest> resync_request;
  PolicySlot<WriteAdmission> write_admission;
  PolicySlot<ParityWorkers> parity_workers;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_POLICY_POLICY_SET_H_
