// See fault_table.h.

#include "fuse/control/fault_table.h"

#include <string>

#include "core/device/shared_device.h"

namespace mdvol {

std::unique_ptr<MemberDevice> ShareFaultDevice(std::shared_ptr<FaultDevice> device) {
  return std::make_unique<SharedDevice>(std::move(device));
}

}  // namespace mdvol
