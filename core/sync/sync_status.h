// What a sync engine shows: a value, taken at one moment.

#ifndef MDVOL_CORE_SYNC_SYNC_STATUS_H_
#define MDVOL_CORE_SYNC_SYNC_STATUS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/stripe/sync_types.h"
#include "core/sync/sync_action.h"

namespace mdvol {

struct SyncStatus {
  // What runs, or is due and about to run.
  SyncAction action = SyncAction::kIdle;
  std::optional<SyncAction> last_action;  // begun last; none since the start
  // Of the running action, in bytes of each member; total 0 when none runs. `done` is a position:
  // a run that begins in the middle begins there. Never more than the total.
  uint64_t done_bytes = 0;
  uint64_t total_bytes = 0;
  uint64_t speed_bytes = 0;       // per second and member
  std::optional<uint64_t> eta_s;  // none while it does not move

  uint64_t mismatch_sectors = 0;    // md's mismatch_cnt, of the last resync, check or repair
  std::vector<WrongBlock> located;  // by the same; the first of them only, see located_count
  uint64_t located_count = 0;

  // Knobs. Speeds are per second and member; none: the default.
  std::optional<uint64_t> speed_min_bytes;
  std::optional<uint64_t> speed_max_bytes;
  uint64_t min_bytes = 0;             // check and repair begin here
  std::optional<uint64_t> max_bytes;  // every run waits here; none: the end
  RepairMode repair_mode = RepairMode::kLocate;
};

// As long as the list of located blocks gets.
inline constexpr size_t kMaxLocated = 1000;

// md's system-wide defaults, in bytes per second and member.
inline constexpr uint64_t kDefaultSpeedMinBytes = uint64_t{1000} << 10;
inline constexpr uint64_t kDefaultSpeedMaxBytes = uint64_t{200000} << 10;

}  // namespace mdvol

#endif  // MDVOL_CORE_SYNC_SYNC_STATUS_H_
