// ParityThreads: threads that compute parity for callers, where a policy asks for that. One of them
// plays md's raid5d: it takes up all jobs that wait, in the order of arrival, and works on them as
// the job's way says, itself or with the help of a pool.
//
// A job is a number of lanes and a function that does one of them. Run returns when all have been
// done; the function is called from other threads, for different lanes at once, and must not wait
// for anybody. Threads are started when first needed and stay until the end; where none can be had
// the caller does its job itself. Thread-safe.
//
// Locking: jobs_mutex_ for what waits for raid5d, pool_mutex_ for what waits for the pool; neither
// is held while the other is taken, nor while a lane is worked on.

#ifndef MDVOL_CORE_STRIPE_PARITY_THREADS_H_
#define MDVOL_CORE_STRIPE_PARITY_THREADS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "core/policy/parity_workers.h"

namespace mdvol {

class ParityThreads {
 public:
  using DoLane = absl::FunctionRef<void(size_t lane)>;

  ParityThreads() = default;
  // No job may be under way.
  ~ParityThreads();
  ParityThreads(const ParityThreads&) = delete;
  ParityThreads& operator=(const ParityThreads&) = delete;

  // Whatever the decision says is brought within bounds.
  void Run(const ParityWorkersDecision& decision, size_t lanes, DoLane do_lane)
      ABSL_LOCKS_EXCLUDED(jobs_mutex_, pool_mutex_);

  // How often a lane has been given from one thread to another.
  uint64_t hand_overs() const { return hand_overs_.load(std::memory_order_relaxed); }

 private:
  struct Job {
    ParityWorkersDecision decision;
    size_t lanes;
    DoLane do_lane;
    bool is_finished = false;  // guarded by jobs_mutex_
    absl::CondVar finished{};
  };

  // What the pool is given: one lane, once.
  struct Item {
    Job* job;
    size_t lane;
    bool has_work;  // a pass that only looks at the stripe has none
  };

  bool EnsureThreads(uint32_t pool_threads) ABSL_LOCKS_EXCLUDED(jobs_mutex_, pool_mutex_);
  void ServeJobs() ABSL_LOCKS_EXCLUDED(jobs_mutex_);
  void ServePool() ABSL_LOCKS_EXCLUDED(pool_mutex_);
  void Work(std::vector<Job*>& jobs);
  void RunPasses(const std::vector<Job*>& jobs) ABSL_LOCKS_EXCLUDED(pool_mutex_);
  void RunOperations(const std::vector<Job*>& jobs) ABSL_LOCKS_EXCLUDED(pool_mutex_);
  void GiveToPool(Item item) ABSL_LOCKS_EXCLUDED(pool_mutex_);
  void AwaitPool(size_t lanes) ABSL_LOCKS_EXCLUDED(pool_mutex_);

  std::atomic<uint64_t> hand_overs_{0};

  absl::Mutex jobs_mutex_;
  absl::CondVar jobs_wait_;
  std::vector<Job*> jobs_ ABSL_GUARDED_BY(jobs_mutex_);
  bool is_ending_ ABSL_GUARDED_BY(jobs_mutex_) = false;
  std::thread raid5d_ ABSL_GUARDED_BY(jobs_mutex_);

  absl::Mutex pool_mutex_;
  absl::CondVar items_wait_;
  absl::CondVar lanes_back_;
  std::deque<Item> items_ ABSL_GUARDED_BY(pool_mutex_);
  size_t back_ ABSL_GUARDED_BY(pool_mutex_) = 0;  // lanes done since raid5d last looked
  bool pool_ends_ ABSL_GUARDED_BY(pool_mutex_) = false;
  std::vector<std::thread> pool_ ABSL_GUARDED_BY(pool_mutex_);
};

}  // namespace mdvol

#endif  // MDVOL_CORE_STRIPE_PARITY_THREADS_H_
