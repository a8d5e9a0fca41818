// `mdvol detail`: the array in the form of `mdadm --detail` (4.2), from the text of
// MNT/status.json, because the command line sees no more of a running array than its files. Pure
// but for the local time zone.

#ifndef MDVOL_FUSE_RENDER_DETAIL_H_
#define MDVOL_FUSE_RENDER_DETAIL_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace mdvol {

// Major and minor number of a block device, 0 0 for an image.
struct DeviceNumber {
  uint32_t major_number = 0;
  uint32_t minor_number = 0;
};
using FindDeviceNumber = std::function<DeviceNumber(const std::string& path)>;

// `heading` is the mountpoint, which stands where mdadm prints the device. An error when
// `status_json` is not what status.json holds.
absl::StatusOr<std::string> RenderDetail(std::string_view heading, std::string_view status_json,
                                         const FindDeviceNumber& find_device_number);

// " (248.00 MiB 260.05 MB)", as mdadm adds to a size; empty below 5000 KiB.
std::string HumanSize(uint64_t bytes);

}  // namespace mdvol

#endif  // MDVOL_FUSE_RENDER_DETAIL_H_
