// See sync_window.h.

#include "core/stripe/sync_window.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace mdvol {

// Asks the policy. Whatever it answers becomes ascending positions of whole lanes in the window.
void SyncWindow::CutRequests(std::span<const SyncBlock> blocks) {
  if (requests_ == nullptr) {
    return;
  }
  absl::InlinedVector<uint32_t, 16> slots;
  for (const SyncBlock& block : blocks) {
    if (slots.empty() || slots.back() != block.slot) {
      slots.push_back(block.slot);
    }
  }
  const uint64_t bytes_per_member = stripes_.size() * columns_.size();
  std::vector<RequestCuts> cuts(slots.size());
  requests_->Cut({static_cast<uint32_t>(slots.size()), bytes_per_member}, cuts);
  cuts_.assign(raid_disks(), {});
  for (size_t i = 0; i < slots.size(); ++i) {
    std::erase_if(cuts[i], [&](uint64_t cut) { return cut >= bytes_per_member; });
    for (uint64_t& cut : cuts[i]) {
      cut = RoundDown(cut, kLaneBytes);
    }
    std::sort(cuts[i].begin(), cuts[i].end(), std::greater<>());
    cuts_[slots[i]] = std::move(cuts[i]);
  }
}

// In pieces where a request is to begin inside the block.
void SyncWindow::AddRead(const SyncBlock& block) {
  const StripeFacts& facts = stripes_[block.index].facts;
  const uint64_t block_at = block.index * columns_.size() - columns_.begin;  // of column 0
  RequestCuts* const cuts = cuts_.empty() ? nullptr : &cuts_[block.slot];
  for (uint64_t begin = block.columns.begin; begin < block.columns.end;) {
    auto joining = IoBatch::Joining::kJoins;
    while (cuts != nullptr && !cuts->empty() && cuts->back() <= block_at + begin) {
      cuts->pop_back();
      joining = IoBatch::Joining::kApart;
    }
    uint64_t end = block.columns.end;
    if (cuts != nullptr && !cuts->empty()) {
      end = std::min(end, cuts->back() - block_at);
    }
    const SyncBlock piece{block.index, block.slot, {begin, end}};
    batch_.AddRead(facts.Device(block.slot), facts.MemberOffset(block.slot, begin), Bytes(piece),
                   end - begin, joining);
    blocks_.push_back(piece);
    begin = end;
  }
}

void SyncWindow::AddReadableLanes(const SyncBlock& block) {
  const StripeFacts& facts = stripes_[block.index].facts;
  if (facts.Access(block.slot, block.columns) == SlotAccess::kAbsent) {
    return;
  }
  for (const ColumnRange& segment : CutColumns(facts, std::span(&block, 1))) {
    ForEachLane(segment, [&](ColumnRange lane) {
      if (facts.Readable(block.slot, lane)) {
        AddRead({block.index, block.slot, lane});
      }
    });
  }
}

// False when there are blocks in failed_.
bool SyncWindow::RunReads() {
  failed_.clear();
  if (!batch_.empty() && !batch_.Run()) {
    for (size_t i = 0; i < blocks_.size(); ++i) {
      if (batch_.error(i) != 0) {
        failed_.push_back(blocks_[i]);
      }
    }
  }
  batch_.Clear();
  blocks_.clear();
  return failed_.empty();
}

void SyncWindow::Read(std::span<const SyncBlock> blocks) {
  CutRequests(blocks);
  for (const SyncBlock& block : blocks) {
    if (stripes_[block.index].facts.Readable(block.slot, block.columns)) {
      AddRead(block);
    } else {
      AddReadableLanes(block);
    }
  }
  if (RunReads()) {
    return;
  }
  const std::vector<SyncBlock> failed = std::move(failed_);
  cuts_.clear();
  for (const SyncBlock& block : failed) {
    AddReadableLanes(block);
  }
  RunReads();
  for (const SyncBlock& block : failed_) {
    stripes_[block.index].facts.MarkUnreadable(block.slot, block.columns);
  }
}

}  // namespace mdvol
