// ReadRuns: which reads continue which. A small table of the streams that are being read, so that
// a read can be told from a random one, also when many requests of a stream are under way at once
// and come a little out of order.
//
// A run is a series of reads that lie near each other and of which most begin where another one
// ends, or end where another one begins; reads at random in one small place do not. A run has its
// place in the table by where in the volume it is, and moves as it goes on: a read looks at few
// places. Two runs that meet in one place are one too many, and one of them is not known for a
// while. Thread-safe; one short lock.

#ifndef MDVOL_CORE_STRIPE_READ_RUNS_H_
#define MDVOL_CORE_STRIPE_READ_RUNS_H_

#include <array>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace mdvol {

// The run that a read belongs to, the read included; zeroes for one that continues nothing.
struct ReadRun {
  uint32_t requests = 0;
  uint64_t bytes = 0;
  uint64_t gap_ns = 0;       // between this read and the last one before it
  uint32_t active_runs = 0;  // in the whole table, as of some tenths of a second ago at most
};

class ReadRuns {
 public:
  ReadRun Note(uint64_t offset_bytes, uint64_t length_bytes, uint64_t now_ns)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Range {
    uint64_t begin = 0;
    uint64_t end = 0;
  };

  static constexpr uint32_t kPlaces = 256;
  static constexpr uint32_t kWays = 2;
  static constexpr uint32_t kRing = 32;

  struct alignas(64) Entry {
    uint64_t end = 0;  // of the furthest read
    uint64_t last_ns = 0;
    uint64_t bytes = 0;
    uint32_t requests = 0;  // 0: free
    // Of the last dozens of requests: how many, and the places where two of them meet.
    uint32_t recent = 0;
    uint32_t recent_joints = 0;
    std::array<Range, kRing> ring;  // the last ones

    bool IsRun() const;
    bool IsForgotten(uint64_t now_ns) const;
    bool Continues(Range read, uint64_t now_ns) const;
    void Absorb(const Entry& other);
    void Add(Range read, uint64_t now_ns);
  };
  using Set = std::array<Entry, kWays>;

  static uint32_t PlaceOf(uint64_t offset_bytes);
  Entry* Find(Range read, uint64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Entry* Replaced(uint32_t place, uint64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Entry* MoveOn(Entry* entry, uint32_t from, uint64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CountRuns(uint64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Mutex mutex_;
  std::array<Set, kPlaces> places_ ABSL_GUARDED_BY(mutex_);
  uint32_t active_runs_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t counted_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  bool was_counted_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_STRIPE_READ_RUNS_H_
