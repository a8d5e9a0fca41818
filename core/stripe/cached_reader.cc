// See cached_reader.h.

#include "core/stripe/cached_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/stripe/columns.h"

namespace mdvol {
namespace {

bool Touches(const WantedExtent& extent, uint64_t lane) {
  return extent.columns.begin < (lane + 1) * kLaneBytes && lane * kLaneBytes < extent.columns.end;
}

ColumnRange ColumnsOf(const StripeCache::Lane& lane) {
  const uint64_t begin = lane.number() * kLaneBytes;
  return {begin, begin + kLaneBytes};
}

// The lanes of `columns`, and those ahead of them: up to where the next unit of reading ahead
// begins. What lies behind may have been delivered and dropped.
StripeCache::LaneRange LanesOf(const ReadStep& step, ColumnRange columns, uint64_t ahead_bytes) {
  const uint64_t unit = std::max(ahead_bytes, kLaneBytes);
  const uint64_t first = columns.begin / kLaneBytes;
  const uint64_t end =
      std::min((columns.end + unit - 1) / unit * unit, step.facts.geometry().chunk_bytes());
  return {static_cast<uint32_t>(first), static_cast<uint32_t>(end / kLaneBytes - first)};
}

}  // namespace

bool MayCache(const StripeFacts& facts) {
  ColumnEdges edges;
  facts.AppendEdges(&edges);
  return edges.empty() && facts.parity_trusted() && !facts.owes_parity() && !facts.has_stale() &&
         !facts.has_read_errors();
}

void CachedReader::Run(std::span<ReadStep> steps,
                       absl::FunctionRef<void(const ReadStep&)> when_idle) {
  for (ReadStep& step : steps) {
    Begin(step, false);
  }
  if (parts_.empty()) {
    return;
  }
  Read();
  RebuildAll();
  const Part& last = parts_.back();
  if (claims_.empty() && last.step->next_stripe && MustWait(last)) {
    when_idle(*last.step);
  }
  for (Part& part : parts_) {
    Deliver(part);
  }
}

void CachedReader::Fetch(ReadStep& step) {
  Begin(step, true);
  Read();
  RebuildAll();
  for (Part& part : parts_) {
    cache_.Unpin(step.facts.stripe(), part.lanes, part.keep);
  }
}

void CachedReader::RebuildAll() {
  bool has_rebuilt = false;
  for (Item& item : items_) {
    if (!item.rebuilds.empty()) {
      Rebuild(item);
      has_rebuilt = true;
    }
  }
  if (has_rebuilt) {
    Announce();
  }
}

// All that is wanted is there, or being read or rebuilt by others.
bool CachedReader::IsAllThere(const Part& part) const {
  const StripeRoles& roles = part.step->facts.roles();
  for (const WantedExtent& extent : part.step->wanted) {
    const uint32_t slot = roles.DataSlot(extent.data_index);
    for (uint64_t column = extent.columns.begin; column < extent.columns.end;
         column = RoundDown(column, kLaneBytes) + kLaneBytes) {
      const StripeCache::Lane* const lane = FindLane(part, column);
      if (lane == nullptr || !(lane->IsValid(slot) || lane->IsPending(slot))) {
        return false;
      }
    }
  }
  return true;
}

bool CachedReader::MustWait(const Part& part) const {
  const StripeRoles& roles = part.step->facts.roles();
  return std::any_of(part.step->wanted.begin(), part.step->wanted.end(), [&](const auto& extent) {
    const StripeCache::Lane* const lane = FindLane(part, extent.columns.begin);
    return lane != nullptr && lane->IsPending(roles.DataSlot(extent.data_index));
  });
}

void CachedReader::Begin(ReadStep& step, bool is_fetch) {
  if (!step.keep || !MayCache(step.facts)) {
    return;
  }
  const StripeFacts& facts = step.facts;
  Part part{.step = &step,
            .keep = {.now_ns = now_ns_,
                     .retention_ns = step.retention_ns,
                     .until_delivered = step.until_delivered},
            .decode = {},
            .is_data = {},
            .lanes = {}};
  part.is_data.resize(facts.geometry().raid_disks(), true);
  part.is_data[facts.roles().p_slot()] = false;
  part.is_data[facts.roles().q_slot()] = false;
  if (!is_fetch) {
    PinLanes(part, 0);
    if (IsAllThere(part)) {
      parts_.push_back(std::move(part));
      return;
    }
    cache_.Unpin(facts.stripe(), part.lanes, {});
    part.lanes.clear();
  }
  const ColumnRange chunk{0, facts.geometry().chunk_bytes()};
  if (!PlanDecode(facts, chunk, &part.decode) || (is_fetch && part.decode.lost_slots.empty())) {
    return;  // the executor says so
  }
  if (step.all_survivors && !part.decode.lost_slots.empty()) {
    AddAllSurvivors(facts, chunk, &part.decode);
  }
  if (is_fetch) {
    const uint64_t bytes = std::min(step.ahead_bytes, facts.geometry().chunk_bytes());
    cache_.Pin(facts.stripe(), {0, static_cast<uint32_t>(bytes / kLaneBytes)}, part.keep,
               &part.lanes);
  } else {
    PinLanes(part, step.ahead_bytes);
  }
  parts_.push_back(std::move(part));
  for (StripeCache::Lane* const lane : parts_.back().lanes) {
    items_.push_back({parts_.size() - 1, lane, {}});
    Plan(items_.back());
  }
}

// Those that are wanted, ascending, each once; where there is no room for more, the first of them.
void CachedReader::PinLanes(Part& part, uint64_t ahead_bytes) {
  const ReadStep& step = *part.step;
  absl::InlinedVector<StripeCache::LaneRange, 8> ranges;
  for (const WantedExtent& extent : step.wanted) {
    ranges.push_back(LanesOf(step, extent.columns, ahead_bytes));
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  uint32_t next = 0;
  for (const StripeCache::LaneRange& range : ranges) {
    const uint32_t first = std::max(range.first, next);
    const uint32_t end = range.first + range.count;
    if (first >= end) {
      continue;
    }
    if (cache_.Pin(step.facts.stripe(), {first, end - first}, part.keep, &part.lanes) <
        end - first) {
      return;
    }
    next = end;
  }
}

void CachedReader::Plan(Item& item) {
  const Part& part = parts_[item.part];
  const ReadStep& step = *part.step;
  const StripeRoles& roles = step.facts.roles();
  const size_t index = items_.size() - 1;
  const bool all = step.ahead_bytes != 0;
  const auto is_wanted = [&](uint32_t slot) {
    return all || std::any_of(step.wanted.begin(), step.wanted.end(), [&](const auto& extent) {
             return roles.DataSlot(extent.data_index) == slot &&
                    Touches(extent, item.lane->number());
           });
  };
  const auto& lost = part.decode.lost_slots;
  if (std::any_of(lost.begin(), lost.end(), is_wanted)) {
    for (const uint32_t slot : lost) {
      if (item.lane->Claim(slot)) {
        item.rebuilds.push_back(slot);
      }
    }
  }
  for (const uint32_t slot : part.decode.read_slots) {
    if (!item.rebuilds.empty() || (part.is_data[slot] && is_wanted(slot))) {
      Want(item, index, slot);
    }
  }
}

void CachedReader::Want(Item& item, size_t item_index, uint32_t slot) {
  if (item.lane->Claim(slot)) {
    const StripeFacts& facts = parts_[item.part].step->facts;
    batch_.AddRead(facts.Device(slot), facts.MemberOffset(slot, ColumnsOf(*item.lane).begin),
                   item.lane->bytes(slot), kLaneBytes);
    claims_.push_back({item_index, slot});
  }
}

void CachedReader::Read() {
  if (claims_.empty()) {
    return;
  }
  const bool all_read = batch_.Run();
  for (size_t i = 0; i < claims_.size(); ++i) {
    Item& item = items_[claims_[i].item];
    if (all_read || batch_.error(i) == 0) {
      item.lane->Publish(claims_[i].slot);
    } else {
      item.lane->Abandon(claims_[i].slot);
      parts_[item.part].has_failed = true;
    }
  }
  Announce();
}

void CachedReader::Announce() {
  for (const Part& part : parts_) {
    cache_.Announce(part.step->facts.stripe());
  }
}

// What was claimed is rebuilt, or given up when a survivor could not be read, by whomever.
void CachedReader::Rebuild(Item& item) {
  Part& part = parts_[item.part];
  const StripeFacts& facts = part.step->facts;
  absl::InlinedVector<std::byte*, 16> blocks(part.is_data.size());
  bool can = true;
  for (const uint32_t slot : part.decode.read_slots) {
    cache_.WaitWhilePending(facts.stripe(), *item.lane, slot);
    can &= item.lane->IsValid(slot);
    blocks[slot] = item.lane->bytes(slot);
  }
  for (const uint32_t slot : item.rebuilds) {
    blocks[slot] = item.lane->bytes(slot);
  }
  can = can && Decode(facts, ColumnsOf(*item.lane), part.decode, blocks);
  for (const uint32_t slot : item.rebuilds) {
    if (can) {
      item.lane->Publish(slot);
    } else {
      item.lane->Abandon(slot);
      part.has_failed = true;
    }
  }
}

StripeCache::Lane* CachedReader::FindLane(const Part& part, uint64_t column) const {
  const auto number = static_cast<uint32_t>(column / kLaneBytes);
  const auto found = std::lower_bound(
      part.lanes.begin(), part.lanes.end(), number,
      [](const StripeCache::Lane* lane, uint32_t wanted) { return lane->number() < wanted; });
  return found != part.lanes.end() && (*found)->number() == number ? *found : nullptr;
}

bool CachedReader::DeliverLane(Part& part, const WantedExtent& extent, ColumnRange columns) {
  StripeCache::Lane* const lane = FindLane(part, columns.begin);
  if (lane == nullptr) {
    return false;
  }
  const StripeFacts& facts = part.step->facts;
  const uint32_t slot = facts.roles().DataSlot(extent.data_index);
  cache_.WaitWhilePending(facts.stripe(), *lane, slot);
  if (!lane->IsValid(slot)) {
    return false;
  }
  std::memcpy(extent.into + (columns.begin - extent.columns.begin),
              lane->bytes(slot) + columns.begin % kLaneBytes, columns.size());
  if (part.keep.until_delivered && columns.end % kLaneBytes == 0) {
    lane->NoteDelivered(slot);
  }
  return true;
}

void CachedReader::Deliver(Part& part) {
  WantedList left;
  for (const WantedExtent& extent : part.step->wanted) {
    ForEachLane(extent.columns, [&](ColumnRange columns) {
      if (DeliverLane(part, extent, columns)) {
        return;
      }
      if (!left.empty() && left.back().data_index == extent.data_index &&
          left.back().columns.end == columns.begin) {
        left.back().columns.end = columns.end;
      } else {
        left.push_back(
            {extent.data_index, columns, extent.into + (columns.begin - extent.columns.begin)});
      }
    });
  }
  part.step->wanted = left;
  part.step->lane_by_lane |= part.has_failed;
  cache_.Unpin(part.step->facts.stripe(), part.lanes, part.keep, part.is_data);
}

}  // namespace mdvol
