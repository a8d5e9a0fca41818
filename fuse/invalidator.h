// Invalidator: tells the kernel which bytes of the volume it must read again, because a repair has
// changed them under its page cache. A thread of its own, which holds no lock and no stripe: the
// kernel answers only after reads in flight have ended, and writes dirty mapped pages back through
// us first.

#ifndef MDVOL_FUSE_INVALIDATOR_H_
#define MDVOL_FUSE_INVALIDATOR_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace mdvol {

class Invalidator {
 public:
  using Invalidate = std::function<void(uint64_t offset_bytes, uint64_t length_bytes)>;

  Invalidator() = default;
  ~Invalidator() { Stop(); }
  Invalidator(const Invalidator&) = delete;
  Invalidator& operator=(const Invalidator&) = delete;

  // Ranges may be added before; they wait.
  void Start(Invalidate invalidate);
  // What still waits is dropped: the mount, and with it the cache, is going.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

  // Never blocks for long. Neighbours in a row become one range.
  void Add(uint64_t offset_bytes, uint64_t length_bytes) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Range {
    uint64_t offset_bytes;
    uint64_t length_bytes;
  };

  void Loop(const Invalidate& invalidate) ABSL_LOCKS_EXCLUDED(mutex_);

  absl::Mutex mutex_;
  std::deque<Range> ranges_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace mdvol

#endif  // MDVOL_FUSE_INVALIDATOR_H_
