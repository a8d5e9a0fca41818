// The write journal's ring as a ledger: where the next record goes, which records are still needed,
// how far the tail may move. A pure value; its owner locks.
//
// A record's life: Place (room and number are its), the device write and flush, NoteDurable in the
// order of placing, Hold once for everyone whose member writes it protects, Release by each when
// those have ended. Whoever notes a record holds it before anyone asks for Passable.
//
// Invariants: the tail names a durable record, and so do Passable and every place between; no block
// from the tail to the head is given out again, so the head never meets the tail; numbers are
// consecutive, and no number is given out twice for one place, but where Unplace took it back.

#ifndef MDVOL_CORE_METADATA_JOURNAL_RING_H_
#define MDVOL_CORE_METADATA_JOURNAL_RING_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "core/metadata/journal_scan.h"

namespace mdvol {

class JournalRing {
 public:
  struct Span {
    JournalPlace at;
    uint64_t blocks = 0;  // meta block and pages, around the ring's end
  };

  // The smallest ring that a mount of `raid_disks` members writes to: room for a few lanes in
  // flight and as many in reserve. And the smallest that create makes.
  static uint64_t LeastBytes(uint32_t raid_disks);
  static uint64_t LeastNewBytes(uint32_t raid_disks);

  // A ring of whole blocks, at least 16. `tail` is the first durable record, `head` the place
  // behind the last one; all between is durable and may be passed.
  JournalRing(uint64_t ring_bytes, const JournalPlace& tail, const JournalPlace& head);

  // Room for a record of `blocks`; absent when it is not there until the tail moves. The reserve
  // (most_blocks_per_append) is for records without which held ones could not be released.
  std::optional<Span> Place(uint64_t blocks, bool may_use_reserve);
  // Takes back the record that was placed last; nothing of it may be left on the device (a later
  // record with its number could otherwise be followed by what it was followed by).
  void Unplace(const Span& span);
  void NoteDurable(const Span& span);

  // The tail stays at or before a held record. `span` is durable and was not passed.
  uint64_t Hold(const Span& span);
  void Release(uint64_t ticket);

  // How far the tail may be moved as far as this ring knows: to the oldest held record, or to the
  // last durable one. Never moves back.
  JournalPlace Passable() const;
  // The tail on disk is now `durable`, which Passable gave.
  void MoveTail(const JournalPlace& durable);

  JournalPlace tail() const { return PlaceOf(tail_); }
  JournalPlace head() const { return PlaceOf(head_); }
  uint64_t free_blocks() const { return ring_blocks_ - (head_.block - tail_.block); }
  // A bound for what is placed and not yet durable, well below kJournalSeqGap.
  uint64_t most_blocks_per_append() const;
  bool WantsReclaim() const;

 private:
  // Blocks are counted on and on, laps included.
  struct Mark {
    uint64_t block = 0;
    uint64_t seq = 0;
  };
  struct Earlier {
    bool operator()(const Mark& a, const Mark& b) const { return a.block < b.block; }
  };
  struct Placed {
    Mark at;
    uint64_t blocks = 0;
  };

  JournalPlace PlaceOf(const Mark& mark) const;
  // The mark of a place from the tail on.
  Mark MarkOf(const JournalPlace& place) const;
  Mark PassableMark() const;

  uint64_t ring_blocks_;
  Mark tail_;
  Mark head_;
  Mark last_durable_;
  std::deque<Placed> placed_;  // not yet durable
  std::map<uint64_t, Mark> by_ticket_;
  std::multiset<Mark, Earlier> held_;
  uint64_t next_ticket_ = 1;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_METADATA_JOURNAL_RING_H_
