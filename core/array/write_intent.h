// WriteIntent: the life of md's write-intent bitmap. A bit is durable on every member before the
// write that it covers starts (I1), stays while writes go on, and is cleared lazily once the
// members are durable.
//
// Setting is a flight: one thread stores all bits that are wanted by then, others wait for it or
// for the next one. Bits in memory are what is durable on the members, or less. Thread-safe. Knows
// no member: storing is the caller's function.

#ifndef MDVOL_CORE_ARRAY_WRITE_INTENT_H_
#define MDVOL_CORE_ARRAY_WRITE_INTENT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "core/metadata/bitmap.h"

namespace mdvol {

// A part of the bitmap's bytes as they shall be on every member.
struct BitmapPage {
  uint64_t offset_bytes = 0;  // from the bitmap superblock
  std::vector<uint8_t> bytes;
};

class WriteIntent {
 public:
  // Stores pages on all live members; with `flush`, durably. False: a member failed (the caller
  // knows which).
  using Store = std::function<bool(const std::vector<BitmapPage>& pages, bool flush)>;

  struct Range {  // bits [first, last]
    uint64_t first = 0;
    uint64_t last = 0;
  };

  // `file` is the bitmap as on disk: superblock, bits, and padding to the area that may be written.
  explicit WriteIntent(std::vector<uint8_t> file);

  uint64_t chunk_bytes() const { return chunk_bytes_; }
  uint64_t bits() const { return bits_; }

  // The bits that cover [begin, end) of every data area; end > begin.
  Range BitsOf(uint64_t begin_bytes, uint64_t end_bytes) const;

  // Returns true once the bits are durable and counted as in use; false when a store failed:
  // nothing is counted then.
  bool Start(Range range, const Store& store) ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends what Start began.
  void End(Range range) ABSL_LOCKS_EXCLUDED(mutex_);

  // The daemon's step, once per time base. Ages the bits; those idle for two steps or more are due.
  // When there are any: flush_members must make all data durable (false: try again next time), then
  // they are cleared and stored without flush. Not to be called while a write that has ended left
  // something undone: nothing here remembers it.
  void ClearIdle(const std::function<bool()>& flush_members, const Store& store)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // The step of a daemon that may not clear anything now: forgets when bits were last used, where
  // that is long ago, so that the memory for it does not grow without bound.
  void Age() ABSL_LOCKS_EXCLUDED(mutex_);
  // Clears all bits in memory, while no write is in flight; for a clean stop. Returns the pages to
  // store.
  std::vector<BitmapPage> ClearAll() ABSL_LOCKS_EXCLUDED(mutex_);
  // Sets every bit in memory: a bitmap that cannot vouch for its bits. They are as little durable
  // as any others that were not stored: see Pages.
  void SetAll() ABSL_LOCKS_EXCLUDED(mutex_);
  // The whole file, for members that do not hold these bits.
  std::vector<BitmapPage> Pages() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Whether `file`, another member's bitmap, has the same bits.
  bool AgreesWith(const std::vector<uint8_t>& file) const ABSL_LOCKS_EXCLUDED(mutex_);

  // The first run of set bits at or after `from`.
  std::optional<Range> NextSet(uint64_t from) const ABSL_LOCKS_EXCLUDED(mutex_);
  bool IsSet(uint64_t bit) const ABSL_LOCKS_EXCLUDED(mutex_);
  uint64_t CountSet() const ABSL_LOCKS_EXCLUDED(mutex_);
  // 4 KiB pages that hold a set bit.
  uint64_t CountSetPages() const ABSL_LOCKS_EXCLUDED(mutex_);

  // The bitmap superblock, read and changed under the lock; UpdateSuper returns the page to store.
  BitmapSuperblock super() const ABSL_LOCKS_EXCLUDED(mutex_);
  BitmapPage UpdateSuper(const std::function<void(BitmapSuperblock&)>& change)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Use {
    uint32_t in_flight = 0;
    uint64_t last_step = 0;
  };

  // Calls visit(bit) for every set bit, ascending; costs a look at each 64 of them and no more.
  template <typename Visit>
  void ForEachSet(Visit visit) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsIdle(const Use& use) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return use.in_flight == 0 && use.last_step + 2 <= step_;
  }
  bool Get(uint64_t bit) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Set(uint64_t bit, bool value) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool AllSet(Range range) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<BitmapPage> PagesOf(std::span<const uint64_t> bits) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  BitmapPage PageAt(uint64_t page) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<BitmapPage> AllPages() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<uint64_t> IdleBits() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool StoreWanted(const Store& store) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  uint64_t chunk_bytes_;
  uint64_t bits_;

  mutable absl::Mutex mutex_;
  absl::CondVar landed_;
  std::vector<uint8_t> file_ ABSL_GUARDED_BY(mutex_);
  uint64_t set_count_ ABSL_GUARDED_BY(mutex_) = 0;
  // Bits in use, and those used not long ago: any other that is set is idle. Never much more than
  // kMaxUses of them.
  absl::flat_hash_map<uint64_t, Use> uses_ ABSL_GUARDED_BY(mutex_);
  bool forgot_use_ ABSL_GUARDED_BY(mutex_) = false;  // since the last step
  absl::flat_hash_set<uint64_t> wanted_ ABSL_GUARDED_BY(mutex_);
  bool in_flight_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t step_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_ARRAY_WRITE_INTENT_H_
