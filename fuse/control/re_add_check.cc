// See re_add_check.h.

#include "fuse/control/re_add_check.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/array/member_loader.h"
#include "core/base/status.h"
#include "core/device/file_device.h"
#include "core/metadata/newcomer.h"

namespace mdvol {
namespace {

// The daemon itself holds the locks.
absl::StatusOr<std::unique_ptr<MemberDevice>> OpenToLook(const std::string& path) {
  return OpenFileDevice(path, {.read_only = true, .direct = false, .lock = false});
}

// The array's shape and what its bitmap knows, from the first member in sync that can be read.
struct Known {
  FoundSuperblock found;
  std::optional<uint64_t> events_cleared;
};

absl::StatusOr<Known> ReadKnown(const std::string& path) {
  MDVOL_ASSIGN_OR_RETURN(const auto device, OpenToLook(path));
  Known known;
  MDVOL_ASSIGN_OR_RETURN(known.found, FindSuperblock(*device));
  MDVOL_ASSIGN_OR_RETURN(const LoadedAreas areas, LoadAreas(*device, known.found.super));
  if (areas.bitmap.has_value()) {
    known.events_cleared = areas.bitmap->events_cleared;
  }
  return known;
}

std::optional<Known> FindKnown(const ArraySnapshot& array) {
  for (const MemberSnapshot& member : array.members) {
    if (member.in_sync) {
      absl::StatusOr<Known> known = ReadKnown(member.path);
      if (known.ok()) {
        return *std::move(known);
      }
    }
  }
  return std::nullopt;
}

bool HasItsPlace(const MemberSnapshot& other, const Superblock& super) {
  const std::optional<uint32_t> slot = OwnSlot(super);
  return other.dev_number == super.dev_number ||
         (!other.faulty && slot.has_value() && (other.slot == slot || other.replaces == slot));
}

std::string WhyNot(MemberDevice& device, const MemberSnapshot& faulty, const ArraySnapshot& array) {
  const auto found = FindSuperblock(device);
  if (!found.ok() || found->super.set_uuid != array.uuid) {
    return "it carries no metadata of this array";
  }
  if (std::any_of(array.members.begin(), array.members.end(), [&](const MemberSnapshot& other) {
        return other.index != faulty.index && HasItsPlace(other, found->super);
      })) {
    return "another member has its place";
  }
  // Nobody to be asked: then the array itself is.
  if (const std::optional<Known> known = FindKnown(array); known.has_value()) {
    const ReAddFacts facts{.reference = known->found.super,
                           .minor = array.minor,
                           .events = array.events,
                           .events_cleared = known->events_cleared};
    if (std::string why = WhyNoReAdd(found->super, found->minor, facts); !why.empty()) {
      return why;
    }
  }
  const auto areas = LoadAreas(device, found->super);
  return areas.ok() ? "" : MessageOf(areas.status());
}

}  // namespace

absl::Status CheckReAdd(const MemberSnapshot& faulty, const ArraySnapshot& array) {
  const std::string& path = faulty.path;
  if (array.read_only) {
    return ErrnoStatus(EROFS, "the array is read-only: its members cannot be changed");
  }
  if (array.state == ArrayState::kFailed) {
    return ErrnoStatus(EBUSY, "the array has lost more than two members: nothing is recorded");
  }
  MDVOL_ASSIGN_OR_RETURN(const auto device, OpenToLook(path));
  if (::eaccess(path.c_str(), W_OK) != 0) {
    return SystemError(errno, absl::StrCat(path, ": cannot be opened for writing"));
  }
  if (const std::string why = WhyNot(*device, faulty, array); !why.empty()) {
    return ErrnoStatus(EINVAL, absl::StrCat(path, ": cannot be re-added: ", why,
                                            "; add it, and all of it is rebuilt"));
  }
  return absl::OkStatus();
}

}  // namespace mdvol
