// WindowPool: the memory of sync windows, kept between windows, for to get it anew takes as long as
// to fill it. At most two buffers are kept, as many as are in use at once as a rule (I10).
// Thread-safe.

#ifndef MDVOL_CORE_STRIPE_WINDOW_POOL_H_
#define MDVOL_CORE_STRIPE_WINDOW_POOL_H_

#include <cstddef>
#include <span>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/inlined_vector.h"
#include "absl/synchronization/mutex.h"
#include "core/base/aligned_buffer.h"
#include "core/base/huge_pages.h"

namespace mdvol {

class WindowPool {
 public:
  // A buffer out of the pool, and back into it at the end.
  class Loan {
   public:
    Loan(WindowPool& pool, size_t size_bytes) : pool_(pool), buffer_(pool.Take(size_bytes)) {}
    ~Loan() { pool_.GiveBack(std::move(buffer_)); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

    std::span<std::byte> span() { return buffer_.span(); }

   private:
    WindowPool& pool_;
    AlignedBuffer buffer_;
  };

  // Gives back to the system what nobody uses at the moment.
  void Drop() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    kept_.clear();
  }

 private:
  static constexpr size_t kMostKept = 2;

  // At least as large as asked for.
  AlignedBuffer Take(size_t size_bytes) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    for (AlignedBuffer& buffer : kept_) {
      if (buffer.size() >= size_bytes) {
        AlignedBuffer taken = std::move(buffer);
        buffer = std::move(kept_.back());
        kept_.pop_back();
        return taken;
      }
    }
    AlignedBuffer fresh(size_bytes);
    PreferHugePages(fresh);
    return fresh;
  }

  void GiveBack(AlignedBuffer buffer) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    if (kept_.size() < kMostKept) {
      kept_.push_back(std::move(buffer));
      return;
    }
    for (AlignedBuffer& kept : kept_) {
      if (kept.size() < buffer.size()) {
        std::swap(kept, buffer);
      }
    }
  }

  absl::Mutex mutex_;
  absl::InlinedVector<AlignedBuffer, kMostKept> kept_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mdvol

#endif  // MDVOL_CORE_STRIPE_WINDOW_POOL_H_
