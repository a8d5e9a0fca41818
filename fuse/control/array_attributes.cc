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

absl::Status StoreStripeCacheSize(const Subject& subject, std::string_view value) {
  MDVOL_ASSIGN_OR_RETURN(const uint64_t lanes, ParseNumber(value, kMaxUint));
  return subject.context.array.SetStripeCacheSize(static_cast<uint32_t>(lanes));
}

// A path, as an absolute one; "re-add PATH" for a member that is to come back or not at all.
absl::Status StoreNewDevice(const Subject& subject, std::string_view value) {
  constexpr std::string_view kReAdd = "re-add ";
  const bool is_re_add = value.substr(0, kReAdd.size()) == kReAdd;
  const std::string path(is_re_add ? value.substr(kReAdd.size()) : value);
  if (path.empty() || path.front() != '/') {
    return ErrnoStatus(EINVAL, "new_dev: give an absolute path");
  }
  if (!subject.context.add_member) {
    return ErrnoStatus(EBUSY, "new_dev: nothing can be added now");
  }
  MDVOL_RETURN_IF_ERROR(
      subject.context.add_member(path, is_re_add ? AddMode::kReAdd : AddMode::kAdd));
  if (subject.context.sync != nullptr) {
    subject.context.sync->Poke();
  }
  return absl::OkStatus();
}

std::string ShowSuspendLo(const Subject& subject) {
  const Suspension* const suspension = subject.context.suspension;
  return NumberLine(suspension == nullptr ? 0 : suspension->lo_bytes() / kSectorBytes);
}

std::string ShowSuspendHi(const Subject& subject) {
  const Suspension* const suspension = subject.context.suspension;
  return NumberLine(suspension == nullptr ? 0 : suspension->hi_bytes() / kSectorBytes);
}

absl::StatusOr<uint64_t> ParseSuspend(const Subject& subject, std::string_view value) {
  if (subject.context.suspension == nullptr) {
    return ErrnoStatus(EBUSY, "nothing can be suspended now");
  }
  MDVOL_ASSIGN_OR_RETURN(const uint64_t sectors,
                         ParseNumber(value, std::numeric_limits<uint64_t>::max() / kSectorBytes));
  return sectors * kSectorBytes;
}

absl::Status StoreSuspendLo(const Subject& subject, std::string_view value) {
  MDVOL_ASSIGN_OR_RETURN(const uint64_t bytes, ParseSuspend(subject, value));
  return subject.context.suspension->SetLo(bytes);
}

absl::Status StoreSuspendHi(const Subject& subject, std::string_view value) {
  MDVOL_ASSIGN_OR_RETURN(const uint64_t bytes, ParseSuspend(subject, value));
  return subject.context.suspension->SetHi(bytes);
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
    Attribute{"stripe_cache_size",
              [](const Subject& s) { return NumberLine(s.array.stripe_cache_size); },
              StoreStripeCacheSize},
    Attribute{"stripe_cache_active",
              [](const Subject& s) { return NumberLine(s.array.stripe_cache_active); }},
    // Nothing to be read there.
    Attribute{"new_dev", [](const Subject&) { return TextLine(""); }, StoreNewDevice},
    // Sectors of the volume.
    Attribute{"suspend_lo", ShowSuspendLo, StoreSuspendLo},
    Attribute{"suspend_hi", ShowSuspendHi, StoreSuspendHi},
};

}  // namespace

std::span<const Attribute> ArrayAttributes() { return kAttributes; }

}  // namespace mdvol
