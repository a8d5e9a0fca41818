// See write_plan.h. Costs count blocks read: what is written is the same for every strategy.

#include "core/stripe/write_plan.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/stripe/columns.h"
#include "core/stripe/decode.h"

namespace mdvol {
namespace {

constexpr uint32_t kCannot = std::numeric_limits<uint32_t>::max();

// Cuts the part of `list`, all of one data index, that `newer` covers away and adds `newer`.
void Overlay(ExtentList& list, const NewExtent& newer) {
  ExtentList result;
  for (const NewExtent& old : list) {
    if (!old.columns.Intersects(newer.columns)) {
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
  bool part_readable = true;     // every chunk that is written in part can be read
  bool kept_readable = true;     // every chunk of which old bytes stay (part, none) can be read
  bool touched_readable = true;  // every chunk that is written (whole, part) can be read
  bool kept_failed = false;      // a read error was met in a chunk that is not written at all
};

SegmentCounts Count(const StripeFacts& facts, std::span<const NewExtent> extents,
                    ColumnRange columns) {
  SegmentCounts counts;
  for (uint32_t k = 0; k < facts.geometry().data_disks(); ++k) {
    const uint32_t slot = facts.roles().DataSlot(k);
    const bool readable = facts.Readable(slot, columns);
    switch (CoverOf(extents, k, columns)) {
      case Cover::kNone:
        ++counts.none;
        counts.kept_readable &= readable;
        counts.kept_failed |= facts.HasReadError(slot, columns);
        break;
      case Cover::kPart:
        ++counts.part;
        counts.part_readable &= readable;
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
  // Chunk by chunk, oldest first in each: many writers to one stripe rarely meet in one chunk.
  std::vector<NewExtent> by_chunk(extents.begin(), extents.end());
  std::stable_sort(by_chunk.begin(), by_chunk.end(), [](const NewExtent& a, const NewExtent& b) {
    return a.data_index < b.data_index;
  });
  ExtentList chunk;
  for (size_t i = 0; i < by_chunk.size(); ++i) {
    Overlay(chunk, by_chunk[i]);
    if (i + 1 == by_chunk.size() || by_chunk[i + 1].data_index != by_chunk[i].data_index) {
      std::sort(chunk.begin(), chunk.end(), [](const NewExtent& a, const NewExtent& b) {
        return a.columns.begin < b.columns.begin;
      });
      list.insert(list.end(), chunk.begin(), chunk.end());
      chunk.clear();
    }
  }
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

WriteStrategy ChooseWriteStrategy(const StripeFacts& facts, std::span<const NewExtent> extents,
                                  ColumnRange columns, uint32_t rmw_level) {
  const SegmentCounts counts = Count(facts, extents, columns);
  if (facts.AbsentSlots(columns) > 2) {
    return WriteStrategy::kImpossible;  // what is written could not be read back
  }
  const SlotAccess p = facts.Access(facts.roles().p_slot(), columns);
  const SlotAccess q = facts.Access(facts.roles().q_slot(), columns);
  if (p == SlotAccess::kAbsent && q == SlotAccess::kAbsent) {
    // Both losses are spent on parity: a block written in part must be readable itself.
    return counts.part_readable ? WriteStrategy::kDataOnly : WriteStrategy::kImpossible;
  }
  const uint32_t reconstruct = counts.kept_readable ? counts.none + counts.part : kCannot;
  const uint32_t modify = ReadModifyCost(counts, p, q);
  DecodeSet decode_set;
  const uint32_t decode = PlanDecode(facts, columns, &decode_set)
                              ? static_cast<uint32_t>(decode_set.read_slots.size())
                              : kCannot;
  const uint32_t other = std::min(reconstruct, decode);
  if (modify == kCannot && other == kCannot) {
    return WriteStrategy::kImpossible;
  }
  bool modify_wins = false;
  if (other == kCannot) {
    modify_wins = true;
  } else if (!facts.parity_trusted()) {
    modify_wins = reconstruct == kCannot && modify != kCannot;
  } else if (modify != kCannot && !(counts.kept_failed && decode != kCannot)) {
    modify_wins = (rmw_level >= 1 && modify < other) || (rmw_level >= 2 && modify == other);
  }
  if (modify_wins) {
    return WriteStrategy::kReadModify;
  }
  return reconstruct <= decode ? WriteStrategy::kReconstruct : WriteStrategy::kDecode;
}

WritePlan PlanStripeWrite(const StripeFacts& facts, std::span<const NewExtent> extents,
                          uint32_t rmw_level) {
  MDVOL_CHECK(!extents.empty());
  WritePlan plan;
  for (const ColumnRange& columns : CutColumns(facts, extents)) {
    plan.push_back({columns, ChooseWriteStrategy(facts, extents, columns, rmw_level)});
  }
  return plan;
}

}  // namespace mdvol
