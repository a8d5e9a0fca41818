// Carries write plans out: read, compute, write, for one or several stripes that the caller leads.
//
// Work is cut into pieces that fit the thread's scratch; the pieces of one wave share one batch of
// reads and one batch of writes, so that neighbours on a member merge across stripes. A read error
// makes the block unreadable and the piece is planned anew (nothing has been written for it yet); a
// write error is noted and everything else is still written (DESIGN: nothing is re-planned from
// half-written members). Runs in the caller's thread, takes no lock.

#ifndef MDVOL_CORE_STRIPE_WRITE_EXECUTOR_H_
#define MDVOL_CORE_STRIPE_WRITE_EXECUTOR_H_

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "core/device/io_batch.h"
#include "core/stripe/scratch.h"
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

  absl::InlinedVector<ColumnError, 1> errors;
  MemberErrors member_errors;
  bool owes_parity = false;  // a full file system kept P, Q and data from agreeing (I13)
  absl::InlinedVector<uint32_t, 1>
      mended_slots;  // unreadable blocks rewritten with recovered bytes
};

class WriteExecutor {
 public:
  WriteExecutor(std::span<StripeStep> steps, uint32_t rmw_level)
      : steps_(steps), rmw_level_(rmw_level), scratch_(Scratch::OfThisThread()) {}

  void Run();

 private:
  struct Piece {
    StripeStep* step;
    ColumnRange columns;
    WriteStrategy strategy;
  };

  // A piece of the current wave with its buffers. Blocks are indexed by slot.
  struct Unit {
    Piece piece;
    absl::InlinedVector<std::byte*, 16> old_bytes;        // read from the member, or recovered
    absl::InlinedVector<const std::byte*, 16> new_bytes;  // to be written
    bool read_failed = false;
  };

  enum class IoPurpose : uint8_t { kRead, kWrite };
  struct IoRecord {
    size_t unit;
    uint32_t slot;
  };

  void PlanPieces();
  void PunchHoles();
  void RunWave();
  bool Prepare(const Piece& piece);
  void WantSlots(const Piece& piece, absl::InlinedVector<uint32_t, 16>* read_slots) const;
  void Read();
  void Compute(Unit& unit);
  void ReconstructParity(Unit& unit);
  void ModifyParity(Unit& unit);
  void DecodeLost(Unit& unit);
  const std::byte* NewBlock(Unit& unit, uint32_t data_index, std::byte* into);
  void Write();
  void AddWrites(size_t unit_index);
  void NoteWriteError(Unit& unit, uint32_t slot, int error);

  std::span<StripeStep> steps_;
  const uint32_t rmw_level_;
  Scratch& scratch_;
  std::deque<Piece> pieces_;
  std::vector<Unit> units_;
  IoBatch batch_;
  std::vector<IoRecord> records_;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_STRIPE_WRITE_EXECUTOR_H_
