// See stripe_cache.h. Locks: a shard's mutex, then spare_mutex_; another shard's only by TryLock.

#include "core/stripe/stripe_cache.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"

namespace mdvol {
namespace {

constexpr uint64_t kDefaultBytes = 256 * kMiB;
constexpr uint32_t kDefaultLanes = 4096;

}  // namespace

uint32_t DefaultStripeCacheLanes(uint32_t raid_disks) {
  return static_cast<uint32_t>(
      std::min<uint64_t>(kDefaultLanes, kDefaultBytes / (kLaneBytes * raid_disks)));
}

// ---- Room ----

std::unique_ptr<StripeCache::Lane> StripeCache::TakeSpare() {
  {
    absl::MutexLock lock(&spare_mutex_);
    if (!spare_.empty()) {
      std::unique_ptr<Lane> lane = std::move(spare_.back());
      spare_.pop_back();
      return lane;
    }
    if (made_ >= size()) {
      return nullptr;
    }
    ++made_;
  }
  return std::make_unique<Lane>(raid_disks_);
}

void StripeCache::GiveBack(std::unique_ptr<Lane> lane) {
  absl::MutexLock lock(&spare_mutex_);
  if (made_ > size()) {
    --made_;
    return;  // and it is freed
  }
  spare_.push_back(std::move(lane));
}

void StripeCache::TrimSpare() {
  std::vector<std::unique_ptr<Lane>> freed;
  absl::MutexLock lock(&spare_mutex_);
  freed.swap(spare_);
  made_ -= static_cast<uint32_t>(freed.size());
}

std::unique_ptr<StripeCache::Lane> StripeCache::Evict(Shard& shard, const Row* sparing) {
  for (auto row = shard.rows.begin(); row != shard.rows.end(); ++row) {
    const auto found = std::find_if(row->lanes.begin(), row->lanes.end(),
                                    [](const auto& lane) { return lane->pins_ == 0; });
    if (found == row->lanes.end()) {
      continue;
    }
    std::unique_ptr<Lane> lane = std::move(*found);
    row->lanes.erase(found);
    if (row->lanes.empty() && &*row != sparing) {
      shard.index.erase(row->stripe);
      shard.rows.erase(row);
    }
    return lane;
  }
  return nullptr;
}

std::unique_ptr<StripeCache::Lane> StripeCache::TakeLane(Shard& shard) {
  std::unique_ptr<Lane> lane = TakeSpare();
  if (lane == nullptr && size() != 0) {
    // The caller's row is the last in the list; it may be empty, but is not to go.
    lane = Evict(shard, &shard.rows.back());
    if (lane != nullptr) {
      active_.fetch_sub(1, std::memory_order_relaxed);
    }
  }
  for (size_t i = 0; lane == nullptr && size() != 0 && i < kShards; ++i) {
    Shard& other = shards_[i];
    if (&other == &shard || !other.mutex.TryLock()) {
      continue;
    }
    lane = Evict(other, nullptr);
    other.mutex.Unlock();
    if (lane != nullptr) {
      active_.fetch_sub(1, std::memory_order_relaxed);
    }
  }
  if (lane != nullptr) {
    for (auto& block : lane->blocks_) {
      block.store(Block::kAbsent, std::memory_order_relaxed);
    }
  }
  return lane;
}

void StripeCache::Resize(uint32_t lanes) {
  size_.store(lanes);
  TrimSpare();
  for (Shard& shard : shards_) {
    absl::MutexLock lock(&shard.mutex);
    while (active() > lanes) {
      std::unique_ptr<Lane> lane = Evict(shard, nullptr);
      if (lane == nullptr) {
        break;
      }
      active_.fetch_sub(1, std::memory_order_relaxed);
      GiveBack(std::move(lane));
    }
  }
}

// ---- Rows ----

size_t StripeCache::Position(const Row& row, uint32_t lane) {
  // Streams add at the end.
  if (row.lanes.empty() || row.lanes.back()->number_ < lane) {
    return row.lanes.size();
  }
  const auto at =
      std::lower_bound(row.lanes.begin(), row.lanes.end(), lane,
                       [](const auto& entry, uint32_t number) { return entry->number_ < number; });
  return static_cast<size_t>(at - row.lanes.begin());
}

StripeCache::Row& StripeCache::UseRow(Shard& shard, uint64_t stripe, const Keep& keep) {
  const auto [found, is_new] = shard.index.try_emplace(stripe);
  if (is_new) {
    shard.rows.push_back({.stripe = stripe, .retention_ns = keep.retention_ns, .lanes = {}});
    found->second = std::prev(shard.rows.end());
  } else {
    shard.rows.splice(shard.rows.end(), shard.rows, found->second);
  }
  Row& row = *found->second;
  row.used_ns = std::max(row.used_ns, keep.now_ns);
  if (keep.retention_ns != 0) {
    row.retention_ns =
        row.retention_ns == 0 ? keep.retention_ns : std::min(row.retention_ns, keep.retention_ns);
  }
  if (keep.retention_ns != 0 && !keep.is_lazy) {
    row.is_lazy = false;
    has_timed_.store(true);
  }
  return row;
}

StripeCache::Lane* StripeCache::FindOrMake(Shard& shard, Row& row, uint32_t number) {
  const size_t position = Position(row, number);
  if (position < row.lanes.size() && row.lanes[position]->number_ == number) {
    return row.lanes[position].get();
  }
  std::unique_ptr<Lane> lane = TakeLane(shard);
  if (lane == nullptr) {
    return nullptr;
  }
  lane->number_ = number;
  Lane* const made = lane.get();
  // Room may have been made in this very row.
  row.lanes.insert(row.lanes.begin() + static_cast<ptrdiff_t>(Position(row, number)),
                   std::move(lane));
  active_.fetch_add(1, std::memory_order_relaxed);
  return made;
}

void StripeCache::DropRow(Shard& shard, Rows::iterator row) {
  for (std::unique_ptr<Lane>& lane : row->lanes) {
    MDVOL_CHECK(lane->pins_ == 0);
    active_.fetch_sub(1, std::memory_order_relaxed);
    GiveBack(std::move(lane));
  }
  shard.index.erase(row->stripe);
  shard.rows.erase(row);
}

// ---- Lanes ----

uint32_t StripeCache::Pin(uint64_t stripe, LaneRange range, const Keep& keep, LaneList* lanes) {
  if (size() == 0) {
    return 0;
  }
  Shard& shard = ShardOf(stripe);
  absl::MutexLock lock(&shard.mutex);
  Row& row = UseRow(shard, stripe, keep);
  uint32_t count = 0;
  for (; count < range.count; ++count) {
    Lane* const lane = FindOrMake(shard, row, range.first + count);
    if (lane == nullptr) {
      break;
    }
    ++lane->pins_;
    lanes->push_back(lane);
  }
  if (row.lanes.empty()) {
    DropRow(shard, std::prev(shard.rows.end()));
  }
  return count;
}

StripeCache::Lane* StripeCache::PinKept(uint64_t stripe, uint32_t lane) {
  if (empty()) {
    return nullptr;
  }
  Shard& shard = ShardOf(stripe);
  absl::MutexLock lock(&shard.mutex);
  const auto found = shard.index.find(stripe);
  if (found == shard.index.end()) {
    return nullptr;
  }
  const Row& row = *found->second;
  const size_t position = Position(row, lane);
  if (position == row.lanes.size() || row.lanes[position]->number_ != lane) {
    return nullptr;
  }
  shard.rows.splice(shard.rows.end(), shard.rows, found->second);
  ++row.lanes[position]->pins_;
  return row.lanes[position].get();
}

bool StripeCache::IsKept(uint64_t stripe) {
  Shard& shard = ShardOf(stripe);
  absl::MutexLock lock(&shard.mutex);
  return shard.index.contains(stripe);
}

bool StripeCache::IsDelivered(const Lane& lane, std::span<const bool> is_data) {
  for (uint32_t slot = 0; slot < is_data.size(); ++slot) {
    if (is_data[slot] && lane.Get(slot) != Block::kDelivered) {
      return false;
    }
  }
  return true;
}

void StripeCache::Unpin(uint64_t stripe, std::span<Lane* const> lanes, const Keep& keep,
                        std::span<const bool> is_data) {
  if (lanes.empty()) {
    return;
  }
  Shard& shard = ShardOf(stripe);
  absl::MutexLock lock(&shard.mutex);
  const Rows::iterator row = shard.index.at(stripe);
  row->used_ns = std::max(row->used_ns, keep.now_ns);
  for (Lane* const lane : lanes) {
    MDVOL_CHECK(lane->pins_ > 0);
    --lane->pins_;
    const bool goes = active() > size() || (keep.until_delivered && IsDelivered(*lane, is_data));
    if (goes && lane->pins_ == 0) {
      const size_t position = Position(*row, lane->number_);
      std::unique_ptr<Lane> dropped = std::move(row->lanes[position]);
      row->lanes.erase(row->lanes.begin() + static_cast<ptrdiff_t>(position));
      active_.fetch_sub(1, std::memory_order_relaxed);
      GiveBack(std::move(dropped));
    }
  }
  if (row->lanes.empty()) {
    DropRow(shard, row);
  }
}

void StripeCache::Announce(uint64_t stripe) {
  Shard& shard = ShardOf(stripe);
  absl::MutexLock lock(&shard.mutex);
  shard.settled.SignalAll();
}

void StripeCache::WaitWhilePending(uint64_t stripe, const Lane& lane, uint32_t slot) {
  if (!lane.IsPending(slot)) {
    return;
  }
  Shard& shard = ShardOf(stripe);
  absl::MutexLock lock(&shard.mutex);
  while (lane.IsPending(slot)) {
    shard.settled.Wait(&shard.mutex);
  }
}

void StripeCache::Drop(uint64_t stripe) {
  if (empty()) {
    return;
  }
  Shard& shard = ShardOf(stripe);
  absl::MutexLock lock(&shard.mutex);
  const auto found = shard.index.find(stripe);
  if (found != shard.index.end()) {
    DropRow(shard, found->second);
  }
}

void StripeCache::DropAll() {
  for (Shard& shard : shards_) {
    absl::MutexLock lock(&shard.mutex);
    while (!shard.rows.empty()) {
      DropRow(shard, shard.rows.begin());
    }
  }
  TrimSpare();
}

// Rows that come while the shards are looked through are seen, or set has_timed_ afterwards; in
// either case somebody calls again.
uint64_t StripeCache::Expire(uint64_t now_ns) {
  has_timed_.store(false);
  timer_is_set_.store(false);
  uint64_t next = kNever;
  for (Shard& shard : shards_) {
    absl::MutexLock lock(&shard.mutex);
    for (auto row = shard.rows.begin(); row != shard.rows.end();) {
      const auto at = row++;
      if (at->retention_ns == 0) {
        continue;
      }
      const bool is_pinned = std::any_of(at->lanes.begin(), at->lanes.end(),
                                         [](const auto& lane) { return lane->pins_ != 0; });
      const uint64_t due_ns = at->used_ns + at->retention_ns;
      if (due_ns <= now_ns && !is_pinned) {
        DropRow(shard, at);
      } else if (!at->is_lazy) {
        next = std::min(next, due_ns <= now_ns ? now_ns + at->retention_ns : due_ns);
      }
    }
  }
  if (next != kNever) {
    has_timed_.store(true);
    timer_is_set_.store(true);
  }
  if (empty()) {
    TrimSpare();
  }
  return next;
}

}  // namespace mdvol
