// WriteExecutor: the arithmetic of one unit, between its reads and its writes. See
// write_executor.h.

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "core/base/check.h"
#include "core/base/units.h"
#include "core/parity/parity.h"
#include "core/stripe/decode.h"
#include "core/stripe/write_executor.h"

namespace mdvol {
namespace {

// What lies in new_bytes is ours before Compute (taken from scratch by Prepare, or null), and for P
// and Q always.
std::byte* Ours(const std::byte* bytes) { return const_cast<std::byte*>(bytes); }

}  // namespace

// The new bytes of a data chunk in the unit's columns: put together in `into` when Prepare found
// that to be necessary, otherwise the caller's own, or the old ones where nothing is written.
const std::byte* WriteExecutor::NewBlock(const Unit& unit, uint32_t data_index, std::byte* into) {
  const ColumnRange columns = unit.piece.columns;
  const std::byte* old_bytes = unit.old_bytes[unit.piece.step->facts.roles().DataSlot(data_index)];
  if (into != nullptr && old_bytes != nullptr) {
    std::memcpy(into, old_bytes, columns.size());
  }
  for (const NewExtent& extent : unit.piece.step->extents) {
    if (extent.data_index != data_index || !extent.columns.Intersects(columns)) {
      continue;
    }
    if (into == nullptr) {
      MDVOL_CHECK(extent.columns.begin <= columns.begin && columns.end <= extent.columns.end);
      return extent.bytes + (columns.begin - extent.columns.begin);
    }
    const uint64_t begin = std::max(extent.columns.begin, columns.begin);
    const uint64_t end = std::min(extent.columns.end, columns.end);
    std::memcpy(into + (begin - columns.begin), extent.bytes + (begin - extent.columns.begin),
                end - begin);
  }
  return into != nullptr ? into : old_bytes;
}

void WriteExecutor::ComputeAll() {
  if (parity_.policy != nullptr) {
    ParityWorkersFacts facts;
    for (const Unit& unit : units_) {
      facts.bytes += unit.piece.columns.size();
      facts.raid_disks = unit.piece.step->facts.geometry().raid_disks();
    }
    static const uint32_t processors = std::max(1U, std::thread::hardware_concurrency());
    facts.processors = processors;
    const ParityWorkersDecision decision = parity_.policy->Decide(facts);
    if (decision.way != ParityWorkersWay::kInline) {
      ComputeByLanes(decision);
      return;
    }
  }
  for (Unit& unit : units_) {
    if (!unit.read_failed) {
      Compute(unit);
    }
  }
}

// A slice of a unit, as long as a lane, is a unit of its own with the same blocks, further on. What
// Compute sets of the first slice holds for the whole. Slices begin where the unit does, so that
// blocks stay aligned as they were.
void WriteExecutor::ComputeByLanes(const ParityWorkersDecision& decision) {
  struct Slice {
    size_t of;  // its unit
    uint64_t at;
    Unit unit;
  };
  std::vector<Slice> slices;
  for (size_t i = 0; i < units_.size(); ++i) {
    const ColumnRange whole = units_[i].piece.columns;
    for (uint64_t at = 0; !units_[i].read_failed && at < whole.size(); at += kLaneBytes) {
      Unit& unit = slices.emplace_back(Slice{i, at, units_[i]}).unit;
      unit.piece.columns = {whole.begin + at, std::min(whole.begin + at + kLaneBytes, whole.end)};
      for (auto& bytes : unit.old_bytes) {
        bytes = bytes == nullptr ? nullptr : bytes + at;
      }
      for (auto& bytes : unit.new_bytes) {
        bytes = bytes == nullptr ? nullptr : bytes + at;
      }
    }
  }
  parity_.threads->Run(decision, slices.size(), [&](size_t i) { Compute(slices[i].unit); });
  for (const Slice& slice : slices) {
    if (slice.at == 0) {
      units_[slice.of].new_bytes = slice.unit.new_bytes;
    }
    units_[slice.of].is_unrecoverable |= slice.unit.is_unrecoverable;
  }
}

void WriteExecutor::Compute(Unit& unit) {
  switch (unit.piece.strategy) {
    case WriteStrategy::kDecode:
      if (!DecodeLost(unit)) {
        unit.is_unrecoverable = true;
        return;
      }
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
        unit.new_bytes[slot] = NewBlock(unit, k, Ours(unit.new_bytes[slot]));
      }
      break;
    case WriteStrategy::kImpossible:
      MDVOL_CHECK(false);
  }
}

// False when the lost blocks cannot be told.
bool WriteExecutor::DecodeLost(Unit& unit) {
  const StripeFacts& facts = unit.piece.step->facts;
  DecodeSet decode;
  MDVOL_CHECK(PlanDecode(facts, unit.piece.columns, &decode));
  return Decode(facts, unit.piece.columns, decode, unit.old_bytes);
}

void WriteExecutor::ReconstructParity(Unit& unit) {
  const StripeFacts& facts = unit.piece.step->facts;
  const StripeRoles& roles = facts.roles();
  absl::InlinedVector<ConstBlock, 16> data;
  for (uint32_t k = 0; k < facts.geometry().data_disks(); ++k) {
    const uint32_t slot = roles.DataSlot(k);
    unit.new_bytes[slot] = NewBlock(unit, k, Ours(unit.new_bytes[slot]));
    data.push_back({facts.BlockIdOf(slot), unit.new_bytes[slot]});
  }
  const auto parity_into = [&](uint32_t slot) {
    return facts.Access(slot, unit.piece.columns) == SlotAccess::kAbsent
               ? nullptr
               : Ours(unit.new_bytes[slot]);
  };
  GenerateParity(data, parity_into(roles.p_slot()), parity_into(roles.q_slot()),
                 unit.piece.columns.size());
}

// Afterwards the old bytes of the data chunks written are the differences instead, and those of P
// and Q the new P and Q.
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
    unit.new_bytes[slot] = NewBlock(unit, k, Ours(unit.new_bytes[slot]));
    XorBlocks(old_bytes, unit.new_bytes[slot], old_bytes, length);
    UpdateParity(static_cast<uint8_t>(roles.Exponent(slot)), old_bytes, p, q, length);
  }
  unit.new_bytes[roles.p_slot()] = p;
  unit.new_bytes[roles.q_slot()] = q;
}

bool WriteExecutor::KnowsOldBlocks(const Unit& unit) {
  return unit.piece.strategy == WriteStrategy::kReadModify ||
         unit.piece.strategy == WriteStrategy::kDecode;
}

// Undoes Compute: the old bytes of data in old_bytes, those of P and Q in new_bytes.
void WriteExecutor::RestoreOldBlocks(Unit& unit) {
  const StripeFacts& facts = unit.piece.step->facts;
  const StripeRoles& roles = facts.roles();
  const size_t length = unit.piece.columns.size();
  std::byte* p = Ours(unit.new_bytes[roles.p_slot()]);
  std::byte* q = Ours(unit.new_bytes[roles.q_slot()]);
  absl::InlinedVector<ConstBlock, 16> data;
  for (uint32_t k = 0; k < facts.geometry().data_disks(); ++k) {
    const uint32_t slot = roles.DataSlot(k);
    std::byte* old_bytes = unit.old_bytes[slot];
    data.push_back({facts.BlockIdOf(slot), old_bytes});
    if (unit.piece.strategy == WriteStrategy::kReadModify && old_bytes != nullptr) {
      UpdateParity(static_cast<uint8_t>(roles.Exponent(slot)), old_bytes, p, q, length);
      XorBlocks(old_bytes, unit.new_bytes[slot], old_bytes, length);
    }
  }
  if (unit.piece.strategy == WriteStrategy::kDecode) {
    GenerateParity(data, p, q, length);
  }
}

}  // namespace mdvol
