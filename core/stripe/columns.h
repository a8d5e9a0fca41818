// Cutting the columns of a stripe into segments inside which nothing changes but the bytes. Pure.

#ifndef MDVOL_CORE_STRIPE_COLUMNS_H_
#define MDVOL_CORE_STRIPE_COLUMNS_H_

#include <algorithm>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "core/base/units.h"
#include "core/stripe/stripe_facts.h"

namespace mdvol {

// Takes `columns` out of the ranges.
inline void Subtract(ColumnRange columns, ColumnRanges* ranges) {
  const ColumnRanges all = *ranges;
  ranges->clear();
  for (const ColumnRange& range : all) {
    if (!range.Intersects(columns)) {
      ranges->push_back(range);
      continue;
    }
    if (range.begin < columns.begin) {
      ranges->push_back({range.begin, columns.begin});
    }
    if (columns.end < range.end) {
      ranges->push_back({columns.end, range.end});
    }
  }
}

// The segments between the edges of `extents` (anything with a member `columns`) and the edges in
// the facts, rounded both outward and inward to the members' alignment: inside a segment longer
// than one alignment unit every extent covers all or nothing, and every slot's access is the same
// throughout. Segments that no extent touches are left out. Ascending.
template <typename Extents>
ColumnRanges CutColumns(const StripeFacts& facts, const Extents& extents) {
  const uint64_t alignment = facts.members().alignment_bytes;
  ColumnEdges edges;
  facts.AppendEdges(&edges);
  for (const auto& extent : extents) {
    edges.push_back(extent.columns.begin);
    edges.push_back(extent.columns.end);
  }
  ColumnEdges points;
  for (const uint64_t edge : edges) {
    points.push_back(RoundDown(edge, alignment));
    points.push_back(RoundUp(edge, alignment));
  }
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  ColumnRanges segments;
  for (size_t i = 1; i < points.size(); ++i) {
    const ColumnRange columns{points[i - 1], points[i]};
    if (std::any_of(extents.begin(), extents.end(),
                    [&](const auto& extent) { return extent.columns.Intersects(columns); })) {
      segments.push_back(columns);
    }
  }
  return segments;
}

// Calls visit(columns) for the part of `columns` in each lane that it touches. Read errors are
// pinned to lanes, as in md.
template <typename Visit>
void ForEachLane(ColumnRange columns, Visit visit) {
  for (uint64_t begin = columns.begin; begin < columns.end;) {
    const uint64_t end = std::min(RoundDown(begin, kLaneBytes) + kLaneBytes, columns.end);
    visit(ColumnRange{begin, end});
    begin = end;
  }
}

}  // namespace mdvol

#endif  // MDVOL_CORE_STRIPE_COLUMNS_H_
