// ArrayImpl: what happens by itself. Marks the array clean after safe_mode_delay without writes,
// clears idle bitmap bits every time base, puts owed parity right. One caller at a time: the
// maintenance thread, or an owner that drives it.

#include <algorithm>
#include <cerrno>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/array/array_impl.h"
#include "core/base/status.h"

namespace mdvol {
namespace {

constexpr uint64_t kNsPerMs = 1000000;
constexpr uint64_t kNsPerSecond = 1000 * kNsPerMs;
constexpr uint64_t kRetryNs = 5 * kNsPerSecond;
constexpr uint64_t kRetryStripes = 1024;  // at once, so that a transition need not wait for all

}  // namespace

uint64_t ArrayImpl::RunMaintenance() {
  const uint64_t now = clock_.NowNs();
  uint64_t next = engine_.cache().Expire(now);
  if (read_only() || failed_.load(std::memory_order_acquire)) {
    return next;
  }
  if (OwesParity() || doubt_awaits_space_.load(std::memory_order_acquire) || engine_.OwesParts()) {
    if (owed_is_fresh_.exchange(false) || now >= next_retry_ns_) {
      RetryOwedParity();
      next_retry_ns_ = now + kRetryNs;
    }
    next = std::min(next, next_retry_ns_);
  }
  if (intent_ != nullptr) {
    const uint64_t period = uint64_t{time_base_s_.load()} * kNsPerSecond;
    uint64_t seen = next_upkeep_ns_.load();
    uint64_t due = seen == 0 ? now + period : seen;
    if (now >= due) {
      ClearIdleBits();
      due = now + period;
    }
    next_upkeep_ns_.compare_exchange_strong(seen, due);  // unless the time base was changed
    next = std::min(next, due);
  }
  const uint64_t delay = uint64_t{safe_mode_delay_ms_.load()} * kNsPerMs;
  if (delay != 0) {
    MarkCleanWhenIdle();
    if (dirty_.load(std::memory_order_acquire)) {  // still: writes came, or parity is owed
      const uint64_t due = last_write_ns_.load(std::memory_order_relaxed) + delay;
      next = std::min(next, due > now ? due : now + delay);
    }
  }
  return next;
}

void ArrayImpl::MarkCleanWhenIdle() {
  const absl::Status status = MarkClean(/*forced=*/false);
  if (!status.ok() && !clean_mark_failed_) {
    events_.Add(EventLevel::kError, "clean mark failed", "", MessageOf(status));
  }
  clean_mark_failed_ = !status.ok();
}

void ArrayImpl::ClearIdleBits() {
  StoreOutcome outcome;
  {
    GateShare writes(writes_gate_);
    // Degraded, bits tell a returning member what it missed; those of writes that others are about
    // to fail a member for must stay as well.
    if (InSyncSlots() < geometry_.raid_disks() || !doubt_.empty() || OwesParity() ||
        unsettled_.load(std::memory_order_acquire) != 0 ||
        !recorded_.load(std::memory_order_acquire)) {
      intent_->Age();
      return;
    }
    GateShare members(members_gate_);
    const auto flush = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      absl::MutexLock lock(&flush_);
      FlushUsed(&outcome.failures);
      return outcome.ok();
    };
    intent_->ClearIdle(flush, [&](const std::vector<BitmapPage>& pages, bool durably) {
      StorePages(pages, durably, &outcome);
      return outcome.ok();
    });
  }
  if (!outcome.failures.empty()) {
    const absl::Status status = FailMembers(outcome.failures);
    if (!status.ok()) {
      events_.Add(EventLevel::kError, "bitmap upkeep failed", "", MessageOf(status));
    }
  }
}

// ---- Owed parity ----

bool ArrayImpl::OwesParity() const {
  absl::MutexLock lock(&state_);
  return !owed_.empty();
}

// Recomputes the parity that a full file system kept from being written; what still cannot be stays
// owed.
void ArrayImpl::RetryOwedParity() {
  std::vector<uint64_t> owed;
  {
    absl::MutexLock lock(&state_);
    for (const auto& [stripe, sequence] : owed_) {
      owed.push_back(stripe);
    }
  }
  std::sort(owed.begin(), owed.end());
  for (const uint64_t stripe : owed) {
    if (!RecomputeOwed(stripe)) {
      return;  // still full: the others would not fare better
    }
  }
  if (doubt_awaits_space_.exchange(false) && !RecomputeDoubt()) {
    doubt_awaits_space_.store(true, std::memory_order_release);
  }
  ForgetOwedParts();
}

// The engine cannot tell by itself when what it keeps most coarsely has been paid: it has when
// nothing is owed here, where no write may have come to owe without having said so.
void ArrayImpl::ForgetOwedParts() {
  if (!engine_.OwesParts()) {
    return;
  }
  GateClosure closed(writes_gate_);
  if (doubt_.empty() && !OwesParity()) {
    engine_.ForgetOwedParts();
  }
}

// False when there was no space, or no array, to do it in.
bool ArrayImpl::RecomputeOwed(uint64_t stripe) {
  {
    absl::MutexLock lock(&state_);
    if (!owed_.contains(stripe)) {
      return true;  // with a neighbour
    }
  }
  // A stripe that a resync could not write is in doubt with its neighbours: they go together.
  return RecomputeAndForget(doubt_.RunOf(stripe).value_or(StripeRange{stripe, 1}));
}

bool ArrayImpl::RecomputeDoubt() {
  for (auto run = doubt_.Next(0); run.has_value(); run = doubt_.Next(run->first + run->count)) {
    if (!RecomputeAndForget(*run)) {
      return false;
    }
  }
  return true;
}

bool ArrayImpl::RecomputeAndForget(StripeRange range) {
  uint64_t sequence = 0;
  {
    absl::MutexLock lock(&state_);
    sequence = owed_sequence_;
  }
  const uint64_t end = range.first + range.count;
  uint64_t skipped_in_range = 0;
  for (uint64_t first = range.first; first < end; first += kRetryStripes) {
    uint64_t skipped = 0;
    if (!RecomputeParity({first, std::min(kRetryStripes, end - first)}, &skipped).ok()) {
      return false;
    }
    skipped_in_range += skipped;
  }
  if (skipped_in_range != 0) {
    return true;  // data is missing: it stays owed
  }
  absl::MutexLock lock(&state_);
  bool owes_again = doubt_sequence_ > sequence;
  absl::erase_if(owed_, [&](const auto& entry) {
    const bool is_in_range = range.first <= entry.first && entry.first < end;
    owes_again |= is_in_range && entry.second > sequence;
    return is_in_range && entry.second <= sequence;
  });
  if (!owes_again) {
    doubt_.Remove(range);
  }
  return true;
}

uint64_t ArrayImpl::DoubtSequence() const {
  absl::MutexLock lock(&state_);
  return doubt_sequence_;
}

// What was added meanwhile is left to maintenance, which tries again whatever is in doubt.
void ArrayImpl::EndDoubt(StripeRange stripes, uint64_t begun) {
  absl::MutexLock lock(&state_);
  if (doubt_sequence_ == begun) {
    doubt_.Remove(stripes);
  }
}

// ---- The thread ----

void ArrayImpl::StartMaintenance() {
  if (!maintenance_.joinable()) {
    maintenance_ = std::thread([this] { MaintenanceLoop(); });
  }
}

void ArrayImpl::PokeMaintenance() {
  absl::MutexLock lock(&maintenance_mutex_);
  maintenance_poked_ = true;
  maintenance_poke_.Signal();
}

void ArrayImpl::MaintenanceLoop() {
  for (;;) {
    {
      absl::MutexLock lock(&maintenance_mutex_);
      if (maintenance_stop_) {
        return;
      }
      maintenance_poked_ = false;
    }
    const uint64_t next = RunMaintenance();
    absl::MutexLock lock(&maintenance_mutex_);
    while (!maintenance_stop_ && !maintenance_poked_) {
      const uint64_t now = clock_.NowNs();
      if (now >= next) {
        break;
      }
      const uint64_t wait_ns = std::min<uint64_t>(next - now, 3600 * kNsPerSecond);
      maintenance_poke_.WaitWithTimeout(&maintenance_mutex_,
                                        absl::Nanoseconds(static_cast<int64_t>(wait_ns)));
    }
  }
}

void ArrayImpl::EndMaintenance() {
  if (!maintenance_.joinable()) {
    return;
  }
  {
    absl::MutexLock lock(&maintenance_mutex_);
    maintenance_stop_ = true;
    maintenance_poke_.Signal();
  }
  maintenance_.join();
}

ArrayImpl::~ArrayImpl() { EndMaintenance(); }

absl::Status ArrayImpl::Stop() {
  EndMaintenance();
  if (read_only()) {
    return absl::OkStatus();
  }
  if (failed_.load(std::memory_order_acquire)) {
    return ErrnoStatus(EIO, "the array has lost more than two members: it is left dirty");
  }
  RetryOwedParity();
  MDVOL_RETURN_IF_ERROR(CheckpointRecovery());
  MDVOL_RETURN_IF_ERROR(FlushAll());
  MDVOL_RETURN_IF_ERROR(ClearBitmap());
  MDVOL_RETURN_IF_ERROR(MarkClean(/*forced=*/true));
  if (dirty_.load(std::memory_order_acquire) && ResyncCheckpointBytes() != 0) {
    absl::MutexLock transition(&transition_);
    GateClosure closed(writes_gate_);
    resync_checkpoint_bytes_ = ResyncCheckpointBytes();
    MDVOL_RETURN_IF_ERROR(WriteGeneration());
  }
  if (dirty_.load(std::memory_order_acquire)) {
    events_.Add(EventLevel::kWarning, "array stopped dirty", "",
                "some stripes still await their parity");
  } else {
    events_.Add(EventLevel::kInfo, "array stopped", "", "clean");
  }
  return absl::OkStatus();
}

}  // namespace mdvol
