// Carries reads out where a direct read will not do: chunks that have to be reconstructed, and
// (under O_DIRECT) ranges that the members' alignment does not allow into the caller's buffer.
//
// Live chunks are read once and serve both the caller and the reconstruction (nothing is read
// twice); for one lost chunk the other parity is not read at all. Pieces share batches across
// stripes as in WriteExecutor. After a read error the piece is tried again lane by lane; a lane
// that fails again is unreadable and is planned anew. Runs in the caller's thread; the caller holds
// the stripes of all steps that reconstruct, shared or as leader.

#ifndef MDVOL_CORE_STRIPE_READ_EXECUTOR_H_
#define MDVOL_CORE_STRIPE_READ_EXECUTOR_H_

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "core/device/io_batch.h"
#include "core/stripe/decode.h"
#include "core/stripe/scratch.h"
#include "core/stripe/stripe_facts.h"

namespace mdvol {

// Where the bytes of columns [begin, end) of data chunk `data_index` are wanted.
struct WantedExtent {
  uint32_t data_index = 0;
  ColumnRange columns;
  std::byte* into = nullptr;
};

using WantedList = absl::InlinedVector<WantedExtent, 8>;

// A block, within one lane, that could not be read from its member.
struct UnreadableBlock {
  uint32_t slot = 0;
  ColumnRange columns;
};

struct ReadStep {
  ReadStep(const ArrayGeometry& geometry, const MemberView& members, uint64_t stripe)
      : facts(geometry, members, stripe) {}

  StripeFacts facts;
  WantedList wanted;          // sorted, disjoint
  bool lane_by_lane = false;  // a read has failed there already
  // Where a lost chunk is wanted, the parity that is not needed is read too.
  bool all_survivors = false;
  // Wished for: through the stripe cache (CachedReader), which then takes out of `wanted` what it
  // has served.
  bool keep = false;
  uint64_t ahead_bytes = 0;  // a multiple of kLaneBytes
  bool next_stripe = false;
  uint64_t retention_ns = 0;
  bool until_delivered = false;

  int error = 0;  // EIO when more than two blocks of a wanted column are lost, or it cannot be told
                  // what a lost one held
  absl::InlinedVector<UnreadableBlock, 1> read_errors;  // newly met
};

// Adds to the plan of a reconstruction what could be read besides.
void AddAllSurvivors(const StripeFacts& facts, ColumnRange columns, DecodeSet* plan);

// The slots to read for a piece in which the data chunks `wanted` are asked for, and what has to be
// recovered: nothing when all of them can be read. False: impossible. Pure.
bool PlanRead(const StripeFacts& facts, std::span<const WantedExtent> wanted, ColumnRange columns,
              DecodeSet* plan);

class ReadExecutor {
 public:
  explicit ReadExecutor(std::span<ReadStep> steps)
      : steps_(steps), scratch_(Scratch::OfThisThread()) {}

  void Run();

 private:
  struct Piece {
    ReadStep* step;
    ColumnRange columns;
    bool is_retry;  // of a single lane: a read has failed there before
  };
  struct Unit {
    Piece piece;
    DecodeSet plan;
    absl::InlinedVector<std::byte*, 16> bytes;  // by slot: read or recovered
    bool read_failed = false;
  };
  struct IoRecord {
    size_t unit;
    uint32_t slot;
  };

  void PlanPieces();
  void RunWave();
  bool Prepare(const Piece& piece);
  std::byte* Destination(const Piece& piece, uint32_t slot) const;
  static void NoteReadError(Unit& unit, uint32_t slot);
  void Deliver(Unit& unit);

  std::span<ReadStep> steps_;
  Scratch& scratch_;
  std::deque<Piece> pieces_;
  std::vector<Unit> units_;
  IoBatch batch_;
  std::vector<IoRecord> records_;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_STRIPE_READ_EXECUTOR_H_
