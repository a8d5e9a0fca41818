// See newcomer.h.

#include "core/metadata/newcomer.h"

#include <algorithm>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/base/units.h"

namespace mdvol {
namespace {

constexpr uint64_t kGrainSectors = 8;

absl::Status TooSmall(const SpareRequest& request, uint64_t size_sectors) {
  return ErrnoStatus(ENOSPC, absl::StrCat(request.path, ": too small: ", request.device_bytes,
                                          " bytes have no room for ", size_sectors * kSectorBytes,
                                          " bytes of data and the metadata"));
}

// Where the space for data ends: the device, or with metadata at the end the first of them.
uint64_t DataEnd(const Superblock& super, int minor, uint64_t device_sectors) {
  if (minor != 0) {
    return device_sectors;
  }
  int64_t offset = 0;
  if (super.has_feature(kFeatureBitmapOffset)) {
    offset = std::min<int64_t>(offset, super.bitmap_offset);
  }
  if (super.bblog_size.get() != 0) {
    offset = std::min<int64_t>(offset, super.bblog_offset);
  }
  const auto back = static_cast<uint64_t>(-offset);
  return super.super_offset > back ? super.super_offset - back : 0;
}

}  // namespace

absl::StatusOr<PlannedSpare> PlanSpare(const Superblock& like, const SpareRequest& request) {
  const uint64_t device_sectors = request.device_bytes / kSectorBytes;
  const uint64_t size_sectors = like.size;
  PlannedSpare spare{.super = like, .areas = {}};
  Superblock& super = spare.super;
  const auto super_sector = SuperblockSector(request.minor, device_sectors);
  if (!super_sector.ok()) {
    return TooSmall(request, size_sectors);
  }
  super.super_offset = *super_sector;
  super.feature_map = like.feature_map & kFeatureBitmapOffset;
  super.recovery_offset = 0;
  super.dev_number = request.dev_number;
  super.device_uuid = request.device_uuid;
  super.devflags = 0;
  super.cnt_corrected_read = 0;
  super.dev_roles[request.dev_number] = kRoleSpare;
  const uint64_t end = DataEnd(super, request.minor, device_sectors);
  if (end < size_sectors) {
    return TooSmall(request, size_sectors);
  }
  super.data_offset =
      std::min<uint64_t>(super.data_offset, RoundDown(end - size_sectors, kGrainSectors));
  super.data_size = end - super.data_offset;
  SealSuperblock(super);
  const auto areas = LayOutMember(super, device_sectors, request.bitmap_bytes);
  if (!areas.ok() || !CheckSuperblock(super, request.minor, device_sectors).ok()) {
    return TooSmall(request, size_sectors);
  }
  spare.areas = *areas;
  return spare;
}

std::string WhyNoReAdd(const Superblock& member, int minor, const ReAddFacts& facts) {
  const Superblock& reference = facts.reference;
  if (minor != facts.minor || member.level.get() != reference.level.get() ||
      member.layout.get() != reference.layout.get() ||
      member.chunksize.get() != reference.chunksize.get() ||
      member.raid_disks.get() != reference.raid_disks.get() ||
      member.size.get() != reference.size.get()) {
    return "the array had another shape when it was a member";
  }
  if (!OwnSlot(member).has_value()) {
    return "it had no slot";
  }
  if (member.has_feature(kFeatureReplacement)) {
    return "it was a replacement";
  }
  if (member.has_feature(kFeatureRecoveryOffset) && !member.has_feature(kFeatureRecoveryBitmap)) {
    return "it was being rebuilt";
  }
  if (member.events > facts.events) {
    return absl::StrCat("it has seen more events than the array (", member.events.get(), " to ",
                        facts.events, ")");
  }
  if (!facts.events_cleared.has_value()) {
    return "the array has no bitmap that knows what it missed";
  }
  if (member.events < *facts.events_cleared) {
    return absl::StrCat("the bitmap has forgotten what it missed (its events are ",
                        member.events.get(), ", the bitmap goes back to ", *facts.events_cleared,
                        ")");
  }
  return "";
}

}  // namespace mdvol
