// SharedGate: many pass at once, until one closes it, waits for those inside to leave, and works
// alone. Entering an open gate costs one atomic addition; nobody who is inside may enter again (a
// closer between the two would deadlock).

#ifndef MDVOL_CORE_ARRAY_SHARED_GATE_H_
#define MDVOL_CORE_ARRAY_SHARED_GATE_H_

#include <atomic>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace mdvol {

class ABSL_LOCKABLE SharedGate {
 public:
  SharedGate() = default;
  SharedGate(const SharedGate&) = delete;
  SharedGate& operator=(const SharedGate&) = delete;

  void Enter() ABSL_SHARED_LOCK_FUNCTION() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if ((state_.fetch_add(1, std::memory_order_acquire) & kClosed) != 0) {
      WaitUntilOpen();
    }
  }
  void Leave() ABSL_UNLOCK_FUNCTION() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (state_.fetch_sub(1, std::memory_order_release) == kClosed + 1) {
      WakeCloser();
    }
  }

  // Closers exclude each other.
  void Close() ABSL_EXCLUSIVE_LOCK_FUNCTION();
  void Open() ABSL_UNLOCK_FUNCTION();

 private:
  static constexpr uint64_t kClosed = uint64_t{1} << 63;

  void WaitUntilOpen();
  void WakeCloser();

  std::atomic<uint64_t> state_{0};  // how many are inside, and kClosed
  absl::Mutex closer_;              // held from Close to Open
  absl::Mutex mutex_;               // pairs the two conditions below
  absl::CondVar changed_;
};

// Inside for the life of the object.
class ABSL_SCOPED_LOCKABLE GateShare {
 public:
  explicit GateShare(SharedGate& gate) ABSL_SHARED_LOCK_FUNCTION(gate) : gate_(gate) {
    gate_.Enter();
  }
  ~GateShare() ABSL_UNLOCK_FUNCTION() { gate_.Leave(); }
  GateShare(const GateShare&) = delete;
  GateShare& operator=(const GateShare&) = delete;

 private:
  SharedGate& gate_;
};

// Alone for the life of the object.
class ABSL_SCOPED_LOCKABLE GateClosure {
 public:
  explicit GateClosure(SharedGate& gate) ABSL_EXCLUSIVE_LOCK_FUNCTION(gate) : gate_(gate) {
    gate_.Close();
  }
  ~GateClosure() ABSL_UNLOCK_FUNCTION() { gate_.Open(); }
  GateClosure(const GateClosure&) = delete;
  GateClosure& operator=(const GateClosure&) = delete;

 private:
  SharedGate& gate_;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_ARRAY_SHARED_GATE_H_
