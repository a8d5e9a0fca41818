// See unsettled_stripes.h.

#include "core/stripe/unsettled_stripes.h"

#include <algorithm>

#include "core/stripe/columns.h"

namespace mdvol {

void UnsettledStripes::NoteStale(const StripeFacts& facts, const MemberError& error) {
  const MemberDevice* device = facts.Device(error.slot);
  absl::MutexLock lock(&mutex_);
  auto& stale = stripes_[facts.stripe()].stale;
  const bool is_known = std::any_of(stale.begin(), stale.end(), [&](const StaleBlock& block) {
    return block.error.slot == error.slot && block.device == device;
  });
  if (!is_known) {
    stale.push_back({error, device});
  }
  UpdateCount();
}

void UnsettledStripes::NoteOwedParity(uint64_t stripe, ColumnRange columns) {
  absl::MutexLock lock(&mutex_);
  if (stripes_.size() >= kMostDetailed && !stripes_.contains(stripe)) {
    NoteOwedWhole(stripe);
    UpdateCount();
    return;
  }
  ColumnRanges& owed = stripes_[stripe].owed;
  Subtract(columns, &owed);
  owed.push_back(columns);
  UpdateCount();
}

void UnsettledStripes::NoteOwedWhole(uint64_t stripe) {
  if (IsOwedWhole(stripe) || IsInOwedPart(stripe)) {
    return;
  }
  const uint64_t region = stripe / kRegionStripes;
  if (owed_whole_.size() < kMostRegions || owed_whole_.contains(region)) {
    owed_whole_[region].set(stripe % kRegionStripes);
    ++owed_whole_count_;
    return;
  }
  const uint64_t part = stripe / stripes_per_part_;
  if (part >= owed_parts_.size()) {
    owed_parts_.resize(part + 1);
  }
  owed_parts_[part] = true;
  ++owed_part_count_;
}

bool UnsettledStripes::IsInOwedPart(uint64_t stripe) const {
  const uint64_t part = stripe / stripes_per_part_;
  return part < owed_parts_.size() && owed_parts_[part];
}

bool UnsettledStripes::OwesParts() const {
  if (IsEmpty()) {
    return false;
  }
  absl::MutexLock lock(&mutex_);
  return owed_part_count_ != 0;
}

void UnsettledStripes::ForgetParts() {
  absl::MutexLock lock(&mutex_);
  owed_parts_.clear();
  owed_part_count_ = 0;
  UpdateCount();
}

void UnsettledStripes::ParityRewritten(uint64_t stripe, ColumnRange columns) {
  if (IsEmpty()) {
    return;
  }
  absl::MutexLock lock(&mutex_);
  if (columns.begin == 0 && columns.end >= chunk_bytes_ && IsOwedWhole(stripe)) {
    const auto region = owed_whole_.find(stripe / kRegionStripes);
    region->second.reset(stripe % kRegionStripes);
    --owed_whole_count_;
    if (region->second.none()) {
      owed_whole_.erase(region);
    }
    UpdateCount();
  }
  const auto found = stripes_.find(stripe);
  if (found == stripes_.end()) {
    return;
  }
  Subtract(columns, &found->second.owed);
  if (found->second.IsSettled()) {
    stripes_.erase(found);
  }
  UpdateCount();
}

void UnsettledStripes::ApplyTo(StripeFacts& facts, MemberErrors* errors) {
  if (IsEmpty()) {
    return;
  }
  absl::MutexLock lock(&mutex_);
  if (IsOwedWhole(facts.stripe()) || IsInOwedPart(facts.stripe())) {
    facts.MarkParityOwed({0, chunk_bytes_});
  }
  const auto found = stripes_.find(facts.stripe());
  if (found == stripes_.end()) {
    return;
  }
  DropSettled(facts.members(), found->second);
  for (const StaleBlock& block : found->second.stale) {
    facts.MarkStale(block.error.slot);
    errors->push_back(block.error);
  }
  for (const ColumnRange& columns : found->second.owed) {
    facts.MarkParityOwed(columns);
  }
  if (found->second.IsSettled()) {
    stripes_.erase(found);
  }
  UpdateCount();
}

std::optional<uint64_t> UnsettledStripes::FirstStale(uint32_t slot) const {
  std::optional<uint64_t> first;
  absl::MutexLock lock(&mutex_);
  for (const auto& [stripe, unsettled] : stripes_) {
    const bool is_stale =
        std::any_of(unsettled.stale.begin(), unsettled.stale.end(),
                    [slot](const StaleBlock& block) { return block.error.slot == slot; });
    if (is_stale && stripe < first.value_or(stripe + 1)) {
      first = stripe;
    }
  }
  return first;
}

void UnsettledStripes::MembersChanged(const MemberView& members) {
  absl::MutexLock lock(&mutex_);
  absl::erase_if(stripes_, [&](auto& entry) {
    DropSettled(members, entry.second);
    return entry.second.IsSettled();
  });
  UpdateCount();
}

bool UnsettledStripes::IsOwedWhole(uint64_t stripe) const {
  const auto region = owed_whole_.find(stripe / kRegionStripes);
  return region != owed_whole_.end() && region->second.test(stripe % kRegionStripes);
}

void UnsettledStripes::DropSettled(const MemberView& members, Unsettled& unsettled) {
  auto& stale = unsettled.stale;
  stale.erase(std::remove_if(stale.begin(), stale.end(),
                             [&](const StaleBlock& block) {
                               return members.slots[block.error.slot].device != block.device;
                             }),
              stale.end());
}

}  // namespace mdvol
