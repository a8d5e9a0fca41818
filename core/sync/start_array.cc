// See start_array.h.

#include "core/sync/start_array.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/sync/sync_work.h"

namespace mdvol {
absl::Status ResyncDoubtful(Array& array, uint64_t* skipped_stripes) {
  *skipped_stripes = 0;
  const std::unique_ptr<SyncWork> work = NewResyncWork(array);
  const uint64_t most = std::max<uint64_t>(1, kMostWindowBytes >> array.geometry().chunk_shift());
  for (std::optional<StripeRange> window = work->Next(0); window.has_value();
       window = work->Next(window->first + window->count)) {
    SyncFindings findings;
    window->count = std::min(window->count, most);
    MDVOL_RETURN_IF_ERROR(work->Run(*window, &findings));
    *skipped_stripes += findings.skipped_stripes;
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
  events.Add(EventLevel::kInfo, "resync started", "", "parity is recomputed where it is in doubt");
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
