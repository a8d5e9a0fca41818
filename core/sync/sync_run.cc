// SyncEngine: one run, from its beginning to its end. See sync_engine.h.

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/array/foreground_meter.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "core/device/sync_io.h"
#include "core/sync/sync_engine.h"

namespace mdvol {
namespace {

// A checkpoint is due after this part of the array as well, as in md.
constexpr uint64_t kCheckpointsPerRun = 16;

bool IsFromRequest(SyncAction action) {
  return action == SyncAction::kCheck || action == SyncAction::kRepair;
}

std::string Found(const SyncStatus& status) {
  return status.mismatch_sectors == 0
             ? std::string()
             : absl::StrCat("mismatch_cnt ", status.mismatch_sectors, ", ", status.located_count,
                            status.located_count == 1 ? " place" : " places");
}

}  // namespace

uint64_t SyncEngine::Run::DoneStripe() const {
  uint64_t done = next_stripe;
  for (const Window& window : in_flight) {
    done = std::min(done, window.first_stripe);
  }
  return done;
}

std::unique_ptr<SyncWork> SyncEngine::WorkFor(SyncAction action, uint64_t* first_stripe) {
  const std::optional<RecoveryState> recovery =
      action == SyncAction::kRecover ? array_.PendingRecovery() : std::nullopt;
  const bool is_doubtful = action == SyncAction::kResync && array_.NextDoubt(0).has_value();
  absl::MutexLock lock(&mutex_);
  const uint32_t shift = array_.geometry().chunk_shift();
  *first_stripe = shown_.min_bytes >> shift;
  switch (action) {
    case SyncAction::kRecover:
      *first_stripe = recovery.has_value() ? recovery->from_bytes >> shift : 0;
      return NewRecoverWork(array_);
    case SyncAction::kCheck:
      return NewCheckWork(array_);
    case SyncAction::kRepair:
      return NewRepairWork(array_, shown_.repair_mode);
    default:
      break;
  }
  // A requested resync makes parity agree with data everywhere, whether it was in doubt or not.
  *first_stripe = 0;
  return is_doubtful ? NewResyncWork(array_) : NewRepairWork(array_, RepairMode::kParity);
}

void SyncEngine::Execute(SyncAction action) {
  if (action == SyncAction::kRecover) {
    const absl::Status status = array_.BeginRecovery();
    if (!status.ok()) {
      Conclude(nullptr, status);
      return;
    }
  }
  uint64_t first_stripe = 0;
  const std::unique_ptr<SyncWork> work = WorkFor(action, &first_stripe);
  {
    absl::MutexLock lock(&mutex_);
    const uint64_t now_ns = clock_.NowNs();
    run_->next_stripe = first_stripe;
    run_->checkpoint_stripe = first_stripe;
    run_->checkpoint_ns = now_ns;
    run_->speed = SyncSpeed(now_ns);
    if (action != SyncAction::kRecover) {
      shown_.mismatch_sectors = 0;
      shown_.located.clear();
      shown_.located_count = 0;
    }
  }
  events_.Add(EventLevel::kInfo, absl::StrCat(std::string(SyncActionWord(action)), " started"), "",
              first_stripe == 0 ? "" : absl::StrCat("from stripe ", first_stripe));
  ForegroundMeter* const foreground = array_.foreground();
  if (foreground != nullptr) {
    foreground->Start();
  }
  WorkThrough(*work);
  JoinHelpers();
  if (foreground != nullptr) {
    foreground->Stop();
  }
  Conclude(work.get(), absl::OkStatus());
}

void SyncEngine::WorkThrough(SyncWork& work) {
  while (const std::optional<StripeRange> window = Take(work)) {
    SyncFindings findings;
    absl::Status status;
    {
      const SyncIoScope as_sync;
      status = work.Run(*window, &findings);
    }
    Note(*window, status, findings);
    TellRepaired(findings);
    MaybeCheckpoint(work);
  }
}

// Without a thread to be had those that there are do it all.
void SyncEngine::EngageHelper(SyncWork& work) {
  if (run_->idle_workers > 0 || run_->helpers.size() + 1 >= kMostResyncWindows) {
    return;
  }
  try {
    run_->helpers.emplace_back([this, &work] { WorkThrough(work); });
  } catch (const std::system_error&) {
  }
}

// Helpers are engaged by whoever has taken a window: by none once a run may not go on.
void SyncEngine::JoinHelpers() {
  std::vector<std::thread> helpers;
  {
    absl::MutexLock lock(&mutex_);
    helpers.swap(run_->helpers);
  }
  for (std::thread& helper : helpers) {
    helper.join();
  }
}

// A failed window was not worked through: the position stays before it.
void SyncEngine::Note(StripeRange window, const absl::Status& status,
                      const SyncFindings& findings) {
  absl::MutexLock lock(&mutex_);
  if (!status.ok()) {
    run_->error.Update(status);
    WakeAll();
    return;
  }
  const auto self =
      std::find_if(run_->in_flight.begin(), run_->in_flight.end(),
                   [&](const Window& other) { return other.first_stripe == window.first; });
  const uint64_t now_ns = clock_.NowNs();
  run_->last_window_bytes = self->bytes;
  run_->last_window_ns = now_ns - self->begun_ns;
  run_->last_done_ns = now_ns;
  ++run_->windows_done;
  run_->worked_bytes += self->bytes;
  run_->in_flight.erase(self);
  TellForeground();
  run_->skipped_stripes += findings.skipped_stripes;
  run_->speed.Note(now_ns, run_->worked_bytes);
  shown_.mismatch_sectors += findings.mismatch_sectors;
  shown_.located_count += findings.wrong.size();
  for (const WrongBlock& wrong : findings.wrong) {
    if (shown_.located.size() < kMaxLocated) {
      shown_.located.push_back(wrong);
    }
  }
  changed_.SignalAll();
}

void SyncEngine::TellRepaired(const SyncFindings& findings) {
  if (!on_repaired_) {
    return;
  }
  const ArrayGeometry& geometry = array_.geometry();
  for (const WrongBlock& wrong : findings.wrong) {
    if (wrong.repaired && wrong.kind == WrongKind::kData) {
      on_repaired_(wrong.stripe * geometry.stripe_bytes() +
                       wrong.data_index * geometry.chunk_bytes() + wrong.columns.begin,
                   wrong.columns.size());
    }
  }
}

void SyncEngine::MaybeCheckpoint(SyncWork& work) {
  uint64_t done_stripe = 0;
  {
    absl::MutexLock lock(&mutex_);
    done_stripe = run_->DoneStripe();
    const uint64_t step = array_.geometry().stripe_count() / kCheckpointsPerRun + 1;
    const bool is_due = clock_.NowNs() - run_->checkpoint_ns >= checkpoint_interval_ns_ ||
                        done_stripe - run_->checkpoint_stripe >= step;
    if (!is_due || run_->is_checkpointing || done_stripe == run_->checkpoint_stripe) {
      return;
    }
    run_->is_checkpointing = true;
  }
  const absl::Status status = work.Checkpoint(done_stripe);
  absl::MutexLock lock(&mutex_);
  run_->is_checkpointing = false;
  run_->checkpoint_ns = clock_.NowNs();
  run_->checkpoint_stripe = done_stripe;
  run_->error.Update(status);
  if (!status.ok()) {
    WakeAll();
  }
}

// `work` is null when the run could not even begin.
void SyncEngine::Conclude(SyncWork* work, absl::Status status) {
  bool is_complete = false;
  uint64_t done_stripe = 0;
  uint64_t skipped = 0;
  SyncAction action = SyncAction::kIdle;
  {
    absl::MutexLock lock(&mutex_);
    action = run_->action;
    status.Update(run_->error);
    done_stripe = run_->DoneStripe();
    skipped = run_->skipped_stripes;
    is_complete = work != nullptr && status.ok() && run_->exhausted && !run_->interrupted;
  }
  if (work != nullptr) {
    status.Update(is_complete ? work->Finish() : work->Checkpoint(done_stripe));
  }
  is_complete = is_complete && status.ok();
  array_.SyncEnded();
  std::string found;
  {
    absl::MutexLock lock(&mutex_);
    if (is_complete) {
      shown_.min_bytes = 0;
      shown_.max_bytes.reset();
    } else if (IsFromRequest(action)) {
      shown_.min_bytes = done_stripe << array_.geometry().chunk_shift();
    }
    // What stays in doubt would be tried again at once; a recovery may bring what it lacks.
    const bool is_stuck = action == SyncAction::kResync && status.ok() && skipped > 0;
    resync_is_stuck_ = is_stuck || (resync_is_stuck_ && action != SyncAction::kRecover);
    stalled_ = !status.ok() || (skipped > 0 && !is_stuck);
    run_.reset();
    ++runs_ended_;
    found = Found(shown_);
    changed_.SignalAll();
  }
  const std::string word(SyncActionWord(action));
  if (!status.ok()) {
    events_.Add(EventLevel::kError, word + " failed", "", MessageOf(status));
  } else if (!is_complete) {
    events_.Add(EventLevel::kInfo, word + " interrupted", "",
                absl::StrCat("at stripe ", done_stripe));
  } else if (skipped > 0) {
    events_.Add(EventLevel::kWarning, word + " incomplete", "",
                absl::StrCat(skipped,
                             " stripes: data are missing or unreadable there, or there is "
                             "no space for parity"));
  } else {
    events_.Add(found.empty() ? EventLevel::kInfo : EventLevel::kWarning, word + " done", "",
                found);
  }
}

}  // namespace mdvol
