// See journal_ring.h.

#include "core/metadata/journal_ring.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/units.h"

namespace mdvol {
namespace {

constexpr uint64_t kLeastBlocks = 16;
constexpr uint64_t kMostBlocksPerAppend = 4096;
constexpr uint64_t kMostReclaimableBytes = 10 * kGiB;  // md's bound
static_assert(kMostBlocksPerAppend < kJournalSeqGap);

}  // namespace

uint64_t JournalRing::LeastBytes(uint32_t raid_disks) {
  return 16 * (uint64_t{raid_disks} + 1) * kJournalBlockBytes;
}

uint64_t JournalRing::LeastNewBytes(uint32_t raid_disks) {
  return std::max(4 * LeastBytes(raid_disks), 4 * kMiB);
}

JournalRing::JournalRing(uint64_t ring_bytes, const JournalPlace& tail, const JournalPlace& head)
    : ring_blocks_(ring_bytes / kJournalBlockBytes) {
  MDVOL_CHECK(ring_bytes % kJournalBlockBytes == 0 && ring_blocks_ >= kLeastBlocks);
  MDVOL_CHECK(tail.offset_bytes < ring_bytes && head.offset_bytes < ring_bytes);
  tail_ = {.block = tail.offset_bytes / kJournalBlockBytes, .seq = tail.seq};
  head_ = MarkOf(head);
  MDVOL_CHECK(head_.block > tail_.block && head_.seq > tail_.seq);
  last_durable_ = tail_;
}

JournalPlace JournalRing::PlaceOf(const Mark& mark) const {
  return {.offset_bytes = mark.block % ring_blocks_ * kJournalBlockBytes, .seq = mark.seq};
}

JournalRing::Mark JournalRing::MarkOf(const JournalPlace& place) const {
  MDVOL_CHECK(place.offset_bytes % kJournalBlockBytes == 0);
  const uint64_t block = place.offset_bytes / kJournalBlockBytes;
  MDVOL_CHECK(block < ring_blocks_);
  const uint64_t ahead = (block + ring_blocks_ - tail_.block % ring_blocks_) % ring_blocks_;
  return {.block = tail_.block + ahead, .seq = place.seq};
}

uint64_t JournalRing::most_blocks_per_append() const {
  return std::min(ring_blocks_ / 8, kMostBlocksPerAppend);
}

std::optional<JournalRing::Span> JournalRing::Place(uint64_t blocks, bool may_use_reserve) {
  MDVOL_CHECK(blocks > 0);
  const uint64_t kept_blocks = may_use_reserve ? 0 : most_blocks_per_append();
  // One block more stays free than is needed, or a full ring would look like an empty one.
  if (blocks >= free_blocks() || free_blocks() - blocks <= kept_blocks) {
    return std::nullopt;
  }
  placed_.push_back({.at = head_, .blocks = blocks});
  const Span span{.at = head(), .blocks = blocks};
  head_ = {.block = head_.block + blocks, .seq = head_.seq + 1};
  return span;
}

void JournalRing::Unplace(const Span& span) {
  MDVOL_CHECK(!placed_.empty() && PlaceOf(placed_.back().at) == span.at);
  head_ = placed_.back().at;
  placed_.pop_back();
}

void JournalRing::NoteDurable(const Span& span) {
  MDVOL_CHECK(!placed_.empty() && PlaceOf(placed_.front().at) == span.at);
  last_durable_ = placed_.front().at;
  placed_.pop_front();
}

uint64_t JournalRing::Hold(const Span& span) {
  const Mark mark = MarkOf(span.at);
  MDVOL_CHECK(mark.block <= last_durable_.block);
  held_.insert(mark);
  by_ticket_.emplace(next_ticket_, mark);
  return next_ticket_++;
}

void JournalRing::Release(uint64_t ticket) {
  const auto found = by_ticket_.find(ticket);
  MDVOL_CHECK(found != by_ticket_.end());
  held_.erase(held_.find(found->second));
  by_ticket_.erase(found);
}

JournalRing::Mark JournalRing::PassableMark() const {
  return held_.empty() ? last_durable_ : *held_.begin();
}

JournalPlace JournalRing::Passable() const { return PlaceOf(PassableMark()); }

void JournalRing::MoveTail(const JournalPlace& durable) {
  const Mark mark = MarkOf(durable);
  MDVOL_CHECK(mark.block <= PassableMark().block && mark.seq >= tail_.seq);
  tail_ = mark;
}

bool JournalRing::WantsReclaim() const {
  const uint64_t limit_blocks =
      std::min(ring_blocks_ / 4, kMostReclaimableBytes / kJournalBlockBytes);
  return PassableMark().block - tail_.block > limit_blocks;
}

}  // namespace mdvol
