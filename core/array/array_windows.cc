// ArrayImpl: the windows of a recovery, which bring the checkpoints of its targets forward (see
// array_recovery.cc).
//
// Windows are filled side by side, one per caller, each beside the one before. A checkpoint moves
// in their order, and their stripes are led until it has: a window that is done waits for those
// below it. When one of them could not be filled, all above it give up what they have done and
// begin anew. Whoever waits for a turn is inside members_gate_, as are all that he waits for, and
// they wait for no gate; whoever waits to claim a window is not.

#include <algorithm>
#include <optional>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/array/array_impl.h"
#include "core/base/status.h"
#include "core/stripe/io_errors.h"

namespace mdvol {

// Until the targets have all of the range, whoever fills it.
absl::Status ArrayImpl::RecoverStripes(StripeRange stripes, SyncFindings* findings) {
  const uint64_t end = stripes.first + stripes.count;
  for (;;) {
    MDVOL_RETURN_IF_ERROR(MayChangeMembers());
    const RecoveryFront front = Front();
    const uint64_t first = front.valid_bytes >> geometry_.chunk_shift();
    if (first >= end) {
      return absl::OkStatus();
    }
    if (front.guided) {
      const auto marked = NextMarked(front.valid_bytes);
      if (!marked.has_value() || marked->first > first) {
        GateClosure closed(writes_gate_);  // a write sets its bits and skips what lies beyond
        PassOverClean(end << geometry_.chunk_shift());
        continue;
      }
    }
    MDVOL_RETURN_IF_ERROR(RecoverWindow(stripes, findings));
  }
}

// One window, or the end of somebody else's: what there was to do has changed.
absl::Status ArrayImpl::RecoverWindow(StripeRange wanted, SyncFindings* findings) {
  uint64_t ended = 0;
  std::optional<StripeRange> window;
  WindowOutcome outcome;
  {
    GateShare share(members_gate_);
    if (!view_.writable) {
      return MayChangeMembers();
    }
    window = ClaimWindow(wanted, &ended);
    if (window.has_value()) {
      FillWindow(*window, &outcome);
      EndWindow(*window, outcome.has_moved);
    }
  }
  if (!window.has_value()) {
    AwaitWindowsEnd(ended);
    return absl::OkStatus();
  }
  const absl::Status status = SettleWindow(outcome, findings);
  if (!outcome.has_moved) {
    EndSettling();
  }
  return status;
}

// What comes next of the range, and no more at a time than the range has, which whoever chose it
// has the memory for (I10). None: others are at it, or settle why it could not be had; *ended is
// for AwaitWindowsEnd then. Of guided targets a window has only stripes that are marked.
std::optional<StripeRange> ArrayImpl::ClaimWindow(StripeRange wanted, uint64_t* ended) {
  absl::MutexLock lock(&recovery_);
  *ended = windows_ended_;
  if (windows_settling_ > 0 || (is_window_missing_ && !windows_.empty())) {
    return std::nullopt;
  }
  is_window_missing_ = false;
  const RecoveryFront front = Front();
  uint64_t from_bytes = front.valid_bytes;
  if (!windows_.empty()) {
    const StripeRange& last = windows_.back();
    from_bytes = (last.first + last.count) << geometry_.chunk_shift();
  }
  const uint64_t first = from_bytes >> geometry_.chunk_shift();
  uint64_t end = wanted.first + wanted.count;
  if (first >= end) {
    return std::nullopt;
  }
  if (front.guided) {
    const std::optional<StripeRange> marked = NextMarked(from_bytes);
    if (!marked.has_value() || marked->first > first) {
      return std::nullopt;
    }
    end = std::min(end, marked->first + marked->count);
  }
  const uint64_t most = std::min(wanted.count, engine_.StripesPerWindow());
  return windows_.emplace_back(StripeRange{first, std::min(end - first, most)});
}

// Waits for the windows below. False when one of them was not filled: this one is to be filled anew
// then, for its stripes are given up while the targets do not count as having them.
bool ArrayImpl::AwaitTurn(StripeRange window, const std::vector<ArrayMember*>& targets) {
  {
    absl::MutexLock lock(&recovery_);
    while (windows_.front().first != window.first) {
      window_ended_.Wait(&recovery_);
    }
  }
  const uint64_t begin_bytes = window.first << geometry_.chunk_shift();
  return std::all_of(targets.begin(), targets.end(), [&](const ArrayMember* target) {
    return target->valid_bytes.load(std::memory_order_acquire) >= begin_bytes;
  });
}

void ArrayImpl::EndWindow(StripeRange window, bool has_moved) {
  absl::MutexLock lock(&recovery_);
  std::erase_if(windows_, [&](const StripeRange& w) { return w.first == window.first; });
  ++windows_ended_;
  if (!has_moved) {
    is_window_missing_ = true;
    ++windows_settling_;
  }
  window_ended_.SignalAll();
}

void ArrayImpl::EndSettling() {
  absl::MutexLock lock(&recovery_);
  --windows_settling_;
  ++windows_ended_;
  window_ended_.SignalAll();
}

void ArrayImpl::AwaitWindowsEnd(uint64_t ended) {
  absl::MutexLock lock(&recovery_);
  while (windows_ended_ == ended && (windows_settling_ > 0 || !windows_.empty())) {
    window_ended_.Wait(&recovery_);
  }
}

// Reads, reconstructs and writes, then moves the checkpoints when its turn has come. Nobody takes
// over, and takes back what lies before the window, while members_gate_ is shared.
void ArrayImpl::FillWindow(StripeRange window, WindowOutcome* outcome) {
  const uint64_t end_bytes = std::min((window.first + window.count) << geometry_.chunk_shift(),
                                      geometry_.component_bytes());
  std::vector<ArrayMember*> members;
  {
    absl::MutexLock lock(&state_);
    members = Targets(/*joined_only=*/true);
  }
  std::vector<RecoverTarget> targets;
  for (ArrayMember* const member : members) {
    targets.push_back({.slot = member->slot.has_value() ? *member->slot : *member->replaces,
                       .device = member->device.get(),
                       .data_offset_bytes = member->areas.data.begin,
                       .from_bytes = member->valid_bytes.load(std::memory_order_acquire),
                       .bad_blocks = &member->bad_blocks});
  }
  RecoverResult recovered;
  const auto move = [&] {
    if (!AwaitTurn(window, members)) {
      return;
    }
    outcome->holes = UnknownHoles(members, recovered);
    outcome->has_moved = outcome->holes.empty();
    for (ArrayMember* const member : members) {
      if (outcome->has_moved && member->valid_bytes.load(std::memory_order_acquire) < end_bytes) {
        member->valid_bytes.store(end_bytes, std::memory_order_release);
      }
    }
  };
  const uint64_t still_bad = still_bad_.load(std::memory_order_acquire);
  EngineResult& result = outcome->result;
  result = engine_.RecoverStripes(view_, window.first, window.count, targets, &recovered, move);
  result.still_bad |= recovered.still_bad;
  Aftermath& after = outcome->after;
  after = AftermathOf(result, still_bad);
  for (const auto& [index, range] : recovered.rewritten_bad) {
    after.rewritten.push_back({members[index], range});
  }
  for (const auto& [index, error] : recovered.target_errors) {
    if (IsFull(error)) {
      outcome->full = error;
    } else {
      after.failures.push_back(
          {members[index]->index,
           absl::StrCat("rebuild failed: ", std::generic_category().message(error))});
    }
  }
}

// Something is done about what was in the window's way.
absl::Status ArrayImpl::SettleWindow(WindowOutcome& outcome, SyncFindings* findings) {
  const EngineResult& result = outcome.result;
  Aftermath& after = outcome.after;
  NoteMended(result);
  if (!after.rewritten.empty()) {
    ForgetBadBlocks(after.rewritten, after.still_bad, &after.failures);
  }
  if (!after.failures.empty()) {
    return FailMembers(after.failures);
  }
  if (outcome.full != 0) {
    return SystemError(outcome.full, "rebuild stopped");
  }
  if (result.error != 0 && result.error != EIO) {
    return SystemError(result.error, "rebuild stopped");
  }
  if (!outcome.holes.empty()) {
    return RecordHoles(outcome.holes);
  }
  findings->skipped_stripes += outcome.has_moved ? result.skipped_stripes : 0;
  return absl::OkStatus();
}

// ---- What could not be recovered ----

// Of what could not be recovered, the ranges that the targets' logs do not have yet.
std::vector<ArrayImpl::MemberPart> ArrayImpl::UnknownHoles(const std::vector<ArrayMember*>& members,
                                                           const RecoverResult& recovered) const {
  std::vector<MemberPart> holes;
  for (const RecoverResult::Hole& hole : recovered.lost) {
    for (ArrayMember* const member : members) {
      if (member->slot != hole.slot && member->replaces != hole.slot) {
        continue;
      }
      const ByteRange range{member->areas.data.begin + hole.begin_bytes,
                            member->areas.data.begin + hole.end_bytes};
      const auto known = member->bad_blocks.ranges();
      const bool is_known = std::any_of(known.begin(), known.end(), [&](const ByteRange& bad) {
        return bad.begin <= range.begin && range.end <= bad.end;
      });
      if (!is_known) {
        holes.push_back({member, range});
      }
    }
  }
  return holes;
}

}  // namespace mdvol
