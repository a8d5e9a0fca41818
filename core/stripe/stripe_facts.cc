// See stripe_facts.h.

#include "core/stripe/stripe_facts.h"

#include <algorithm>

namespace mdvol {

uint32_t CountDegraded(const ArrayGeometry& geometry, const MemberView& members) {
  uint32_t degraded = 0;
  for (const SlotView& slot : members.slots) {
    degraded += !slot.present() || slot.ValidBytes() < geometry.component_bytes() ? 1u : 0u;
  }
  return degraded;
}

StripeFacts::StripeFacts(const ArrayGeometry& geometry, const MemberView& members, uint64_t stripe)
    : geometry_(&geometry), members_(&members), stripe_(stripe), roles_(geometry.RolesOf(stripe)) {
  for (uint32_t slot = 0; slot < members.slots.size(); ++slot) {
    if (members.slots[slot].checkpoint != nullptr) {
      checkpoints_.push_back({slot, members.slots[slot].ValidBytes()});
    }
  }
}

uint64_t StripeFacts::ValidBytes(uint32_t slot) const {
  for (const Checkpoint& checkpoint : checkpoints_) {
    if (checkpoint.slot == slot) {
      return checkpoint.valid_bytes;
    }
  }
  return members_->slots[slot].valid_bytes;
}

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
  const uint64_t valid_bytes = ValidBytes(slot);
  if (!view.present() || data_offset_bytes() + columns.begin >= valid_bytes ||
      std::find(stale_slots_.begin(), stale_slots_.end(), slot) != stale_slots_.end()) {
    return SlotAccess::kAbsent;
  }
  if (data_offset_bytes() + columns.end > valid_bytes) {
    return SlotAccess::kUnreadable;
  }
  return HasBadBlock(slot, columns) || HasReadError(slot, columns) ? SlotAccess::kUnreadable
                                                                   : SlotAccess::kReadable;
}

bool StripeFacts::HasBadBlock(uint32_t slot, ColumnRange columns) const {
  const BadBlockList* const bad_blocks = members_->slots[slot].bad_blocks;
  return bad_blocks != nullptr && !bad_blocks->empty() &&
         bad_blocks->Touches(MemberOffset(slot, columns.begin), MemberOffset(slot, columns.end));
}

bool StripeFacts::HasBadBlocks() const {
  for (uint32_t slot = 0; slot < geometry_->raid_disks(); ++slot) {
    if (HasBadBlock(slot, {0, geometry_->chunk_bytes()})) {
      return true;
    }
  }
  return false;
}

bool StripeFacts::IsListedBad(uint32_t slot, ColumnRange columns) const {
  const BadBlockList* const bad_blocks = members_->slots[slot].bad_blocks;
  return bad_blocks != nullptr &&
         bad_blocks->Covers({MemberOffset(slot, columns.begin), MemberOffset(slot, columns.end)});
}

void StripeFacts::NoteRewritten(uint32_t slot, ColumnRange columns, RewrittenBadList* list) const {
  if (HasBadBlock(slot, columns)) {
    list->push_back({slot, {MemberOffset(slot, columns.begin), MemberOffset(slot, columns.end)}});
  }
  const SlotView& view = members_->slots[slot];
  if (view.replacement_bad_blocks != nullptr && !view.replacement_bad_blocks->empty()) {
    const uint64_t offset = view.replacement_offset_bytes + data_offset_bytes();
    const ByteRange range{offset + columns.begin, offset + columns.end};
    if (view.replacement_bad_blocks->Touches(range.begin, range.end)) {
      list->push_back({slot, range, /*is_replacement=*/true});
    }
  }
}

// Errors come lane by lane; of a chunk that cannot be read at all one entry is to be left.
void StripeFacts::MarkUnreadable(uint32_t slot, ColumnRange columns) {
  for (ReadError& error : read_errors_) {
    if (error.slot == slot && error.columns.end == columns.begin) {
      error.columns.end = columns.end;
      return;
    }
  }
  read_errors_.push_back({slot, columns});
}

bool StripeFacts::HasReadError(uint32_t slot, ColumnRange columns) const {
  return std::any_of(read_errors_.begin(), read_errors_.end(), [&](const ReadError& error) {
    return error.slot == slot && error.columns.Intersects(columns);
  });
}

bool StripeFacts::OwesParity(ColumnRange columns) const {
  return std::any_of(owed_columns_.begin(), owed_columns_.end(),
                     [&](const ColumnRange& owed) { return owed.Intersects(columns); });
}

uint32_t StripeFacts::AbsentSlots(ColumnRange columns) const {
  uint32_t absent = 0;
  for (uint32_t slot = 0; slot < geometry_->raid_disks(); ++slot) {
    absent += Access(slot, columns) == SlotAccess::kAbsent ? 1u : 0u;
  }
  return absent;
}

bool StripeFacts::IsCut(uint32_t slot) const {
  const uint64_t valid_bytes = ValidBytes(slot);
  return members_->slots[slot].present() && valid_bytes > data_offset_bytes() &&
         valid_bytes - data_offset_bytes() < geometry_->chunk_bytes();
}

bool StripeFacts::HasCheckpoint() const {
  for (uint32_t slot = 0; slot < geometry_->raid_disks(); ++slot) {
    if (IsCut(slot)) {
      return true;
    }
  }
  return false;
}

void StripeFacts::AppendEdges(ColumnEdges* edges) const {
  const uint64_t chunk_bytes = geometry_->chunk_bytes();
  for (const ColumnRange& owed : owed_columns_) {
    edges->push_back(owed.begin);
    edges->push_back(owed.end);
  }
  for (uint32_t slot = 0; slot < geometry_->raid_disks(); ++slot) {
    const SlotView& view = members_->slots[slot];
    if (IsCut(slot)) {
      edges->push_back(ValidBytes(slot) - data_offset_bytes());
    }
    if (!view.present() || view.bad_blocks == nullptr || view.bad_blocks->empty()) {
      continue;
    }
    const uint64_t begin = MemberOffset(slot, 0);
    const uint64_t end = MemberOffset(slot, chunk_bytes);
    for (const ByteRange& range : view.bad_blocks->ranges()) {
      if (range.begin < end && range.end > begin) {
        edges->push_back(std::max(range.begin, begin) - begin);
        edges->push_back(std::min(range.end, end) - begin);
      }
    }
  }
}

}  // namespace mdvol
