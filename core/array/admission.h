// Puts a member under the array's write_admission policy: the device in core/device acts, the
// policy says how many. With no policy chosen, every write passes.

#ifndef MDVOL_CORE_ARRAY_ADMISSION_H_
#define MDVOL_CORE_ARRAY_ADMISSION_H_

#include <memory>

#include "core/base/clock.h"
#include "core/device/counting_device.h"
#include "core/policy/policy_slot.h"
#include "core/policy/write_admission.h"

namespace mdvol {

// `slot` and `clock` outlive the device.
std::unique_ptr<CountingDevice> NewAdmittedDevice(std::unique_ptr<CountingDevice> inner,
                                                  const PolicySlot<WriteAdmission>& slot,
                                                  Clock& clock);

}  // namespace mdvol

#endif  // MDVOL_CORE_ARRAY_ADMISSION_H_
