// See write_executor.h. What is computed from what lies in write_parity.cc, what becomes of errors
// in write_errors.cc.

#include "core/stripe/write_executor.h"

#include <algorithm>
#include <cerrno>

#include "core/base/aligned_buffer.h"
#include "core/base/check.h"
#include "core/stripe/columns.h"
#include "core/stripe/decode.h"

namespace mdvol {
namespace {

// The most blocks of scratch that a piece may take: each block once as read and once as it is to be
// written. (And two more, so that a page per block fits even with 255 members: see PieceBytes.)
uint32_t ScratchBlocks(const StripeStep& step) {
  return 2 * step.facts.geometry().raid_disks() + 2;
}

// Whether the new bytes of a data chunk have to be put together, or copied for the device's sake:
// one extent that covers all, at an address that the device takes, is written from where it lies.
bool NeedsCopy(const StripeStep& step, uint32_t data_index, uint32_t slot, ColumnRange columns) {
  for (const NewExtent& extent : step.extents) {
    if (extent.data_index != data_index || !extent.columns.Intersects(columns)) {
      continue;
    }
    if (extent.columns.begin > columns.begin || columns.end > extent.columns.end) {
      return true;
    }
    return step.facts.Access(slot, columns) != SlotAccess::kAbsent &&
           !IsAligned(extent.bytes + (columns.begin - extent.columns.begin),
                      step.facts.Device(slot)->alignment_bytes());
  }
  return false;
}

}  // namespace

void WriteExecutor::Run() {
  PunchHoles();
  PlanPieces();
  while (!pieces_.empty()) {
    RunWave();
  }
  Settle();
}

void WriteExecutor::PunchHoles() {
  batch_.Clear();
  records_.clear();
  for (size_t i = 0; i < steps_.size(); ++i) {
    StripeStep& step = steps_[i];
    if (!step.punch_hole) {
      continue;
    }
    const ColumnRange chunk{0, step.facts.geometry().chunk_bytes()};
    if (step.facts.AbsentSlots(chunk) > 2) {
      step.errors.push_back({chunk, EIO});
      continue;
    }
    for (uint32_t slot = 0; slot < step.facts.geometry().raid_disks(); ++slot) {
      if (step.facts.Access(slot, chunk) != SlotAccess::kAbsent) {
        batch_.AddZero(step.facts.Device(slot), step.facts.MemberOffset(slot, 0), chunk.size());
        records_.push_back({i, slot});
      }
    }
  }
  if (batch_.empty()) {
    return;
  }
  const bool all_zeroed = batch_.Run();
  for (size_t i = 0; i < records_.size(); ++i) {
    records_[i].error = batch_.error(i);
    StripeStep& step = steps_[records_[i].unit];
    const ColumnRange chunk{0, step.facts.geometry().chunk_bytes()};
    if (all_zeroed) {
      step.paid.assign(1, chunk);
    }
  }
  ForEachUnit([&](std::span<const IoRecord> zeroed) {
    StripeStep& step = steps_[zeroed[0].unit];
    const ColumnRange chunk{0, step.facts.geometry().chunk_bytes()};
    if (all_zeroed || NoteZeroErrors(zeroed)) {
      NoteRewritten(step, chunk, zeroed);
    } else {
      KeepListed(step, chunk);
    }
  });
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
      if (!units_.empty()) {
        break;
      }
      // Larger than all of scratch: cut it. PieceBytes of the worst case always fits.
      const uint64_t longest = PieceBytes(ScratchBlocks(*piece.step));
      MDVOL_CHECK(piece.columns.size() > longest);
      pieces_.front().columns.begin = piece.columns.begin + longest;
      pieces_.push_front(
          {piece.step, {piece.columns.begin, piece.columns.begin + longest}, piece.strategy});
      scratch_.Reset();
      continue;
    }
    pieces_.pop_front();
  }
  Read();
  ComputeAll();
  Write();
  KeepLanes();
}

void WriteExecutor::WantSlots(const Piece& piece, absl::InlinedVector<uint32_t, 16>* read_slots) {
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

// All scratch of a piece is taken before its reads are added, so that a piece that does not fit
// leaves no trace but scratch, which the wave's end gives back.
bool WriteExecutor::TakeScratch(Unit& unit, std::span<const uint32_t> read_slots) {
  const Piece& piece = unit.piece;
  const StripeFacts& facts = piece.step->facts;
  const auto take = [&](auto& block) {
    block = scratch_.Take(piece.columns.size());
    return block != nullptr;
  };
  for (const uint32_t slot : read_slots) {
    if (!take(unit.old_bytes[slot])) {
      return false;
    }
  }
  const bool decodes = piece.strategy == WriteStrategy::kDecode;
  const bool makes_parity = decodes || piece.strategy == WriteStrategy::kReconstruct;
  for (uint32_t slot = 0; slot < facts.geometry().raid_disks(); ++slot) {
    const ChunkRole role = facts.roles().RoleOf(slot);
    const bool is_data = role.kind == ChunkKind::kData;
    if (is_data && decodes && unit.old_bytes[slot] == nullptr && !take(unit.old_bytes[slot])) {
      return false;
    }
    const bool is_made =
        is_data ? NeedsCopy(*piece.step, role.data_index, slot, piece.columns) : makes_parity;
    if (is_made && !take(unit.new_bytes[slot])) {
      return false;
    }
  }
  return true;
}

bool WriteExecutor::Prepare(const Piece& piece) {
  const StripeFacts& facts = piece.step->facts;
  Unit unit{.piece = piece, .old_bytes = {}, .new_bytes = {}, .lanes = {}};
  unit.old_bytes.resize(facts.geometry().raid_disks());
  unit.new_bytes.resize(facts.geometry().raid_disks());
  absl::InlinedVector<uint32_t, 16> read_slots;
  WantSlots(piece, &read_slots);
  if (!TakeScratch(unit, read_slots)) {
    return false;
  }
  PinLanes(unit);
  for (const uint32_t slot : read_slots) {
    if (TakeKept(unit, slot)) {
      continue;
    }
    batch_.AddRead(facts.Device(slot), facts.MemberOffset(slot, piece.columns.begin),
                   unit.old_bytes[slot], piece.columns.size());
    records_.push_back({units_.size(), slot});
  }
  units_.push_back(std::move(unit));
  return true;
}

bool WriteExecutor::RunReads() {
  const bool may_keep = std::any_of(units_.begin(), units_.end(), [](const Unit& unit) {
    return unit.piece.step->cache != nullptr;
  });
  if (!may_keep) {
    return batch_.Run();
  }
  const uint64_t begin_ns = keeping_.clock->NowNs();
  const bool all_read = batch_.Run();
  keeping_.pace->Note(keeping_.clock->NowNs() - begin_ns);
  keeps_more_ = keeping_.pace->IsSlow();
  return all_read;
}

void WriteExecutor::Read() {
  keeps_more_ = false;
  if (batch_.empty() || RunReads()) {
    return;
  }
  for (size_t i = 0; i < records_.size(); ++i) {
    if (batch_.error(i) == 0) {
      continue;
    }
    Unit& unit = units_[records_[i].unit];
    unit.read_failed = true;
    if (unit.piece.is_retry) {
      unit.piece.step->facts.MarkUnreadable(records_[i].slot, unit.piece.columns);
    }
  }
  for (const Unit& unit : units_) {
    if (unit.read_failed) {
      PlanAgain(unit.piece);
    }
  }
}

void WriteExecutor::PlanAgain(const Piece& piece) {
  StripeStep* const step = piece.step;
  ForEachLane(piece.columns, [&](ColumnRange lane) {
    pieces_.push_back(
        {step, lane, ChooseWriteStrategy(step->facts, step->extents, lane, rmw_level_), true});
  });
}

void WriteExecutor::AddWrites(size_t unit_index) {
  const Unit& unit = units_[unit_index];
  const StripeFacts& facts = unit.piece.step->facts;
  // A block that was recovered from doubtful parity is no better for being written (I12).
  const bool mends =
      unit.piece.strategy == WriteStrategy::kDecode && unit.piece.step->facts.parity_trusted();
  for (uint32_t slot = 0; slot < facts.geometry().raid_disks(); ++slot) {
    const SlotAccess access = facts.Access(slot, unit.piece.columns);
    if (access == SlotAccess::kAbsent || unit.new_bytes[slot] == nullptr) {
      continue;
    }
    const ChunkRole role = facts.roles().RoleOf(slot);
    const bool is_kept =
        role.kind == ChunkKind::kData &&
        CoverOf(unit.piece.step->extents, role.data_index, unit.piece.columns) == Cover::kNone;
    if (is_kept && !(mends && access == SlotAccess::kUnreadable)) {
      continue;
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
    if (units_[i].is_unrecoverable) {
      units_[i].piece.step->errors.push_back({units_[i].piece.columns, EIO});
    } else if (!units_[i].read_failed) {
      AddWrites(i);
    }
  }
  if (batch_.empty()) {
    return;
  }
  const bool all_written = batch_.Run();
  for (size_t i = 0; i < records_.size(); ++i) {
    IoRecord& record = records_[i];
    record.error = batch_.error(i);
    StripeStep& step = *units_[record.unit].piece.step;
    if (record.error != 0) {
      continue;
    }
    const ColumnRange columns = units_[record.unit].piece.columns;
    if (step.facts.has_read_errors() && step.facts.HasReadError(record.slot, columns)) {
      step.mended_slots.push_back(record.slot);
    }
  }
  ForEachUnit([&](std::span<const IoRecord> written) {
    Unit& unit = units_[written[0].unit];
    if (all_written || NoteWriteErrors(unit, written)) {
      NoteRewritten(*unit.piece.step, unit.piece.columns, written);
    } else {
      KeepListed(*unit.piece.step, unit.piece.columns);
    }
    if (unit.piece.step->facts.owes_parity()) {
      NotePaid(unit, written);
    }
  });
}

}  // namespace mdvol
