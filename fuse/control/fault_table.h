// FaultTable: the fault device of each member, by the member's index. A device lives in its
// member's stack, which the array drops when the member leaves: so nobody keeps a pointer, and who
// lets a member go takes it out of the table first. Thread-safe.

#ifndef MDVOL_FUSE_CONTROL_FAULT_TABLE_H_
#define MDVOL_FUSE_CONTROL_FAULT_TABLE_H_

#include <cstddef>
#include <map>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "core/device/fault_device.h"

namespace mdvol {

class FaultTable {
 public:
  void Put(size_t member_index, FaultDevice* device) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    devices_[member_index] = device;
  }

  // Takes a device out, and returns it so that it can be put back; null when there is none.
  FaultDevice* Take(size_t member_index) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    const auto found = devices_.find(member_index);
    FaultDevice* const device = found == devices_.end() ? nullptr : found->second;
    devices_.erase(member_index);
    return device;
  }

  // Calls use(device) if the member has one, while it stays; false otherwise.
  template <typename Use>
  bool With(size_t member_index, const Use& use) const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    const auto found = devices_.find(member_index);
    if (found == devices_.end()) {
      return false;
    }
    use(*found->second);
    return true;
  }

 private:
  mutable absl::Mutex mutex_;
  std::map<size_t, FaultDevice*> devices_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mdvol

#endif  // MDVOL_FUSE_CONTROL_FAULT_TABLE_H_
