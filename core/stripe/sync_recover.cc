// See sync_recover.h.

#include "core/stripe/sync_recover.h"

#include <algorithm>
#include <utility>

#include "core/base/units.h"
#include "core/parity/parity.h"
#include "core/stripe/decode.h"
#include "core/stripe/io_errors.h"

namespace mdvol {

bool SyncRecoverer::HasFailed(size_t target) const {
  return std::any_of(result_->target_errors.begin(), result_->target_errors.end(),
                     [target](const auto& error) { return error.first == target; });
}

bool SyncRecoverer::Wants(size_t target, size_t index, ColumnRange columns) const {
  return stripes_[index].facts.data_offset_bytes() + columns.end > targets_[target].from_bytes &&
         !HasFailed(target);
}

void SyncRecoverer::Run() {
  for (size_t i = 0; i < stripes_.size(); ++i) {
    PlanStripe(i);
  }
  ReadNeeded();
  // What failed is made up for by the rest of its stripe, which may not have been asked for so far.
  bool has_more = false;
  for (size_t i = 0; i < stripes_.size(); ++i) {
    if (stripes_[i].facts.has_read_errors()) {
      NeedAll(i);
      has_more = true;
    }
  }
  if (has_more) {
    ReadNeeded();
  }
  for (size_t i = 0; i < stripes_.size(); ++i) {
    window_.ForEachPiece(i, [&](ColumnRange piece) { Fill(i, piece); });
  }
  Write();
}

// Which slots' blocks it takes. Where access changes inside the stripe all that can be read is.
void SyncRecoverer::PlanStripe(size_t index) {
  const StripeFacts& facts = stripes_[index].facts;
  const ColumnRange columns = window_.columns();
  ColumnEdges edges;
  facts.AppendEdges(&edges);
  const bool is_uniform = std::none_of(edges.begin(), edges.end(), [&](uint64_t edge) {
    return columns.begin < edge && edge < columns.end;
  });
  bool reconstructs = false;
  for (size_t t = 0; t < targets_.size(); ++t) {
    if (!Wants(t, index, columns)) {
      continue;
    }
    if (!is_uniform) {
      NeedAll(index);
      return;
    }
    const uint32_t slot = targets_[t].slot;
    if (facts.Readable(slot, columns)) {
      needs_[index * window_.raid_disks() + slot] = true;
    } else {
      reconstructs = true;
    }
  }
  DecodeSet decode;
  if (reconstructs && PlanDecode(facts, columns, &decode)) {
    for (const uint32_t slot : decode.read_slots) {
      needs_[index * window_.raid_disks() + slot] = true;
    }
  }
}

void SyncRecoverer::NeedAll(size_t index) {
  const auto begin = needs_.begin() + static_cast<ptrdiff_t>(index * window_.raid_disks());
  std::fill(begin, begin + static_cast<ptrdiff_t>(window_.raid_disks()), true);
}

void SyncRecoverer::ReadNeeded() {
  std::vector<SyncBlock> blocks;
  for (uint32_t slot = 0; slot < window_.raid_disks(); ++slot) {
    for (size_t i = 0; i < stripes_.size(); ++i) {
      if (needs_[i * window_.raid_disks() + slot]) {
        blocks.push_back({i, slot, window_.columns()});
      }
    }
  }
  window_.Read(blocks);
}

void SyncRecoverer::Fill(size_t index, ColumnRange piece) {
  absl::InlinedVector<uint32_t, 2> lost;
  for (size_t t = 0; t < targets_.size(); ++t) {
    if (Wants(t, index, piece) && !stripes_[index].facts.Readable(targets_[t].slot, piece)) {
      lost.push_back(targets_[t].slot);
    }
  }
  const bool can = lost.empty() || Reconstruct(index, piece, lost);
  for (size_t t = 0; t < targets_.size(); ++t) {
    if (!Wants(t, index, piece)) {
      continue;
    }
    if (can || stripes_[index].facts.Readable(targets_[t].slot, piece)) {
      NoteFilled(t, index, piece);
    } else {
      NoteHole(targets_[t].slot, index, piece);
    }
  }
  if (can && stripes_[index].facts.has_read_errors()) {
    NoteReadErrors(index, piece);
  }
}

// The bytes of these slots, none of which can be read, from the others.
bool SyncRecoverer::Reconstruct(size_t index, ColumnRange piece, std::span<const uint32_t> slots) {
  const StripeFacts& facts = stripes_[index].facts;
  DecodeSet decode;
  if (!PlanDecode(facts, piece, &decode)) {
    return false;
  }
  Blocks blocks(window_.raid_disks());
  for (uint32_t slot = 0; slot < blocks.size(); ++slot) {
    blocks[slot] = window_.Bytes({index, slot, piece});
  }
  if (!Decode(facts, piece, decode, blocks)) {
    return false;
  }
  const auto wanted = [&](uint32_t slot) {
    return std::find(slots.begin(), slots.end(), slot) != slots.end() ? blocks[slot] : nullptr;
  };
  std::byte* const p = wanted(facts.roles().p_slot());
  std::byte* const q = wanted(facts.roles().q_slot());
  if (p != nullptr || q != nullptr) {
    absl::InlinedVector<ConstBlock, 16> data;
    for (uint32_t k = 0; k < facts.geometry().data_disks(); ++k) {
      const uint32_t slot = facts.roles().DataSlot(k);
      data.push_back({facts.BlockIdOf(slot), blocks[slot]});
    }
    GenerateParity(data, p, q, piece.size());
  }
  return true;
}

void SyncRecoverer::NoteReadErrors(size_t index, ColumnRange piece) {
  SyncStripe& stripe = stripes_[index];
  for (uint32_t slot = 0; slot < window_.raid_disks(); ++slot) {
    if (stripe.facts.HasReadError(slot, piece)) {
      stripe.to_mend.push_back({slot, piece});
    }
  }
}

void SyncRecoverer::NoteFilled(size_t target, size_t index, ColumnRange piece) {
  const uint64_t data_offset = stripes_[index].facts.data_offset_bytes();
  const uint64_t from = targets_[target].from_bytes;
  if (data_offset + piece.begin < from) {
    // Whole units only; what is written over was valid, and stays as it is.
    const uint64_t unit = stripes_[index].facts.members().alignment_bytes;
    piece.begin = std::max(piece.begin, RoundDown(from - data_offset, unit));
  }
  for (auto last = filled_.rbegin(); last != filled_.rend() && last->index == index; ++last) {
    if (last->target == target) {
      if (last->columns.end == piece.begin) {
        last->columns.end = piece.end;
        return;
      }
      break;
    }
  }
  filled_.push_back({target, index, piece});
}

void SyncRecoverer::NoteHole(uint32_t slot, size_t index, ColumnRange piece) {
  const uint64_t data_offset = stripes_[index].facts.data_offset_bytes();
  const RecoverResult::Hole hole{slot, data_offset + piece.begin, data_offset + piece.end};
  for (auto last = result_->lost.rbegin(); last != result_->lost.rend(); ++last) {
    if (last->slot == slot) {
      if (last->end_bytes == hole.begin_bytes) {
        last->end_bytes = hole.end_bytes;
        return;
      }
      break;
    }
  }
  result_->lost.push_back(hole);
}

// So that an error tells whether it is a bad block's alone. Only whole units can be written.
void SyncRecoverer::SplitAtBadBlocks() {
  std::vector<Filled> split;
  for (const Filled& filled : filled_) {
    const RecoverTarget& target = targets_[filled.target];
    const StripeFacts& facts = stripes_[filled.index].facts;
    const uint64_t unit = facts.members().alignment_bytes;
    const uint64_t offset = target.data_offset_bytes + facts.data_offset_bytes();
    Filled rest = filled;
    const auto cut = [&](uint64_t column) {
      if (rest.columns.begin < column && column < rest.columns.end) {
        split.push_back({rest.target, rest.index, {rest.columns.begin, column}});
        rest.columns.begin = column;
      }
    };
    const BadBlockList none;
    for (const ByteRange& bad :
         (target.bad_blocks != nullptr ? *target.bad_blocks : none).ranges()) {
      if (bad.begin < offset + rest.columns.end && offset + rest.columns.begin < bad.end) {
        cut(RoundUp(std::max(bad.begin, offset) - offset, unit));
        cut(RoundDown(bad.end - offset, unit));
      }
    }
    split.push_back(rest);
  }
  filled_ = std::move(split);
}

void SyncRecoverer::Write() {
  SplitAtBadBlocks();
  const auto range_of = [&](const Filled& filled) {
    const uint64_t offset = targets_[filled.target].data_offset_bytes +
                            stripes_[filled.index].facts.data_offset_bytes();
    return ByteRange{offset + filled.columns.begin, offset + filled.columns.end};
  };
  IoBatch batch;
  for (const Filled& filled : filled_) {
    const RecoverTarget& target = targets_[filled.target];
    batch.AddWrite(target.device, range_of(filled).begin,
                   window_.Bytes({filled.index, target.slot, filled.columns}),
                   filled.columns.size());
  }
  if (!batch.empty()) {
    batch.Run();
  }
  for (size_t i = 0; i < filled_.size(); ++i) {
    const size_t target = filled_[i].target;
    const ByteRange range = range_of(filled_[i]);
    const BadBlockList* const bad_blocks = targets_[target].bad_blocks;
    if (batch.error(i) == 0) {
      if (bad_blocks != nullptr && bad_blocks->Touches(range.begin, range.end)) {
        result_->rewritten_bad.emplace_back(target, range);
      }
      continue;
    }
    const bool stays_bad =
        !IsFull(batch.error(i)) && bad_blocks != nullptr && bad_blocks->Covers(range);
    result_->still_bad |= stays_bad;
    if (!stays_bad && !HasFailed(target)) {
      result_->target_errors.emplace_back(target, batch.error(i));
    }
  }
}

}  // namespace mdvol
