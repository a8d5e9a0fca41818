// FaultTable: the fault device of each member, by the member's index.
//
// A fault device lives in its member's stack, which the array drops when the member leaves, at any
// moment and in any thread. So the stack holds it shared (ShareFaultDevice), and the table knows it
// without keeping it: of a member that has gone there is none, whenever it was put in. A use keeps
// the device alive to its end, inside the table's lock; ForgetGone, which takes that lock, is thus
// the point after which a member that was removed is closed. Thread-safe.

#ifndef MDVOL_FUSE_CONTROL_FAULT_TABLE_H_
#define MDVOL_FUSE_CONTROL_FAULT_TABLE_H_

#include <cstddef>
#include <map>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "core/device/fault_device.h"
#include "core/device/member_device.h"

namespace mdvol {

class FaultTable {
 public:
  void Put(size_t member_index, std::weak_ptr<FaultDevice> device) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    devices_[member_index] = std::move(device);
  }

  // Drops the entries of devices that have gone; returns when nobody uses one of them any more.
  void ForgetGone() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    std::erase_if(devices_, [](const auto& entry) { return entry.second.expired(); });
  }

  // Calls use(device) if the member has one, which stays meanwhile; false otherwise.
  template <typename Use>
  bool With(size_t member_index, const Use& use) const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    const auto found = devices_.find(member_index);
    if (found == devices_.end()) {
      return false;
    }
    // Gone before the lock is: the last reference may be this one.
    const std::shared_ptr<FaultDevice> device = found->second.lock();
    if (device == nullptr) {
      return false;
    }
    use(*device);
    return true;
  }

 private:
  mutable absl::Mutex mutex_;
  std::map<size_t, std::weak_ptr<FaultDevice>> devices_ ABSL_GUARDED_BY(mutex_);
};

// A device for a member's stack that passes everything on to `device`, and keeps it.
std::unique_ptr<MemberDevice> ShareFaultDevice(std::shared_ptr<FaultDevice> device);

}  // namespace mdvol

#endif  // MDVOL_FUSE_CONTROL_FAULT_TABLE_H_
