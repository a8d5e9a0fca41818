// CheckSuperblock: what the Linux kernel checks when it loads a member (super_1_load), what mdvol
// needs beyond that, and areas that do not collide. See superblock.h.

#include <algorithm>
#include <cerrno>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "core/geometry/geometry.h"
#include "core/metadata/member_areas.h"
#include "core/metadata/superblock.h"

namespace mdvol {
namespace {

constexpr int32_t kRaid6 = 6;
constexpr uint64_t kMinDataSectors = 10;
constexpr uint16_t kMaxLogSectors = 8;  // the kernel reads the bad-block log into one page

template <typename... Parts>
absl::Status Refuse(const Parts&... parts) {
  return ErrnoStatus(EINVAL, absl::StrCat(parts...));
}

std::string Hex(uint64_t value) { return absl::StrCat("0x", absl::Hex(value)); }

// Magic, the bound that the checksum relies on, checksum, version, place.
absl::Status CheckWhole(const Superblock& super, uint64_t super_sector) {
  if (!HasSuperMagic(super)) {
    return Refuse("no md superblock: magic ", Hex(super.magic), ", expected ", Hex(kSuperMagic));
  }
  if (super.max_dev.get() > kMaxDevices) {
    return Refuse("max_dev ", super.max_dev.get(), ": a superblock holds at most ", kMaxDevices,
                  " roles");
  }
  if (const uint32_t sum = SuperblockChecksum(super); super.sb_csum.get() != sum) {
    return Refuse("sb_csum ", Hex(super.sb_csum), ": the contents sum to ", Hex(sum),
                  ", the superblock is damaged");
  }
  if (super.major_version.get() != 1) {
    return Refuse("major_version ", super.major_version.get(),
                  ": mdvol reads md metadata 1.0, 1.1 and 1.2");
  }
  if (super.super_offset.get() != super_sector) {
    return Refuse("super_offset ", super.super_offset.get(), ": the superblock is at sector ",
                  super_sector, " (was the member copied, cut or extended?)");
  }
  return absl::OkStatus();
}

// What an unknown writer may have put where we would misread it.
absl::Status CheckKnown(const Superblock& super) {
  if (const uint32_t unknown = super.feature_map.get() & ~kFeatureAll; unknown != 0) {
    return Refuse("feature_map ", Hex(super.feature_map), ": bits ", Hex(unknown),
                  " are unknown, a newer md wrote this");
  }
  if (super.pad0.get() != 0 ||
      std::any_of(super.pad3.begin(), super.pad3.end(), [](uint8_t byte) { return byte != 0; })) {
    return Refuse("padding is not zero: a newer md may have stored something there");
  }
  if (super.has_feature(kFeatureRaid0Layout) && super.level.get() != 0) {
    return Refuse("feature_map ", Hex(super.feature_map), ": a RAID0 layout on level ",
                  super.level.get());
  }
  if (super.has_feature(kFeatureBadBlocks) &&
      (super.bblog_offset.get() == 0 || super.bblog_size.get() == 0)) {
    return Refuse("feature_map ", Hex(super.feature_map),
                  " has bad blocks, but there is no bad-block log: bblog_offset ",
                  super.bblog_offset.get(), ", bblog_size ", super.bblog_size.get());
  }
  if (super.bblog_size.get() > kMaxLogSectors) {
    return Refuse("bblog_size ", super.bblog_size.get(), ": md's bad-block log has at most ",
                  kMaxLogSectors, " sectors");
  }
  return absl::OkStatus();
}

// The data area against the device. Differences only, so that no sum can wrap.
absl::Status CheckSizes(const Superblock& super, int minor, uint64_t super_sector,
                        uint64_t device_sectors) {
  const uint64_t data_offset = super.data_offset;
  const uint64_t data_size = super.data_size;
  if (data_size < kMinDataSectors) {
    return Refuse("data_size ", data_size, ": md wants at least ", kMinDataSectors, " sectors");
  }
  const uint64_t super_end = super_sector + SuperblockWriteBytes(super) / kSectorBytes;
  if (minor != 0 && data_offset < super_end) {
    return Refuse("data_offset ", data_offset, ": the superblock reaches to sector ", super_end);
  }
  const uint64_t data_limit = minor == 0 ? super_sector : device_sectors;
  if (data_offset > data_limit || data_size > data_limit - (minor == 0 ? 0 : data_offset)) {
    return Refuse("data_offset ", data_offset, " and data_size ", data_size,
                  ": the member ends its data at sector ", data_limit, " (was it cut short?)");
  }
  if (OwnRole(super) != kRoleJournal &&
      (super.size.get() > data_size || super.size.get() > data_limit - data_offset)) {
    return Refuse("size ", super.size.get(), ": the member has room for ",
                  std::min(data_size, data_limit - data_offset), " sectors of data");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSuperblockFormat(const Superblock& super, int minor, uint64_t device_sectors) {
  MDVOL_ASSIGN_OR_RETURN(const uint64_t super_sector, SuperblockSector(minor, device_sectors));
  MDVOL_RETURN_IF_ERROR(CheckWhole(super, super_sector));
  MDVOL_RETURN_IF_ERROR(CheckKnown(super));
  return CheckSizes(super, minor, super_sector, device_sectors);
}

absl::Status CheckSuperblockSupported(const Superblock& super) {
  if (super.level.get() != kRaid6) {
    return Refuse("level ", super.level.get(), ": mdvol handles RAID6 arrays only");
  }
  constexpr uint32_t kReshape =
      kFeatureReshapeActive | kFeatureReshapeBackwards | kFeatureNewOffset;
  if (super.has_feature(kReshape)) {
    return Refuse("a reshape is in progress: finish it with mdadm first");
  }
  if (super.has_feature(kFeatureClustered)) {
    return Refuse("the array belongs to a cluster (feature_map ", Hex(super.feature_map),
                  "): mdvol cannot share it with other nodes");
  }
  if (super.has_feature(kFeaturePpl | kFeatureMultiplePpls)) {
    return Refuse("feature_map ", Hex(super.feature_map),
                  ": a partial parity log, which md has on RAID5 only");
  }
  if (super.has_feature(kFeatureJournal) && super.has_feature(kFeatureBitmapOffset)) {
    return Refuse("feature_map ", Hex(super.feature_map),
                  ": a write journal and a bitmap at once, which md does not run");
  }
  return ArrayGeometry::Make(static_cast<Layout>(super.layout.get()), super.raid_disks,
                             uint64_t{super.chunksize.get()} * kSectorBytes,
                             super.size.get() * kSectorBytes)
      .status();
}

absl::Status CheckSuperblock(const Superblock& super, int minor, uint64_t device_sectors) {
  MDVOL_RETURN_IF_ERROR(CheckSuperblockFormat(super, minor, device_sectors));
  MDVOL_RETURN_IF_ERROR(CheckSuperblockSupported(super));
  return LayOutMember(super, device_sectors, 0).status();
}

}  // namespace mdvol
