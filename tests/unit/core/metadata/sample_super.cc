// See sample_super.h.

#include "tests/unit/core/metadata/sample_super.h"

#include <algorithm>
#include <string_view>

#include "core/base/check.h"

namespace mdvol::testing {

Superblock SampleSuper() {
  Superblock super{};
  super.magic = kSuperMagic;
  super.major_version = 1;
  super.feature_map = kFeatureBitmapOffset;
  for (size_t i = 0; i < super.set_uuid.bytes.size(); ++i) {
    super.set_uuid.bytes[i] = static_cast<uint8_t>(i);
  }
  constexpr std::string_view kName = "host:vol";
  std::copy(kName.begin(), kName.end(), super.set_name.begin());
  super.ctime = 1700000000;
  super.level = 6;
  super.layout = 2;
  super.size = 126976;
  super.chunksize = 1024;
  super.raid_disks = 6;
  super.bitmap_offset = 8;
  super.data_offset = 2048;
  super.data_size = 129024;
  super.super_offset = 8;
  super.dev_number = 3;
  super.device_uuid.bytes.fill(3);
  super.bblog_size = 8;
  super.bblog_offset = 72;
  super.utime = 1700000100;
  super.events = 7;
  super.resync_offset = kResyncDone;
  super.max_dev = 128;
  for (uint32_t i = 0; i < super.max_dev; ++i) {
    super.dev_roles[i] = i < 6 ? static_cast<uint16_t>(i) : kRoleSpare;
  }
  SealSuperblock(super);
  return super;
}

Superblock SampleSuper(int minor) {
  Superblock super = SampleSuper();
  const auto sector = SuperblockSector(minor, kSampleDeviceSectors);
  MDVOL_CHECK(sector.ok());
  super.super_offset = *sector;
  if (minor == 0) {
    super.data_offset = 0;
    super.data_size = *sector - 16;
    super.bitmap_offset = -16;
    super.bblog_offset = -8;
  }
  SealSuperblock(super);
  return super;
}

absl::Status CheckSealed(Superblock super, int minor) {
  if (super.max_dev.get() <= kMaxDevices) {
    SealSuperblock(super);
  }
  return CheckSuperblock(super, minor, kSampleDeviceSectors);
}

}  // namespace mdvol::testing
