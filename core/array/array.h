// Array: the façade of the engine. One running RAID6 array: reads, writes, flushes, zeroes a
// byte-addressed volume; keeps superblocks and bitmap true to it (docs/failure-model.md, I1..I13);
// fails members that misbehave.
//
// Callers' threads run everything: a call carries its own request from start to end. Any number of
// threads may call at once; a reader that overlaps a writer in time sees old or new bytes, as on a
// block device. The only thread of its own is the maintenance thread (safe mode, lazy clearing of
// bitmap bits), when StartMaintenance was called; otherwise the owner calls RunMaintenance.
//
// Errors are absl::Status with errno: EIO (more than two losses in the range), EROFS, ENOSPC (a
// member's file system is full: nothing was failed, I13), EINVAL (bounds). No call throws.

#ifndef MDVOL_CORE_ARRAY_ARRAY_H_
#define MDVOL_CORE_ARRAY_ARRAY_H_

#include <cerrno>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/array/doubt_map.h"
#include "core/array/events.h"
#include "core/array/member_loader.h"
#include "core/array/snapshot.h"
#include "core/array/volume.h"
#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/geometry/geometry.h"
#include "core/metadata/assembly.h"

namespace mdvol {

class ForegroundMeter;            // core/array/foreground_meter.h
struct PolicySet;                 // core/policy/policy_set.h
struct ResyncMemberFacts;         // core/policy/resync_pacing.h
struct SyncFindings;              // core/stripe/sync_types.h
enum class RepairMode : uint8_t;  // there too

enum class AddMode : uint8_t {
  kAdd,    // back into its slot if its metadata allows that, else as a new spare
  kReAdd,  // back into its slot, or not at all
};

// What of a rebuild is still to be done.
struct RecoveryState {
  uint64_t from_bytes = 0;           // data offset of the least checkpoint
  bool guided = false;               // by the bitmap: only stripes with set bits differ
  std::vector<std::string> members;  // names of those that are filled, or will be
};

struct ArrayOptions {
  AssemblyOptions assembly;
  // The state of the volume's policies and knobs, md's defaults.
  uint32_t rmw_level = 1;
  uint32_t safe_mode_delay_ms = 200;
  std::optional<uint32_t> stripe_cache_size;  // lanes; none: DefaultStripeCacheLanes
  // What the engine's choices follow; outlives the array. Null: the simplest of each family.
  const PolicySet* policies = nullptr;
};

class Array : public Volume {
 public:
  // Takes the members over, decides (DecideAssembly), and if the decision is to run: records what
  // --force did and returns the running array. After an unclean stop some stripes are in doubt then
  // (NextDoubt): StartArray in core/sync recomputes their parity and is what most callers want.
  // Nothing is written when the decision is to refuse, nor in any case when read-only. `clock` and
  // `events` must outlive the array.
  static absl::StatusOr<std::unique_ptr<Array>> Start(std::vector<LoadedMember> members,
                                                      const ArrayOptions& options, Clock& clock,
                                                      EventLog& events);
  virtual const ArrayGeometry& geometry() const = 0;
  uint64_t volume_bytes() const override { return geometry().volume_bytes(); }

  // Fails the member with this index as md's "faulty" does: durable in the survivors before it
  // returns. EBUSY when the array could not live without it, ENODEV for an unknown index; failing a
  // faulty member again is OK.
  virtual absl::Status FailMember(size_t member_index, std::string_view why) = 0;

  // More than two members are lost: nothing is written, nothing can be made whole.
  virtual bool is_broken() const { return false; }
  // The first run of stripes at or after `from_stripe` whose parity is in doubt (I12); none when
  // all is well.
  virtual std::optional<StripeRange> NextDoubt(uint64_t /*from_stripe*/) const {
    return std::nullopt;
  }
  // Recomputes P and Q of these stripes from their data, rewriting what differs. What could not be
  // told (data missing or unreadable) or written (ENOSPC, then an error too) is counted in
  // *skipped_stripes.
  virtual absl::Status RecomputeParity(StripeRange /*stripes*/, uint64_t* skipped_stripes) {
    *skipped_stripes = 0;
    return absl::OkStatus();
  }
  // To be asked before the first stripe of a range is recomputed that EndDoubt is to be told of.
  virtual uint64_t DoubtSequence() const { return 0; }
  // Every stripe of the range has been recomputed since DoubtSequence was `begun`: its parity is
  // trusted again. But what came into doubt meanwhile, for want of space (I13), stays so.
  virtual void EndDoubt(StripeRange /*stripes*/, uint64_t /*begun*/) {}

  // ---- Members come and go. Durable before they return; EROFS when read-only, EBUSY when the
  // array could not live with it, ENODEV for an unknown index.

  // Takes a device over and returns the member's index. As in md, one that was a member of this
  // array gets its slot back when the bitmap can vouch for it (only what was written meanwhile is
  // rebuilt then), and is a spare otherwise. A spare's metadata are written anew. Refused: too
  // small, wrongly aligned, a member already, or carrying data or metadata of another array (wipe
  // it first).
  virtual absl::StatusOr<size_t> AddMember(std::unique_ptr<MemberDevice> /*device*/,
                                           AddMode /*mode*/) {
    return NotHere();
  }
  // Lets a faulty member or an idle spare go, EBUSY for others; its device is closed. The other
  // members keep their indices.
  virtual absl::Status RemoveMember(size_t /*member_index*/) { return NotHere(); }
  // Wishes the member replaced while it goes on working: `with_spare`, or the first spare that
  // fits, is filled with what it holds and then takes its slot. Without a spare the wish stays.
  virtual absl::Status SetReplacement(size_t /*member_index*/,
                                      std::optional<size_t> /*with_spare*/) {
    return NotHere();
  }
  virtual absl::Status ClearReplacementWish(size_t /*member_index*/) { return NotHere(); }

  // ---- Rebuilding, for core/sync: Begin, then every range that NextToRecover names through
  // RecoverStripes, CheckpointRecovery now and then, End. One caller drives; RecoverStripes may run
  // in several threads at once, on ranges that were taken in ascending order.

  // `listener` is called whenever a member has failed, with locks held: it may note it and wake
  // somebody, no more.
  virtual void SetFailureListener(std::function<void()> /*listener*/) {}
  // A member in a slot or a replacement is incomplete, or a spare fits an open slot or a wish.
  virtual std::optional<RecoveryState> PendingRecovery() const { return std::nullopt; }
  // Gives spares to open slots and wishes, two rebuilds at once at most.
  virtual absl::Status BeginRecovery() { return NotHere(); }
  // The first run of stripes at or after `from_stripe` that has to be rebuilt; guided by the
  // bitmap, runs without set bits are passed over.
  virtual std::optional<StripeRange> NextToRecover(uint64_t /*from_stripe*/) const {
    return std::nullopt;
  }
  // Fills these stripes and moves the checkpoints in memory. A target that cannot be written is
  // failed; what cannot be recovered goes into the target's bad-block log.
  virtual absl::Status RecoverStripes(StripeRange /*stripes*/, SyncFindings* /*findings*/) {
    return NotHere();
  }
  // Flushes the targets, then stores the checkpoints (I5).
  virtual absl::Status CheckpointRecovery() { return NotHere(); }
  // Everything has been passed: rebuilt members are in sync, replacements take their slots and the
  // replaced become faulty, as in md.
  virtual absl::Status EndRecovery() { return NotHere(); }

  // ---- Checking and repairing, for core/sync.

  // A run has ended, however: what was kept for its next window is not needed for now.
  virtual void SyncEnded() {}

  virtual absl::Status CheckStripes(StripeRange /*stripes*/, SyncFindings* /*findings*/) {
    return NotHere();
  }
  virtual absl::Status RepairStripes(StripeRange /*stripes*/, RepairMode /*mode*/,
                                     SyncFindings* /*findings*/) {
    return NotHere();
  }
  // What the pacing of a run goes by; null, or nothing, where it is not counted.
  virtual ForegroundMeter* foreground() { return nullptr; }
  virtual void ReadMembers(std::vector<ResyncMemberFacts>* facts) const;

  // A resync has put right everything below: a restart need not begin at 0.
  virtual absl::Status CheckpointResync(uint64_t /*done_stripes*/) { return NotHere(); }

  // md/suspend_lo and suspend_hi: writes into [lo, hi) of the volume are refused with EAGAIN until
  // another range is set (lo = hi: none); see Volume::IsSuspended. Returns when no write that came
  // before is in flight there.
  virtual absl::Status Suspend(uint64_t /*lo_bytes*/, uint64_t /*hi_bytes*/) { return NotHere(); }

  virtual ArraySnapshot Snapshot() const = 0;

  // Knobs of md/.
  virtual absl::Status SetRmwLevel(uint32_t level) = 0;      // 0..2
  virtual void SetSafeModeDelay(uint32_t milliseconds) = 0;  // 0: never marked clean by itself
  virtual void SetMaxReadErrors(uint32_t count) = 0;
  // In lanes, each of 4 KiB on every member; 17 to 32768, as in md.
  virtual absl::Status SetStripeCacheSize(uint32_t lanes) = 0;
  // 1 second to a day; EINVAL without a bitmap.
  virtual absl::Status SetBitmapTimeBase(uint32_t seconds) = 0;
  // array_state "clean": marks clean now if nothing is in flight, "readonly" and "active": from and
  // to read-only. EBUSY, EINVAL as md.
  virtual absl::Status SetState(std::string_view word) = 0;

  virtual void StartMaintenance() = 0;
  // What is due by now: mark clean after safe_mode_delay without writes, clear idle bitmap bits,
  // retry owed parity. Returns the time on the clock at which it wants to be called next.
  virtual uint64_t RunMaintenance() = 0;

  // Flushes, clears the bitmap of a whole array, marks clean, stops maintenance. OK too if stripes
  // await their parity: Snapshot says then that it is dirty. Nothing else but NextDoubt and the
  // destructor may follow. An array destroyed without Stop is left dirty, as by a crash.
  virtual absl::Status Stop() = 0;

 private:
  static absl::Status NotHere() { return ErrnoStatus(EINVAL, "not an array that can do this"); }
};

}  // namespace mdvol

#endif  // MDVOL_CORE_ARRAY_ARRAY_H_
