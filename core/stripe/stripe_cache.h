// StripeCache: blocks of members kept in memory, lane by lane. A lane is the 4 KiB slice of a
// stripe, across all slots: data, P and Q as they are on the members, or as they would be on a
// member that is lost. What the cache holds is never newer than the members, so any lane may be
// dropped at any time.
//
// Nothing stale is ever handed out, because of three rules that the callers keep:
//   - blocks are filled and read only by who holds the stripe in StripeLocks, shared or as leader;
//   - who changes what any member holds in a stripe leads it, and drops its lanes, or makes them
//     what was written, before giving the stripe up;
//   - when a slot has lost or gained its member, everything is dropped (DropAll).
// Reads that go straight to a member need neither the cache nor a lock.
//
// A block is absent, pending (one caller has claimed it and will publish or abandon it) or valid.
// Claims of blocks that are read from members are settled before their owner waits for anything but
// its I/O; claims of recovered blocks before their owner waits for anything but blocks that are
// read. So waiting (WaitWhilePending) cannot go round in a circle. A lane that is pinned stays what
// it is; pins are given back before the stripe is.
//
// Memory: 4 KiB x raid_disks for each lane, `size` lanes at most, as md counts them; taken when a
// lane is first needed, given back when none is kept any more. Stripes are spread over shards, each
// with a lock of its own; within a shard, what was not used for the longest time makes room first.
// Thread-safe. No thread of its own: Expire is called by whoever has the time.

#ifndef MDVOL_CORE_STRIPE_STRIPE_CACHE_H_
#define MDVOL_CORE_STRIPE_STRIPE_CACHE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/synchronization/mutex.h"
#include "core/base/aligned_buffer.h"
#include "core/base/units.h"

namespace mdvol {

inline constexpr uint32_t kMinStripeCacheLanes = 17;  // md's own bounds of stripe_cache_size
inline constexpr uint32_t kMaxStripeCacheLanes = 32768;

// The smaller of 4096 lanes and what 256 MiB hold.
uint32_t DefaultStripeCacheLanes(uint32_t raid_disks);

class StripeCache {
 public:
  // Delivered: valid, and handed to a reader to its last byte; see Keep::until_delivered.
  enum class Block : uint8_t { kAbsent, kPending, kValid, kDelivered };

  class Lane {
   public:
    explicit Lane(uint32_t raid_disks)
        : bytes_(size_t{raid_disks} * kLaneBytes), blocks_(raid_disks) {}

    uint32_t number() const { return number_; }
    std::byte* bytes(uint32_t slot) { return bytes_.data() + size_t{slot} * kLaneBytes; }

    bool IsValid(uint32_t slot) const { return Get(slot) >= Block::kValid; }
    bool IsPending(uint32_t slot) const { return Get(slot) == Block::kPending; }
    // True: the block was absent, and is the caller's to fill.
    bool Claim(uint32_t slot) {
      Block expected = Block::kAbsent;
      return blocks_[slot].compare_exchange_strong(expected, Block::kPending,
                                                   std::memory_order_acquire);
    }
    // Of a claimed block, or as leader. Whoever waits for it learns of it from Announce.
    void Publish(uint32_t slot) { Set(slot, Block::kValid); }
    void Abandon(uint32_t slot) { Set(slot, Block::kAbsent); }
    // Of a valid block.
    void NoteDelivered(uint32_t slot) { Set(slot, Block::kDelivered); }

   private:
    friend class StripeCache;

    Block Get(uint32_t slot) const { return blocks_[slot].load(std::memory_order_acquire); }
    void Set(uint32_t slot, Block block) { blocks_[slot].store(block, std::memory_order_release); }

    uint32_t number_ = 0;  // in its stripe
    uint32_t pins_ = 0;    // under the shard's mutex
    AlignedBuffer bytes_;
    std::vector<std::atomic<Block>> blocks_;
  };

  // What becomes of lanes when nobody uses them.
  struct Keep {
    uint64_t now_ns = 0;
    // Dropped when the stripe's lanes were not used for so long, the least of all that say; 0: when
    // their room is needed.
    uint64_t retention_ns = 0;
    bool is_lazy = false;          // when Expire is called anyway will do for that
    bool until_delivered = false;  // dropped when all its data has been delivered
  };
  struct LaneRange {
    uint32_t first = 0;
    uint32_t count = 0;
  };
  using LaneList = absl::InlinedVector<Lane*, 32>;

  explicit StripeCache(uint32_t raid_disks) : raid_disks_(raid_disks) {}
  StripeCache(const StripeCache&) = delete;
  StripeCache& operator=(const StripeCache&) = delete;

  // 0, as at first: nothing is kept. Lanes too many are dropped at once, pinned ones later.
  void Resize(uint32_t lanes);
  uint32_t size() const { return size_.load(std::memory_order_relaxed); }
  // Lanes that hold blocks, or are about to.
  uint32_t active() const { return active_.load(std::memory_order_relaxed); }
  bool empty() const { return active() == 0; }

  // Pins lanes of the stripe and appends them to *lanes, making those that are not there. As many
  // as there is room for, from the first on; how many.
  uint32_t Pin(uint64_t stripe, LaneRange range, const Keep& keep, LaneList* lanes);
  // As Pin, but of a single lane that is there already; null otherwise.
  Lane* PinKept(uint64_t stripe, uint32_t lane);
  // Whether anything of the stripe is there. For who does not hold it, too.
  bool IsKept(uint64_t stripe);
  // `is_data` tells by slot whether a block is the volume's (for until_delivered).
  void Unpin(uint64_t stripe, std::span<Lane* const> lanes, const Keep& keep,
             std::span<const bool> is_data = {});

  // Wakes those who wait for blocks of the stripe.
  void Announce(uint64_t stripe);
  void WaitWhilePending(uint64_t stripe, const Lane& lane, uint32_t slot);

  // Drops the lanes of a stripe that the caller leads.
  void Drop(uint64_t stripe);
  // When nobody else uses the cache.
  void DropAll();

  static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

  // Drops what has not been used for as long as it was to be kept. Returns when it wants to be
  // called again; kNever: when WantsTimer says so.
  uint64_t Expire(uint64_t now_ns);
  // Once, after lanes with a retention were pinned while no call of Expire was due.
  bool WantsTimer() { return has_timed_.load() && !timer_is_set_.exchange(true); }

 private:
  struct Row {  // what is kept of one stripe
    uint64_t stripe = 0;
    uint64_t used_ns = 0;
    uint64_t retention_ns = 0;
    bool is_lazy = true;
    std::vector<std::unique_ptr<Lane>> lanes;  // ascending, never empty between calls
  };
  using Rows = std::list<Row>;

  struct alignas(64) Shard {
    absl::Mutex mutex;
    absl::CondVar settled;
    Rows rows ABSL_GUARDED_BY(mutex);  // the one not used for the longest time first
    absl::flat_hash_map<uint64_t, Rows::iterator> index ABSL_GUARDED_BY(mutex);
  };

  static constexpr size_t kShards = 16;

  Shard& ShardOf(uint64_t stripe) { return shards_[stripe % kShards]; }
  static size_t Position(const Row& row, uint32_t lane);
  Row& UseRow(Shard& shard, uint64_t stripe, const Keep& keep)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);
  Lane* FindOrMake(Shard& shard, Row& row, uint32_t number)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);
  // A lane without blocks; null when all are in use.
  std::unique_ptr<Lane> TakeLane(Shard& shard) ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex)
      ABSL_LOCKS_EXCLUDED(spare_mutex_);
  std::unique_ptr<Lane> TakeSpare() ABSL_LOCKS_EXCLUDED(spare_mutex_);
  void GiveBack(std::unique_ptr<Lane> lane) ABSL_LOCKS_EXCLUDED(spare_mutex_);
  // Takes the least recently used lane that nobody has pinned out of the shard; never of `sparing`.
  static std::unique_ptr<Lane> Evict(Shard& shard, const Row* sparing)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);
  void DropRow(Shard& shard, Rows::iterator row) ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);
  static bool IsDelivered(const Lane& lane, std::span<const bool> is_data);
  void TrimSpare() ABSL_LOCKS_EXCLUDED(spare_mutex_);

  const uint32_t raid_disks_;
  std::array<Shard, kShards> shards_;

  absl::Mutex spare_mutex_;  // after any shard's
  std::vector<std::unique_ptr<Lane>> spare_ ABSL_GUARDED_BY(spare_mutex_);
  uint32_t made_ ABSL_GUARDED_BY(spare_mutex_) = 0;  // spare and in use
  std::atomic<uint32_t> size_{0};
  std::atomic<uint32_t> active_{0};

  std::atomic<bool> has_timed_{false};     // lanes with a retention have been kept
  std::atomic<bool> timer_is_set_{false};  // somebody will call Expire
};

}  // namespace mdvol

#endif  // MDVOL_CORE_STRIPE_STRIPE_CACHE_H_
