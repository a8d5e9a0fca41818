// See stripe_locks.h. A waiter sleeps on its own condition variable and is woken exactly once, when
// its turn is decided: as leader, as one more reader, or answered.

#include "core/stripe/stripe_locks.h"

#include <utility>

#include "core/base/check.h"

namespace mdvol {

bool StripeLocks::TryLead(uint64_t stripe) {
  Shard& shard = ShardOf(stripe);
  absl::MutexLock lock(&shard.mutex);
  const auto [position, is_new] = shard.entries.try_emplace(stripe);
  if (!is_new) {
    return false;  // an entry exists only while somebody holds or awaits the stripe
  }
  position->second.led = true;
  return true;
}

bool StripeLocks::Join(StripeWrite& write, WriteGroup* group) {
  Shard& shard = ShardOf(write.stripe);
  absl::MutexLock lock(&shard.mutex);
  Entry& entry = shard.entries[write.stripe];
  group->clear();
  if (!entry.led && entry.shared == 0) {
    entry.led = true;
    group->push_back(&write);
    return true;
  }
  Waiter waiter{.kind = Kind::kWriter, .write = &write, .group = group};
  entry.queue.push_back(&waiter);
  while (waiter.turn == Turn::kWaiting || waiter.turn == Turn::kFollowing) {
    waiter.wake.Wait(&shard.mutex);
  }
  return waiter.turn == Turn::kGranted;
}

void StripeLocks::Lead(uint64_t stripe) {
  Shard& shard = ShardOf(stripe);
  absl::MutexLock lock(&shard.mutex);
  Entry& entry = shard.entries[stripe];
  if (!entry.led && entry.shared == 0) {
    entry.led = true;
    return;
  }
  Waiter waiter{.kind = Kind::kExclusive, .write = nullptr};
  entry.queue.push_back(&waiter);
  while (waiter.turn != Turn::kGranted) {
    waiter.wake.Wait(&shard.mutex);
  }
}

void StripeLocks::Finish(uint64_t stripe, std::span<StripeWrite* const> group,
                         const StripeWrite* self) {
  Shard& shard = ShardOf(stripe);
  absl::MutexLock lock(&shard.mutex);
  Entry& entry = shard.entries.at(stripe);
  MDVOL_CHECK(entry.led);
  MDVOL_CHECK(entry.followers.size() + (self != nullptr ? 1u : 0u) == group.size());
  for (Waiter* follower : entry.followers) {
    follower->turn = Turn::kAnswered;
    follower->wake.Signal();
  }
  entry.followers.clear();
  entry.led = false;
  PassOn(shard, stripe, entry);
}

void StripeLocks::LockShared(uint64_t stripe) {
  Shard& shard = ShardOf(stripe);
  absl::MutexLock lock(&shard.mutex);
  Entry& entry = shard.entries[stripe];
  if (!entry.led && entry.queue.empty()) {
    ++entry.shared;
    return;
  }
  Waiter waiter{.kind = Kind::kShared, .write = nullptr};
  entry.queue.push_back(&waiter);
  while (waiter.turn != Turn::kGranted) {
    waiter.wake.Wait(&shard.mutex);
  }
}

bool StripeLocks::TryLockShared(uint64_t stripe) {
  Shard& shard = ShardOf(stripe);
  absl::MutexLock lock(&shard.mutex);
  Entry& entry = shard.entries[stripe];
  if (entry.led || !entry.queue.empty()) {
    return false;  // so the entry is somebody's, not left behind
  }
  ++entry.shared;
  return true;
}

void StripeLocks::UnlockShared(uint64_t stripe) {
  Shard& shard = ShardOf(stripe);
  absl::MutexLock lock(&shard.mutex);
  Entry& entry = shard.entries.at(stripe);
  MDVOL_CHECK(entry.shared > 0);
  --entry.shared;
  if (entry.shared == 0) {
    PassOn(shard, stripe, entry);
  }
}

size_t StripeLocks::CountWaiting(uint64_t stripe) {
  Shard& shard = ShardOf(stripe);
  absl::MutexLock lock(&shard.mutex);
  const auto found = shard.entries.find(stripe);
  return found == shard.entries.end() ? 0 : found->second.queue.size();
}

void StripeLocks::GrantWriters(Entry& entry, Waiter& leader) {
  leader.group->push_back(leader.write);
  std::vector<Waiter*> rest;
  for (Waiter* waiter : entry.queue) {
    if (waiter->kind != Kind::kWriter) {
      rest.push_back(waiter);
      continue;
    }
    waiter->turn = Turn::kFollowing;
    leader.group->push_back(waiter->write);
    entry.followers.push_back(waiter);
  }
  entry.queue = std::move(rest);
}

void StripeLocks::PassOn(Shard& shard, uint64_t stripe, Entry& entry) {
  while (!entry.queue.empty()) {
    Waiter& first = *entry.queue.front();
    if (first.kind != Kind::kShared && entry.shared > 0) {
      return;
    }
    entry.queue.erase(entry.queue.begin());
    first.turn = Turn::kGranted;
    if (first.kind == Kind::kShared) {
      ++entry.shared;
      first.wake.Signal();
      continue;
    }
    entry.led = true;
    if (first.kind == Kind::kWriter) {
      GrantWriters(entry, first);
    }
    first.wake.Signal();
    return;
  }
  if (!entry.led && entry.shared == 0) {
    shard.entries.erase(stripe);
  }
}

}  // namespace mdvol
