// WorkerPool: the threads that carry requests. Each receives one request, runs its callback to the
// end and takes the next; there is no queue and no hand-off.
//
// Threads are added while all of them are busy, up to the limit, so that a deep queue finds one
// worker per request. Own loop instead of libfuse's, for the receive buffer: it is placed so that
// the data of a write is page-aligned where the kernel puts it, and needs no copy on its way to the
// engine.
//
// Memory: each worker holds a receive buffer of 1 MiB and a header, and what ThreadBuffer holds.

#ifndef MDVOL_FUSE_WORKER_H_
#define MDVOL_FUSE_WORKER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "fuse/libfuse.h"

namespace mdvol {

class WorkerPool {
 public:
  // `ended` is called once, by the last worker, when the session is over. The session must outlive
  // the pool.
  WorkerPool(fuse_session* session, uint32_t max_workers, std::function<void()> ended);
  // The workers must have ended, or never have been started.
  ~WorkerPool();

  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Receives and answers one request in the calling thread: FUSE_INIT, before Start.
  absl::Status ServeOne();

  void Start() ABSL_LOCKS_EXCLUDED(mutex_);

  // Makes the workers leave: those that wait for a request at once, those that carry one after it.
  // Returns when all have ended.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  class ReceiveBuffer;

  void Work(ReceiveBuffer& buffer) ABSL_LOCKS_EXCLUDED(mutex_);
  void AddWorker() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Around each request.
  void BecomeBusy() ABSL_LOCKS_EXCLUDED(mutex_);
  void BecomeIdle() { idle_.fetch_add(1, std::memory_order_relaxed); }
  void Leave() ABSL_LOCKS_EXCLUDED(mutex_);

  fuse_session* const session_;
  const uint32_t max_workers_;
  const std::function<void()> ended_;
  std::atomic<int32_t> idle_{0};

  absl::Mutex mutex_;
  std::list<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
  uint32_t running_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace mdvol

#endif  // MDVOL_FUSE_WORKER_H_
