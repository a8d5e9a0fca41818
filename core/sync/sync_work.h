// SyncWork: what one action does to the array, piece by piece. The sync engine owns order, pace,
// threads and interruption; a work knows where its pieces are and what is done to one.
//
// Run is called from several threads at once, for different pieces that were taken in ascending
// order; the other methods from one thread at a time, Next possibly beside a Run.

#ifndef MDVOL_CORE_SYNC_SYNC_WORK_H_
#define MDVOL_CORE_SYNC_SYNC_WORK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "core/array/array.h"
#include "core/stripe/sync_types.h"

namespace mdvol {

class SyncWork {
 public:
  virtual ~SyncWork() = default;

  // The next piece at or after a stripe; none when there is nothing left.
  virtual std::optional<StripeRange> Next(uint64_t from_stripe) = 0;
  // Works through a piece. Long ones ask `is_interrupted` now and then and return early, which
  // leaves the piece undone.
  virtual absl::Status Run(StripeRange piece, const std::function<bool()>& is_interrupted,
                           SyncFindings* findings) = 0;
  // Everything below `done_stripes` has been worked through: makes that survive a crash.
  virtual absl::Status Checkpoint(uint64_t /*done_stripes*/) { return absl::OkStatus(); }
  // Everything has been worked through.
  virtual absl::Status Finish() { return absl::OkStatus(); }
};

// How many stripes a window has: a mebibyte of every member, at least one stripe.
uint64_t StripesPerWindow(const ArrayGeometry& geometry);

std::unique_ptr<SyncWork> NewCheckWork(Array& array);
std::unique_ptr<SyncWork> NewRepairWork(Array& array, RepairMode mode);
// Of the stripes whose parity is in doubt. What cannot be put right stays in doubt.
std::unique_ptr<SyncWork> NewResyncWork(Array& array);
// BeginRecovery has been called.
std::unique_ptr<SyncWork> NewRecoverWork(Array& array);

}  // namespace mdvol

#endif  // MDVOL_CORE_SYNC_SYNC_WORK_H_
