// See stripe_facts.h.

#include "core/stripe/stripe_facts.h"

namespace mdvol {

BlockId StripeFacts::BlockIdOf(uint32_t slot) const {
  const ChunkRole role = roles_.RoleOf(slot);
  switch (role.kind) {
    case ChunkKind::kP:
      return {BlockKind::kP, 0};
    case ChunkKind::kQ:
      return {BlockKind::kQ, 0};
    case ChunkKind::kData:
      break;
  }
  return {BlockKind::kData, role.exponent};
}

SlotAccess StripeFacts::Access(uint32_t slot, ColumnRange columns) const {
  const SlotView& view = members_->slots[slot];
  if (!view.present() || data_offset_bytes() + columns.end > view.valid_bytes) {
    return SlotAccess::kAbsent;
  }
  if (view.bad_blocks != nullptr && !view.bad_blocks->empty() &&
      view.bad_blocks->Touches(MemberOffset(slot, columns.begin),
                               MemberOffset(slot, columns.end))) {
    return SlotAccess::kUnreadable;
  }
  for (const ReadError& error : read_errors_) {
    if (error.slot == slot && error.columns.Intersects(columns)) {
      return SlotAccess::kUnreadable;
    }
  }
  return SlotAccess::kReadable;
}

}  // namespace mdvol
