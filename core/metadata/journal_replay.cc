// See journal_replay.h.

#include "core/metadata/journal_replay.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/check.h"

namespace mdvol {

void JournalReplay::TakeData(const JournalPayload& payload, const std::byte* page) {
  const VolumeLocation at = geometry_.Locate(payload.location_bytes);
  const auto [lane, is_new] = fresh_.try_emplace(at.data_offset_bytes);
  if (is_new) {
    fresh_order_.push_back(at.data_offset_bytes);
  }
  lane->second[at.slot] = page;
}

void JournalReplay::TakeParity(const JournalPayload& payload, const std::byte* pages,
                               std::vector<ReplayWrite>& writes) {
  const uint64_t member_bytes = payload.location_bytes;
  std::map<uint32_t, const std::byte*> data;
  if (auto fresh = fresh_.extract(member_bytes); !fresh.empty()) {
    data = std::move(fresh.mapped());
    std::erase(fresh_order_, member_bytes);
  }
  if (const auto kept = by_lane_.find(member_bytes); kept != by_lane_.end()) {
    for (const auto& [slot, page] : kept->second->pages) {
      data.try_emplace(slot, page->data());  // what is fresh is newer
    }
    kept_pages_ -= kept->second->pages.size();
    spent_.splice(spent_.end(), waiting_, kept->second);
    by_lane_.erase(kept);
  }
  if (data.empty()) {
    return;
  }
  for (const auto& [slot, page] : data) {
    writes.push_back({.member_bytes = member_bytes, .slot = slot, .bytes = page});
  }
  const StripeRoles roles = geometry_.RolesOf(member_bytes / geometry_.chunk_bytes());
  writes.push_back({.member_bytes = member_bytes, .slot = roles.p_slot(), .bytes = pages});
  writes.push_back(
      {.member_bytes = member_bytes, .slot = roles.q_slot(), .bytes = pages + kJournalBlockBytes});
}

void JournalReplay::Drop(uint64_t member_bytes) {
  fresh_.erase(member_bytes);
  std::erase(fresh_order_, member_bytes);
  if (const auto kept = by_lane_.find(member_bytes); kept != by_lane_.end()) {
    kept_pages_ -= kept->second->pages.size();
    waiting_.erase(kept->second);
    by_lane_.erase(kept);
  }
}

void JournalReplay::KeepFresh() {
  for (const uint64_t member_bytes : std::exchange(fresh_order_, {})) {
    auto fresh = fresh_.extract(member_bytes);
    MDVOL_CHECK(!fresh.empty());
    auto [found, is_new] = by_lane_.try_emplace(member_bytes);
    if (is_new) {
      found->second = waiting_.insert(waiting_.end(), DataOnlyLane{member_bytes, {}});
    }
    for (const auto& [slot, bytes] : fresh.mapped()) {
      std::unique_ptr<Page>& page = found->second->pages[slot];
      if (page == nullptr) {
        page = std::make_unique<Page>();
        ++kept_pages_;
      }
      std::copy_n(bytes, page->size(), page->begin());
    }
  }
}

std::vector<ReplayWrite> JournalReplay::Take(const JournalEntry& entry,
                                             std::span<const std::byte> pages) {
  MDVOL_CHECK(pages.size() == entry.pages * kJournalBlockBytes);
  spent_.clear();
  std::vector<ReplayWrite> writes;
  for (const JournalPayload& payload : entry.payloads) {
    const std::byte* first = pages.data() + payload.first_page * kJournalBlockBytes;
    switch (payload.kind) {
      case JournalPayload::Kind::kData:
        TakeData(payload, first);
        break;
      case JournalPayload::Kind::kParity:
        TakeParity(payload, first, writes);
        break;
      case JournalPayload::Kind::kFlush:
        for (const uint64_t member_bytes : payload.flushed_bytes) {
          Drop(member_bytes);
        }
        break;
    }
  }
  KeepFresh();
  return writes;
}

std::vector<JournalReplay::DataOnlyLane> JournalReplay::Rest() {
  std::vector<DataOnlyLane> rest(std::make_move_iterator(waiting_.begin()),
                                 std::make_move_iterator(waiting_.end()));
  waiting_.clear();
  by_lane_.clear();
  kept_pages_ = 0;
  return rest;
}

}  // namespace mdvol
