// SyncWork: what one action does to the array, window by window. The sync engine owns order, pace,
// sizes, threads and interruption; a work knows where there is something to do, and does it.
//
// Run is called from several threads at once, for different windows that were taken in ascending
// order; the other methods from one thread at a time, Next possibly beside a Run.

#ifndef MDVOL_CORE_SYNC_SYNC_WORK_H_
#define MDVOL_CORE_SYNC_SYNC_WORK_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "core/array/array.h"
#include "core/base/units.h"
#include "core/stripe/sync_types.h"

namespace mdvol {

// Of each member; but never less than a stripe.
inline constexpr uint64_t kMostWindowBytes = kMiB;

class SyncWork {
 public:
  virtual ~SyncWork() = default;

  // The next run of stripes at or after one that want something done; none when there is nothing
  // left. A window is any first part of it.
  virtual std::optional<StripeRange> Next(uint64_t from_stripe) = 0;
  // Works through a window.
  virtual absl::Status Run(StripeRange window, SyncFindings* findings) = 0;
  // Everything below `done_stripes` has been worked through: makes that survive a crash.
  virtual absl::Status Checkpoint(uint64_t /*done_stripes*/) { return absl::OkStatus(); }
  // Everything has been worked through.
  virtual absl::Status Finish() { return absl::OkStatus(); }
};

std::unique_ptr<SyncWork> NewCheckWork(Array& array);
std::unique_ptr<SyncWork> NewRepairWork(Array& array, RepairMode mode);
// Of the stripes whose parity is in doubt. What cannot be put right stays in doubt.
std::unique_ptr<SyncWork> NewResyncWork(Array& array);
// BeginRecovery has been called.
std::unique_ptr<SyncWork> NewRecoverWork(Array& array);

}  // namespace mdvol

#endif  // MDVOL_CORE_SYNC_SYNC_WORK_H_
