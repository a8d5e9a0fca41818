// Starting an array without a sync engine: assembly, and then the resync that an unclean stop made
// due, before anyone reads or writes. Runs in the caller's thread. For programs that embed the core
// and want no more; where a SyncEngine runs, it does the same while the array is in use.

#ifndef MDVOL_CORE_SYNC_START_ARRAY_H_
#define MDVOL_CORE_SYNC_START_ARRAY_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/array/array.h"

namespace mdvol {

// Recomputes the parity of every stripe that is in doubt (with a bitmap those whose bit is set,
// without one all). What cannot be told, because data are missing or unreadable there, stays in
// doubt, and so does what could not be written for want of space (the array's maintenance tries it
// again, I13); *skipped_stripes counts both.
absl::Status ResyncDoubtful(Array& array, uint64_t* skipped_stripes);

// Array::Start and, unless read-only, ResyncDoubtful. `events` receives what was done.
absl::StatusOr<std::unique_ptr<Array>> StartArray(std::vector<LoadedMember> members,
                                                  const ArrayOptions& options, Clock& clock,
                                                  EventLog& events);

}  // namespace mdvol

#endif  // MDVOL_CORE_SYNC_START_ARRAY_H_
