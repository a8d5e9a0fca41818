// ArrayImpl: check and repair, the checkpoint of a resync, and the range that writes have to keep
// off.

#include <algorithm>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "core/array/array_impl.h"
#include "core/base/status.h"

namespace mdvol {

absl::Status ArrayImpl::CheckStripes(StripeRange stripes, SyncFindings* findings) {
  EngineResult result;
  Aftermath after;
  {
    GateShare share(members_gate_);
    const uint64_t still_bad = still_bad_.load(std::memory_order_acquire);
    result = engine_.CheckStripes(view_, stripes.first, stripes.count, findings);
    after = AftermathOf(result, still_bad);
  }
  return Settle(result, after, "check");
}

// Most stripes are in order, and then neither bit nor dirty mark is wanted. What is repaired is
// looked at anew, for a write may have come between, and counts as the repair found it.
absl::Status ArrayImpl::RepairStripes(StripeRange stripes, RepairMode mode,
                                      SyncFindings* findings) {
  SyncFindings found;
  MDVOL_RETURN_IF_ERROR(CheckStripes(stripes, &found));
  findings->skipped_stripes += found.skipped_stripes;
  const uint64_t stripe_bytes = geometry_.stripe_bytes();
  for (size_t i = 0; i < found.to_repair.size();) {
    const uint64_t first = found.to_repair[i].stripe;
    uint64_t end = first;
    for (; i < found.to_repair.size() && found.to_repair[i].stripe == end; ++i, ++end) {
      findings->skipped_stripes -= found.to_repair[i].is_skipped ? 1u : 0u;
    }
    MDVOL_RETURN_IF_ERROR(RunWrite({first * stripe_bytes, (end - first) * stripe_bytes}, "repair",
                                   [&](const MemberView& view) {
                                     return engine_.RepairStripes(view, first, end - first, mode,
                                                                  findings);
                                   }));
  }
  return absl::OkStatus();
}

void Array::ReadMembers(std::vector<ResyncMemberFacts>* facts) const { facts->clear(); }

void ArrayImpl::ReadMembers(std::vector<ResyncMemberFacts>* facts) const {
  facts->clear();
  absl::MutexLock lock(&state_);
  for (const auto& member : members_) {
    if (member->counting != nullptr && !member->faulty) {
      const MemberIoCounts counts = member->counting->Counts();
      facts->push_back({.completed_bytes = counts.reads.bytes + counts.writes.bytes,
                        .sync_issued_bytes = counts.sync_issued_bytes});
    }
  }
}

// Only remembered: while the array is dirty its superblocks say 0, as in md, for stripes below may
// be being written. A stop, when nothing is, writes it.
absl::Status ArrayImpl::CheckpointResync(uint64_t done_stripes) {
  if (read_only()) {
    return ErrnoStatus(EROFS, "the array is read-only");
  }
  resync_done_stripes_.store(done_stripes, std::memory_order_release);
  return absl::OkStatus();
}

// Where the next start has to go on: all below has its parity, durably, and nobody writes any more.
uint64_t ArrayImpl::ResyncCheckpointBytes() const {
  const std::optional<StripeRange> doubt = doubt_.Next(0);
  if (!doubt.has_value() || OwesParity()) {
    return 0;
  }
  return std::min(resync_done_stripes_.load(std::memory_order_acquire), doubt->first)
         << geometry_.chunk_shift();
}

absl::Status ArrayImpl::Suspend(uint64_t lo_bytes, uint64_t hi_bytes) {
  GateClosure closed(writes_gate_);  // what was in flight has ended
  suspend_lo_.store(lo_bytes, std::memory_order_release);
  suspend_hi_.store(hi_bytes, std::memory_order_release);
  return absl::OkStatus();
}

bool ArrayImpl::IsSuspended(uint64_t offset_bytes, uint64_t length_bytes) const {
  const uint64_t lo_bytes = suspend_lo_.load(std::memory_order_acquire);
  const uint64_t hi_bytes = suspend_hi_.load(std::memory_order_acquire);
  return lo_bytes < hi_bytes && offset_bytes < hi_bytes && lo_bytes < offset_bytes + length_bytes;
}

}  // namespace mdvol
