// WindowPool: the memory of sync windows, kept between windows, for to get it anew takes as long as
// to fill it. What is kept and what is in use are together no more than what was in use at once at
// some time, which whoever runs windows bounds (I10). Thread-safe.

#ifndef MDVOL_CORE_STRIPE_WINDOW_POOL_H_
#define MDVOL_CORE_STRIPE_WINDOW_POOL_H_

#include <algorithm>
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
    Loan(WindowPool& pool, size_t size_bytes)
        : pool_(pool), size_bytes_(size_bytes), buffer_(pool.Take(size_bytes)) {}
    ~Loan() { pool_.GiveBack(size_bytes_, std::move(buffer_)); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

    std::span<std::byte> span() { return buffer_.span(); }

   private:
    WindowPool& pool_;
    const size_t size_bytes_;  // asked for
    AlignedBuffer buffer_;
  };

  // Gives back to the system what nobody uses at the moment.
  void Drop() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    kept_.clear();
    most_lent_bytes_ = lent_bytes_;
  }

 private:
  // The smallest that is kept and large enough, or a new one.
  AlignedBuffer Take(size_t size_bytes) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    lent_bytes_ += size_bytes;
    most_lent_bytes_ = std::max(most_lent_bytes_, lent_bytes_);
    AlignedBuffer* best = nullptr;
    for (AlignedBuffer& buffer : kept_) {
      if (buffer.size() >= size_bytes && (best == nullptr || buffer.size() < best->size())) {
        best = &buffer;
      }
    }
    if (best != nullptr) {
      AlignedBuffer taken = std::move(*best);
      *best = std::move(kept_.back());
      kept_.pop_back();
      return taken;
    }
    AlignedBuffer fresh(size_bytes);
    PreferHugePages(fresh);
    return fresh;
  }

  void GiveBack(size_t size_bytes, AlignedBuffer buffer) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    lent_bytes_ -= size_bytes;
    size_t held_bytes = lent_bytes_ + buffer.size();
    for (const AlignedBuffer& kept : kept_) {
      held_bytes += kept.size();
    }
    if (held_bytes <= most_lent_bytes_) {
      kept_.push_back(std::move(buffer));
      return;
    }
    for (AlignedBuffer& kept : kept_) {
      if (kept.size() < buffer.size() && held_bytes - kept.size() <= most_lent_bytes_) {
        std::swap(kept, buffer);
        return;
      }
    }
  }

  absl::Mutex mutex_;
  size_t lent_bytes_ ABSL_GUARDED_BY(mutex_) = 0;       // as asked for
  size_t most_lent_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // since the last Drop
  absl::InlinedVector<AlignedBuffer, 8> kept_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mdvol

#endif  // MDVOL_CORE_STRIPE_WINDOW_POOL_H_
