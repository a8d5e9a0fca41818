// See start_array.h.

#include "core/sync/start_array.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/stripe/io_errors.h"

namespace mdvol {
namespace {

// Stripes per step: small enough to report progress, large enough to read members in long runs.
constexpr uint64_t kStepBytes = uint64_t{64} << 20;

}  // namespace

absl::Status ResyncDoubtful(Array& array, uint64_t* skipped_stripes,
                            const std::function<void(const ResyncProgress&)>& progress) {
  *skipped_stripes = 0;
  const ArrayGeometry& geometry = array.geometry();
  const uint64_t step = std::max<uint64_t>(1, kStepBytes / geometry.stripe_bytes());
  uint64_t from = 0;
  for (std::optional<StripeRange> doubt = array.NextDoubt(from); doubt.has_value();
       doubt = array.NextDoubt(from)) {
    // Whole runs in doubt are handed over in full: doubt ends for a run, not for a part of it.
    uint64_t skipped_in_run = 0;
    const uint64_t end = doubt->first + doubt->count;
    for (uint64_t first = doubt->first; first < end; first += step) {
      uint64_t skipped = 0;
      const absl::Status status =
          array.RecomputeParity({first, std::min(step, end - first)}, &skipped);
      if (!status.ok() && !IsFull(ErrnoOf(status))) {
        return status;
      }
      skipped_in_run += skipped;
      if (progress) {
        progress({std::min(first + step, end), geometry.stripe_count()});
      }
    }
    if (skipped_in_run == 0) {
      array.EndDoubt(*doubt);
    }
    *skipped_stripes += skipped_in_run;
    from = end;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Array>> StartArray(std::vector<LoadedMember> members,
                                                  const ArrayOptions& options, Clock& clock,
                                                  EventLog& events) {
  MDVOL_ASSIGN_OR_RETURN(std::unique_ptr<Array> array,
                         Array::Start(std::move(members), options, clock, events));
  if (array->read_only() || !array->NextDoubt(0).has_value()) {
    return array;
  }
  events.Add(EventLevel::kInfo, "resync started", "",
             "the array was not stopped cleanly: parity is recomputed where it is in doubt");
  uint64_t skipped = 0;
  MDVOL_RETURN_IF_ERROR(Annotate(ResyncDoubtful(*array, &skipped), "resync at start"));
  if (skipped == 0) {
    events.Add(EventLevel::kInfo, "resync done", "", "");
  } else {
    events.Add(EventLevel::kWarning, "resync incomplete", "",
               absl::StrCat(skipped,
                            " stripes keep their doubt: data are missing or unreadable, or "
                            "there is no space for parity"));
  }
  return array;
}

}  // namespace mdvol
