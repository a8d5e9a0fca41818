// Carries write plans out: read, compute, write, for one or several stripes that the caller leads.
//
// Work is cut into pieces that fit the thread's scratch; the pieces of one wave share one batch of
// reads and one batch of writes, so that neighbours on a member merge across stripes. After a read
// error the piece is tried once more, lane by lane; a lane that fails again is unreadable and is
// planned anew (nothing has been written for it yet). A write error is noted and everything else is
// still written: nothing is re-planned from half-written members. But when the new bytes cannot be
// stored, the old ones are put back where they are known (Undo): bytes that nobody writes may have
// no home but parity. Where they are not known, and a full file system has kept some of the new
// ones out, P and Q are rewritten for what the members now hold (settle.h), before anybody else has
// the stripe. What fails even so is owed. Runs in the caller's thread, takes no lock;
// only the arithmetic may be done by other threads, while the caller waits.

#ifndef MDVOL_CORE_STRIPE_WRITE_EXECUTOR_H_
#define MDVOL_CORE_STRIPE_WRITE_EXECUTOR_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "core/base/clock.h"
#include "core/device/io_batch.h"
#include "core/policy/parity_workers.h"
#include "core/stripe/parity_threads.h"
#include "core/stripe/scratch.h"
#include "core/stripe/stripe_cache.h"
#include "core/stripe/stripe_facts.h"
#include "core/stripe/stripe_locks.h"
#include "core/stripe/write_plan.h"

namespace mdvol {

// Columns of a stripe whose new bytes could not all be stored, and why.
struct ColumnError {
  ColumnRange columns;
  int error = 0;
};

// One stripe of a step: what its group wants, and what came of it.
struct StripeStep {
  StripeStep(const ArrayGeometry& geometry, const MemberView& members, uint64_t stripe)
      : facts(geometry, members, stripe) {}

  StripeFacts facts;
  WriteGroup group;
  ExtentList extents;       // of the whole group, flat; empty with punch_hole
  bool punch_hole = false;  // a lone zero_stripe: holes on every member instead of bytes
  // For a small write: old bytes that it holds are not read, new ones are kept. After an error the
  // stripe's lanes are worth nothing (must_drop).
  StripeCache* cache = nullptr;
  bool must_drop = false;

  absl::InlinedVector<ColumnError, 1> errors;
  MemberErrors member_errors;
  MemberErrors stale;  // those of them that left a block unlike the rest of its stripe
  ColumnRanges owed;   // a full file system keeps P, Q and data from agreeing there (I13)
  ColumnRanges paid;   // parity that was owed and has been replaced; before what is in `owed`
  absl::InlinedVector<uint32_t, 1>
      mended_slots;  // unreadable blocks rewritten with recovered bytes
  RewrittenBadList rewritten_bad;
  bool still_bad = false;  // a block of a member's bad-block list was not to be written again
};

// Whether it pays to keep what small writes read: not where members answer from memory, for then
// reading again is cheaper. Thought slow until known for fast. Thread-safe; updates may be lost.
class ReadPace {
 public:
  explicit ReadPace(uint64_t least_slow_ns) { SetLeastSlow(least_slow_ns); }
  void SetLeastSlow(uint64_t ns) {
    least_slow_ns_ = ns;
    mean_ns_.store(2 * ns, std::memory_order_relaxed);
  }
  void Note(uint64_t ns) {  // a thread that was not let run for a while weighs no more than others
    const uint64_t mean_ns = mean_ns_.load(std::memory_order_relaxed);
    mean_ns_.store((7 * mean_ns + std::min(ns, 2 * least_slow_ns_)) / 8, std::memory_order_relaxed);
  }
  bool IsSlow() const { return mean_ns_.load(std::memory_order_relaxed) >= least_slow_ns_; }

 private:
  uint64_t least_slow_ns_ = 0;
  std::atomic<uint64_t> mean_ns_{0};  // of the last dozen
};

class WriteExecutor {
 public:
  // Who computes parity.
  struct Parity {
    const ParityWorkers* policy;
    ParityThreads* threads;
  };

  // For steps that have a cache.
  struct Keeping {
    Clock* clock;
    ReadPace* pace;
  };

  // With no `parity` this thread does.
  WriteExecutor(std::span<StripeStep> steps, uint32_t rmw_level, Parity parity = {},
                Keeping keeping = {})
      : steps_(steps),
        rmw_level_(rmw_level),
        parity_(parity),
        keeping_(keeping),
        scratch_(Scratch::OfThisThread()) {}

  void Run();

 private:
  struct Piece {
    StripeStep* step;
    ColumnRange columns;
    WriteStrategy strategy;
    bool is_retry = false;  // of a single lane: a read has failed there before
  };

  // A piece of the current wave with its buffers. Blocks are indexed by slot.
  struct Unit {
    Piece piece;
    absl::InlinedVector<std::byte*, 16> old_bytes;        // read from the member, or recovered
    absl::InlinedVector<const std::byte*, 16> new_bytes;  // to be written: the caller's, or ours
    bool read_failed = false;
    bool is_unrecoverable = false;  // what was read does not tell what was lost
    StripeCache::LaneList lanes;    // of the columns, pinned; or none
  };

  struct IoRecord {
    size_t unit;
    uint32_t slot;
    int error = 0;
  };

  // Calls visit(records) for the records of each unit; they lie side by side.
  template <typename Visit>
  void ForEachUnit(Visit visit) const {
    for (size_t begin = 0, end = 0; begin < records_.size(); begin = end) {
      while (end < records_.size() && records_[end].unit == records_[begin].unit) {
        ++end;
      }
      visit(std::span(records_).subspan(begin, end - begin));
    }
  }

  void PlanPieces();
  void PunchHoles();
  static bool StaysBad(StripeStep& step, uint32_t slot, ColumnRange columns);
  static void NoteRewritten(StripeStep& step, ColumnRange columns,
                            std::span<const IoRecord> written);
  static void KeepListed(StripeStep& step, ColumnRange columns);
  // Both are false when the new bytes are not to stay as they were written.
  bool NoteZeroErrors(std::span<const IoRecord> zeroed);
  bool NoteWriteErrors(Unit& unit, std::span<const IoRecord> written);
  void RunWave();
  bool Prepare(const Piece& piece);
  static void WantSlots(const Piece& piece, absl::InlinedVector<uint32_t, 16>* read_slots);
  bool TakeScratch(Unit& unit, std::span<const uint32_t> read_slots);
  // write_cache.cc
  static void PinLanes(Unit& unit);
  static bool TakeKept(const Unit& unit, uint32_t slot);
  void KeepLanes();
  static void KeepBlock(Unit& unit, uint32_t slot);
  void Read();
  bool RunReads();
  void PlanAgain(const Piece& piece);
  void ComputeAll();
  void ComputeByLanes(const ParityWorkersDecision& decision);
  static void Compute(Unit& unit);
  static void ReconstructParity(Unit& unit);
  static void ModifyParity(Unit& unit);
  static bool DecodeLost(Unit& unit);
  static const std::byte* NewBlock(const Unit& unit, uint32_t data_index, std::byte* into);
  void Write();
  void AddWrites(size_t unit_index);
  static void NotePaid(Unit& unit, std::span<const IoRecord> written);
  static uint32_t CountLost(const Unit& unit, std::span<const IoRecord> written);
  static bool KnowsOldBlocks(const Unit& unit);
  static void RestoreOldBlocks(Unit& unit);
  bool Undo(Unit& unit, std::span<const IoRecord> written);
  static bool Holds(const Unit& unit, uint32_t slot, const std::byte* bytes);
  void Settle();

  std::span<StripeStep> steps_;
  const uint32_t rmw_level_;
  const Parity parity_;
  const Keeping keeping_;
  Scratch& scratch_;
  std::deque<Piece> pieces_;
  std::vector<Unit> units_;
  struct Unsettled {
    StripeStep* step;
    ColumnRange columns;
  };
  std::vector<Unsettled> unsettled_;
  IoBatch batch_{IoBatch::Reads::kForOthers};
  std::vector<IoRecord> records_;
  bool keeps_more_ = false;  // of this wave, than was kept before
};

}  // namespace mdvol

#endif  // MDVOL_CORE_STRIPE_WRITE_EXECUTOR_H_
