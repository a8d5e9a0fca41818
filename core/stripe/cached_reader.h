// Carries reads out through the stripe cache, lane by lane: what is there is not read, what is read
// is kept, and callers who want the same blocks at the same time share one read.
//
// Serves the steps that wish it (ReadStep::keep) and can have it: their columns are all alike, and
// their parity is to be relied on. What was served is taken out of ReadStep::wanted; what is left
// there (no room in the cache, a read error) is the ReadExecutor's. Runs in the caller's thread;
// the caller holds the stripes of all steps shared.
//
// The order, so that nobody waits in a circle (stripe_cache.h): pin and claim; read all that was
// claimed; wait for what others read, and rebuild what was claimed to be rebuilt; wait for what
// others rebuild, and deliver.

#ifndef MDVOL_CORE_STRIPE_CACHED_READER_H_
#define MDVOL_CORE_STRIPE_CACHED_READER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "core/device/io_batch.h"
#include "core/stripe/decode.h"
#include "core/stripe/read_executor.h"
#include "core/stripe/stripe_cache.h"

namespace mdvol {

// Whether the stripe cache may serve the stripe at all. The caller holds it, and what is unsettled
// about it is in the facts already.
bool MayCache(const StripeFacts& facts);

class CachedReader {
 public:
  CachedReader(StripeCache& cache, uint64_t now_ns) : cache_(cache), now_ns_(now_ns) {}

  // `when_idle` is called with a step that wishes it (ReadStep::next_stripe) when there is nothing
  // to do but to wait for other callers' reads.
  void Run(std::span<ReadStep> steps, absl::FunctionRef<void(const ReadStep&)> when_idle);

  // Reads the first ReadStep::ahead_bytes of all chunks, and rebuilds those that are lost, for
  // whoever will want them. Nothing, if no data is lost there.
  void Fetch(ReadStep& step);

 private:
  // A lane of a step in hand.
  struct Item {
    size_t part;
    StripeCache::Lane* lane;
    absl::InlinedVector<uint32_t, 2> rebuilds;  // claimed, to be decoded
  };
  // A step in hand.
  struct Part {
    ReadStep* step;
    StripeCache::Keep keep;
    DecodeSet decode;                       // of any of its lanes
    absl::InlinedVector<bool, 16> is_data;  // by slot
    StripeCache::LaneList lanes;            // pinned, ascending
    bool has_failed = false;                // a read has
  };
  struct Claim {
    size_t item;
    uint32_t slot;
  };

  void Begin(ReadStep& step, bool is_fetch);
  void RebuildAll();
  bool MustWait(const Part& part) const;
  void PinLanes(Part& part, uint64_t ahead_bytes);
  bool IsAllThere(const Part& part) const;
  void Plan(Item& item);
  void Want(Item& item, size_t item_index, uint32_t slot);
  void Read();
  void Announce();
  void Rebuild(Item& item);
  void Deliver(Part& part);
  bool DeliverLane(Part& part, const WantedExtent& extent, ColumnRange columns);
  StripeCache::Lane* FindLane(const Part& part, uint64_t column) const;

  StripeCache& cache_;
  const uint64_t now_ns_;
  std::vector<Part> parts_;
  std::vector<Item> items_;
  std::vector<Claim> claims_;
  IoBatch batch_;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_STRIPE_CACHED_READER_H_
