// md's version-1 superblock: the struct exactly as it is on disk, its checks, its checksum, and
// where it lies.
//
// The on-disk struct is the only model: parsing is checking, writing is summing. What an unknown
// writer put into fields that we do not use (a newer kernel's logical block size) is therefore kept
// when we write the superblock back. Sectors are 512 bytes. Pure, no I/O; values, no locking.
// Format: docs/architecture.md, "The superblock".

#ifndef MDVOL_CORE_METADATA_SUPERBLOCK_H_
#define MDVOL_CORE_METADATA_SUPERBLOCK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/little_endian.h"
#include "core/base/uuid.h"

namespace mdvol {

inline constexpr uint32_t kSuperMagic = 0xa92b4efc;
inline constexpr size_t kSuperBytes =
    4096;  // what is read and written: the fixed part and every possible role
inline constexpr uint32_t kMaxDevices = 1920;

// Bits of feature_map.
inline constexpr uint32_t kFeatureBitmapOffset = 1;
inline constexpr uint32_t kFeatureRecoveryOffset = 2;
inline constexpr uint32_t kFeatureReshapeActive = 4;
inline constexpr uint32_t kFeatureBadBlocks = 8;
inline constexpr uint32_t kFeatureReplacement = 16;
inline constexpr uint32_t kFeatureReshapeBackwards = 32;
inline constexpr uint32_t kFeatureNewOffset = 64;
inline constexpr uint32_t kFeatureRecoveryBitmap = 128;
inline constexpr uint32_t kFeatureClustered = 256;
inline constexpr uint32_t kFeatureJournal = 512;
inline constexpr uint32_t kFeaturePpl = 1024;
inline constexpr uint32_t kFeatureMultiplePpls = 2048;
inline constexpr uint32_t kFeatureRaid0Layout = 4096;
inline constexpr uint32_t kFeatureAll = 8191;

// Values of dev_roles; a value below kRoleMax is a slot.
inline constexpr uint16_t kRoleMax = 0xff00;
inline constexpr uint16_t kRoleJournal = 0xfffd;
inline constexpr uint16_t kRoleFaulty = 0xfffe;
inline constexpr uint16_t kRoleSpare = 0xffff;

inline constexpr uint64_t kResyncDone = ~uint64_t{0};  // resync_offset of a clean array

struct Superblock {
  le32 magic;
  le32 major_version;
  le32 feature_map;
  le32 pad0;
  Uuid set_uuid;
  std::array<char, 32> set_name;
  le64 ctime;  // low 40 bits seconds, top 24 microseconds
  sle32 level;
  sle32 layout;
  le64 size;  // sectors used on each member
  le32 chunksize;
  le32 raid_disks;
  sle32 bitmap_offset;  // from the superblock
  le32 new_level;
  le64 reshape_position;
  sle32 delta_disks;
  le32 new_layout;
  le32 new_chunk;
  sle32 new_offset;
  le64 data_offset;
  le64 data_size;
  le64 super_offset;
  le64 recovery_offset;  // or the journal's tail
  le32 dev_number;
  le32 cnt_corrected_read;
  Uuid device_uuid;
  uint8_t devflags;
  uint8_t bblog_shift;
  le16 bblog_size;
  sle32 bblog_offset;  // from the superblock
  le64 utime;
  le64 events;
  le64 resync_offset;
  le32 sb_csum;
  le32 max_dev;
  le32 logical_block_size;  // kernels since late 2025; 0 where we write it first
  std::array<uint8_t, 28> pad3;
  std::array<le16, kMaxDevices> dev_roles;

  // Whether any of the bits in `features` is set.
  bool has_feature(uint32_t features) const { return (feature_map.get() & features) != 0; }
};

static_assert(sizeof(Superblock) == kSuperBytes);
static_assert(alignof(Superblock) == 1);
static_assert(offsetof(Superblock, magic) == 0);
static_assert(offsetof(Superblock, feature_map) == 8);
static_assert(offsetof(Superblock, set_uuid) == 16);
static_assert(offsetof(Superblock, set_name) == 32);
static_assert(offsetof(Superblock, ctime) == 64);
static_assert(offsetof(Superblock, level) == 72);
static_assert(offsetof(Superblock, layout) == 76);
static_assert(offsetof(Superblock, size) == 80);
static_assert(offsetof(Superblock, chunksize) == 88);
static_assert(offsetof(Superblock, raid_disks) == 92);
static_assert(offsetof(Superblock, bitmap_offset) == 96);
static_assert(offsetof(Superblock, new_level) == 100);
static_assert(offsetof(Superblock, reshape_position) == 104);
static_assert(offsetof(Superblock, delta_disks) == 112);
static_assert(offsetof(Superblock, new_layout) == 116);
static_assert(offsetof(Superblock, new_chunk) == 120);
static_assert(offsetof(Superblock, new_offset) == 124);
static_assert(offsetof(Superblock, data_offset) == 128);
static_assert(offsetof(Superblock, data_size) == 136);
static_assert(offsetof(Superblock, super_offset) == 144);
static_assert(offsetof(Superblock, recovery_offset) == 152);
static_assert(offsetof(Superblock, dev_number) == 160);
static_assert(offsetof(Superblock, cnt_corrected_read) == 164);
static_assert(offsetof(Superblock, device_uuid) == 168);
static_assert(offsetof(Superblock, devflags) == 184);
static_assert(offsetof(Superblock, bblog_shift) == 185);
static_assert(offsetof(Superblock, bblog_size) == 186);
static_assert(offsetof(Superblock, bblog_offset) == 188);
static_assert(offsetof(Superblock, utime) == 192);
static_assert(offsetof(Superblock, events) == 200);
static_assert(offsetof(Superblock, resync_offset) == 208);
static_assert(offsetof(Superblock, sb_csum) == 216);
static_assert(offsetof(Superblock, max_dev) == 220);
static_assert(offsetof(Superblock, logical_block_size) == 224);
static_assert(offsetof(Superblock, pad3) == 228);
static_assert(offsetof(Superblock, dev_roles) == 256);

// Where the superblock of minor version 0, 1 or 2 lies on a member of `device_sectors`; EINVAL for
// a member too small.
absl::StatusOr<uint64_t> SuperblockSector(int minor, uint64_t device_sectors);

// The checksum over 256 + 2 * max_dev bytes with the checksum field as 0. max_dev must be <=
// kMaxDevices.
uint32_t SuperblockChecksum(const Superblock& super);

// Sums and stores the checksum.
void SealSuperblock(Superblock& super);

// Whether there is any md v1 superblock here at all (the magic), for telling "no metadata" from
// "damaged metadata".
bool HasSuperMagic(const Superblock& super);

// All checks that need only this member: magic, version, max_dev, super_offset, unknown features,
// checksum, padding, level and layout of RAID6, chunk, raid_disks, sizes against the device, and
// areas (superblock, bitmap, bad-block log, data) that stay on the device and do not overlap. The
// message names the field and its value. Order: magic, bounds, checksum, version, ranges. Nothing
// hostile can overflow. The three below, one after the other.
absl::Status CheckSuperblock(const Superblock& super, int minor, uint64_t device_sectors);

// The first part, true of md v1 superblocks of any level: whole, and what the kernel loads. Enough
// to show what a member says of itself.
absl::Status CheckSuperblockFormat(const Superblock& super, int minor, uint64_t device_sectors);

// The second part: an array that mdvol can run. RAID6, no reshape in progress, no feature that is
// not understood.
absl::Status CheckSuperblockSupported(const Superblock& super);

// The slot, spare, faulty or journal role that `super` gives to device number `number`; kRoleSpare
// beyond max_dev.
uint16_t RoleOfDevice(const Superblock& super, uint32_t number);

// The slot that `super` gives to device number `number`; absent for spare, faulty and journal, and
// for a role beyond raid_disks, which the kernel takes for a spare.
std::optional<uint32_t> SlotOfDevice(const Superblock& super, uint32_t number);

// The role that a member claims for itself.
uint16_t OwnRole(const Superblock& super);
std::optional<uint32_t> OwnSlot(const Superblock& super);

// How much of the 4 KiB must be written to keep all roles: whole sectors. The rest may belong to
// another area (old bitmaps begin 1 KiB behind the superblock). max_dev must be <= kMaxDevices.
size_t SuperblockWriteBytes(const Superblock& super);

// What the array uses of each member's data area: `size` in whole chunks. `super` must have passed
// CheckSuperblock.
uint64_t ComponentBytes(const Superblock& super);

// How many role entries mdadm provides for: 128 for small arrays, stepping by 256 beyond.
uint32_t MaxDevFor(uint32_t devices);

// The part of set_name before the NUL padding.
std::string SetName(const Superblock& super);

// md's packed time from microseconds since 1970, and its seconds back.
uint64_t PackMdTime(uint64_t wall_us);
uint64_t MdTimeSeconds(uint64_t packed);

}  // namespace mdvol

#endif  // MDVOL_CORE_METADATA_SUPERBLOCK_H_
