// Cold-path I/O on a member at any place: metadata areas need not fit the alignment that direct I/O
// wants, so these read what lies around them. Errors name path, operation and place. Callers make
// sure that nobody writes the surroundings meanwhile.

#ifndef MDVOL_CORE_ARRAY_MEMBER_IO_H_
#define MDVOL_CORE_ARRAY_MEMBER_IO_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/device/member_device.h"
#include "core/metadata/member_areas.h"

namespace mdvol {

absl::StatusOr<std::vector<uint8_t>> ReadAnywhere(MemberDevice& device, const ByteRange& range);

absl::Status WriteAnywhere(MemberDevice& device, uint64_t offset_bytes,
                           std::span<const uint8_t> bytes);

}  // namespace mdvol

#endif  // MDVOL_CORE_ARRAY_MEMBER_IO_H_
