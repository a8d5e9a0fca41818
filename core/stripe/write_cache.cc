// WriteExecutor: what the stripe cache does for small writes. Old data and parity that it holds
// need not be read, and what was written is kept, so that the next write to the same lane reads
// nothing. Where members answer from memory, reading again is cheaper than keeping: what was read
// quickly is not kept.
//
// The caller leads the stripe: nobody else reads or fills its lanes. A unit's lanes are changed
// once its writes have ended; what went wrong with any of them makes all lanes of the stripe
// worthless.

#include <algorithm>
#include <cstring>

#include "core/stripe/columns.h"
#include "core/stripe/write_executor.h"

namespace mdvol {
namespace {

constexpr uint64_t kRetentionNs = 10'000'000'000;

StripeCache::LaneRange LanesOf(ColumnRange columns) {
  const uint64_t first = columns.begin / kLaneBytes;
  const uint64_t end = (columns.end + kLaneBytes - 1) / kLaneBytes;
  return {static_cast<uint32_t>(first), static_cast<uint32_t>(end - first)};
}

}  // namespace

// Those that are there.
void WriteExecutor::PinLanes(Unit& unit) {
  const StripeStep& step = *unit.piece.step;
  if (step.cache == nullptr || step.must_drop || step.cache->empty()) {
    return;
  }
  const StripeCache::LaneRange range = LanesOf(unit.piece.columns);
  for (uint32_t i = 0; i < range.count; ++i) {
    StripeCache::Lane* const lane = step.cache->PinKept(step.facts.stripe(), range.first + i);
    if (lane != nullptr) {
      unit.lanes.push_back(lane);
    }
  }
}

// Whether the old bytes were there, and are in old_bytes now.
bool WriteExecutor::TakeKept(const Unit& unit, uint32_t slot) {
  const auto is_valid = [slot](const StripeCache::Lane* lane) { return lane->IsValid(slot); };
  if (unit.lanes.size() < LanesOf(unit.piece.columns).count ||
      !std::all_of(unit.lanes.begin(), unit.lanes.end(), is_valid)) {
    return false;
  }
  size_t i = 0;
  ForEachLane(unit.piece.columns, [&](ColumnRange part) {
    std::memcpy(unit.old_bytes[slot] + (part.begin - unit.piece.columns.begin),
                unit.lanes[i++]->bytes(slot) + part.begin % kLaneBytes, part.size());
  });
  return true;
}

// Lanes of what has failed are dropped with the stripe's others, when the step is concluded.
void WriteExecutor::KeepLanes() {
  for (Unit& unit : units_) {
    StripeStep& step = *unit.piece.step;
    if (step.cache == nullptr || (unit.lanes.empty() && !keeps_more_)) {
      continue;
    }
    const StripeCache::Keep keep{
        .now_ns = keeping_.clock->NowNs(), .retention_ns = kRetentionNs, .is_lazy = true};
    const bool is_good = !unit.read_failed && !unit.is_unrecoverable && step.errors.empty() &&
                         step.member_errors.empty();
    step.must_drop |= !is_good;
    if (is_good && keeps_more_) {
      step.cache->Unpin(step.facts.stripe(), unit.lanes, keep);
      unit.lanes.clear();
      step.cache->Pin(step.facts.stripe(), LanesOf(unit.piece.columns), keep, &unit.lanes);
    }
    if (is_good) {
      for (uint32_t slot = 0; slot < unit.new_bytes.size(); ++slot) {
        KeepBlock(unit, slot);
      }
    }
    step.cache->Unpin(step.facts.stripe(), unit.lanes, keep);
    unit.lanes.clear();
  }
}

// Of a block that was written in part, only what was known before can be kept.
void WriteExecutor::KeepBlock(Unit& unit, uint32_t slot) {
  const StripeStep& step = *unit.piece.step;
  const ChunkRole role = step.facts.roles().RoleOf(slot);
  const std::byte* const bytes = unit.new_bytes[slot];
  const bool is_unchanged =
      role.kind == ChunkKind::kData &&
      CoverOf(step.extents, role.data_index, unit.piece.columns) == Cover::kNone;
  if (bytes == nullptr && is_unchanged) {
    return;
  }
  size_t i = 0;
  ForEachLane(unit.piece.columns, [&](ColumnRange part) {
    if (i == unit.lanes.size() || unit.lanes[i]->number() != part.begin / kLaneBytes) {
      return;
    }
    StripeCache::Lane& lane = *unit.lanes[i++];
    if (bytes == nullptr || (part.size() < kLaneBytes && !lane.IsValid(slot))) {
      lane.Abandon(slot);
      return;
    }
    std::memcpy(lane.bytes(slot) + part.begin % kLaneBytes,
                bytes + (part.begin - unit.piece.columns.begin), part.size());
    lane.Publish(slot);
  });
}

}  // namespace mdvol
