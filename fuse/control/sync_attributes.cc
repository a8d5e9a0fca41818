// See attribute.h: what md/ says of resync, recovery, check and repair, and takes.

#include <array>
#include <cerrno>
#include <limits>

#include "absl/strings/str_format.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "core/metadata/superblock.h"
#include "fuse/control/attribute.h"
#include "fuse/control/values.h"

namespace mdvol {
namespace {

constexpr uint64_t kMaxInt = std::numeric_limits<int32_t>::max();
constexpr uint64_t kMaxSectors = std::numeric_limits<uint64_t>::max() / kSectorBytes;

absl::StatusOr<SyncEngine*> EngineOf(const Subject& subject) {
  if (subject.context.sync == nullptr) {
    return ErrnoStatus(EBUSY, "nothing can be synced now");
  }
  return subject.context.sync;
}

std::string ShowResyncStart(const Subject& subject) {
  return subject.array.resync_bytes == kResyncDone
             ? TextLine("none")
             : NumberLine(subject.array.resync_bytes / kSectorBytes);
}

absl::Status StoreAction(const Subject& subject, std::string_view value) {
  MDVOL_ASSIGN_OR_RETURN(SyncEngine* const engine, EngineOf(subject));
  const std::optional<SyncAction> action = ParseSyncAction(value);
  if (!action.has_value()) {
    return ErrnoStatus(EINVAL, "no such action: idle, frozen, resync, recover, check or repair");
  }
  return engine->SetAction(*action);
}

std::string ShowLastAction(const Subject& subject) {
  const std::optional<SyncAction> last = subject.sync.last_action;
  return TextLine(last.has_value() ? SyncActionWord(*last) : "none");
}

// Sectors of each member: "DONE / TOTAL".
std::string ShowCompleted(const Subject& subject) {
  const SyncStatus& sync = subject.sync;
  return sync.total_bytes == 0 ? TextLine("none")
                               : absl::StrFormat("%u / %u\n", sync.done_bytes / kSectorBytes,
                                                 sync.total_bytes / kSectorBytes);
}

std::string ShowSpeed(const Subject& subject) {
  return subject.sync.total_bytes == 0 ? TextLine("none")
                                       : NumberLine(subject.sync.speed_bytes / kKiB);
}

// KiB per second and member; "(system)" where nobody has set it for this array.
std::string SpeedLimitLine(std::optional<uint64_t> bytes, uint64_t default_bytes) {
  return absl::StrFormat("%u (%s)\n", bytes.value_or(default_bytes) / kKiB,
                         bytes.has_value() ? "local" : "system");
}

absl::StatusOr<std::optional<uint64_t>> ParseSpeedLimit(std::string_view value) {
  if (value == "system") {
    return std::optional<uint64_t>();
  }
  MDVOL_ASSIGN_OR_RETURN(const uint64_t kib, ParseNumber(value, kMaxInt));
  if (kib == 0) {
    return ErrnoStatus(EINVAL, "a speed must be more than 0, or \"system\"");
  }
  return std::optional(kib * kKiB);
}

absl::Status StoreSpeedMin(const Subject& subject, std::string_view value) {
  MDVOL_ASSIGN_OR_RETURN(SyncEngine* const engine, EngineOf(subject));
  MDVOL_ASSIGN_OR_RETURN(const std::optional<uint64_t> bytes, ParseSpeedLimit(value));
  engine->SetSpeedMin(bytes);
  return absl::OkStatus();
}

absl::Status StoreSpeedMax(const Subject& subject, std::string_view value) {
  MDVOL_ASSIGN_OR_RETURN(SyncEngine* const engine, EngineOf(subject));
  MDVOL_ASSIGN_OR_RETURN(const std::optional<uint64_t> bytes, ParseSpeedLimit(value));
  engine->SetSpeedMax(bytes);
  return absl::OkStatus();
}

absl::Status StoreMin(const Subject& subject, std::string_view value) {
  MDVOL_ASSIGN_OR_RETURN(SyncEngine* const engine, EngineOf(subject));
  MDVOL_ASSIGN_OR_RETURN(const uint64_t sectors, ParseNumber(value, kMaxSectors));
  return engine->SetMin(sectors * kSectorBytes);
}

std::string ShowMax(const Subject& subject) {
  const std::optional<uint64_t> max_bytes = subject.sync.max_bytes;
  return max_bytes.has_value() ? NumberLine(*max_bytes / kSectorBytes) : TextLine("max");
}

absl::Status StoreMax(const Subject& subject, std::string_view value) {
  MDVOL_ASSIGN_OR_RETURN(SyncEngine* const engine, EngineOf(subject));
  if (value == "max") {
    return engine->SetMax(std::nullopt);
  }
  MDVOL_ASSIGN_OR_RETURN(const uint64_t sectors, ParseNumber(value, kMaxSectors));
  return engine->SetMax(sectors * kSectorBytes);
}

std::string ShowRepairMode(const Subject& subject) {
  return TextLine(subject.sync.repair_mode == RepairMode::kLocate ? "locate" : "parity");
}

absl::Status StoreRepairMode(const Subject& subject, std::string_view value) {
  MDVOL_ASSIGN_OR_RETURN(SyncEngine* const engine, EngineOf(subject));
  if (value != "locate" && value != "parity") {
    return ErrnoStatus(EINVAL, "repair_mode is locate or parity");
  }
  engine->SetRepairMode(value == "locate" ? RepairMode::kLocate : RepairMode::kParity);
  return absl::OkStatus();
}

constexpr std::array kAttributes{
    Attribute{"sync_action",
              [](const Subject& s) { return TextLine(SyncActionWord(s.sync.action)); },
              StoreAction},
    Attribute{"last_sync_action", ShowLastAction},
    // Sectors.
    Attribute{"mismatch_cnt", [](const Subject& s) { return NumberLine(s.sync.mismatch_sectors); }},
    Attribute{"sync_completed", ShowCompleted},
    Attribute{"sync_speed", ShowSpeed},
    Attribute{"sync_speed_min",
              [](const Subject& s) {
                return SpeedLimitLine(s.sync.speed_min_bytes, kDefaultSpeedMinBytes);
              },
              StoreSpeedMin},
    Attribute{"sync_speed_max",
              [](const Subject& s) {
                return SpeedLimitLine(s.sync.speed_max_bytes, kDefaultSpeedMaxBytes);
              },
              StoreSpeedMax},
    Attribute{"sync_min",
              [](const Subject& s) { return NumberLine(s.sync.min_bytes / kSectorBytes); },
              StoreMin},
    Attribute{"sync_max", ShowMax, StoreMax},
    Attribute{"resync_start", ShowResyncStart},
    Attribute{"repair_mode", ShowRepairMode, StoreRepairMode},
};

}  // namespace

std::span<const Attribute> SyncAttributes() { return kAttributes; }

}  // namespace mdvol
