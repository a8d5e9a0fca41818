// PolicySlot: the policy of one family that is active in one array, replaced while the array runs.
// Whoever asks keeps what it got for as long as it needs it, so that a switch waits for nobody; the
// old policy goes when the last one has let go of it. Thread-safe.

#ifndef MDVOL_CORE_POLICY_POLICY_SLOT_H_
#define MDVOL_CORE_POLICY_POLICY_SLOT_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace mdvol {

template <typename Family>
class PolicySlot {
 public:
  // Null as long as nothing was chosen: the engine then does the simplest thing, which each
  // family's header names.
  std::shared_ptr<Family> Get() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::ReaderMutexLock lock(&mutex_);
    return active_;
  }

  // A policy, and the version() from its Set to the next.
  struct Versioned {
    std::shared_ptr<Family> policy;
    uint64_t version;
  };
  Versioned GetVersioned() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::ReaderMutexLock lock(&mutex_);
    return {active_, version_.load(std::memory_order_relaxed)};
  }

  // The old policy, if nobody else has it, goes after the lock has been given back.
  void Set(std::shared_ptr<Family> policy) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    active_.swap(policy);
    version_.fetch_add(1, std::memory_order_release);
  }

  // Grows with every Set: for whoever keeps a policy and wants to know cheaply whether it still is
  // the one. What a Get beside it returns may be of another version.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }

 private:
  mutable absl::Mutex mutex_;
  std::shared_ptr<Family> active_ ABSL_GUARDED_BY(mutex_);
  std::atomic<uint64_t> version_{0};
};

}  // namespace mdvol

#endif  // MDVOL_CORE_POLICY_POLICY_SLOT_H_
