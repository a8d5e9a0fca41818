// Suspension: md/suspend_lo and md/suspend_hi. Writes into [lo, hi) of the volume wait until the
// range has moved on; the array refuses them for now (EAGAIN), and what they were about to do is
// parked here, without keeping a worker: blocked writers must never use up the workers that carry
// the write which releases them. Whoever moves the range carries out what it lets go. Thread-safe.

#ifndef MDVOL_FUSE_CONTROL_SUSPENSION_H_
#define MDVOL_FUSE_CONTROL_SUSPENSION_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "core/array/array.h"

namespace mdvol {

class Suspension {
 public:
  // `array` must outlive the suspension.
  explicit Suspension(Array& array) : array_(array) {}
  // Nothing may be parked any more: see ReleaseAll.
  ~Suspension() = default;
  Suspension(const Suspension&) = delete;
  Suspension& operator=(const Suspension&) = delete;

  uint64_t lo_bytes() const ABSL_LOCKS_EXCLUDED(mutex_);
  uint64_t hi_bytes() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Return when no write that came before is in flight in the range, as in md.
  absl::Status SetLo(uint64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_, moving_);
  absl::Status SetHi(uint64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_, moving_);

  // Keeps `again` until the range has moved, then calls it. False, and it is not kept, when the
  // bytes are not suspended (any more): try at once.
  bool Park(uint64_t offset_bytes, uint64_t length_bytes, std::function<void()> again)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // The end: nothing is suspended from now on, and all that is parked is carried out.
  void ReleaseAll() ABSL_LOCKS_EXCLUDED(mutex_, moving_);

 private:
  absl::Status Move(uint64_t lo_bytes, uint64_t hi_bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(moving_)
      ABSL_LOCKS_EXCLUDED(mutex_);

  Array& array_;
  absl::Mutex moving_ ABSL_ACQUIRED_BEFORE(mutex_);  // one move at a time
  mutable absl::Mutex mutex_;
  uint64_t lo_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t hi_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::function<void()>> parked_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mdvol

#endif  // MDVOL_FUSE_CONTROL_SUSPENSION_H_
