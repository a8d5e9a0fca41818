// See read_executor.h.

#include "core/stripe/read_executor.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/aligned_buffer.h"
#include "core/base/check.h"
#include "core/stripe/columns.h"

namespace mdvol {
namespace {

bool IsWanted(std::span<const WantedExtent> wanted, uint32_t data_index, ColumnRange columns) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const WantedExtent& extent) {
    return extent.data_index == data_index && extent.columns.Intersects(columns);
  });
}

}  // namespace

bool PlanRead(const StripeFacts& facts, std::span<const WantedExtent> wanted, ColumnRange columns,
              DecodeSet* plan) {
  for (uint32_t k = 0; k < facts.geometry().data_disks(); ++k) {
    const uint32_t slot = facts.roles().DataSlot(k);
    if (!IsWanted(wanted, k, columns)) {
      continue;
    }
    if (!facts.Readable(slot, columns)) {
      plan->read_slots.clear();
      return PlanDecode(facts, columns, plan);
    }
    plan->read_slots.push_back(slot);
  }
  return true;
}

void AddAllSurvivors(const StripeFacts& facts, ColumnRange columns, DecodeSet* plan) {
  for (const uint32_t slot : {facts.roles().p_slot(), facts.roles().q_slot()}) {
    auto& slots = plan->read_slots;
    if (facts.Readable(slot, columns) &&
        std::find(slots.begin(), slots.end(), slot) == slots.end()) {
      slots.push_back(slot);
    }
  }
}

void ReadExecutor::Run() {
  PlanPieces();
  while (!pieces_.empty()) {
    RunWave();
  }
}

void ReadExecutor::PlanPieces() {
  for (ReadStep& step : steps_) {
    const uint64_t longest = PieceBytes(step.facts.geometry().raid_disks());
    for (const ColumnRange& segment : CutColumns(step.facts, step.wanted)) {
      if (step.lane_by_lane) {
        ForEachLane(segment, [&](ColumnRange lane) { pieces_.push_back({&step, lane, true}); });
        continue;
      }
      for (uint64_t begin = segment.begin; begin < segment.end; begin += longest) {
        pieces_.push_back({&step, {begin, std::min(begin + longest, segment.end)}, false});
      }
    }
  }
}

// Where the caller wants the whole block, if it may be read straight into that place; null
// otherwise.
std::byte* ReadExecutor::Destination(const Piece& piece, uint32_t slot) const {
  const ChunkRole role = piece.step->facts.roles().RoleOf(slot);
  if (role.kind != ChunkKind::kData) {
    return nullptr;
  }
  for (const WantedExtent& extent : piece.step->wanted) {
    if (extent.data_index == role.data_index && extent.columns.begin <= piece.columns.begin &&
        piece.columns.end <= extent.columns.end) {
      std::byte* into = extent.into + (piece.columns.begin - extent.columns.begin);
      const MemberDevice* device = piece.step->facts.Device(slot);
      return device == nullptr || IsAligned(into, device->alignment_bytes()) ? into : nullptr;
    }
  }
  return nullptr;
}

bool ReadExecutor::Prepare(const Piece& piece) {
  const StripeFacts& facts = piece.step->facts;
  Unit unit{.piece = piece, .plan = {}, .bytes = {}};
  if (!PlanRead(facts, piece.step->wanted, piece.columns, &unit.plan)) {
    piece.step->error = EIO;
    return true;
  }
  if (piece.step->all_survivors && !unit.plan.lost_slots.empty()) {
    AddAllSurvivors(facts, piece.columns, &unit.plan);
  }
  unit.bytes.resize(facts.geometry().raid_disks());
  const auto place = [&](uint32_t slot) {
    unit.bytes[slot] = Destination(piece, slot);
    if (unit.bytes[slot] == nullptr) {
      unit.bytes[slot] = scratch_.Take(piece.columns.size());
    }
    return unit.bytes[slot] != nullptr;
  };
  const auto& plan = unit.plan;
  if (!std::all_of(plan.read_slots.begin(), plan.read_slots.end(), place) ||
      !std::all_of(plan.lost_slots.begin(), plan.lost_slots.end(), place)) {
    return false;
  }
  for (const uint32_t slot : plan.read_slots) {
    batch_.AddRead(facts.Device(slot), facts.MemberOffset(slot, piece.columns.begin),
                   unit.bytes[slot], piece.columns.size());
    records_.push_back({units_.size(), slot});
  }
  units_.push_back(std::move(unit));
  return true;
}

void ReadExecutor::RunWave() {
  scratch_.Reset();
  units_.clear();
  batch_.Clear();
  records_.clear();
  while (!pieces_.empty() && Prepare(pieces_.front())) {
    pieces_.pop_front();
  }
  MDVOL_CHECK(!units_.empty() || pieces_.empty());
  if (!batch_.empty() && !batch_.Run()) {
    for (size_t i = 0; i < records_.size(); ++i) {
      if (batch_.error(i) != 0) {
        NoteReadError(units_[records_[i].unit], records_[i].slot);
      }
    }
  }
  for (Unit& unit : units_) {
    if (!unit.read_failed) {
      Deliver(unit);
      continue;
    }
    ForEachLane(unit.piece.columns, [&](ColumnRange lane) {
      pieces_.push_back({unit.piece.step, lane, true});
    });
  }
}

// The piece comes again, lane by lane; what fails a second time is unreadable.
void ReadExecutor::NoteReadError(Unit& unit, uint32_t slot) {
  unit.read_failed = true;
  if (unit.piece.is_retry) {
    unit.piece.step->facts.MarkUnreadable(slot, unit.piece.columns);
    unit.piece.step->read_errors.push_back({slot, unit.piece.columns});
  }
}

void ReadExecutor::Deliver(Unit& unit) {
  const StripeFacts& facts = unit.piece.step->facts;
  const ColumnRange columns = unit.piece.columns;
  if (!Decode(facts, columns, unit.plan, unit.bytes)) {
    unit.piece.step->error = EIO;
    return;
  }
  for (const WantedExtent& extent : unit.piece.step->wanted) {
    if (!extent.columns.Intersects(columns)) {
      continue;
    }
    const uint64_t begin = std::max(extent.columns.begin, columns.begin);
    const uint64_t end = std::min(extent.columns.end, columns.end);
    const std::byte* from =
        unit.bytes[facts.roles().DataSlot(extent.data_index)] + (begin - columns.begin);
    std::byte* into = extent.into + (begin - extent.columns.begin);
    if (from != into) {
      std::memcpy(into, from, end - begin);
    }
  }
}

}  // namespace mdvol
