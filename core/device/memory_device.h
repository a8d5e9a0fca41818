// MemoryDevice: a member in memory, for tests, benchmarks and embedding. Sparse by 64 KiB blocks,
// so that members of many TiB can be had. Flush does nothing. Thread-safe; overlapping concurrent
// writes leave either's bytes.

#ifndef MDVOL_CORE_DEVICE_MEMORY_DEVICE_H_
#define MDVOL_CORE_DEVICE_MEMORY_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "core/device/member_device.h"

namespace mdvol {

struct MemoryDeviceOptions {
  uint32_t alignment_bytes = 1;  // requests that violate it fail with EINVAL, as O_DIRECT does
  bool read_only = false;        // writes fail with EBADF
};

std::unique_ptr<MemberDevice> NewMemoryDevice(std::string name, uint64_t size_bytes,
                                              const MemoryDeviceOptions& options = {});

}  // namespace mdvol

#endif  // MDVOL_CORE_DEVICE_MEMORY_DEVICE_H_
