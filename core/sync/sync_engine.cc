// See sync_engine.h. What starts, what ends it, and what is shown; the run itself is in
// sync_run.cc.

#include "core/sync/sync_engine.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/base/status.h"
#include "core/base/units.h"

namespace mdvol {
namespace {

// How long what has failed is left alone when nobody says that something has changed.
constexpr absl::Duration kRetry = absl::Seconds(30);

}  // namespace

SyncEngine::SyncEngine(Array& array, const PolicySlot<ResyncPacing>& pacing, Clock& clock,
                       EventLog& events, SyncOptions options)
    : array_(array),
      pacing_(pacing),
      clock_(clock),
      events_(events),
      checkpoint_interval_ns_(options.checkpoint_interval_ms * 1'000'000),
      on_repaired_(std::move(options.on_repaired)) {
  shown_.speed_min_bytes = options.speed_min_bytes;
  shown_.speed_max_bytes = options.speed_max_bytes;
  shown_.repair_mode = options.repair_mode;
}

SyncEngine::~SyncEngine() { Stop(); }

void SyncEngine::Start() {
  array_.SetFailureListener([this] { Poke(); });
  thread_ = std::thread([this] { Loop(); });
}

void SyncEngine::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
    if (run_.has_value()) {
      run_->interrupted = true;
    }
    WakeAll();
  }
  Poke();
  if (thread_.joinable()) {
    thread_.join();
    array_.SetFailureListener({});
  }
}

void SyncEngine::Poke() {
  absl::MutexLock lock(&poke_mutex_);
  poked_ = true;
}

bool SyncEngine::TakePoke(absl::Duration patience) {
  absl::MutexLock lock(&poke_mutex_);
  poke_mutex_.AwaitWithTimeout(absl::Condition(&poked_), patience);
  return std::exchange(poked_, false);
}

// What has failed is looked at again then: it counts as needed from now on.
bool SyncEngine::IsPoked() const {
  absl::MutexLock lock(&poke_mutex_);
  return poked_;
}

// ---- What starts ----

// A poke that came before a run is answered by it; one that comes during it gives what has failed
// another try.
void SyncEngine::Loop() {
  absl::Duration patience = absl::ZeroDuration();
  for (;;) {
    const bool is_retry_due = patience != absl::ZeroDuration();
    const bool is_poked = TakePoke(patience);
    // A poke does not put a recovery off until one more resync has got stuck.
    const bool recovers = array_.PendingRecovery().has_value();
    {
      absl::MutexLock lock(&mutex_);
      if (stop_) {
        return;
      }
      const bool tries_again = is_poked || is_retry_due;
      stalled_ = stalled_ && !tries_again;
      resync_is_stuck_ = resync_is_stuck_ && (recovers || !tries_again);
    }
    const std::optional<SyncAction> action = BeginNext();
    if (action.has_value()) {
      Execute(*action);
    }
    patience = action.has_value() ? absl::ZeroDuration() : kRetry;
  }
}

std::optional<SyncAction> SyncEngine::Needed() const {
  if (array_.read_only() || array_.is_broken()) {
    return std::nullopt;
  }
  bool resync_is_stuck = false;
  {
    absl::MutexLock lock(&mutex_);
    if (frozen_ || (stalled_ && !IsPoked())) {
      return std::nullopt;
    }
    resync_is_stuck = resync_is_stuck_;
  }
  if (!resync_is_stuck && array_.NextDoubt(0).has_value()) {
    return SyncAction::kResync;
  }
  return array_.PendingRecovery().has_value() ? std::optional(SyncAction::kRecover) : std::nullopt;
}

std::optional<SyncAction> SyncEngine::BeginNext() {
  const std::optional<SyncAction> needed = Needed();
  absl::MutexLock lock(&mutex_);
  if (stop_) {
    return std::nullopt;
  }
  std::optional<SyncAction> next = frozen_ ? std::nullopt : needed;
  if (!next.has_value()) {
    next = std::exchange(requested_, std::nullopt);
  }
  if (next.has_value()) {
    Run run;
    run.action = *next;
    run_ = std::move(run);
    shown_.last_action = next;
  }
  return next;
}

// ---- What ends it ----

void SyncEngine::InterruptAndWait() {
  requested_.reset();
  if (!run_.has_value()) {
    return;
  }
  const uint64_t ended = runs_ended_;
  run_->interrupted = true;
  WakeAll();
  while (runs_ended_ == ended) {
    changed_.Wait(&mutex_);
  }
}

absl::Status SyncEngine::SetAction(SyncAction action) {
  const bool is_request = action != SyncAction::kIdle && action != SyncAction::kFrozen;
  if (is_request && array_.read_only()) {
    return ErrnoStatus(EROFS, "the array is read-only: nothing can be synced");
  }
  const std::optional<SyncAction> needed = is_request ? Needed() : std::nullopt;
  {
    absl::MutexLock lock(&mutex_);
    if (is_request && (run_.has_value() || requested_.has_value() || needed.has_value())) {
      const SyncAction other = run_.has_value()         ? run_->action
                               : requested_.has_value() ? *requested_
                                                        : *needed;
      return ErrnoStatus(EBUSY, absl::StrCat(std::string(SyncActionWord(other)),
                                             " is running: wait for it, or end it with idle"));
    }
    frozen_ = action == SyncAction::kFrozen;
    if (!is_request) {
      InterruptAndWait();
    } else if (action != SyncAction::kRecover) {
      requested_ = action;
    }
  }
  Poke();
  return absl::OkStatus();
}

// ---- Knobs ----

void SyncEngine::SetSpeedMin(std::optional<uint64_t> bytes) {
  absl::MutexLock lock(&mutex_);
  shown_.speed_min_bytes = bytes;
  changed_.SignalAll();
}

void SyncEngine::SetSpeedMax(std::optional<uint64_t> bytes) {
  absl::MutexLock lock(&mutex_);
  shown_.speed_max_bytes = bytes;
  changed_.SignalAll();
}

absl::Status SyncEngine::SetMin(uint64_t bytes) {
  absl::MutexLock lock(&mutex_);
  if (shown_.max_bytes.has_value() && bytes > *shown_.max_bytes) {
    return ErrnoStatus(EINVAL, "sync_min must not be above sync_max");
  }
  if (bytes > array_.geometry().component_bytes()) {
    return ErrnoStatus(EINVAL, "sync_min must not be beyond the end of the members' data");
  }
  if (run_.has_value()) {
    return ErrnoStatus(EBUSY, "sync_min cannot be changed while an action runs");
  }
  shown_.min_bytes = RoundDown(bytes, kLaneBytes);
  return absl::OkStatus();
}

absl::Status SyncEngine::SetMax(std::optional<uint64_t> bytes) {
  absl::MutexLock lock(&mutex_);
  if (bytes.has_value()) {
    if (*bytes < shown_.min_bytes) {
      return ErrnoStatus(EINVAL, "sync_max must not be below sync_min");
    }
    if (*bytes % array_.geometry().chunk_bytes() != 0) {
      return ErrnoStatus(EINVAL, "sync_max must be a multiple of the chunk");
    }
    const bool is_lowered = !shown_.max_bytes.has_value() || *bytes < *shown_.max_bytes;
    if (run_.has_value() && is_lowered) {
      return ErrnoStatus(EBUSY, "sync_max cannot be lowered while an action runs");
    }
  }
  shown_.max_bytes = bytes;
  changed_.SignalAll();
  return absl::OkStatus();
}

void SyncEngine::SetRepairMode(RepairMode mode) {
  absl::MutexLock lock(&mutex_);
  shown_.repair_mode = mode;
}

// ---- What is shown ----

SyncStatus SyncEngine::Status() const {
  const std::optional<SyncAction> needed = Needed();
  const uint64_t now_ns = clock_.NowNs();
  absl::MutexLock lock(&mutex_);
  SyncStatus status = shown_;
  if (!run_.has_value()) {
    status.action = frozen_                  ? SyncAction::kFrozen
                    : needed.has_value()     ? *needed
                    : requested_.has_value() ? *requested_
                                             : SyncAction::kIdle;
    return status;
  }
  const ArrayGeometry& geometry = array_.geometry();
  status.action = run_->action;
  status.total_bytes = geometry.component_bytes();
  status.done_bytes = std::min(run_->DoneStripe() << geometry.chunk_shift(), status.total_bytes);
  status.speed_bytes = run_->speed.BytesPerSecond(now_ns);
  if (status.speed_bytes > 0) {
    status.eta_s = (status.total_bytes - status.done_bytes) / status.speed_bytes;
  }
  return status;
}

}  // namespace mdvol
