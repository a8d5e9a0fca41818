// ArrayImpl: the transitions: dirty, clean, member failed, the bitmap cleared for a stop. See
// array_impl.h for the locking.

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/array/array_impl.h"
#include "core/base/status.h"

namespace mdvol {
namespace {

std::string WhyFailed(const MemberError& error) {
  return absl::StrCat(error.is_read
                          ? "a block that could not be read could not be rewritten either: "
                          : "write failed: ",
                      std::generic_category().message(error.error));
}

}  // namespace

ArrayMember* ArrayImpl::MemberOfSlot(uint32_t slot) {
  absl::MutexLock lock(&state_);
  for (const auto& member : members_) {
    if (member->slot == slot && !member->faulty) {
      return member.get();
    }
  }
  return nullptr;
}

bool ArrayImpl::IsInSync(const ArrayMember& member) const {
  return member.slot.has_value() && !member.faulty && member.in_sync;
}

uint32_t ArrayImpl::InSyncSlots() const {
  absl::MutexLock lock(&state_);
  uint32_t count = 0;
  for (const auto& member : members_) {
    count += IsInSync(*member) ? 1U : 0U;
  }
  return count;
}

// ---- Dirty and clean ----

absl::Status ArrayImpl::MarkDirty() {
  {
    absl::MutexLock transition(&transition_);
    GateClosure closed(writes_gate_);
    const bool is_done =
        dirty_.load(std::memory_order_acquire) && recorded_.load(std::memory_order_acquire);
    if (is_done || failed_.load(std::memory_order_acquire)) {
      return absl::OkStatus();  // somebody else has done it, or the caller finds out
    }
    dirty_.store(true, std::memory_order_release);
    MDVOL_RETURN_IF_ERROR(WriteGeneration());
    // As of now: storing the superblocks may have taken longer than safe_mode_delay, and the write
    // that asked for it is yet to come.
    last_write_ns_.store(clock_.NowNs(), std::memory_order_relaxed);
  }
  PokeMaintenance();
  return absl::OkStatus();
}

// I2: nothing owed, nothing in doubt, nobody about to fail a member. Certain only while
// writes_gate_ is closed. Not `forced`: no write came for safe_mode_delay either.
bool ArrayImpl::MayBeMarkedClean(bool forced) const {
  const bool is_due =
      dirty_.load(std::memory_order_acquire) || !recorded_.load(std::memory_order_acquire);
  const uint64_t delay_ns = uint64_t{safe_mode_delay_ms_.load()} * 1000000;
  const bool is_idle = clock_.NowNs() - last_write_ns_.load(std::memory_order_relaxed) >= delay_ns;
  return is_due && (forced || is_idle) && !failed_.load(std::memory_order_acquire) &&
         doubt_.empty() && !OwesParity() && unsettled_.load(std::memory_order_acquire) == 0;
}

absl::Status ArrayImpl::MarkClean(bool forced) {
  if (!MayBeMarkedClean(forced)) {
    return absl::OkStatus();
  }
  // The bulk of the flushing happens while writers may still go on; the second one, alone, finds
  // little to do.
  MDVOL_RETURN_IF_ERROR(FlushAll());
  absl::MutexLock transition(&transition_);
  GateClosure closed(writes_gate_);
  if (!MayBeMarkedClean(forced)) {
    return absl::OkStatus();
  }
  MemberFailures failures;
  {
    GateShare share(members_gate_);
    absl::MutexLock lock(&flush_);
    FlushUsed(&failures);
  }
  MDVOL_RETURN_IF_ERROR(TakeOut(failures));
  NoteFlushed(writes_done_.load(std::memory_order_acquire));
  dirty_.store(false, std::memory_order_release);
  return WriteGeneration();
}

// What a clean stop of a whole array does first: no bit is set any more. Cleared before the clean
// mark, so that there is no moment in which set bits belong to a clean array; the dirty mark still
// makes the next assembly resync, of nothing.
absl::Status ArrayImpl::ClearBitmap() {
  absl::MutexLock transition(&transition_);
  GateClosure closed(writes_gate_);
  if (intent_ == nullptr || intent_->CountSet() == 0 || InSyncSlots() < geometry_.raid_disks() ||
      !doubt_.empty() || OwesParity()) {
    return absl::OkStatus();
  }
  StoreOutcome outcome;
  {
    GateShare share(members_gate_);
    absl::MutexLock lock(&flush_);
    FlushUsed(&outcome.failures);
  }
  if (outcome.failures.empty()) {
    StorePages(intent_->ClearAll(), /*flush=*/true, &outcome);
  }
  if (outcome.failures.empty()) {
    return absl::OkStatus();  // bits that stayed for want of space do no harm
  }
  MDVOL_RETURN_IF_ERROR(TakeOut(outcome.failures));
  return WriteGeneration();
}

// ---- Failures ----

MemberFailures ArrayImpl::FailuresOf(const MemberErrors& errors) const {
  MemberFailures failures;
  absl::MutexLock lock(&state_);
  for (const MemberError& error : errors) {
    for (const auto& member : members_) {
      if (member->slot == error.slot && !member->faulty) {
        failures.push_back({member->index, WhyFailed(error), error.bad});
      }
    }
  }
  return failures;
}

// Durable when it returns OK, also when somebody else has failed them: transitions come one at a
// time.
absl::Status ArrayImpl::FailMembers(const MemberFailures& failures) {
  absl::MutexLock transition(&transition_);
  GateClosure closed(writes_gate_);
  if (read_only()) {
    return absl::OkStatus();  // nothing was skipped, nothing is recorded
  }
  MemberFailures to_fail = failures;
  // A log that has no space keeps nobody in the array whose write has failed.
  const absl::Status noted =
      failed_.load(std::memory_order_acquire) ? absl::OkStatus() : NoteBadBlocks(&to_fail);
  MDVOL_RETURN_IF_ERROR(TakeOut(to_fail));
  if (!recorded_.load(std::memory_order_acquire)) {
    MDVOL_RETURN_IF_ERROR(WriteGeneration());
  }
  return noted;
}

// Takes members out together, in memory. None of them, and EIO, when the array cannot live without
// them: what is recorded must stay such that putting back a cable is enough (I13).
absl::Status ArrayImpl::TakeOut(const MemberFailures& failures) {
  std::vector<const MemberFailure*> fresh;
  const MemberFailure* worst = nullptr;
  uint32_t lost = 0;
  {
    absl::MutexLock lock(&state_);
    for (const MemberFailure& failure : failures) {
      const ArrayMember& member = *members_[failure.index];
      if (member.faulty || std::any_of(fresh.begin(), fresh.end(), [&](const MemberFailure* f) {
            return f->index == failure.index;
          })) {
        continue;
      }
      fresh.push_back(&failure);
      if (IsInSync(member)) {
        worst = worst == nullptr ? &failure : worst;
        ++lost;
      }
    }
  }
  if (lost > 0 && InSyncSlots() < geometry_.data_disks() + lost) {
    const std::string why = absl::StrCat(members_[worst->index]->path, ": ", worst->why);
    EnterFailed(why);
    return ErrnoStatus(EIO, absl::StrCat(why, ": the array has lost more than two members"));
  }
  for (const MemberFailure* failure : fresh) {
    TakeOut(*members_[failure->index], failure->why);
  }
  return absl::OkStatus();
}

void ArrayImpl::TakeOut(ArrayMember& member, const std::string& why) {
  recorded_.store(false, std::memory_order_release);
  if (generation_ == Generation::kPartlyWritten) {
    generation_ = Generation::kSpoilt;
  }
  {
    GateClosure closed(members_gate_);
    absl::MutexLock lock(&state_);
    member.faulty = true;
    member.want_replacement = false;
    ArrayMember* const replacement =
        member.slot.has_value() ? ReplacementOf(*member.slot) : nullptr;
    if (replacement != nullptr) {
      TakeOver(*replacement, *member.slot);
    }
    if (member.slot.has_value()) {
      ForgetMirrors(*member.slot);
    }
    RebuildView();
  }
  events_.Add(EventLevel::kError, "member failed", member.name, why);
  absl::MutexLock lock(&state_);
  if (failure_listener_) {
    failure_listener_();
  }
}

// A replacement takes over with what it has got. What was left out because a write to the member
// had failed already never came to it either: it is filled anew from there. One that could not be
// written itself goes with the member.
void ArrayImpl::TakeOver(ArrayMember& replacement, uint32_t slot) {
  if (replacement.mirror != nullptr && replacement.mirror->replacement_error() != 0) {
    replacement.faulty = true;
    events_.Add(EventLevel::kError, "member failed", replacement.name,
                "it could not be written when the member failed that it should replace");
    return;
  }
  if (const std::optional<uint64_t> stale = engine_.FirstStale(slot); stale.has_value()) {
    const uint64_t begin = *stale << geometry_.chunk_shift();
    if (replacement.valid_bytes.load(std::memory_order_acquire) > begin) {
      replacement.valid_bytes.store(begin, std::memory_order_release);
    }
    replacement.checkpoint_bytes = std::min(replacement.checkpoint_bytes, begin);
    ++replacement.rewinds;
  }
  TakeSlot(replacement, slot);
}

// The third loss: writing stops, mending included; what can be read still is.
void ArrayImpl::EnterFailed(const std::string& why) {
  if (failed_.exchange(true, std::memory_order_acq_rel)) {
    return;
  }
  {
    GateClosure closed(members_gate_);
    view_.writable = false;
  }
  events_.Add(EventLevel::kError, "array broken", "",
              absl::StrCat(why, "; a third member is lost: writing has stopped"));
}

absl::Status ArrayImpl::FailMember(size_t member_index, std::string_view why) {
  absl::MutexLock transition(&transition_);
  GateClosure closed(writes_gate_);
  MDVOL_ASSIGN_OR_RETURN(ArrayMember* const found, MemberAt(member_index));
  ArrayMember& member = *found;
  bool is_faulty = false;
  bool counts = false;
  {
    absl::MutexLock lock(&state_);
    is_faulty = member.faulty;
    counts = IsInSync(member);
  }
  if (is_faulty && recorded_.load(std::memory_order_acquire)) {
    return absl::OkStatus();
  }
  if (read_only()) {
    return ErrnoStatus(EROFS, "the array is read-only: no member can be failed");
  }
  if (counts && InSyncSlots() <= geometry_.data_disks()) {
    return ErrnoStatus(EBUSY, absl::StrCat(member.path, ": the array cannot live without it"));
  }
  if (failed_.load(std::memory_order_acquire)) {
    return ErrnoStatus(EBUSY, "the array has lost more than two members: nothing is recorded");
  }
  if (!is_faulty) {
    TakeOut(member, std::string(why));
  }
  return WriteGeneration();
}

}  // namespace mdvol
