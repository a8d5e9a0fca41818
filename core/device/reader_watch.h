// ReaderWatch: what one member's readers see: whether there are any, and how long they wait.
//
// Looking must not slow readers down: a read costs two relaxed additions, and is timed only while
// writes are about, or one in sixteen. When a read came last is noticed by whoever asks, at the
// precision with which he asks. Times are divided by the reads that were in flight when one began.
// Thread-safe.

#ifndef MDVOL_CORE_DEVICE_READER_WATCH_H_
#define MDVOL_CORE_DEVICE_READER_WATCH_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "core/base/clock.h"
#include "core/device/admission_judge.h"

namespace mdvol {

class ReaderWatch {
 public:
  explicit ReaderWatch(Clock& clock) : clock_(clock) {}

  // At the beginning of a read; the token belongs to its end.
  uint64_t Begin(bool writes_are_about);
  void End(uint64_t token, bool is_ok) ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether a read has begun since Facts was last asked.
  bool HasNews() const {
    return begun_.load(std::memory_order_relaxed) != seen_.load(std::memory_order_relaxed);
  }

  // Begins a new count when it hands one out.
  ReadFacts Facts(uint64_t now_ns) ABSL_LOCKS_EXCLUDED(mutex_);
  void Learn(uint64_t now_ns) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  static constexpr size_t kMostSamples = 32;

  Clock& clock_;
  alignas(64) std::atomic<uint64_t> begun_{0};
  std::atomic<uint64_t> ended_{0};
  alignas(64) std::atomic<uint64_t> seen_{0};  // of begun_, by Facts

  absl::Mutex mutex_;
  uint64_t seen_ended_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t last_read_ns_ ABSL_GUARDED_BY(mutex_) = 0;  // 0: none so far
  uint64_t learned_ns_ ABSL_GUARDED_BY(mutex_) = 0;    // 0: never
  uint64_t least_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t count_begin_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t slowest_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t count_ ABSL_GUARDED_BY(mutex_) = 0;
  // The last of them.
  std::array<uint64_t, kMostSamples> samples_ns_ ABSL_GUARDED_BY(mutex_) = {};
};

}  // namespace mdvol

#endif  // MDVOL_CORE_DEVICE_READER_WATCH_H_
