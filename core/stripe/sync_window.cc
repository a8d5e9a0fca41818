// See sync_window.h.

#include "core/stripe/sync_window.h"

#include <utility>

namespace mdvol {

void SyncWindow::AddRead(const SyncBlock& block) {
  const StripeFacts& facts = stripes_[block.index].facts;
  batch_.AddRead(facts.Device(block.slot), facts.MemberOffset(block.slot, block.columns.begin),
                 Bytes(block), block.columns.size());
  blocks_.push_back(block);
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
  for (const SyncBlock& block : failed) {
    AddReadableLanes(block);
  }
  RunReads();
  for (const SyncBlock& block : failed_) {
    stripes_[block.index].facts.MarkUnreadable(block.slot, block.columns);
  }
}

}  // namespace mdvol
