// See sample_array.h.

#include "tests/unit/core/metadata/sample_array.h"

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/units.h"

namespace mdvol::testing {
namespace {

Uuid FilledUuid(uint32_t value) {
  Uuid uuid;
  uuid.bytes.fill(0xd0);
  uuid.bytes[0] = static_cast<uint8_t>(value >> 8);
  uuid.bytes[1] = static_cast<uint8_t>(value & 0xff);
  return uuid;
}

}  // namespace

std::vector<MemberReport> SampleArray(uint32_t raid_disks) {
  MemberReport report;
  Superblock& super = report.super;
  report.device_sectors = 9 * kMiB / kSectorBytes;
  super.magic = kSuperMagic;
  super.major_version = 1;
  super.set_uuid.bytes.fill(0xaa);
  super.ctime = 1700000000;
  super.level = 6;
  super.layout = 2;
  super.size = 8 * kMiB / kSectorBytes;
  super.chunksize = 128;
  super.raid_disks = raid_disks;
  super.data_offset = 2048;
  super.data_size = super.size;
  super.super_offset = 8;
  super.events = kSampleEvents;
  super.resync_offset = kResyncDone;
  super.max_dev = 128;
  super.dev_roles.fill(kRoleSpare);
  for (uint32_t slot = 0; slot < raid_disks; ++slot) {
    super.dev_roles[slot] = static_cast<uint16_t>(slot);
  }
  std::vector<MemberReport> reports;
  for (uint32_t slot = 0; slot < raid_disks; ++slot) {
    reports.push_back(SampleMember(report, slot));
  }
  return reports;
}

MemberReport SampleMember(const MemberReport& like, uint32_t number) {
  MemberReport report = like;
  report.path = absl::StrCat("d", number);
  report.super.dev_number = number;
  report.super.device_uuid = FilledUuid(number);
  report.super.events = kSampleEvents;
  return report;
}

void SetRole(MemberReport& report, uint32_t number, uint16_t role) {
  report.super.dev_roles[number] = role;
}

void SetRole(std::vector<MemberReport>& reports, uint32_t number, uint16_t role) {
  for (MemberReport& report : reports) SetRole(report, number, role);
}

void SetBehind(MemberReport& report, uint64_t events) {
  report.super.events = kSampleEvents - events;
}

void SetDirty(std::vector<MemberReport>& reports, uint64_t resync_sectors) {
  for (MemberReport& report : reports) report.super.resync_offset = resync_sectors;
}

void SetRebuilding(MemberReport& report, uint64_t valid_sectors) {
  report.super.feature_map = report.super.feature_map | kFeatureRecoveryOffset;
  report.super.recovery_offset = valid_sectors;
}

void GiveBitmap(std::vector<MemberReport>& reports, uint64_t events) {
  for (MemberReport& report : reports) {
    report.super.feature_map = report.super.feature_map | kFeatureBitmapOffset;
    report.super.bitmap_offset = 8;
    report.bitmap = NewBitmapSuperblock(report.super.set_uuid, 8 * kMiB, kBitmapDefaultChunkBytes);
    report.bitmap->events = events;
  }
}

size_t IndexOf(const std::vector<MemberReport>& reports, const std::string& path) {
  for (size_t i = 0; i < reports.size(); ++i) {
    if (reports[i].path == path) return i;
  }
  MDVOL_CHECK(false);
  return 0;
}

}  // namespace mdvol::testing
