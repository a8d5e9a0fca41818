// SyncWindow: the same columns of neighbouring stripes, in memory as they are on the members, for
// check, repair, resync and recovery. Each member is read in one large request, wherever neighbours
// touch on it. What is not on a member, or beyond its checkpoint, or bad, is not read; a request
// that fails is tried again lane by lane, so that one bad lane costs only itself.
//
// The caller holds all stripes of the window. One thread.

#ifndef MDVOL_CORE_STRIPE_SYNC_WINDOW_H_
#define MDVOL_CORE_STRIPE_SYNC_WINDOW_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "core/device/io_batch.h"
#include "core/policy/resync_request.h"
#include "core/stripe/columns.h"
#include "core/stripe/read_executor.h"
#include "core/stripe/stripe_facts.h"
#include "core/stripe/stripe_locks.h"
#include "core/stripe/sync_types.h"

namespace mdvol {

// Handled at a time: what the caches hold, together with the parity made of it.
inline constexpr uint64_t kSyncPieceBytes = 32 * kKiB;

enum class StripeSync : uint8_t {
  kCheck,      // compare
  kLocate,     // and mend the one member that explains a lane
  kParity,     // and rewrite P and Q where all data is there
  kRecompute,  // as kParity, where parity is worth nothing: what lacks data is skipped
  kRecover,
};

// One stripe of a window, and what came of it.
struct SyncStripe {
  SyncStripe(const ArrayGeometry& geometry, const MemberView& members, uint64_t stripe)
      : facts(geometry, members, stripe) {}

  StripeFacts facts;
  StripeSync action = StripeSync::kCheck;
  bool is_skipped = false;  // somewhere too much was missing
  int full = 0;             // ENOSPC or EDQUOT
  MemberErrors member_errors;
  absl::InlinedVector<uint32_t, 1> mended_slots;
  RewrittenBadList rewritten_bad;
  bool still_bad = false;                // see EngineResult
  std::vector<UnreadableBlock> to_mend;  // met a read error, or is bad, and can be recovered
  bool has_listed_bad = false;           // of a check: a repair would find some that are bad

  uint64_t mismatched_lanes = 0;
  std::vector<WrongBlock> wrong;  // lane by lane, ascending
};

struct SyncBlock {
  size_t index = 0;  // of the stripe in the window
  uint32_t slot = 0;
  ColumnRange columns;
};

class SyncWindow {
 public:
  // `memory` has room for the columns of all stripes on all members.
  SyncWindow(std::span<SyncStripe> stripes, ColumnRange columns, std::span<std::byte> memory)
      : stripes_(stripes), columns_(columns), memory_(memory) {}

  const ColumnRange& columns() const { return columns_; }
  uint32_t raid_disks() const { return stripes_[0].facts.geometry().raid_disks(); }

  // In what pieces to read; null: in one for each member. The policy outlives the window.
  void set_requests(const ResyncRequest* requests) { requests_ = requests; }

  // Where the block's bytes lie, or are to lie.
  std::byte* Bytes(const SyncBlock& block) {
    const size_t row = block.slot * stripes_.size() + block.index;
    return memory_.data() + row * columns_.size() + (block.columns.begin - columns_.begin);
  }

  // Reads what can be read of these blocks, in the given order; it is best to go member by member.
  // What fails is marked in the stripe's facts.
  void Read(std::span<const SyncBlock> blocks);

  // Calls visit(columns) for pieces in which every slot's access is the same throughout. None is
  // longer than kSyncPieceBytes; lanes are never cut but by a change of access.
  template <typename Visit>
  void ForEachPiece(size_t index, Visit visit) const {
    const StripeFacts& facts = stripes_[index].facts;
    const uint64_t longest = facts.has_read_errors() ? kLaneBytes : kSyncPieceBytes;
    struct All {
      ColumnRange columns;
    };
    for (const ColumnRange& segment : CutColumns(facts, std::array{All{columns_}})) {
      for (uint64_t begin = std::max(segment.begin, columns_.begin); begin < segment.end;) {
        const uint64_t end = std::min(RoundDown(begin, longest) + longest, segment.end);
        visit(ColumnRange{begin, end});
        begin = end;
      }
    }
  }

 private:
  void CutRequests(std::span<const SyncBlock> blocks);
  void AddRead(const SyncBlock& block);
  void AddReadableLanes(const SyncBlock& block);
  bool RunReads();

  const std::span<SyncStripe> stripes_;
  const ColumnRange columns_;
  const std::span<std::byte> memory_;
  const ResyncRequest* requests_ = nullptr;
  std::vector<RequestCuts> cuts_;  // by slot: where the next requests begin, the last one first
  IoBatch batch_{IoBatch::Reads::kForOthers};
  std::vector<SyncBlock> blocks_;  // of batch_
  std::vector<SyncBlock> failed_;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_STRIPE_SYNC_WINDOW_H_
