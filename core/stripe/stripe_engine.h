// StripeEngine: byte ranges of the volume in, member I/O out. Splits requests into stripes, forms
// writer groups, runs the planners' plans, mends what a read error left unreadable: so reads may
// write, where the view says that members may be written.
//
// The caller holds a share of the array for the whole call: `members` does not change meanwhile.
// The engine knows nothing of superblocks and bitmaps; what must follow from what it met (members
// to fail before the acknowledgement, parity that is owed) is in the result. Until it has followed,
// the engine itself keeps off what failed writes left behind. Thread-safe; callers' threads do the
// work.

#ifndef MDVOL_CORE_STRIPE_STRIPE_ENGINE_H_
#define MDVOL_CORE_STRIPE_STRIPE_ENGINE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "core/base/clock.h"
#include "core/geometry/geometry.h"
#include "core/policy/policy_set.h"
#include "core/stripe/parity_threads.h"
#include "core/stripe/read_executor.h"
#include "core/stripe/read_runs.h"
#include "core/stripe/stripe_cache.h"
#include "core/stripe/stripe_locks.h"
#include "core/stripe/sync_types.h"
#include "core/stripe/sync_window.h"
#include "core/stripe/unsettled_stripes.h"
#include "core/stripe/window_pool.h"
#include "core/stripe/write_executor.h"

namespace mdvol {

struct EngineResult {
  int error = 0;               // 0, EIO, ENOSPC or EDQUOT
  MemberErrors member_errors;  // to be failed durably before the call is acknowledged
  absl::InlinedVector<uint64_t, 1> owed_stripes;  // parity is to be put right later
  absl::InlinedVector<uint32_t, 1>
      mended_slots;                // read errors put right by rewriting, one entry each
  RewrittenBadList rewritten_bad;  // to be taken off the members' lists
  bool still_bad = false;        // a block on a member's list could not be written: it stays on it
  uint64_t skipped_stripes = 0;  // sync: could not be told, or not wholly, from what is there
  bool wants_upkeep = false;     // read: StripeCache::Expire is to be called
};

class StripeEngine {
 public:
  // `in_doubt` tells whether a stripe's parity may not be trusted (I12); it is asked by many
  // threads and must be cheap. `policies` may be null, and outlives the engine, as `clock` does.
  StripeEngine(const ArrayGeometry& geometry, std::function<bool(uint64_t stripe)> in_doubt,
               const PolicySet* policies = nullptr, Clock& clock = SystemClock())
      : geometry_(geometry),
        in_doubt_(std::move(in_doubt)),
        policies_(policies),
        clock_(clock),
        unsettled_(geometry.chunk_bytes(), geometry.stripe_count()),
        cache_(geometry.raid_disks()) {}

  void set_rmw_level(uint32_t level) { rmw_level_.store(level, std::memory_order_relaxed); }
  uint32_t rmw_level() const { return rmw_level_.load(std::memory_order_relaxed); }

  // The range must lie inside the volume.
  EngineResult Read(const MemberView& members, uint64_t offset_bytes, std::span<std::byte> out);
  EngineResult Write(const MemberView& members, uint64_t offset_bytes,
                     std::span<const std::byte> data);
  EngineResult Zero(const MemberView& members, uint64_t offset_bytes, uint64_t length_bytes);

  // ---- Sync: for several windows at once, each in a thread of its own ----

  // How many stripes make one window of large requests and bounded memory (I10): what a call should
  // ask for, though all take any number.
  uint64_t StripesPerWindow() const;
  // The memory of windows is kept between calls; to be called when there will be none for a while.
  void DropWindows() { windows_.Drop(); }

  // Rewrites P and Q of these stripes from their data where they differ, for parity that is worth
  // nothing: after an unclean stop, before a first sync. Stripes that lack data are skipped.
  EngineResult RecomputeParity(const MemberView& members, uint64_t first_stripe, uint64_t count);

  // Reads whole stripes and compares; adds to *findings. A read error is mended, as in any read;
  // else nothing is written.
  EngineResult CheckStripes(const MemberView& members, uint64_t first_stripe, uint64_t count,
                            SyncFindings* findings);

  // As CheckStripes, and mends what `mode` allows. kLocate: the data, P or Q of a lane that one
  // member explains; what none does is left alone. kParity: P and Q of all that has its data. Where
  // parity is in doubt or owed, both rewrite P and Q from data, and skip what lacks data. One pass
  // suffices: another finds nothing but what is not repaired in *findings.
  EngineResult RepairStripes(const MemberView& members, uint64_t first_stripe, uint64_t count,
                             RepairMode mode, SyncFindings* findings);

  // Has what belongs into each target's slot, from the slot's own member where it can be read, else
  // reconstructed, and writes it to the target's device from `from_bytes` on. All of the stripes
  // are led together; before_release runs before they are given up, if no target has failed: the
  // place to move a checkpoint (SlotView). A target that fails is written no more.
  EngineResult RecoverStripes(const MemberView& members, uint64_t first_stripe, uint64_t count,
                              std::span<const RecoverTarget> targets, RecoverResult* recovered,
                              const std::function<void()>& before_release);

  // For whoever wants to know how many wait for a stripe.
  StripeLocks& locks() { return locks_; }

  // What small writes read is kept for the next ones if reading takes as long as this. For tests;
  // not while writes are under way.
  void set_least_slow_read_ns(uint64_t ns) { read_pace_.SetLeastSlow(ns); }

  // Has no lanes at first. Its size may change at any time, and Expire be called; it is dropped by
  // MembersChanged.
  StripeCache& cache() { return cache_; }
  const StripeCache& cache() const { return cache_; }

  // The first stripe in which a write to the slot has failed, or was left out because of that; to
  // be asked before MembersChanged.
  std::optional<uint64_t> FirstStale(uint32_t slot) const { return unsettled_.FirstStale(slot); }

  // What is owed may be more than is kept stripe by stripe. Whoever keeps account of it tells when
  // nothing is owed any more, and no write is in flight.
  bool OwesParts() const { return unsettled_.OwesParts(); }
  void ForgetOwedParts() { unsettled_.ForgetParts(); }

  // To be called when a slot has lost or gained its member, before the next call with the new view.
  void MembersChanged(const MemberView& members) {
    unsettled_.MembersChanged(members);
    cache_.DropAll();
  }

 private:
  EngineResult RunWrites(const MemberView& members, std::span<StripeWrite> writes);
  void ChooseCache(StripeStep& step);
  void AddStep(const MemberView& members, uint64_t stripe, std::span<StripeWrite* const> group,
               std::vector<StripeStep>* steps);
  void Conclude(const StripeStep& step, StripeWrite& self, EngineResult* result);
  static void Answer(const StripeStep& step);

  struct DirectRead {
    uint64_t stripe;
    uint32_t slot;
    WantedExtent wanted;
  };
  using DirectReads = absl::InlinedVector<DirectRead, 8>;

  void PlanReads(const MemberView& members, uint64_t offset_bytes, std::span<std::byte> out,
                 DirectReads* direct, std::vector<ReadStep>* steps) const;
  void RunDirect(const MemberView& members, std::span<const DirectRead> direct,
                 std::vector<ReadStep>* again);
  void RunReads(std::span<ReadStep> steps, EngineResult* result);
  void MendAfter(const MemberView& members, uint64_t stripe,
                 std::span<const UnreadableBlock> blocks, EngineResult* result);
  StripeFacts FactsOfLed(const MemberView& members, uint64_t stripe);
  void Mend(StripeFacts& facts, std::span<const UnreadableBlock> blocks, EngineResult* result);

  // engine_degraded.cc
  struct ReadPlan {
    DirectReads direct;
    std::vector<ReadStep> steps;
  };
  EngineResult ReadDegraded(const MemberView& members, DegradedRead& policy, uint64_t offset_bytes,
                            std::span<std::byte> out);
  void ReadNextStripe(const ReadStep& step, uint64_t now_ns);
  DegradedReadFacts FactsOfRead(const MemberView& members, uint64_t offset_bytes,
                                uint64_t length_bytes);
  void PlanDegraded(const DegradedReadDecision& decision, const StripeFacts& facts,
                    std::span<const WantedExtent> wanted, ReadPlan* plan) const;

  // engine_sync.cc
  struct Stripes {
    uint64_t first;
    uint64_t count;
  };
  size_t WindowBytes(uint64_t stripes) const;
  std::shared_ptr<const ResyncRequest> RequestPolicy() const;
  std::vector<SyncStripe> MakeWindow(const MemberView& members, Stripes held, StripeSync action);
  EngineResult Verify(const MemberView& members, Stripes stripes, StripeSync action,
                      SyncFindings* findings);
  void VerifyHeld(const MemberView& members, Stripes held, StripeSync action,
                  std::span<std::byte> memory, SyncFindings* findings, EngineResult* result);
  void ConcludeLed(SyncStripe& stripe, EngineResult* result);

  const ArrayGeometry geometry_;
  const std::function<bool(uint64_t)> in_doubt_;
  const PolicySet* const policies_;
  Clock& clock_;
  std::atomic<uint32_t> rmw_level_{1};
  ReadPace read_pace_{20'000};  // keeping takes some microseconds
  StripeLocks locks_;
  UnsettledStripes unsettled_;
  StripeCache cache_;
  ReadRuns read_runs_;
  WindowPool windows_;
  ParityThreads parity_threads_;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_STRIPE_STRIPE_ENGINE_H_
