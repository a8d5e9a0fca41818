// Cutting the columns of a stripe into segments inside which nothing changes but the bytes. Pure.

#ifndef MDVOL_CORE_STRIPE_COLUMNS_H_
#define MDVOL_CORE_STRIPE_COLUMNS_H_

#include <algorithm>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "core/base/units.h"
#include "core/stripe/stripe_facts.h"

namespace mdvol {

using ColumnRanges = absl::InlinedVector<ColumnRange, 4>;

// The segments between the edges of `extents` (anything with a member `columns`), edges rounded
// both outward and inward to `alignment`: inside a segment longer than one alignment unit every
// extent covers all or nothing. Segments that no extent touches are left out. Ascending.
template <typename Extents>
ColumnRanges CutColumns(const Extents& extents, uint64_t alignment) {
  absl::InlinedVector<uint64_t, 16> points;
  for (const auto& extent : extents) {
    points.push_back(RoundDown(extent.columns.begin, alignment));
    points.push_back(RoundUp(extent.columns.begin, alignment));
    points.push_back(RoundDown(extent.columns.end, alignment));
    points.push_back(RoundUp(extent.columns.end, alignment));
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

}  // namespace mdvol

#endif  // MDVOL_CORE_STRIPE_COLUMNS_H_
