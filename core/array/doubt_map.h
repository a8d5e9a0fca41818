// DoubtMap: the stripes whose parity an unclean stop left in doubt (I12), until it has been
// recomputed. As coarse as the bitmap that named them, or coarser where that would be more than
// kMostBits: an array without a bitmap may have any number of stripes. Thread-safe; asking is one
// relaxed load when nothing is in doubt.

#ifndef MDVOL_CORE_ARRAY_DOUBT_MAP_H_
#define MDVOL_CORE_ARRAY_DOUBT_MAP_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace mdvol {

// Stripes [first, first + count).
struct StripeRange {
  uint64_t first = 0;
  uint64_t count = 0;
};

class DoubtMap {
 public:
  static constexpr uint64_t kMostBits = uint64_t{1} << 20;

  DoubtMap(uint64_t stripe_count, uint64_t stripes_per_bit);

  // Marks everything that [first, first + count) touches.
  void Add(StripeRange range) ABSL_LOCKS_EXCLUDED(mutex_);
  // Clears a bit when all of its stripes are in `range`; partial coverage leaves it.
  void Remove(StripeRange range) ABSL_LOCKS_EXCLUDED(mutex_);
  void Clear() ABSL_LOCKS_EXCLUDED(mutex_);

  bool Contains(uint64_t stripe) const ABSL_LOCKS_EXCLUDED(mutex_);
  bool Touches(StripeRange range) const ABSL_LOCKS_EXCLUDED(mutex_) {
    const std::optional<StripeRange> next = Next(range.first);
    return next.has_value() && next->first < range.first + range.count;
  }
  bool empty() const { return marked_.load(std::memory_order_acquire) == 0; }
  // The first run of stripes in doubt that ends after `from`, one bit long at most.
  std::optional<StripeRange> Next(uint64_t from) const ABSL_LOCKS_EXCLUDED(mutex_);
  // All stripes of the bit that keeps `stripe` in doubt; none when it is not.
  std::optional<StripeRange> RunOf(uint64_t stripe) const ABSL_LOCKS_EXCLUDED(mutex_);
  // The stripes in doubt, counted by whole bits.
  uint64_t CountStripes() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  StripeRange StripesOf(uint64_t bit) const;

  const uint64_t stripe_count_;
  const uint64_t stripes_per_bit_;
  std::atomic<uint64_t> marked_{0};
  mutable absl::Mutex mutex_;
  std::vector<bool> bits_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mdvol

#endif  // MDVOL_CORE_ARRAY_DOUBT_MAP_H_
