// See shared_gate.h. The slow paths: whoever finds the gate closed steps back out, and waits for
// the word that it opened.

#include "core/array/shared_gate.h"

namespace mdvol {

void SharedGate::WaitUntilOpen() {
  absl::MutexLock lock(&mutex_);
  for (;;) {
    // Step out; the closer may be waiting for exactly this.
    if (state_.fetch_sub(1, std::memory_order_release) == kClosed + 1) {
      changed_.SignalAll();
    }
    while ((state_.load(std::memory_order_acquire) & kClosed) != 0) {
      changed_.Wait(&mutex_);
    }
    if ((state_.fetch_add(1, std::memory_order_acquire) & kClosed) == 0) {
      return;
    }
  }
}

void SharedGate::WakeCloser() {
  absl::MutexLock lock(&mutex_);
  changed_.SignalAll();
}

void SharedGate::Close() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  closer_.Lock();
  absl::MutexLock lock(&mutex_);
  state_.fetch_or(kClosed, std::memory_order_acq_rel);
  while (state_.load(std::memory_order_acquire) != kClosed) {
    changed_.Wait(&mutex_);
  }
}

void SharedGate::Open() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  {
    absl::MutexLock lock(&mutex_);
    state_.fetch_and(~kClosed, std::memory_order_release);
    changed_.SignalAll();
  }
  closer_.Unlock();
}

}  // namespace mdvol
