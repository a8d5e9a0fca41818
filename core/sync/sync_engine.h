// SyncEngine: everything that makes an array whole again, or tells whether it is: resync of parity
// in doubt, recovery of members, and check and repair on request. One action at a time, by md's
// words and rules: what is needed starts by itself (resync first, then recovery) unless frozen,
// what is requested waits for nothing, and any action can be ended; progress is kept.
//
// An action is a run: threads take windows in ascending order, as the pacing policy and sync_max
// let them, while users' I/O goes on at full correctness (the array's matter). One thread at a time
// asks the policy and waits as it says; there is always one more than windows are in flight, up to
// kMostResyncWindows, and they are made when they are first wanted. Checkpoints make progress
// survive a crash. Thread-safe. Locking: mutex_ for everything; the array is called without it, but
// for Next of a work and the facts of pacing. Poke has a lock of its own, so that the array may
// call it from anywhere.

#ifndef MDVOL_CORE_SYNC_SYNC_ENGINE_H_
#define MDVOL_CORE_SYNC_SYNC_ENGINE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "core/array/array.h"
#include "core/array/events.h"
#include "core/base/clock.h"
#include "core/policy/policy_slot.h"
#include "core/policy/resync_pacing.h"
#include "core/sync/sync_action.h"
#include "core/sync/sync_speed.h"
#include "core/sync/sync_status.h"
#include "core/sync/sync_work.h"

namespace mdvol {

struct SyncOptions {
  std::optional<uint64_t> speed_min_bytes;  // per second and member
  std::optional<uint64_t> speed_max_bytes;
  uint64_t checkpoint_interval_ms = 30'000;
  RepairMode repair_mode = RepairMode::kLocate;
  // Bytes of the volume that a repair has changed; called by a thread that holds no stripe.
  std::function<void(uint64_t offset_bytes, uint64_t length_bytes)> on_repaired;
};

class SyncEngine {
 public:
  // Everything referred to must outlive the engine.
  SyncEngine(Array& array, const PolicySlot<ResyncPacing>& pacing, Clock& clock, EventLog& events,
             SyncOptions options);
  ~SyncEngine();
  SyncEngine(const SyncEngine&) = delete;
  SyncEngine& operator=(const SyncEngine&) = delete;

  // From now on what is needed runs by itself. Once.
  void Start();
  // Ends what runs, with a checkpoint, and its threads. Nothing runs afterwards.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

  // Members have come, gone or failed: looks whether something is needed. Never blocks for long.
  void Poke() ABSL_LOCKS_EXCLUDED(poke_mutex_);

  // md/sync_action. "idle" and "frozen" return when what ran has ended; "check", "repair" and
  // "resync" when it is sure to run (EBUSY while another does, EROFS read-only); "recover" looks
  // again for what is needed. All but "frozen" end a freeze.
  absl::Status SetAction(SyncAction action) ABSL_LOCKS_EXCLUDED(mutex_);

  SyncStatus Status() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Knobs of md/. Speeds: bytes per second and member, none for the default.
  void SetSpeedMin(std::optional<uint64_t> bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  void SetSpeedMax(std::optional<uint64_t> bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  // EINVAL above sync_max and beyond the members' data, EBUSY while something runs; rounded down to
  // a lane, as in md.
  absl::Status SetMin(uint64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  // EINVAL below sync_min or inside a chunk, EBUSY when lowered while something runs.
  absl::Status SetMax(std::optional<uint64_t> bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  void SetRepairMode(RepairMode mode) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Window {
    uint64_t first_stripe = 0;
    uint64_t bytes = 0;  // of each member
    uint64_t begun_ns = 0;
  };
  // What runs.
  struct Run {
    SyncAction action = SyncAction::kIdle;
    bool interrupted = false;
    bool exhausted = false;  // there are no more pieces
    absl::Status error;
    uint64_t next_stripe = 0;
    std::vector<Window> in_flight;  // being worked through
    bool is_pacing = false;         // a thread is at the policy
    uint64_t idle_workers = 0;      // threads that wait for their turn there
    std::vector<std::thread> helpers;
    uint64_t issued_bytes = 0;  // of each member; what was passed over does not count
    uint64_t worked_bytes = 0;
    uint64_t windows_done = 0;
    uint64_t last_window_bytes = 0;  // of the window that ended last
    uint64_t last_window_ns = 0;     // how long it took
    uint64_t last_done_ns = 0;
    uint64_t skipped_stripes = 0;
    SyncSpeed speed;
    uint64_t checkpoint_ns = 0;
    uint64_t checkpoint_stripe = 0;
    bool is_checkpointing = false;

    // Everything before this stripe has been worked through.
    uint64_t DoneStripe() const;
    bool MayGoOn() const { return !interrupted && !exhausted && error.ok(); }
  };

  void Loop() ABSL_LOCKS_EXCLUDED(mutex_);
  // Whether there was a poke, waiting for one as long as that.
  bool TakePoke(absl::Duration patience) ABSL_LOCKS_EXCLUDED(poke_mutex_);
  bool IsPoked() const ABSL_LOCKS_EXCLUDED(poke_mutex_);
  // What is needed by itself; none when nothing is, or when it has failed and nothing has changed.
  std::optional<SyncAction> Needed() const ABSL_LOCKS_EXCLUDED(mutex_);
  std::optional<SyncAction> BeginNext() ABSL_LOCKS_EXCLUDED(mutex_);
  void Execute(SyncAction action) ABSL_LOCKS_EXCLUDED(mutex_);
  std::unique_ptr<SyncWork> WorkFor(SyncAction action, uint64_t* first_stripe)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void WorkThrough(SyncWork& work) ABSL_LOCKS_EXCLUDED(mutex_);
  // Threads for the next window while others are worked through.
  void EngageHelper(SyncWork& work) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void JoinHelpers() ABSL_LOCKS_EXCLUDED(mutex_);
  void Note(StripeRange window, const absl::Status& status, const SyncFindings& findings)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Whoever waits for a change looks again.
  void WakeAll() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    changed_.SignalAll();
    turn_.SignalAll();
  }

  // sync_pace.cc: the next window, at the time and of the size that the policy wants.
  std::optional<StripeRange> Take(SyncWork& work) ABSL_LOCKS_EXCLUDED(mutex_);
  std::optional<StripeRange> AwaitWindow(SyncWork& work) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // How many bytes of each member may come into flight beside what is; 0: none for now.
  uint64_t RoomBytes() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  ResyncDecision AskPolicy() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WaitForPace(const ResyncDecision& decision) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TellForeground() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  void MaybeCheckpoint(SyncWork& work) ABSL_LOCKS_EXCLUDED(mutex_);
  void Conclude(SyncWork* work, absl::Status status) ABSL_LOCKS_EXCLUDED(mutex_);
  void InterruptAndWait() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TellRepaired(const SyncFindings& findings);

  Array& array_;
  const PolicySlot<ResyncPacing>& pacing_;
  Clock& clock_;
  EventLog& events_;
  const uint64_t checkpoint_interval_ns_;
  const std::function<void(uint64_t, uint64_t)> on_repaired_;

  mutable absl::Mutex mutex_;
  absl::CondVar changed_;
  absl::CondVar turn_;  // nobody is at the policy, or the run ends
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  bool frozen_ ABSL_GUARDED_BY(mutex_) = false;
  bool stalled_ ABSL_GUARDED_BY(mutex_) = false;  // what is needed has failed
  // A resync could not tell everywhere: first comes what recovery there is to do.
  bool resync_is_stuck_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<SyncAction> requested_ ABSL_GUARDED_BY(mutex_);
  std::optional<Run> run_ ABSL_GUARDED_BY(mutex_);
  std::vector<ResyncMemberFacts> member_facts_ ABSL_GUARDED_BY(mutex_);  // to ask with
  uint64_t runs_ended_ ABSL_GUARDED_BY(mutex_) = 0;
  SyncStatus shown_ ABSL_GUARDED_BY(mutex_);  // all that outlives a run

  mutable absl::Mutex poke_mutex_ ABSL_ACQUIRED_AFTER(mutex_);
  bool poked_ ABSL_GUARDED_BY(poke_mutex_) = false;

  std::thread thread_;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_SYNC_SYNC_ENGINE_H_
