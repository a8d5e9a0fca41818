// See member_areas.h. Areas are placed with their least size first, checked, and then grown into
// what is free behind them.

#include "core/metadata/member_areas.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "core/metadata/bitmap.h"

namespace mdvol {
namespace {

constexpr uint64_t kGrainBytes = 4096;
// Beyond this a sector number has no byte offset, and a signed offset added to it could wrap.
constexpr uint64_t kMaxDeviceSectors = uint64_t{1} << 54;

struct Area {
  std::string_view name;
  ByteRange range;
};

std::string Describe(const Area& area) {
  return absl::StrCat("the ", std::string(area.name), " (bytes ", area.range.begin, " to ",
                      area.range.end, ")");
}

// The area of `length_bytes` at `offset_sectors` from `base_sector`. The base is at most the
// device's size; the offset has 32 bits, or is 0.
absl::StatusOr<Area> Place(std::string_view name, uint64_t base_sector, int32_t offset_sectors,
                           uint64_t length_bytes, uint64_t device_sectors) {
  const int64_t begin = static_cast<int64_t>(base_sector) + offset_sectors;
  const uint64_t device_bytes = device_sectors * kSectorBytes;
  if (begin < 0 || static_cast<uint64_t>(begin) > device_sectors ||
      length_bytes > device_bytes - static_cast<uint64_t>(begin) * kSectorBytes) {
    return ErrnoStatus(
        EINVAL,
        absl::StrCat("the ", std::string(name), " (", length_bytes, " bytes at sector ", begin,
                     ") lies off the member, which has ", device_sectors, " sectors"));
  }
  const uint64_t begin_bytes = static_cast<uint64_t>(begin) * kSectorBytes;
  return Area{name, {begin_bytes, begin_bytes + length_bytes}};
}

absl::Status CheckDisjoint(std::span<const Area> areas) {
  for (size_t i = 0; i < areas.size(); ++i) {
    for (size_t j = i + 1; j < areas.size(); ++j) {
      const ByteRange& a = areas[i].range;
      const ByteRange& b = areas[j].range;
      if (!a.empty() && !b.empty() && a.begin < b.end && b.begin < a.end) {
        return ErrnoStatus(EINVAL,
                           absl::StrCat(Describe(areas[i]), " overlaps ", Describe(areas[j])));
      }
    }
  }
  return absl::OkStatus();
}

// Where the first area behind `range` begins, or the device ends.
uint64_t NextBegin(std::span<const Area> areas, const ByteRange& range, uint64_t device_bytes) {
  uint64_t next = device_bytes;
  for (const Area& area : areas) {
    if (!area.range.empty() && area.range.begin >= range.end) {
      next = std::min(next, area.range.begin);
    }
  }
  return next;
}

enum : size_t { kSuper, kBitmap, kBadBlocks, kData, kAreaCount };
using Areas = std::array<Area, kAreaCount>;

absl::StatusOr<Areas> PlaceAll(const Superblock& super, uint64_t device_sectors,
                               uint64_t bitmap_bytes) {
  const uint64_t super_sector = super.super_offset;
  const uint64_t data_sector = super.data_offset;
  if (super.max_dev.get() > kMaxDevices) {
    return ErrnoStatus(
        EINVAL, absl::StrCat("max_dev ", super.max_dev.get(), ": a superblock holds at most ",
                             kMaxDevices, " roles"));
  }
  if (device_sectors > kMaxDeviceSectors || super_sector > device_sectors ||
      data_sector > device_sectors) {
    return ErrnoStatus(
        EINVAL, absl::StrCat("super_offset ", super_sector, " or data_offset ", data_sector,
                             " lies off the member, which has ", device_sectors, " sectors"));
  }
  uint64_t data_sectors = super.data_size;
  if (OwnRole(super) != kRoleJournal) {
    data_sectors =
        super.chunksize.get() == 0 ? super.size.get() : RoundDown(super.size, super.chunksize);
  }
  // Keeps the length in bytes from wrapping; Place names the error.
  data_sectors = std::min(data_sectors, kMaxDeviceSectors + 1);

  Areas areas;
  MDVOL_ASSIGN_OR_RETURN(areas[kSuper], Place("superblock", super_sector, 0,
                                              SuperblockWriteBytes(super), device_sectors));
  areas[kBitmap].name = "bitmap";
  if (super.has_feature(kFeatureBitmapOffset)) {
    MDVOL_ASSIGN_OR_RETURN(
        areas[kBitmap], Place("bitmap", super_sector, super.bitmap_offset,
                              std::max<uint64_t>(bitmap_bytes, kBitmapSuperBytes), device_sectors));
  }
  areas[kBadBlocks].name = "bad-block log";
  if (super.bblog_offset.get() != 0 && super.bblog_size.get() != 0) {
    MDVOL_ASSIGN_OR_RETURN(areas[kBadBlocks],
                           Place("bad-block log", super_sector, super.bblog_offset,
                                 super.bblog_size.get() * kSectorBytes, device_sectors));
  }
  MDVOL_ASSIGN_OR_RETURN(areas[kData], Place("data area", data_sector, 0,
                                             data_sectors * kSectorBytes, device_sectors));
  MDVOL_RETURN_IF_ERROR(CheckDisjoint(areas));
  return areas;
}

}  // namespace

absl::StatusOr<MemberAreas> LayOutMember(const Superblock& super, uint64_t device_sectors,
                                         uint64_t bitmap_bytes) {
  MDVOL_ASSIGN_OR_RETURN(Areas areas, PlaceAll(super, device_sectors, bitmap_bytes));
  const uint64_t device_bytes = device_sectors * kSectorBytes;
  ByteRange& whole_super = areas[kSuper].range;
  whole_super.end = std::min(std::max(whole_super.end, whole_super.begin + kSuperBytes),
                             NextBegin(areas, whole_super, device_bytes));
  ByteRange& bitmap = areas[kBitmap].range;
  if (!bitmap.empty()) {
    bitmap.end = std::min(bitmap.begin + RoundUp(bitmap.size(), kGrainBytes),
                          NextBegin(areas, bitmap, device_bytes));
  }
  return MemberAreas{whole_super, bitmap, areas[kBadBlocks].range, areas[kData].range};
}

absl::StatusOr<uint64_t> BitmapRoomBytes(const Superblock& super, uint64_t device_sectors) {
  MDVOL_ASSIGN_OR_RETURN(const Areas areas, PlaceAll(super, device_sectors, 0));
  const ByteRange& bitmap = areas[kBitmap].range;
  if (bitmap.empty()) {
    return 0;
  }
  return NextBegin(areas, bitmap, device_sectors * kSectorBytes) - bitmap.begin;
}

}  // namespace mdvol
