// ArrayGeometry: the shape of an array as a value, and the map between the volume and the members,
// both ways. Pure, constant time, no tables, safe from any thread.
//
// All quantities are bytes. "Data offset" in the names below is the offset inside a member's data
// area: add the member's own md data_offset (which may differ from member to member) to get the
// offset on the member. A geometry that exists is legal, and no function here can overflow on it.

#ifndef MDVOL_CORE_GEOMETRY_GEOMETRY_H_
#define MDVOL_CORE_GEOMETRY_GEOMETRY_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "core/geometry/layout.h"

namespace mdvol {

inline constexpr uint64_t kMinChunkBytes = 4096;
inline constexpr uint64_t kMaxChunkBytes = uint64_t{16} << 20;
inline constexpr uint64_t kMaxVolumeBytes = uint64_t{1} << 63;  // exclusive: off_t ends one below

// Where a byte of the volume lives.
struct VolumeLocation {
  uint64_t stripe = 0;
  uint32_t data_index = 0;
  uint32_t slot = 0;
  uint64_t chunk_offset_bytes = 0;  // inside the chunk
  uint64_t data_offset_bytes = 0;   // inside the member's data area
};

// What a byte of a member's data area is.
struct MemberLocation {
  uint64_t stripe = 0;
  ChunkRole role;
  uint64_t chunk_offset_bytes = 0;
  uint64_t volume_offset_bytes = 0;  // meaningful for data, 0 otherwise
};

class ArrayGeometry {
 public:
  // `component_bytes` is the space used on each member, rounded down to whole chunks here as md
  // does. Errors (EINVAL, naming the field and its bounds): a layout that md does not know,
  // raid_disks outside 4..255, a chunk that is no power of two in 4 KiB..16 MiB, less than one
  // chunk per member, a volume beyond 2^63 - 1 bytes.
  static absl::StatusOr<ArrayGeometry> Make(Layout layout, uint32_t raid_disks,
                                            uint64_t chunk_bytes, uint64_t component_bytes);

  Layout layout() const { return layout_; }
  uint32_t raid_disks() const { return raid_disks_; }
  uint32_t data_disks() const { return raid_disks_ - 2; }
  uint64_t chunk_bytes() const { return uint64_t{1} << chunk_shift_; }
  uint32_t chunk_shift() const { return chunk_shift_; }
  uint64_t component_bytes() const { return component_bytes_; }
  uint64_t stripe_count() const { return component_bytes_ >> chunk_shift_; }
  // Volume bytes in one stripe.
  uint64_t stripe_bytes() const { return chunk_bytes() * data_disks(); }
  uint64_t volume_bytes() const { return stripe_count() * stripe_bytes(); }

  StripeRoles RolesOf(uint64_t stripe) const { return {layout_, raid_disks_, stripe}; }

  // `volume_offset_bytes` < volume_bytes().
  VolumeLocation Locate(uint64_t volume_offset_bytes) const;
  // `data_offset_bytes` < component_bytes(), `slot` < raid_disks().
  MemberLocation LocateOnMember(uint32_t slot, uint64_t data_offset_bytes) const;

  friend bool operator==(const ArrayGeometry&, const ArrayGeometry&) = default;

 private:
  ArrayGeometry(Layout layout, uint32_t raid_disks, uint32_t chunk_shift, uint64_t component_bytes)
      : layout_(layout),
        raid_disks_(raid_disks),
        chunk_shift_(chunk_shift),
        component_bytes_(component_bytes) {}

  Layout layout_;
  uint32_t raid_disks_;
  uint32_t chunk_shift_;
  uint64_t component_bytes_;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_GEOMETRY_GEOMETRY_H_
