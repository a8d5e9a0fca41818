// What a create request must satisfy whatever the sizes of its members: the part of PlanCreate that
// needs no arithmetic. Pure.

#ifndef MDVOL_CORE_METADATA_CREATE_CHECK_H_
#define MDVOL_CORE_METADATA_CREATE_CHECK_H_

#include "absl/status/status.h"
#include "core/metadata/create_plan.h"

namespace mdvol {

// Errors as PlanCreate: UsageError naming the option. Afterwards members and device_uuids have
// raid_disks + spares entries (device_uuids one more with a journal), and every size is a whole
// number of sectors.
absl::Status CheckCreateRequest(const CreateRequest& request);

// Whether a slot has a member whose old contents count.
bool HasExistingSlotMember(const CreateRequest& request);

}  // namespace mdvol

#endif  // MDVOL_CORE_METADATA_CREATE_CHECK_H_
