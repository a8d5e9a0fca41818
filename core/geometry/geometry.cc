// See geometry.h. Nothing below can overflow: Make() admits no geometry whose volume reaches 2^63
// bytes, a volume offset is smaller than the volume, a member's data offset smaller than that.

#include "core/geometry/geometry.h"

#include <bit>
#include <cerrno>
#include <string>
#include <string_view>

#include "core/base/check.h"
#include "core/base/status.h"
#include "core/base/units.h"

namespace mdvol {
namespace {

absl::Status Refusal(std::string_view field, uint64_t value, std::string_view unit,
                     std::string_view remedy) {
  std::string message(field);
  message += ' ';
  message += std::to_string(value);
  message += unit;
  message += ": ";
  message += remedy;
  return ErrnoStatus(EINVAL, message);
}

}  // namespace

absl::StatusOr<ArrayGeometry> ArrayGeometry::Make(Layout layout, uint32_t raid_disks,
                                                  uint64_t chunk_bytes, uint64_t component_bytes) {
  const auto layout_id = static_cast<int32_t>(layout);
  if (!IsKnownLayout(layout_id)) {
    return ErrnoStatus(EINVAL, "layout " + std::to_string(layout_id) +
                                   ": must be a RAID6 layout, 0-5, 8-10 or 16-20");
  }
  if (raid_disks < kMinRaidDisks || raid_disks > kMaxRaidDisks) {
    return Refusal("raid_disks", raid_disks, "", "a RAID6 array has 4 to 255 members");
  }
  if (!IsPowerOfTwo(chunk_bytes) || chunk_bytes < kMinChunkBytes || chunk_bytes > kMaxChunkBytes) {
    return Refusal("chunk size", chunk_bytes, " bytes", "must be a power of two from 4K to 16M");
  }
  if (component_bytes < chunk_bytes) {
    return Refusal("component size", component_bytes, " bytes",
                   "must be at least one chunk of " + FormatSize(chunk_bytes));
  }
  const uint64_t rounded_bytes = RoundDown(component_bytes, chunk_bytes);
  uint64_t volume_bytes = 0;
  if (!MultiplyFits(rounded_bytes, raid_disks - 2, &volume_bytes) ||
      volume_bytes >= kMaxVolumeBytes) {
    const uint64_t limit_bytes = RoundDown((kMaxVolumeBytes - 1) / (raid_disks - 2), chunk_bytes);
    return Refusal("component size", component_bytes, " bytes",
                   "must be at most " + FormatSize(limit_bytes) + " with " +
                       std::to_string(raid_disks) +
                       " members, for a volume of at most 2^63 - 1 bytes");
  }
  return ArrayGeometry(layout, raid_disks, static_cast<uint32_t>(std::countr_zero(chunk_bytes)),
                       rounded_bytes);
}

VolumeLocation ArrayGeometry::Locate(uint64_t volume_offset_bytes) const {
  MDVOL_CHECK(volume_offset_bytes < volume_bytes());
  const uint64_t chunk = volume_offset_bytes >> chunk_shift_;
  VolumeLocation location;
  location.stripe = chunk / data_disks();
  location.data_index = static_cast<uint32_t>(chunk % data_disks());
  location.slot = RolesOf(location.stripe).DataSlot(location.data_index);
  location.chunk_offset_bytes = volume_offset_bytes & (chunk_bytes() - 1);
  location.data_offset_bytes = (location.stripe << chunk_shift_) + location.chunk_offset_bytes;
  return location;
}

MemberLocation ArrayGeometry::LocateOnMember(uint32_t slot, uint64_t data_offset_bytes) const {
  MDVOL_CHECK(data_offset_bytes < component_bytes_);
  MemberLocation location;
  location.stripe = data_offset_bytes >> chunk_shift_;
  location.role = RolesOf(location.stripe).RoleOf(slot);
  location.chunk_offset_bytes = data_offset_bytes & (chunk_bytes() - 1);
  if (location.role.kind == ChunkKind::kData) {
    const uint64_t chunk = location.stripe * data_disks() + location.role.data_index;
    location.volume_offset_bytes = (chunk << chunk_shift_) + location.chunk_offset_bytes;
  }
  return location;
}

}  // namespace mdvol
