// See superblock.h. The checks are in superblock_check.cc.

#include "core/metadata/superblock.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/status.h"
#include "core/base/units.h"

namespace mdvol {
namespace {

constexpr uint64_t kMinDeviceSectors = 24;
constexpr size_t kFixedBytes = offsetof(Superblock, dev_roles);
constexpr unsigned kTimeSecondsBits = 40;
constexpr uint64_t kTimeSecondsMask = (uint64_t{1} << kTimeSecondsBits) - 1;
constexpr uint64_t kMicrosecondsPerSecond = 1'000'000;

size_t SummedBytes(const Superblock& super) {
  MDVOL_CHECK(super.max_dev.get() <= kMaxDevices);
  return kFixedBytes + sizeof(le16) * super.max_dev.get();
}

}  // namespace

absl::StatusOr<uint64_t> SuperblockSector(int minor, uint64_t device_sectors) {
  if (device_sectors < kMinDeviceSectors) {
    return ErrnoStatus(EINVAL, absl::StrCat("a member of ", device_sectors,
                                            " sectors is too small for md: it needs at least ",
                                            kMinDeviceSectors));
  }
  switch (minor) {
    case 0:  // 8 to 12 KiB before the end, at a multiple of 4 KiB
      return (device_sectors - 16) & ~uint64_t{7};
    case 1:
      return 0;
    case 2:
      return 8;
    default:
      return ErrnoStatus(EINVAL,
                         absl::StrCat("metadata 1.", minor, ": md knows 1.0, 1.1 and 1.2 only"));
  }
}

// The sum of all 32-bit words in 64 bits, folded once; a last odd role counts as a 16-bit word.
uint32_t SuperblockChecksum(const Superblock& super) {
  const size_t length = SummedBytes(super);
  std::array<uint8_t, kSuperBytes> bytes;
  std::memcpy(bytes.data(), &super, kSuperBytes);
  std::fill_n(bytes.begin() + offsetof(Superblock, sb_csum), sizeof(super.sb_csum), uint8_t{0});

  uint64_t sum = 0;
  size_t at = 0;
  for (; at + sizeof(le32) <= length; at += sizeof(le32)) {
    le32 word;
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    sum += word.get();
  }
  if (at < length) {
    le16 word;
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    sum += word.get();
  }
  return static_cast<uint32_t>((sum & 0xffffffff) + (sum >> 32));
}

void SealSuperblock(Superblock& super) { super.sb_csum = SuperblockChecksum(super); }

bool HasSuperMagic(const Superblock& super) { return super.magic.get() == kSuperMagic; }

uint16_t RoleOfDevice(const Superblock& super, uint32_t number) {
  if (number >= super.max_dev.get() || number >= kMaxDevices) {
    return kRoleSpare;
  }
  return super.dev_roles[number];
}

std::optional<uint32_t> SlotOfDevice(const Superblock& super, uint32_t number) {
  const uint16_t role = RoleOfDevice(super, number);
  if (role >= kRoleMax || role >= super.raid_disks.get()) {
    return std::nullopt;
  }
  return role;
}

uint16_t OwnRole(const Superblock& super) { return RoleOfDevice(super, super.dev_number); }

std::optional<uint32_t> OwnSlot(const Superblock& super) {
  return SlotOfDevice(super, super.dev_number);
}

size_t SuperblockWriteBytes(const Superblock& super) {
  return RoundUp(SummedBytes(super), kSectorBytes);
}

uint64_t ComponentBytes(const Superblock& super) {
  MDVOL_CHECK(super.chunksize.get() != 0);
  return RoundDown(super.size, super.chunksize) * kSectorBytes;
}

uint32_t MaxDevFor(uint32_t devices) {
  const uint64_t bytes = RoundUp(kFixedBytes + sizeof(le16) * uint64_t{devices}, kSectorBytes);
  return static_cast<uint32_t>((bytes - kFixedBytes) / sizeof(le16));
}

std::string SetName(const Superblock& super) {
  const auto end = std::find(super.set_name.begin(), super.set_name.end(), '\0');
  return std::string(super.set_name.begin(), end);
}

uint64_t PackMdTime(uint64_t wall_us) {
  const uint64_t seconds = wall_us / kMicrosecondsPerSecond;
  const uint64_t microseconds = wall_us % kMicrosecondsPerSecond;
  return (microseconds << kTimeSecondsBits) | (seconds & kTimeSecondsMask);
}

uint64_t MdTimeSeconds(uint64_t packed) { return packed & kTimeSecondsMask; }

}  // namespace mdvol
