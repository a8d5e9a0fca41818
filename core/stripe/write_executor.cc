// See write_executor.h.

#include "core/stripe/write_executor.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/check.h"
#include "core/parity/parity.h"

namespace mdvol {
namespace {

bool IsFull(int error) { return error == ENOSPC || error == EDQUOT; }

// The most blocks of scratch that a strategy may take for one piece: each block once as read and,
// for the blocks written in part, once more as new; P and Q.
uint32_t ScratchBlocks(const StripeStep& step) {
  return 2 * step.facts.geometry().raid_disks() + 2;
}

}  // namespace

void WriteExecutor::Run() {
  PunchHoles();
  PlanPieces();
  while (!pieces_.empty()) {
    RunWave();
  }
}

void WriteExecutor::PunchHoles() {
  batch_.Clear();
  records_.clear();
  for (size_t i = 0; i < steps_.size(); ++i) {
    const StripeFacts& facts = steps_[i].facts;
    if (!steps_[i].punch_hole) {
      continue;
    }
    const ColumnRange chunk{0, facts.geometry().chunk_bytes()};
    for (uint32_t slot = 0; slot < facts.geometry().raid_disks(); ++slot) {
      if (facts.Access(slot, chunk) != SlotAccess::kAbsent) {
        batch_.AddZero(facts.Device(slot), facts.MemberOffset(slot, 0), chunk.size());
        records_.push_back({i, slot});
      }
    }
  }
  if (batch_.empty() || batch_.Run()) {
    return;
  }
  for (size_t i = 0; i < records_.size(); ++i) {
    StripeStep& step = steps_[records_[i].unit];
    if (const int error = batch_.error(i); IsFull(error)) {
      step.errors.push_back({{0, step.facts.geometry().chunk_bytes()}, error});
      step.owes_parity = true;
    } else if (error != 0) {
      step.member_errors.push_back({.slot = records_[i].slot, .error = error});
    }
  }
}

void WriteExecutor::PlanPieces() {
  for (StripeStep& step : steps_) {
    if (step.extents.empty()) {
      continue;
    }
    const uint64_t longest = PieceBytes(ScratchBlocks(step));
    for (const WriteSegment& segment : PlanStripeWrite(step.facts, step.extents, rmw_level_)) {
      // A full-stripe write needs scratch for P and Q alone: keep it in one piece.
      const bool full = segment.strategy == WriteStrategy::kReconstruct &&
                        segment.columns.size() <= kScratchBytes / 4;
      const uint64_t limit = full ? segment.columns.size() : longest;
      for (uint64_t begin = segment.columns.begin; begin < segment.columns.end; begin += limit) {
        pieces_.push_back(
            {&step, {begin, std::min(begin + limit, segment.columns.end)}, segment.strategy});
      }
    }
  }
}

void WriteExecutor::RunWave() {
  scratch_.Reset();
  units_.clear();
  batch_.Clear();
  records_.clear();
  while (!pieces_.empty()) {
    const Piece piece = pieces_.front();
    if (piece.strategy == WriteStrategy::kImpossible) {
      piece.step->errors.push_back({piece.columns, EIO});
      pieces_.pop_front();
      continue;
    }
    if (!Prepare(piece)) {
      if (units_.empty()) {
        // Larger than all of scratch: halve it. PieceBytes of the worst case always fits.
        const uint64_t half = PieceBytes(ScratchBlocks(*piece.step));
        MDVOL_CHECK(piece.columns.size() > half);
        pieces_.front().columns.begin = piece.columns.begin + half;
        pieces_.push_front(
            {piece.step, {piece.columns.begin, piece.columns.begin + half}, piece.strategy});
        scratch_.Reset();
        batch_.Clear();
        records_.clear();
        continue;
      }
      break;
    }
    pieces_.pop_front();
  }
  Read();
  for (Unit& unit : units_) {
    if (!unit.read_failed) {
      Compute(unit);
    }
  }
  Write();
}

void WriteExecutor::WantSlots(const Piece& piece,
                              absl::InlinedVector<uint32_t, 16>* read_slots) const {
  const StripeFacts& facts = piece.step->facts;
  const StripeRoles& roles = facts.roles();
  if (piece.strategy == WriteStrategy::kDecode) {
    DecodeSet decode;
    MDVOL_CHECK(PlanDecode(facts, piece.columns, &decode));
    read_slots->assign(decode.read_slots.begin(), decode.read_slots.end());
    return;
  }
  for (uint32_t k = 0; k < facts.geometry().data_disks(); ++k) {
    const Cover cover = CoverOf(piece.step->extents, k, piece.columns);
    const bool wanted = piece.strategy == WriteStrategy::kReconstruct  ? cover != Cover::kWhole
                        : piece.strategy == WriteStrategy::kReadModify ? cover != Cover::kNone
                                                                       : cover == Cover::kPart;
    if (wanted) {
      read_slots->push_back(roles.DataSlot(k));
    }
  }
  if (piece.strategy == WriteStrategy::kReadModify) {
    for (const uint32_t slot : {roles.p_slot(), roles.q_slot()}) {
      if (facts.Readable(slot, piece.columns)) {
        read_slots->push_back(slot);
      }
    }
  }
}

bool WriteExecutor::Prepare(const Piece& piece) {
  const StripeFacts& facts = piece.step->facts;
  const uint32_t raid_disks = facts.geometry().raid_disks();
  const size_t length = piece.columns.size();
  Unit unit{.piece = piece, .old_bytes = {}, .new_bytes = {}};
  unit.old_bytes.resize(raid_disks);
  unit.new_bytes.resize(raid_disks);
  absl::InlinedVector<uint32_t, 16> read_slots;
  WantSlots(piece, &read_slots);
  // All scratch of the piece is taken before its reads are added, so that a piece that does not fit
  // leaves no trace but scratch, which the wave's end gives back.
  for (const uint32_t slot : read_slots) {
    unit.old_bytes[slot] = scratch_.Take(length);
    if (unit.old_bytes[slot] == nullptr) {
      return false;
    }
  }
  for (uint32_t slot = 0; slot < raid_disks; ++slot) {
    const ChunkRole role = facts.roles().RoleOf(slot);
    const bool is_parity = role.kind != ChunkKind::kData;
    const bool is_part =
        !is_parity && CoverOf(piece.step->extents, role.data_index, piece.columns) == Cover::kPart;
    const bool is_lost =
        piece.strategy == WriteStrategy::kDecode && !is_parity && unit.old_bytes[slot] == nullptr;
    if (is_lost && (unit.old_bytes[slot] = scratch_.Take(length)) == nullptr) {
      return false;
    }
    const bool computes_parity =
        piece.strategy == WriteStrategy::kReconstruct || piece.strategy == WriteStrategy::kDecode;
    if ((is_parity && computes_parity) || is_part) {
      std::byte* fresh = scratch_.Take(length);
      if (fresh == nullptr) {
        return false;
      }
      unit.new_bytes[slot] = fresh;
    }
  }
  for (const uint32_t slot : read_slots) {
    batch_.AddRead(facts.Device(slot), facts.MemberOffset(slot, piece.columns.begin),
                   unit.old_bytes[slot], length);
    records_.push_back({units_.size(), slot});
  }
  units_.push_back(std::move(unit));
  return true;
}

void WriteExecutor::Read() {
  if (batch_.empty() || batch_.Run()) {
    return;
  }
  for (size_t i = 0; i < records_.size(); ++i) {
    if (batch_.error(i) == 0) {
      continue;
    }
    Unit& unit = units_[records_[i].unit];
    unit.read_failed = true;
    unit.piece.step->facts.MarkUnreadable(records_[i].slot, unit.piece.columns);
  }
  for (const Unit& unit : units_) {
    if (unit.read_failed) {
      const Piece& piece = unit.piece;
      pieces_.push_back(
          {piece.step, piece.columns,
           ChooseWriteStrategy(piece.step->facts, piece.step->extents, piece.columns, rmw_level_)});
    }
  }
}

// The new bytes of a data chunk in the unit's columns: the caller's own where the chunk is
// overwritten wholly, the old ones with the new laid over them in `into` where in part, the old
// ones otherwise.
const std::byte* WriteExecutor::NewBlock(Unit& unit, uint32_t data_index, std::byte* into) {
  const ColumnRange columns = unit.piece.columns;
  const uint32_t slot = unit.piece.step->facts.roles().DataSlot(data_index);
  const std::byte* old_bytes = unit.old_bytes[slot];
  bool copied = false;
  for (const NewExtent& extent : unit.piece.step->extents) {
    if (extent.data_index != data_index || !extent.columns.Intersects(columns)) {
      continue;
    }
    if (extent.columns.begin <= columns.begin && columns.end <= extent.columns.end) {
      return extent.bytes + (columns.begin - extent.columns.begin);
    }
    if (!copied) {
      copied = true;
      MDVOL_CHECK(into != nullptr);
      if (old_bytes != nullptr) {
        std::memcpy(into, old_bytes, columns.size());
      }
    }
    const uint64_t begin = std::max(extent.columns.begin, columns.begin);
    const uint64_t end = std::min(extent.columns.end, columns.end);
    std::memcpy(into + (begin - columns.begin), extent.bytes + (begin - extent.columns.begin),
                end - begin);
  }
  return copied ? into : old_bytes;
}

void WriteExecutor::Compute(Unit& unit) {
  switch (unit.piece.strategy) {
    case WriteStrategy::kDecode:
      DecodeLost(unit);
      ReconstructParity(unit);
      break;
    case WriteStrategy::kReconstruct:
      ReconstructParity(unit);
      break;
    case WriteStrategy::kReadModify:
      ModifyParity(unit);
      break;
    case WriteStrategy::kDataOnly:
      for (uint32_t k = 0; k < unit.piece.step->facts.geometry().data_disks(); ++k) {
        const uint32_t slot = unit.piece.step->facts.roles().DataSlot(k);
        unit.new_bytes[slot] = NewBlock(unit, k, const_cast<std::byte*>(unit.new_bytes[slot]));
      }
      break;
    case WriteStrategy::kImpossible:
      MDVOL_CHECK(false);
  }
}

void WriteExecutor::DecodeLost(Unit& unit) {
  const StripeFacts& facts = unit.piece.step->facts;
  DecodeSet decode;
  MDVOL_CHECK(PlanDecode(facts, unit.piece.columns, &decode));
  absl::InlinedVector<ConstBlock, 16> survivors;
  for (const uint32_t slot : decode.read_slots) {
    survivors.push_back({facts.BlockIdOf(slot), unit.old_bytes[slot]});
  }
  absl::InlinedVector<MutableBlock, 2> lost;
  for (const uint32_t slot : decode.lost_slots) {
    lost.push_back({facts.BlockIdOf(slot), unit.old_bytes[slot]});
  }
  if (!lost.empty()) {
    MDVOL_CHECK(Recover(survivors, lost, unit.piece.columns.size()));
  }
}

void WriteExecutor::ReconstructParity(Unit& unit) {
  const StripeFacts& facts = unit.piece.step->facts;
  const StripeRoles& roles = facts.roles();
  absl::InlinedVector<ConstBlock, 16> data;
  for (uint32_t k = 0; k < facts.geometry().data_disks(); ++k) {
    const uint32_t slot = roles.DataSlot(k);
    unit.new_bytes[slot] = NewBlock(unit, k, const_cast<std::byte*>(unit.new_bytes[slot]));
    data.push_back({facts.BlockIdOf(slot), unit.new_bytes[slot]});
  }
  const auto parity_into = [&](uint32_t slot) {
    return facts.Access(slot, unit.piece.columns) == SlotAccess::kAbsent
               ? nullptr
               : const_cast<std::byte*>(unit.new_bytes[slot]);
  };
  GenerateParity(data, parity_into(roles.p_slot()), parity_into(roles.q_slot()),
                 unit.piece.columns.size());
}

void WriteExecutor::ModifyParity(Unit& unit) {
  const StripeFacts& facts = unit.piece.step->facts;
  const StripeRoles& roles = facts.roles();
  const size_t length = unit.piece.columns.size();
  std::byte* p = unit.old_bytes[roles.p_slot()];  // null when absent
  std::byte* q = unit.old_bytes[roles.q_slot()];
  for (uint32_t k = 0; k < facts.geometry().data_disks(); ++k) {
    const uint32_t slot = roles.DataSlot(k);
    std::byte* old_bytes = unit.old_bytes[slot];
    if (old_bytes == nullptr) {
      continue;
    }
    unit.new_bytes[slot] = NewBlock(unit, k, const_cast<std::byte*>(unit.new_bytes[slot]));
    XorBlocks(old_bytes, unit.new_bytes[slot], old_bytes, length);  // the difference
    UpdateParity(static_cast<uint8_t>(roles.Exponent(slot)), old_bytes, p, q, length);
  }
  unit.new_bytes[roles.p_slot()] = p;
  unit.new_bytes[roles.q_slot()] = q;
}

void WriteExecutor::AddWrites(size_t unit_index) {
  Unit& unit = units_[unit_index];
  const StripeFacts& facts = unit.piece.step->facts;
  for (uint32_t slot = 0; slot < facts.geometry().raid_disks(); ++slot) {
    const ChunkRole role = facts.roles().RoleOf(slot);
    const SlotAccess access = facts.Access(slot, unit.piece.columns);
    if (access == SlotAccess::kAbsent || unit.new_bytes[slot] == nullptr) {
      continue;
    }
    if (role.kind != ChunkKind::kData) {
      if (unit.piece.strategy == WriteStrategy::kDataOnly) {
        continue;
      }
    } else if (CoverOf(unit.piece.step->extents, role.data_index, unit.piece.columns) ==
               Cover::kNone) {
      if (access != SlotAccess::kUnreadable || unit.piece.strategy != WriteStrategy::kDecode) {
        continue;
      }
    }
    if (access == SlotAccess::kUnreadable) {
      unit.piece.step->mended_slots.push_back(slot);
    }
    batch_.AddWrite(facts.Device(slot), facts.MemberOffset(slot, unit.piece.columns.begin),
                    unit.new_bytes[slot], unit.piece.columns.size());
    records_.push_back({unit_index, slot});
  }
}

void WriteExecutor::Write() {
  batch_.Clear();
  records_.clear();
  for (size_t i = 0; i < units_.size(); ++i) {
    if (!units_[i].read_failed) {
      AddWrites(i);
    }
  }
  if (batch_.empty() || batch_.Run()) {
    return;
  }
  for (size_t i = 0; i < records_.size(); ++i) {
    if (const int error = batch_.error(i); error != 0) {
      NoteWriteError(units_[records_[i].unit], records_[i].slot, error);
    }
  }
}

void WriteExecutor::NoteWriteError(Unit& unit, uint32_t slot, int error) {
  StripeStep& step = *unit.piece.step;
  if (IsFull(error)) {
    step.errors.push_back({unit.piece.columns, error});
    step.owes_parity = true;
    return;
  }
  step.member_errors.push_back({.slot = slot, .error = error});
}

}  // namespace mdvol
