// ArrayImpl: SEEK_DATA and SEEK_HOLE over the volume.
//
// A stripe is a hole when it is one on every member present: the code is linear, so members that
// are all zero mean that a missing one is zero too. Inside a stripe with data, a chunk of a present
// member is as its file says, a chunk of a missing one counts as data.

#include <algorithm>

#include "core/array/array_impl.h"
#include "core/base/status.h"

namespace mdvol {
namespace {

// The first stripe at or after `stripe` in which any member has data; stripe_count when none has.
absl::StatusOr<uint64_t> NextStripeWithData(const ArrayGeometry& geometry, const MemberView& view,
                                            uint64_t stripe) {
  uint64_t nearest = geometry.stripe_count();
  for (const SlotView& slot : view.slots) {
    if (!slot.present()) {
      continue;
    }
    MDVOL_ASSIGN_OR_RETURN(
        const uint64_t at,
        slot.device->NextData(slot.data_offset_bytes + (stripe << geometry.chunk_shift())));
    nearest = std::min(nearest, (at - slot.data_offset_bytes) >> geometry.chunk_shift());
  }
  return nearest;
}

bool IsReadable(const StripeFacts& facts, uint32_t slot) {
  return facts.Readable(slot, {0, facts.geometry().chunk_bytes()});
}

uint64_t VolumeOffset(const ArrayGeometry& geometry, uint64_t stripe, uint32_t data_index,
                      uint64_t column) {
  return (stripe * geometry.data_disks() + data_index) * geometry.chunk_bytes() + column;
}

}  // namespace

absl::StatusOr<uint64_t> ArrayImpl::NextData(uint64_t offset_bytes) {
  GateShare share(members_gate_);
  while (offset_bytes < geometry_.volume_bytes()) {
    const VolumeLocation at = geometry_.Locate(offset_bytes);
    MDVOL_ASSIGN_OR_RETURN(const uint64_t stripe, NextStripeWithData(geometry_, view_, at.stripe));
    if (stripe >= geometry_.stripe_count()) {
      break;
    }
    uint32_t data_index = stripe == at.stripe ? at.data_index : 0;
    uint64_t column = stripe == at.stripe ? at.chunk_offset_bytes : 0;
    const StripeFacts facts(geometry_, view_, stripe);
    for (; data_index < geometry_.data_disks(); ++data_index, column = 0) {
      const uint32_t slot = facts.roles().DataSlot(data_index);
      if (!IsReadable(facts, slot)) {
        return VolumeOffset(geometry_, stripe, data_index, column);
      }
      const uint64_t chunk_begin = facts.MemberOffset(slot, 0);
      MDVOL_ASSIGN_OR_RETURN(const uint64_t found,
                             facts.Device(slot)->NextData(chunk_begin + column));
      if (found < chunk_begin + geometry_.chunk_bytes()) {
        return VolumeOffset(geometry_, stripe, data_index, found - chunk_begin);
      }
    }
    offset_bytes = (stripe + 1) * geometry_.stripe_bytes();
  }
  return geometry_.volume_bytes();
}

absl::StatusOr<uint64_t> ArrayImpl::NextHole(uint64_t offset_bytes) {
  GateShare share(members_gate_);
  // Where each member's next hole is known to start, so that a long run of data costs one look, not
  // one per chunk.
  std::vector<uint64_t> hole_at(geometry_.raid_disks(), 0);
  while (offset_bytes < geometry_.volume_bytes()) {
    const VolumeLocation at = geometry_.Locate(offset_bytes);
    const SlotView& view = view_.slots[at.slot];
    const uint64_t chunk_left = geometry_.chunk_bytes() - at.chunk_offset_bytes;
    if (!IsReadable(StripeFacts(geometry_, view_, at.stripe), at.slot)) {
      MDVOL_ASSIGN_OR_RETURN(const uint64_t data_stripe,
                             NextStripeWithData(geometry_, view_, at.stripe));
      if (data_stripe > at.stripe) {
        return offset_bytes;
      }
    } else {
      const uint64_t begin = view.data_offset_bytes + at.data_offset_bytes;
      if (hole_at[at.slot] < begin) {
        MDVOL_ASSIGN_OR_RETURN(hole_at[at.slot], view.device->NextHole(begin));
      }
      if (hole_at[at.slot] < begin + chunk_left) {
        return offset_bytes + (hole_at[at.slot] - begin);
      }
    }
    offset_bytes += chunk_left;
  }
  return geometry_.volume_bytes();
}

}  // namespace mdvol
