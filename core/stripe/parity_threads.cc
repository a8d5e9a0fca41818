// See parity_threads.h.

#include "core/stripe/parity_threads.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace mdvol {
namespace {

constexpr uint32_t kMostThreads = 64;
constexpr uint32_t kMostPasses = 16;
// Of the passes over a stripe, the one that has the arithmetic: the first takes it up.
constexpr uint32_t kWorkingPass = 1;

}  // namespace

ParityThreads::~ParityThreads() {
  std::thread raid5d;
  std::vector<std::thread> pool;
  {
    absl::MutexLock lock(&jobs_mutex_);
    is_ending_ = true;
    jobs_wait_.SignalAll();
    raid5d = std::move(raid5d_);
  }
  if (raid5d.joinable()) {
    raid5d.join();
  }
  {
    absl::MutexLock lock(&pool_mutex_);
    pool_ends_ = true;
    items_wait_.SignalAll();
    pool = std::move(pool_);
  }
  for (std::thread& thread : pool) {
    thread.join();
  }
}

void ParityThreads::Run(const ParityWorkersDecision& decision, size_t lanes, DoLane do_lane) {
  const bool has_pool =
      decision.way == ParityWorkersWay::kPasses || decision.way == ParityWorkersWay::kOperations;
  const uint32_t threads = has_pool ? std::clamp(decision.threads, 1U, kMostThreads) : 0;
  if (decision.way == ParityWorkersWay::kInline || !EnsureThreads(threads)) {
    for (size_t lane = 0; lane < lanes; ++lane) {
      do_lane(lane);
    }
    return;
  }
  Job job{.decision = decision, .lanes = lanes, .do_lane = do_lane};
  job.decision.passes = std::clamp(decision.passes, 1U, kMostPasses);
  absl::MutexLock lock(&jobs_mutex_);
  jobs_.push_back(&job);
  jobs_wait_.Signal();
  while (!job.is_finished) {
    job.finished.Wait(&jobs_mutex_);
  }
}

// False when there is not one to be had.
bool ParityThreads::EnsureThreads(uint32_t pool_threads) {
  try {
    absl::MutexLock lock(&jobs_mutex_);
    if (!raid5d_.joinable()) {
      raid5d_ = std::thread([this] { ServeJobs(); });
    }
  } catch (const std::system_error&) {
    return false;
  }
  absl::MutexLock lock(&pool_mutex_);
  try {
    while (pool_.size() < pool_threads) {
      pool_.emplace_back([this] { ServePool(); });
    }
  } catch (const std::system_error&) {
    // As many as there are.
  }
  return pool_threads == 0 || !pool_.empty();
}

void ParityThreads::ServeJobs() {
  for (;;) {
    std::vector<Job*> jobs;
    {
      absl::MutexLock lock(&jobs_mutex_);
      while (jobs_.empty() && !is_ending_) {
        jobs_wait_.Wait(&jobs_mutex_);
      }
      if (jobs_.empty()) {
        return;
      }
      jobs.swap(jobs_);
    }
    Work(jobs);
    absl::MutexLock lock(&jobs_mutex_);
    for (Job* job : jobs) {
      job->is_finished = true;  // and gone, as soon as its caller has the lock
      job->finished.Signal();
    }
  }
}

// Jobs of one way together, for a switch of policies may have left both kinds.
void ParityThreads::Work(std::vector<Job*>& jobs) {
  std::vector<Job*> in_passes;
  std::vector<Job*> by_operations;
  for (Job* job : jobs) {
    hand_overs_.fetch_add(job->lanes, std::memory_order_relaxed);
    if (job->decision.way == ParityWorkersWay::kPasses) {
      in_passes.push_back(job);
    } else if (job->decision.way == ParityWorkersWay::kOperations) {
      by_operations.push_back(job);
    } else {
      for (size_t lane = 0; lane < job->lanes; ++lane) {
        job->do_lane(lane);
      }
    }
  }
  RunPasses(in_passes);
  RunOperations(by_operations);
}

// The domain of the first form: everything that was given to the pool in one pass.
void ParityThreads::RunPasses(const std::vector<Job*>& jobs) {
  uint32_t passes = 0;
  for (const Job* job : jobs) {
    passes = std::max(passes, job->decision.passes);
  }
  for (uint32_t pass = 0; pass < passes; ++pass) {
    size_t given = 0;
    for (Job* job : jobs) {
      const uint32_t working = std::min(kWorkingPass, job->decision.passes - 1);
      for (size_t lane = 0; pass < job->decision.passes && lane < job->lanes; ++lane) {
        GiveToPool({job, lane, pass == working});
        ++given;
      }
    }
    AwaitPool(given);
  }
}

void ParityThreads::RunOperations(const std::vector<Job*>& jobs) {
  size_t given = 0;
  for (Job* job : jobs) {
    for (size_t lane = 0; lane < job->lanes; ++lane) {
      GiveToPool({job, lane, true});
      ++given;
    }
  }
  // Each comes back by itself and wakes whoever handles its stripe.
  while (given > 0) {
    AwaitPool(1);
    --given;
  }
}

void ParityThreads::GiveToPool(Item item) {
  hand_overs_.fetch_add(1, std::memory_order_relaxed);
  absl::MutexLock lock(&pool_mutex_);
  items_.push_back(item);
  items_wait_.Signal();
}

void ParityThreads::AwaitPool(size_t lanes) {
  absl::MutexLock lock(&pool_mutex_);
  while (back_ < lanes) {
    lanes_back_.Wait(&pool_mutex_);
  }
  back_ -= lanes;
}

void ParityThreads::ServePool() {
  pool_mutex_.Lock();
  for (;;) {
    while (items_.empty() && !pool_ends_) {
      items_wait_.Wait(&pool_mutex_);
    }
    if (items_.empty()) {
      break;
    }
    const Item item = items_.front();
    items_.pop_front();
    pool_mutex_.Unlock();
    if (item.has_work) {
      item.job->do_lane(item.lane);
    }
    pool_mutex_.Lock();
    ++back_;
    lanes_back_.Signal();
  }
  pool_mutex_.Unlock();
}

}  // namespace mdvol
