// UnsettledStripes: what failed writes left behind, until the array has drawn the consequences.
//
//   stale blocks  a write to the block failed while the rest of the stripe was written. Until the
//                 member has been failed (I3) others still see it in their view of the members; to
//                 plan with what it holds would put wrong parity under their bytes.
//   owed parity   a full file system kept data, P and Q from agreeing (I13) in some columns; until
//                 parity has been rewritten there, nothing is reconstructed from it that P and Q do
//                 not agree on.
//
// The array keeps account of owed parity too, and rightly: it knows what is to be tried again,
// which may be told late and coarsely (ArrayImpl::NoteOwed). Here it is known what must not be
// believed: from before the stripe is given up, and in no more columns than need be. Columns are
// kept of kMostDetailed stripes; of those beyond, one bit, that stands for the whole stripe until
// all of its parity has been rewritten; and of those that would begin another region of bits than
// kMostRegions, one bit for a part of the array, which is owed until the array knows that nothing
// is owed any more (I10). Stale blocks are as few as the calls that are about to fail their member.
//
// Noted by leaders before they give up the stripe, applied to the facts by whoever has the stripe
// next. Thread-safe. Empty nearly always, and then free.

#ifndef MDVOL_CORE_STRIPE_UNSETTLED_STRIPES_H_
#define MDVOL_CORE_STRIPE_UNSETTLED_STRIPES_H_

#include <algorithm>
#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/synchronization/mutex.h"
#include "core/base/units.h"
#include "core/stripe/stripe_facts.h"
#include "core/stripe/stripe_locks.h"

namespace mdvol {

class UnsettledStripes {
 public:
  static constexpr size_t kMostDetailed = 4096;

  static constexpr size_t kMostRegions = 16384;
  static constexpr uint64_t kMostParts = 65536;

  UnsettledStripes(uint64_t chunk_bytes, uint64_t stripe_count)
      : chunk_bytes_(chunk_bytes),
        stripes_per_part_(std::max(kRegionStripes, CeilDiv(stripe_count, kMostParts))) {}

  // `error` names the slot and what the write to its block met.
  void NoteStale(const StripeFacts& facts, const MemberError& error);
  void NoteOwedParity(uint64_t stripe, ColumnRange columns);
  // P and Q have been rewritten from data in these columns, wherever they have members.
  void ParityRewritten(uint64_t stripe, ColumnRange columns);

  // Whether whole parts are owed, which stripes that are rewritten one by one do not pay.
  bool OwesParts() const;
  // Nothing is owed any more, in any stripe, and no write is in flight.
  void ForgetParts();

  // Makes the facts of a stripe true. The errors of the stale blocks are added to *errors: who
  // skips a block may not be acknowledged before its member has been failed either (I3).
  void ApplyTo(StripeFacts& facts, MemberErrors* errors);

  // The first stripe in which the slot's block is stale; none when none is.
  std::optional<uint64_t> FirstStale(uint32_t slot) const;

  // A stale block is settled when its member has left the slot.
  void MembersChanged(const MemberView& members);

  // In stripes; a part counts with all of its own.
  size_t size() const { return count_.load(std::memory_order_relaxed); }

 private:
  struct StaleBlock {
    MemberError error;
    const MemberDevice* device;  // to be compared alone
  };
  struct Unsettled {
    absl::InlinedVector<StaleBlock, 1> stale;
    ColumnRanges owed;
    bool IsSettled() const { return stale.empty() && owed.empty(); }
  };

  static constexpr uint64_t kRegionStripes = 1024;
  using Region = std::bitset<kRegionStripes>;  // of stripes, side by side

  void NoteOwedWhole(uint64_t stripe) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsInOwedPart(uint64_t stripe) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsOwedWhole(uint64_t stripe) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static void DropSettled(const MemberView& members, Unsettled& unsettled);
  // Whoever has the stripe sees what its last leader noted: the stripe's lock lies between.
  bool IsEmpty() const { return count_.load(std::memory_order_relaxed) == 0; }
  void UpdateCount() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    count_.store(stripes_.size() + owed_whole_count_ + owed_part_count_ * stripes_per_part_,
                 std::memory_order_relaxed);
  }

  const uint64_t chunk_bytes_;
  const uint64_t stripes_per_part_;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<uint64_t, Unsettled> stripes_ ABSL_GUARDED_BY(mutex_);
  // Stripes that owe parity in all columns, or count as if they did; by region.
  absl::flat_hash_map<uint64_t, Region> owed_whole_ ABSL_GUARDED_BY(mutex_);
  size_t owed_whole_count_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<bool> owed_parts_ ABSL_GUARDED_BY(mutex_);  // as long as need be
  size_t owed_part_count_ ABSL_GUARDED_BY(mutex_) = 0;
  std::atomic<size_t> count_ = 0;  // of all
};

}  // namespace mdvol

#endif  // MDVOL_CORE_STRIPE_UNSETTLED_STRIPES_H_
