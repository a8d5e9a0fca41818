// See suspension.h.

#include "fuse/control/suspension.h"

#include <utility>

#include "core/base/status.h"

namespace mdvol {

uint64_t Suspension::lo_bytes() const {
  absl::MutexLock lock(&mutex_);
  return lo_bytes_;
}

uint64_t Suspension::hi_bytes() const {
  absl::MutexLock lock(&mutex_);
  return hi_bytes_;
}

absl::Status Suspension::SetLo(uint64_t bytes) {
  absl::MutexLock moving(&moving_);
  return Move(bytes, hi_bytes());
}

absl::Status Suspension::SetHi(uint64_t bytes) {
  absl::MutexLock moving(&moving_);
  return Move(lo_bytes(), bytes);
}

absl::Status Suspension::Move(uint64_t lo_bytes, uint64_t hi_bytes) {
  MDVOL_RETURN_IF_ERROR(array_.Suspend(lo_bytes, hi_bytes));
  std::vector<std::function<void()>> released;
  {
    absl::MutexLock lock(&mutex_);
    lo_bytes_ = lo_bytes;
    hi_bytes_ = hi_bytes;
    released.swap(parked_);
  }
  for (const std::function<void()>& again : released) {
    again();  // parks itself again where it is still suspended
  }
  return absl::OkStatus();
}

// The array knows the new range before parked_ is emptied: what finds itself suspended here is
// seen by the next move.
bool Suspension::Park(uint64_t offset_bytes, uint64_t length_bytes, std::function<void()> again) {
  absl::MutexLock lock(&mutex_);
  if (!array_.IsSuspended(offset_bytes, length_bytes)) {
    return false;
  }
  parked_.push_back(std::move(again));
  return true;
}

void Suspension::ReleaseAll() {
  absl::MutexLock moving(&moving_);
  if (lo_bytes() < hi_bytes()) {
    const absl::Status ignored = Move(0, 0);  // what cannot be moved holds nobody
    static_cast<void>(ignored);
  }
}

}  // namespace mdvol
