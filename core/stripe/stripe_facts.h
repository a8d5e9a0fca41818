// What the planners need to know of one stripe: who holds what, and what can be read or written
// where. Facts go in, plans come out; nothing here does I/O or locks. Values; the views they point
// to must outlive them.

#ifndef MDVOL_CORE_STRIPE_STRIPE_FACTS_H_
#define MDVOL_CORE_STRIPE_STRIPE_FACTS_H_

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "core/device/member_device.h"
#include "core/geometry/geometry.h"
#include "core/metadata/bad_blocks.h"
#include "core/parity/parity.h"

namespace mdvol {

// A slot as the data path sees it. Constant while an operation holds its share of the array, but
// for what `checkpoint` points to.
struct SlotView {
  MemberDevice* device = nullptr;  // null: missing or faulty
  uint64_t data_offset_bytes = 0;  // where the member's data area starts
  uint64_t valid_bytes = 0;        // of the data area: all of it when in sync, the checkpoint (any
                                   // byte) while recovering
  const BadBlockList* bad_blocks = nullptr;  // absolute on the member; null or empty: none
  // Of a replacement that `device` writes to as well. It is never read: its list is only to learn
  // what has been written over.
  const BadBlockList* replacement_bad_blocks = nullptr;
  uint64_t replacement_offset_bytes = 0;  // where its data area starts
  // While the member is being rebuilt: its valid_bytes as they grow, and valid_bytes above is not
  // looked at. Whoever moves it past stripes leads them: who leads or shares a stripe sees one
  // value throughout, and a write beyond it need not go to the member, for the rebuild is yet to
  // come there. It must not go back.
  const std::atomic<uint64_t>* checkpoint = nullptr;

  bool present() const { return device != nullptr; }
  uint64_t ValidBytes() const {
    return checkpoint == nullptr ? valid_bytes : checkpoint->load(std::memory_order_acquire);
  }
};

// All slots of the array, and the alignment that every member accepts.
struct MemberView {
  std::vector<SlotView> slots;
  bool writable = false;  // false: nothing may be written, not even to mend a read error (I9)
  // A power of two in 512..4096, the largest that a device in `slots` wants: all columns of member
  // I/O but direct reads are rounded to it. Data offsets are multiples of what their device wants.
  uint64_t alignment_bytes = 512;
};

// Slots without a member that holds all that belongs there: md's `degraded`.
uint32_t CountDegraded(const ArrayGeometry& geometry, const MemberView& members);

// A range of columns: byte positions inside the chunks of one stripe.
struct ColumnRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t size() const { return end - begin; }
  bool Intersects(const ColumnRange& other) const { return begin < other.end && other.begin < end; }
};

using ColumnRanges = absl::InlinedVector<ColumnRange, 4>;

// Part of a member that was known to be bad and has been written over; absolute on the member.
struct RewrittenBad {
  uint32_t slot = 0;
  ByteRange range;
  bool is_replacement = false;  // the member that will replace the slot's
};
using RewrittenBadList = absl::InlinedVector<RewrittenBad, 1>;

enum class SlotAccess : uint8_t {
  kAbsent,  // no member, a stale block, or beyond a recovering member's checkpoint: neither read
            // nor written
  kUnreadable,  // a bad block, a read error, or columns that a checkpoint cuts: rewriting them is
                // right, and mends them
  kReadable,
};

// Edges of columns, in any order.
using ColumnEdges = absl::InlinedVector<uint64_t, 16>;

// Checkpoints are read once, when the facts are made. Facts that are older than the hold of the
// stripe will do for reading, for what they call absent has not been forgotten elsewhere; who
// writes makes them while leading.
class StripeFacts {
 public:
  StripeFacts(const ArrayGeometry& geometry, const MemberView& members, uint64_t stripe);

  const ArrayGeometry& geometry() const { return *geometry_; }
  const MemberView& members() const { return *members_; }
  uint64_t stripe() const { return stripe_; }
  const StripeRoles& roles() const { return roles_; }
  bool parity_trusted() const { return parity_trusted_; }
  void set_parity_trusted(bool trusted) { parity_trusted_ = trusted; }
  // A full file system left parity there that does not belong to the data (I13). That is known, so
  // it is worse than doubt.
  bool OwesParity(ColumnRange columns) const;
  bool owes_parity() const { return !owed_columns_.empty(); }
  void MarkParityOwed(ColumnRange columns) {
    owed_columns_.push_back(columns);
    parity_trusted_ = false;
  }

  // Where column 0 of this stripe lies in every data area.
  uint64_t data_offset_bytes() const { return stripe_ << geometry_->chunk_shift(); }
  // Where a column lies on the member in `slot`, absolute.
  uint64_t MemberOffset(uint32_t slot, uint64_t column) const {
    return members_->slots[slot].data_offset_bytes + data_offset_bytes() + column;
  }
  MemberDevice* Device(uint32_t slot) const { return members_->slots[slot].device; }

  // What the slot holds in this stripe, in parity's terms.
  BlockId BlockIdOf(uint32_t slot) const;

  SlotAccess Access(uint32_t slot, ColumnRange columns) const;
  bool Readable(uint32_t slot, ColumnRange columns) const {
    return Access(slot, columns) == SlotAccess::kReadable;
  }

  bool HasBadBlock(uint32_t slot, ColumnRange columns) const;
  // Of any member, in the whole stripe.
  bool HasBadBlocks() const;
  // All of these columns are on the member's list.
  bool IsListedBad(uint32_t slot, ColumnRange columns) const;
  // These columns have been written over: whatever of them was bad is bad no more.
  void NoteRewritten(uint32_t slot, ColumnRange columns, RewrittenBadList* list) const;

  // How many slots are absent. More than two: what is written could not be read back.
  uint32_t AbsentSlots(ColumnRange columns) const;

  // Whether a recovering member's checkpoint lies inside the stripe.
  bool HasCheckpoint() const;
  // Where a slot's access or what is owed may change inside the stripe: checkpoints, the ends of
  // bad blocks and of owed columns.
  void AppendEdges(ColumnEdges* edges) const;

  // A read error was met: the columns count as unreadable from now on.
  void MarkUnreadable(uint32_t slot, ColumnRange columns);
  bool has_read_errors() const { return !read_errors_.empty(); }
  bool HasReadError(uint32_t slot, ColumnRange columns) const;

  // A write to the slot's block has failed: it counts as absent.
  void MarkStale(uint32_t slot) { stale_slots_.push_back(slot); }
  bool has_stale() const { return !stale_slots_.empty(); }

 private:
  struct ReadError {
    uint32_t slot;
    ColumnRange columns;
  };
  struct Checkpoint {
    uint32_t slot;
    uint64_t valid_bytes;
  };

  uint64_t ValidBytes(uint32_t slot) const;
  bool IsCut(uint32_t slot) const;

  const ArrayGeometry* geometry_;
  const MemberView* members_;
  uint64_t stripe_;
  StripeRoles roles_;
  bool parity_trusted_ = true;
  ColumnRanges owed_columns_;
  absl::InlinedVector<Checkpoint, 1> checkpoints_;  // that move
  absl::InlinedVector<ReadError, 1> read_errors_;
  absl::InlinedVector<uint32_t, 1> stale_slots_;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_STRIPE_STRIPE_FACTS_H_
