// See write_plan.h. Costs count blocks read: what is written is the same for every strategy.

#include "core/stripe/write_plan.h"

#include <algorithm>
#include <limits>

#include "core/base/check.h"
#include "core/stripe/columns.h"

namespace mdvol {
namespace {

constexpr uint32_t kCannot = std::numeric_limits<uint32_t>::max();

// Cuts the part of `list` that `newer` covers away and adds `newer`.
void Overlay(ExtentList& list, const NewExtent& newer) {
  ExtentList result;
  for (const NewExtent& old : list) {
    if (old.data_index != newer.data_index || !old.columns.Intersects(newer.columns)) {
      result.push_back(old);
      continue;
    }
    if (old.columns.begin < newer.columns.begin) {
      result.push_back({old.data_index, {old.columns.begin, newer.columns.begin}, old.bytes});
    }
    if (newer.columns.end < old.columns.end) {
      result.push_back({old.data_index,
                        {newer.columns.end, old.columns.end},
                        old.bytes + (newer.columns.end - old.columns.begin)});
    }
  }
  result.push_back(newer);
  list = std::move(result);
}

// Whether the extents already are what FlattenExtents promises: the common case of a single writer.
bool IsFlat(std::span<const NewExtent> extents) {
  for (size_t i = 1; i < extents.size(); ++i) {
    const NewExtent& left = extents[i - 1];
    const NewExtent& right = extents[i];
    if (left.data_index > right.data_index ||
        (left.data_index == right.data_index && left.columns.end > right.columns.begin)) {
      return false;
    }
  }
  return true;
}

// What a segment looks like to the cost functions.
struct SegmentCounts {
  uint32_t whole = 0;
  uint32_t part = 0;
  uint32_t none = 0;
  bool kept_readable = true;     // every chunk of which old bytes stay (part, none) can be read
  bool touched_readable = true;  // every chunk that is written (whole, part) can be read
};

SegmentCounts Count(const StripeFacts& facts, std::span<const NewExtent> extents,
                    ColumnRange columns) {
  SegmentCounts counts;
  for (uint32_t k = 0; k < facts.geometry().data_disks(); ++k) {
    const bool readable = facts.Readable(facts.roles().DataSlot(k), columns);
    switch (CoverOf(extents, k, columns)) {
      case Cover::kNone:
        ++counts.none;
        counts.kept_readable &= readable;
        break;
      case Cover::kPart:
        ++counts.part;
        counts.kept_readable &= readable;
        counts.touched_readable &= readable;
        break;
      case Cover::kWhole:
        ++counts.whole;
        counts.touched_readable &= readable;
        break;
    }
  }
  return counts;
}

uint32_t AbsentSlots(const StripeFacts& facts, ColumnRange columns) {
  uint32_t absent = 0;
  for (uint32_t slot = 0; slot < facts.geometry().raid_disks(); ++slot) {
    absent += facts.Access(slot, columns) == SlotAccess::kAbsent ? 1u : 0u;
  }
  return absent;
}

uint32_t ReadModifyCost(const SegmentCounts& counts, SlotAccess p, SlotAccess q) {
  if (!counts.touched_readable || p == SlotAccess::kUnreadable || q == SlotAccess::kUnreadable) {
    return kCannot;
  }
  return counts.whole + counts.part + (p == SlotAccess::kReadable ? 1u : 0u) +
         (q == SlotAccess::kReadable ? 1u : 0u);
}

}  // namespace

ExtentList FlattenExtents(std::span<const NewExtent> extents) {
  ExtentList list;
  if (IsFlat(extents)) {
    list.assign(extents.begin(), extents.end());
    return list;
  }
  for (const NewExtent& extent : extents) {
    Overlay(list, extent);
  }
  std::sort(list.begin(), list.end(), [](const NewExtent& a, const NewExtent& b) {
    return a.data_index != b.data_index ? a.data_index < b.data_index
                                        : a.columns.begin < b.columns.begin;
  });
  return list;
}

Cover CoverOf(std::span<const NewExtent> extents, uint32_t data_index, ColumnRange columns) {
  uint64_t covered = 0;
  for (const NewExtent& extent : extents) {
    if (extent.data_index == data_index && extent.columns.Intersects(columns)) {
      covered +=
          std::min(extent.columns.end, columns.end) - std::max(extent.columns.begin, columns.begin);
    }
  }
  return covered == 0 ? Cover::kNone : covered == columns.size() ? Cover::kWhole : Cover::kPart;
}

bool PlanDecode(const StripeFacts& facts, ColumnRange columns, DecodeSet* decode) {
  const StripeRoles& roles = facts.roles();
  for (uint32_t k = 0; k < facts.geometry().data_disks(); ++k) {
    const uint32_t slot = roles.DataSlot(k);
    if (facts.Readable(slot, columns)) {
      decode->read_slots.push_back(slot);
    } else {
      decode->lost_slots.push_back(slot);
    }
  }
  size_t parities = 0;
  for (const uint32_t slot : {roles.p_slot(), roles.q_slot()}) {
    if (parities < decode->lost_slots.size() && facts.Readable(slot, columns)) {
      decode->read_slots.push_back(slot);
      ++parities;
    }
  }
  return parities == decode->lost_slots.size();
}

WriteStrategy ChooseWriteStrategy(const StripeFacts& facts, std::span<const NewExtent> extents,
                                  ColumnRange columns, uint32_t rmw_level) {
  const SegmentCounts counts = Count(facts, extents, columns);
  if (AbsentSlots(facts, columns) > 2) {
    return WriteStrategy::kImpossible;  // what is written could not be read back
  }
  const SlotAccess p = facts.Access(facts.roles().p_slot(), columns);
  const SlotAccess q = facts.Access(facts.roles().q_slot(), columns);
  if (p == SlotAccess::kAbsent && q == SlotAccess::kAbsent) {
    // Both losses are spent on parity: a block written in part must be readable itself.
    return counts.part == 0 || counts.touched_readable ? WriteStrategy::kDataOnly
                                                       : WriteStrategy::kImpossible;
  }
  const uint32_t reconstruct = counts.kept_readable ? counts.none + counts.part : kCannot;
  if (!facts.parity_trusted() && reconstruct != kCannot) {
    return WriteStrategy::kReconstruct;  // I12: nothing may be derived from this parity
  }
  DecodeSet decode_set;
  const uint32_t decode = PlanDecode(facts, columns, &decode_set)
                              ? static_cast<uint32_t>(decode_set.read_slots.size())
                              : kCannot;
  const uint32_t modify = ReadModifyCost(counts, p, q);
  const uint32_t other = std::min(reconstruct, decode);
  const bool modify_wins = rmw_level == 0   ? other == kCannot
                           : rmw_level == 1 ? modify < other
                                            : modify <= other;
  if (modify != kCannot && modify_wins) {
    return WriteStrategy::kReadModify;
  }
  if (other == kCannot) {
    return WriteStrategy::kImpossible;
  }
  return reconstruct <= decode ? WriteStrategy::kReconstruct : WriteStrategy::kDecode;
}

WritePlan PlanStripeWrite(const StripeFacts& facts, std::span<const NewExtent> extents,
                          uint32_t rmw_level) {
  MDVOL_CHECK(!extents.empty());
  WritePlan plan;
  for (const ColumnRange& columns : CutColumns(extents, facts.members().alignment_bytes)) {
    plan.push_back({columns, ChooseWriteStrategy(facts, extents, columns, rmw_level)});
  }
  return plan;
}

}  // namespace mdvol
