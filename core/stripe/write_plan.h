// The write planner: from what is to be written into one stripe and what can be read there, to the
// cheapest right way of doing it. Pure.
//
// Every column is a codeword of its own, so a plan is a list of column segments, each with a
// strategy of its own. Inside a segment every data chunk is written wholly, in part (only in
// segments one alignment unit long), or not at all.

#ifndef MDVOL_CORE_STRIPE_WRITE_PLAN_H_
#define MDVOL_CORE_STRIPE_WRITE_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/container/inlined_vector.h"
#include "core/stripe/stripe_facts.h"

namespace mdvol {

// New bytes for columns [begin, end) of data chunk `data_index`.
struct NewExtent {
  uint32_t data_index = 0;
  ColumnRange columns;
  const std::byte* bytes = nullptr;
};

// Makes `extents`, given oldest first, disjoint and sorted by (data_index, begin): where they
// overlap the later wins.
using ExtentList = absl::InlinedVector<NewExtent, 8>;
ExtentList FlattenExtents(std::span<const NewExtent> extents);

enum class Cover : uint8_t { kNone, kPart, kWhole };

// How much of `columns` of chunk `data_index` the (flattened) extents overwrite. Whole may be the
// work of several extents.
Cover CoverOf(std::span<const NewExtent> extents, uint32_t data_index, ColumnRange columns);

enum class WriteStrategy : uint8_t {
  kReconstruct,  // read the data that is not overwritten, compute P and Q; nothing to read: a
                 // full-stripe write
  kReadModify,   // read the old data and parity, fold the differences in
  kDecode,  // recover what cannot be read, then as kReconstruct; mends unreadable blocks on the way
  kDataOnly,    // neither P nor Q has a member: write the data
  kImpossible,  // more than two losses: EIO
};

struct WriteSegment {
  ColumnRange columns;
  WriteStrategy strategy = WriteStrategy::kImpossible;
};

using WritePlan = absl::InlinedVector<WriteSegment, 4>;

// The cheapest right way for one segment; `columns` is a segment of the plan or a piece of one.
// Where parity is not trusted (I12) it is replaced if that is possible, else kept in step with the
// data, and only then believed. A read error that was met in a block whose bytes stay is mended on
// the way if it can be, as in md.
WriteStrategy ChooseWriteStrategy(const StripeFacts& facts, std::span<const NewExtent> extents,
                                  ColumnRange columns, uint32_t rmw_level);

// `extents` flattened and not empty. rmw_level as md's: 0 never kReadModify where another way
// exists, 1 when it reads less, 2 also when it reads as much.
WritePlan PlanStripeWrite(const StripeFacts& facts, std::span<const NewExtent> extents,
                          uint32_t rmw_level);

}  // namespace mdvol

#endif  // MDVOL_CORE_STRIPE_WRITE_PLAN_H_
