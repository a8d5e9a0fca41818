// A create request to start from.

#ifndef MDVOL_TESTS_UNIT_CORE_METADATA_CREATE_REQUEST_SAMPLE_H_
#define MDVOL_TESTS_UNIT_CORE_METADATA_CREATE_REQUEST_SAMPLE_H_

#include <cstdint>

#include "core/metadata/create_plan.h"

namespace mdvol::testing {

// An array of `raid_disks` images yet to be made, and `spares` more, of `size_bytes` of data each.
CreateRequest NewImages(uint32_t raid_disks, uint64_t size_bytes, uint32_t spares = 0);

// Makes the member an existing one of `device_bytes`.
void MakeExisting(CreateRequest& request, uint32_t number, uint64_t device_bytes);

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_UNIT_CORE_METADATA_CREATE_REQUEST_SAMPLE_H_
