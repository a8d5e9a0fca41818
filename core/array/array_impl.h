// ArrayImpl: how an Array runs. The pieces: a stripe engine for the bytes, a WriteIntent for the
// bitmap, a DoubtMap for parity that an unclean stop left unknown, and the transitions that keep
// superblocks true.
//
// Locking, outermost first:
//   transition_    one transition (dirty, clean, member failed, stop) at a time
//   writes_gate_   open: writers are inside for their whole call. Closed: no write is in flight;
//                  superblocks may change
//   members_gate_  open: everybody who uses view_ is inside. Closed: view_ may change
//   recovery_      the windows of a recovery that are being filled; held for moments only
//   flush_         one flush at a time, so that nobody takes a success that follows another's
//                  failure for his own (I11)
//   state_         the small facts that Snapshot shows
// A call that met a member error leaves its gates before it starts the transition that fails the
// member, and is acknowledged only after that (I3). Until then it is counted in unsettled_: nobody
// marks the array clean or clears bits meanwhile.

#ifndef MDVOL_CORE_ARRAY_ARRAY_IMPL_H_
#define MDVOL_CORE_ARRAY_ARRAY_IMPL_H_

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "core/array/array.h"
#include "core/array/doubt_map.h"
#include "core/array/foreground_meter.h"
#include "core/array/shared_gate.h"
#include "core/array/write_intent.h"
#include "core/device/mirror_device.h"
#include "core/stripe/stripe_engine.h"
#include "core/stripe/sync_types.h"

namespace mdvol {

// A member of a running array. Identity and areas are constant once it is more than a spare; the
// rest changes in transitions, under state_.
struct ArrayMember {
  size_t index = 0;
  std::string name;
  std::string path;
  std::unique_ptr<MemberDevice> device;
  CountingDevice* counting = nullptr;  // in `device`'s stack, or null
  int minor = 2;
  MemberAreas areas;
  BadBlockList bad_blocks;
  Superblock super;             // as last composed, or loaded
  uint64_t durable_events = 0;  // of its superblock on the disk, for certain; under transition_
  std::optional<uint32_t> slot;
  std::optional<uint32_t> replaces;  // the slot whose member it will replace; `slot` is empty then
  bool want_replacement = false;
  bool spare = false;
  bool is_returning = false;  // re-added, and its own superblock does not know that yet
  bool in_sync = false;  // holds all that belongs into its slot, and the superblocks may say so
  bool faulty = false;   // written with writes_gate_ closed too: writers need no lock to read it
  bool removed = false;  // nothing is left but this entry: faulty, without a device

  // While it is being filled: how far, for the data path, and for the superblocks.
  std::atomic<uint64_t> valid_bytes{0};
  uint64_t checkpoint_bytes = 0;  // durable on it
  uint32_t rewinds = 0;           // how often valid_bytes went back
  bool guided = false;            // beyond valid_bytes it differs only where bits are set
  bool joined = false;            // of the recovery that runs

  // Of a replacement: stands for the slot's member, and writes to both.
  std::unique_ptr<MirrorDevice> mirror;

  int flush_error = 0;  // under flush_: of the first flush that failed; none counts after that
  std::atomic<uint64_t> corrected_errors{0};
};

// A member that has to be failed, and why.
struct MemberFailure {
  size_t index = 0;
  std::string why;
  ByteRange bad = {};  // if that is all: noting it as a bad block does as well
};
using MemberFailures = std::vector<MemberFailure>;

// Bounds of md/bitmap/time_base: a bit that is never cleared costs a resync, a day is long enough.
inline constexpr uint32_t kMaxTimeBaseSeconds = 24 * 3600;

// Whether direct I/O can reach the data, and in what steps (array_start.cc).
absl::Status CheckMemberAlignment(const MemberDevice& device, uint64_t data_begin_bytes);

// What came of metadata I/O to all live members.
struct StoreOutcome {
  MemberFailures failures;
  absl::Status
      full;  // a full file system: it fails nobody, but not everybody has been written (I13)
  bool ok() const { return failures.empty() && full.ok(); }
};

class ArrayImpl final : public Array {
 public:
  ArrayImpl(const ArrayGeometry& geometry, const ArrayOptions& options, uint64_t stripes_per_doubt,
            Clock& clock, EventLog& events);
  ~ArrayImpl() override;

  // Second half of construction (array_start.cc).
  absl::Status Adopt(std::vector<LoadedMember> members, const AssemblyDecision& decision);

  const ArrayGeometry& geometry() const override { return geometry_; }
  bool read_only() const override { return read_only_.load(std::memory_order_acquire); }
  bool is_broken() const override { return failed_.load(std::memory_order_acquire); }

  absl::Status Read(uint64_t offset_bytes, std::span<std::byte> out) override;
  absl::Status Write(uint64_t offset_bytes, std::span<const std::byte> data) override;
  absl::Status Zero(uint64_t offset_bytes, uint64_t length_bytes) override;
  absl::Status Flush() override;
  absl::StatusOr<uint64_t> NextData(uint64_t offset_bytes) override;
  absl::StatusOr<uint64_t> NextHole(uint64_t offset_bytes) override;

  bool IsSuspended(uint64_t offset_bytes, uint64_t length_bytes) const override;

  absl::Status FailMember(size_t member_index, std::string_view why) override;
  absl::StatusOr<size_t> AddMember(std::unique_ptr<MemberDevice> device, AddMode mode) override;
  absl::Status RemoveMember(size_t member_index) override;
  absl::Status SetReplacement(size_t member_index, std::optional<size_t> with_spare) override;
  absl::Status ClearReplacementWish(size_t member_index) override;

  void SetFailureListener(std::function<void()> listener) override {
    absl::MutexLock lock(&state_);
    failure_listener_ = std::move(listener);
  }
  std::optional<RecoveryState> PendingRecovery() const override;
  absl::Status BeginRecovery() override;
  std::optional<StripeRange> NextToRecover(uint64_t from_stripe) const override;
  absl::Status RecoverStripes(StripeRange stripes, SyncFindings* findings) override;
  absl::Status CheckpointRecovery() override;
  absl::Status EndRecovery() override;

  void SyncEnded() override { engine_.DropWindows(); }
  absl::Status CheckStripes(StripeRange stripes, SyncFindings* findings) override;
  absl::Status RepairStripes(StripeRange stripes, RepairMode mode, SyncFindings* findings) override;
  ForegroundMeter* foreground() override { return &foreground_; }
  void ReadMembers(std::vector<ResyncMemberFacts>* facts) const override;
  absl::Status CheckpointResync(uint64_t done_stripes) override;
  absl::Status Suspend(uint64_t lo_bytes, uint64_t hi_bytes) override;

  std::optional<StripeRange> NextDoubt(uint64_t from_stripe) const override {
    return doubt_.Next(from_stripe);
  }
  absl::Status RecomputeParity(StripeRange stripes, uint64_t* skipped_stripes) override;
  uint64_t DoubtSequence() const override;
  void EndDoubt(StripeRange stripes, uint64_t begun) override;
  ArraySnapshot Snapshot() const override;

  absl::Status SetRmwLevel(uint32_t level) override;
  void SetSafeModeDelay(uint32_t milliseconds) override;
  void SetMaxReadErrors(uint32_t count) override;
  absl::Status SetStripeCacheSize(uint32_t lanes) override;
  absl::Status SetBitmapTimeBase(uint32_t seconds) override;
  absl::Status SetState(std::string_view word) override;

  void StartMaintenance() override;
  uint64_t RunMaintenance() override;
  absl::Status Stop() override;

 private:
  // array_start.cc
  void AdoptMember(LoadedMember loaded, const MemberVerdict& verdict);
  void AdoptBitmap(const std::vector<LoadedMember>& members, const AssemblyDecision& decision);
  void AdoptDoubt(const AssemblyDecision& decision);
  void AdoptRoles(const Superblock& freshest);
  bool IsAnyTableOld(const Superblock& freshest) const;
  bool AnyBehind() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(transition_);
  absl::Status RecordStart(const AssemblyDecision& decision, const Superblock& freshest);
  void AdoptReplacements(const AssemblyDecision& decision) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_);
  MemberDevice* MirrorOf(uint32_t slot) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_);
  void RebuildView() ABSL_EXCLUSIVE_LOCKS_REQUIRED(members_gate_, state_);
  std::string UniqueName(const std::string& path) const;

  // array_io.cc
  absl::Status CheckRange(uint64_t offset_bytes, uint64_t length_bytes) const;
  // A range of the volume.
  struct VolumeRange {
    uint64_t offset_bytes = 0;
    uint64_t length_bytes = 0;
  };
  enum class Suspendable : uint8_t { kNo, kYes };
  using WriteWork = absl::FunctionRef<EngineResult(const MemberView&)>;
  absl::Status RunWrite(VolumeRange range, const char* what, WriteWork work,
                        Suspendable suspendable = Suspendable::kNo);
  // The members that the engine met errors on; to be asked before members_gate_ is left, when it is
  // still them who have those slots.
  MemberFailures FailuresOf(const MemberErrors& errors) const
      ABSL_SHARED_LOCKS_REQUIRED(members_gate_) ABSL_LOCKS_EXCLUDED(state_);
  // Part of a member's data.
  struct MemberPart {
    ArrayMember* member;
    ByteRange range;  // absolute on it
  };
  // What must follow from an engine call.
  struct Aftermath {
    MemberFailures failures;
    std::vector<MemberPart> rewritten;  // bad blocks that are none any more
    uint64_t still_bad = 0;             // still_bad_ as it was before the call, and the call's own
  };
  // Counts in still_bad_ too: before the gate is left, so that ForgetBadBlocks sees it.
  Aftermath AftermathOf(const EngineResult& result, uint64_t still_bad_before)
      ABSL_SHARED_LOCKS_REQUIRED(members_gate_) ABSL_LOCKS_EXCLUDED(state_);
  absl::Status Settle(const EngineResult& result, const Aftermath& after, const char* what);
  absl::Status SettleRead(const EngineResult& result, const Aftermath& after);
  absl::Status SettleWrite(const EngineResult& result, const Aftermath& after, const char* what);
  Aftermath NoteWritten(const EngineResult& result, uint64_t still_bad_before)
      ABSL_SHARED_LOCKS_REQUIRED(members_gate_);
  void NoteOwed(const EngineResult& result);
  void NoteMended(const EngineResult& result);
  WriteIntent::Range IntentRange(uint64_t offset_bytes, uint64_t length_bytes) const;
  absl::Status FlushAll();
  void NoteFlushed(uint64_t covered);

  // array_generations.cc
  // Flushes every member in use. The caller is inside members_gate_.
  void FlushUsed(MemberFailures* failures) ABSL_SHARED_LOCKS_REQUIRED(members_gate_)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(flush_);
  void FlushMembers(const std::vector<ArrayMember*>& members, MemberFailures* failures)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(flush_);

  // array_transitions.cc
  absl::Status MarkDirty();
  bool MayBeMarkedClean(bool forced) const;
  absl::Status MarkClean(bool forced);
  absl::Status FailMembers(const MemberFailures& failures);
  absl::Status TakeOut(const MemberFailures& failures)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(transition_, writes_gate_);
  void TakeOut(ArrayMember& member, const std::string& why)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(transition_, writes_gate_);
  void EnterFailed(const std::string& why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(transition_, writes_gate_);
  absl::Status ClearBitmap();
  bool IsInSync(const ArrayMember& member) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_);
  uint32_t InSyncSlots() const;

  // array_generations.cc
  // One metadata generation on all live members, repeated when members fail on the way (I11).
  absl::Status WriteGeneration() ABSL_EXCLUSIVE_LOCKS_REQUIRED(transition_, writes_gate_);
  uint64_t NumberGeneration() ABSL_EXCLUSIVE_LOCKS_REQUIRED(transition_, writes_gate_);
  BitmapPage ComposeBitmapSuper(uint64_t generation);
  // Pages of the bitmap to every live member that keeps one; with `flush`, durably.
  void StorePages(const std::vector<BitmapPage>& pages, bool flush, StoreOutcome* outcome);
  void StoreSupers(StoreOutcome* outcome) ABSL_EXCLUSIVE_LOCKS_REQUIRED(transition_, writes_gate_);
  void StoreSupers(const std::vector<ArrayMember*>& members, StoreOutcome* outcome)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(transition_, writes_gate_);
  Superblock ComposeSuper(const ArrayMember& member)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(transition_, writes_gate_);
  uint16_t RoleOf(const ArrayMember& member) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_);
  // The role of every device number, as all superblocks carry it.
  std::vector<uint16_t> RoleTable() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_);

  // array_members.cc
  absl::Status MayChangeMembers() const;
  absl::StatusOr<ArrayMember*> MemberAt(size_t index) const ABSL_LOCKS_EXCLUDED(state_);
  absl::Status CheckIsNew(const std::string& path,
                          const std::optional<FoundSuperblock>& found) const;
  bool IsNumberHeld(uint32_t number) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_);
  bool IsSlotHeld(uint32_t slot) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_);
  std::string PrepareReturn(ArrayMember& member, const FoundSuperblock& found)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(transition_, writes_gate_);
  absl::Status PrepareSpare(ArrayMember& member)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(transition_, writes_gate_);
  absl::StatusOr<uint32_t> FreeNumber() const;
  absl::Status WriteWholeBitmap(MemberDevice& device, const MemberAreas& areas) const;
  absl::StatusOr<size_t> Admit(std::unique_ptr<ArrayMember> newcomer)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(transition_, writes_gate_);
  void Dismiss(ArrayMember& member) ABSL_EXCLUSIVE_LOCKS_REQUIRED(transition_, writes_gate_);
  bool IsIdleSpare(const ArrayMember& member) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_);
  bool CanReplace(const ArrayMember& spare, const ArrayMember& member) const;
  ArrayMember* FirstSpareFor(const ArrayMember& member) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_);
  ArrayMember* FirstIdleSpare() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_);
  std::optional<uint32_t> OpenSlot() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_);
  absl::Status AssignSpare(ArrayMember& spare, uint32_t slot, bool is_replacement)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(transition_, writes_gate_);

  // array_recovery.cc
  struct RecoveryFront {
    uint64_t valid_bytes = 0;
    bool guided = false;
  };
  bool IsTarget(const ArrayMember& member) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_);
  std::vector<ArrayMember*> Targets(bool joined_only) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_);
  struct SpareUse {
    ArrayMember* spare = nullptr;  // null: none, or nowhere
    uint32_t slot = 0;
    bool is_replacement = false;
  };
  SpareUse NextSpareUse() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_);
  void BeginMirroring(ArrayMember& replacement) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_);
  void AddMirrorFailures(MemberFailures* failures) const ABSL_LOCKS_EXCLUDED(state_);
  absl::Status TryEndRecovery() ABSL_EXCLUSIVE_LOCKS_REQUIRED(transition_, writes_gate_);
  void TakeOver(ArrayMember& replacement, uint32_t slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_);
  void TakeSlot(ArrayMember& replacement, uint32_t slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_);
  void ForgetMirrors(uint32_t slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_);
  ArrayMember* ReplacementOf(uint32_t slot) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_);
  RecoveryFront Front() const ABSL_LOCKS_EXCLUDED(state_);
  std::optional<StripeRange> NextMarked(uint64_t from_bytes) const;
  void PassOverClean(uint64_t end_bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(writes_gate_);

  // array_windows.cc
  // What came of a window.
  struct WindowOutcome {
    EngineResult result;
    Aftermath after;
    std::vector<MemberPart> holes;  // that the bad-block logs do not have yet
    int full = 0;                   // a target found no space
    bool has_moved = false;         // the targets have the window now
  };
  absl::Status RecoverWindow(StripeRange wanted, SyncFindings* findings);
  std::optional<StripeRange> ClaimWindow(StripeRange wanted, uint64_t* ended)
      ABSL_SHARED_LOCKS_REQUIRED(members_gate_) ABSL_LOCKS_EXCLUDED(recovery_);
  void FillWindow(StripeRange window, WindowOutcome* outcome)
      ABSL_SHARED_LOCKS_REQUIRED(members_gate_);
  bool AwaitTurn(StripeRange window, const std::vector<ArrayMember*>& targets)
      ABSL_LOCKS_EXCLUDED(recovery_);
  void EndWindow(StripeRange window, bool has_moved) ABSL_SHARED_LOCKS_REQUIRED(members_gate_)
      ABSL_LOCKS_EXCLUDED(recovery_);
  absl::Status SettleWindow(WindowOutcome& outcome, SyncFindings* findings);
  void EndSettling() ABSL_LOCKS_EXCLUDED(recovery_);
  void AwaitWindowsEnd(uint64_t ended) ABSL_LOCKS_EXCLUDED(recovery_);
  std::vector<MemberPart> UnknownHoles(const std::vector<ArrayMember*>& members,
                                       const RecoverResult& recovered) const;

  // array_bad_blocks.cc
  absl::Status RecordHoles(const std::vector<MemberPart>& holes);
  absl::Status NoteBadBlock(ArrayMember& member, const ByteRange& range, bool* has_room)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(transition_, writes_gate_);
  absl::Status NoteBadBlocks(MemberFailures* failures)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(transition_, writes_gate_);
  absl::Status StoreLog(ArrayMember& member, const std::vector<uint8_t>& log)
      ABSL_LOCKS_EXCLUDED(flush_);
  // Members that have to be failed for what came of it are added to *failures.
  void ForgetBadBlocks(const std::vector<MemberPart>& parts, uint64_t still_bad,
                       MemberFailures* failures);
  bool ForgetBadBlock(const MemberPart& part, MemberFailures* failures)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(transition_, writes_gate_, members_gate_);
  void PutInPlace(ArrayMember& replacement) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_);

  // array_sync.cc
  uint64_t ResyncCheckpointBytes() const;

  // array_snapshot.cc
  MemberSnapshot SnapshotOf(const ArrayMember& member) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_);
  absl::Status BecomeReadOnly();

  // array_maintenance.cc
  void MaintenanceLoop();
  void PokeMaintenance();
  void EndMaintenance();
  void MarkCleanWhenIdle();
  bool OwesParity() const;
  void RetryOwedParity();
  void ForgetOwedParts();
  bool RecomputeOwed(uint64_t stripe);
  bool RecomputeDoubt();
  bool RecomputeAndForget(StripeRange range);
  void ClearIdleBits();

  ArrayMember* MemberOfSlot(uint32_t slot);

  const ArrayGeometry geometry_;
  const ArrayOptions options_;
  Clock& clock_;
  ForegroundMeter foreground_;
  EventLog& events_;

  absl::Mutex transition_ ABSL_ACQUIRED_BEFORE(writes_gate_);
  SharedGate writes_gate_ ABSL_ACQUIRED_BEFORE(members_gate_);
  SharedGate members_gate_ ABSL_ACQUIRED_BEFORE(flush_);
  absl::Mutex recovery_ ABSL_ACQUIRED_AFTER(members_gate_) ABSL_ACQUIRED_BEFORE(state_);
  absl::Mutex flush_ ABSL_ACQUIRED_BEFORE(state_);
  mutable absl::Mutex state_;

  // Appended to with transition_ held, both gates closed and state_ held: whoever has any of them
  // may look. Members stay where they are, and are never taken out (see `removed`).
  std::vector<std::unique_ptr<ArrayMember>> members_;
  std::unique_ptr<WriteIntent> intent_;  // null without a bitmap
  bool bits_differ_ = false;             // of the start: not every member has intent_'s bits
  DoubtMap doubt_;
  StripeEngine engine_;
  Superblock reference_;  // name, uuid, times, shape: what all members share
  int minor_ = 2;         // metadata 1.MINOR

  MemberView view_ ABSL_GUARDED_BY(members_gate_);

  // Written with writes_gate_ closed; read anywhere.
  std::atomic<bool> read_only_;
  std::atomic<bool> dirty_{false};    // as the superblocks say, or shall say
  std::atomic<bool> recorded_{true};  // the superblocks on all live members say what memory does;
                                      // otherwise nothing may be written before they do
  std::atomic<bool> failed_{false};   // a third loss: no more writes
  // How far the generation numbered events_count_ has come. kSpoilt: a member was lost that may
  // carry it, so that it cannot tell of the loss; the next has to.
  enum class Generation : uint8_t { kComplete, kNumbered, kPartlyWritten, kSpoilt };
  Generation generation_ ABSL_GUARDED_BY(transition_) = Generation::kComplete;
  uint64_t events_count_ ABSL_GUARDED_BY(state_) = 0;
  uint64_t updated_us_ ABSL_GUARDED_BY(state_) = 0;
  uint32_t role_entries_ = 0;  // of the table of roles; constant after Adopt
  // Device numbers that no member here has and that count as faulty.
  std::set<uint32_t> faulty_numbers_ ABSL_GUARDED_BY(state_);

  std::atomic<uint64_t> suspend_lo_{0};  // of the volume; written with writes_gate_ closed
  std::atomic<uint64_t> suspend_hi_{0};
  std::atomic<uint64_t> resync_done_stripes_{0};
  std::atomic<bool> is_mirroring_{false};  // there has been a replacement
  // What superblocks say while parity is in doubt: 0 until nothing is written any more (Stop).
  uint64_t resync_checkpoint_bytes_ ABSL_GUARDED_BY(transition_) = 0;

  std::atomic<uint64_t> last_write_ns_{0};
  std::atomic<uint64_t> writes_done_{0};     // counts acknowledged writes
  std::atomic<uint64_t> writes_flushed_{0};  // of those, how many a flush has covered
  std::atomic<uint32_t> unsettled_{0};       // calls that have yet to fail members
  // Writes that have failed on a bad block, which stayed on its list for that. Counted inside
  // members_gate_.
  std::atomic<uint64_t> still_bad_{0};
  absl::CondVar settled_;  // signalled under state_ when one has
  std::atomic<uint32_t> safe_mode_delay_ms_;
  std::atomic<uint32_t> max_read_errors_{20};
  std::atomic<uint32_t> time_base_s_{kBitmapDefaultSleepSeconds};

  // Stripes that a full file system left with parity to be put right (I13), each with the number
  // of the debt: a stripe may come to owe again while it is being put right.
  absl::flat_hash_map<uint64_t, uint64_t> owed_ ABSL_GUARDED_BY(state_);
  uint64_t owed_sequence_ ABSL_GUARDED_BY(state_) = 0;
  uint64_t doubt_sequence_ ABSL_GUARDED_BY(state_) = 0;  // of the last debt kept in doubt_

  // Of a recovery: the windows that are being filled, each beginning where the one before it ends
  // unless one between them is missing. None is added then until all have ended, nor while what was
  // in the way of one is being settled.
  std::deque<StripeRange> windows_ ABSL_GUARDED_BY(recovery_);
  bool is_window_missing_ ABSL_GUARDED_BY(recovery_) = false;
  uint32_t windows_settling_ ABSL_GUARDED_BY(recovery_) = 0;
  uint64_t windows_ended_ ABSL_GUARDED_BY(recovery_) = 0;  // and settled
  absl::CondVar window_ended_;                             // or was settled

  std::atomic<bool> doubt_awaits_space_{false};  // some of doubt_ is there for want of space
  std::atomic<bool> owed_is_fresh_{false};       // more is owed than when it was last tried

  std::function<void()> failure_listener_ ABSL_GUARDED_BY(state_);

  absl::Mutex maintenance_mutex_;
  absl::CondVar maintenance_poke_;
  bool maintenance_stop_ ABSL_GUARDED_BY(maintenance_mutex_) = false;
  bool maintenance_poked_ ABSL_GUARDED_BY(maintenance_mutex_) = false;
  std::thread maintenance_;
  std::atomic<uint64_t> next_upkeep_ns_{0};  // 0: to be set by the next maintenance
  uint64_t next_retry_ns_ = 0;               // of maintenance alone: of owed parity
  bool clean_mark_failed_ = false;           // of maintenance alone: was reported
};

}  // namespace mdvol

#endif  // MDVOL_CORE_ARRAY_ARRAY_IMPL_H_
