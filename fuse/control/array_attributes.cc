// See attribute.h: what md/ says of the array as a whole.

#include <array>
#include <cerrno>
#include <limits>

#include "absl/strings/str_format.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "core/metadata/superblock.h"
#include "fuse/control/attribute.h"
#include "fuse/control/values.h"
#include "fuse/render/words.h"

namespace mdvol {
namespace {

constexpr uint64_t kMaxUint = std::numeric_limits<uint32_t>::max();
constexpr uint64_t kMaxRmwLevel = 2;

absl::Status StoreArrayState(const Subject& subject, std::string_view value) {
  const auto& opener_count = subject.context.opener_count;
  if (value == "readonly" && opener_count && opener_count() > 0) {
    return ErrnoStatus(EBUSY, "array_state: the volume is open: close it first");
  }
  return subject.context.array.SetState(value);
}

std::string ShowSafeModeDelay(const Subject& subject) {
  const uint32_t delay_ms = subject.array.safe_mode_delay_ms;
  return absl::StrFormat("%u.%03u\n", delay_ms / 1000, delay_ms % 1000);
}

absl::Status StoreSafeModeDelay(const Subject& subject, std::string_view value) {
  MDVOL_ASSIGN_OR_RETURN(const uint64_t delay_ms, ParseScaled(value, 3, kMaxUint));
  subject.context.array.SetSafeModeDelay(static_cast<uint32_t>(delay_ms));
  return absl::OkStatus();
}

absl::Status StoreMaxReadErrors(const Subject& subject, std::string_view value) {
  MDVOL_ASSIGN_OR_RETURN(const uint64_t count, ParseNumber(value, kMaxUint));
  subject.context.array.SetMaxReadErrors(static_cast<uint32_t>(count));
  return absl::OkStatus();
}

absl::Status StoreRmwLevel(const Subject& subject, std::string_view value) {
  MDVOL_ASSIGN_OR_RETURN(const uint64_t level, ParseNumber(value, kMaxRmwLevel));
  return subject.context.array.SetRmwLevel(static_cast<uint32_t>(level));
}

constexpr std::array kAttributes{
    Attribute{"level", [](const Subject&) { return TextLine("raid6"); }},
    Attribute{"raid_disks", [](const Subject& s) { return NumberLine(s.array.raid_disks); }},
    Attribute{"layout",
              [](const Subject& s) {
                return NumberLine(static_cast<uint64_t>(static_cast<int32_t>(s.array.layout)));
              }},
    Attribute{"chunk_size", [](const Subject& s) { return NumberLine(s.array.chunk_bytes); }},
    // KiB, as every size in md's sysfs that is not in sectors.
    Attribute{"component_size",
              [](const Subject& s) { return NumberLine(s.array.component_bytes / kKiB); }},
    // md's word for "as large as the members make it".
    Attribute{"array_size", [](const Subject&) { return TextLine("default"); }},
    Attribute{"metadata_version",
              [](const Subject& s) { return TextLine(MetadataVersion(s.array)); }},
    Attribute{"uuid", [](const Subject& s) { return TextLine(FormatUuidDashes(s.array.uuid)); }},
    Attribute{"array_state",
              [](const Subject& s) { return TextLine(ArrayStateWord(s.array.state)); },
              StoreArrayState},
    Attribute{"degraded", [](const Subject& s) { return NumberLine(s.array.degraded); }},
    Attribute{"consistency_policy",
              [](const Subject& s) { return TextLine(ConsistencyPolicyWord(s.array)); }},
    Attribute{"safe_mode_delay", ShowSafeModeDelay, StoreSafeModeDelay},
    Attribute{"max_read_errors",
              [](const Subject& s) { return NumberLine(s.array.max_read_errors); },
              StoreMaxReadErrors},
    Attribute{"rmw_level", [](const Subject& s) { return NumberLine(s.array.rmw_level); },
              StoreRmwLevel},
};

}  // namespace

std::span<const Attribute> ArrayAttributes() { return kAttributes; }

}  // namespace mdvol
