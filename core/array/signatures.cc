// See signatures.h.

#include "core/array/signatures.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "core/array/member_io.h"
#include "core/base/little_endian.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "core/metadata/superblock.h"

namespace mdvol {
namespace {

using std::string_view_literals::operator""sv;

struct Magic {
  int64_t offset_bytes;  // from the end of the device when negative
  std::string_view bytes;
  const char* what;
};

constexpr int64_t kZfsLabelBytes = 256 << 10;
constexpr int64_t kZfsNameOffset = 16404;  // in a label: the first name of its list of pairs
constexpr auto kZfsName = "\0\0\0\x07version"sv;

constexpr std::array kMagics{
    // File systems.
    Magic{0, "XFSB"sv, "an XFS file system"},
    Magic{65600, "_BHRfS_M"sv, "a btrfs file system"},
    Magic{1024, "\x10\x20\xf5\xf2"sv, "an F2FS file system"},
    Magic{5120, "\x10\x20\xf5\xf2"sv, "an F2FS file system"},
    Magic{3, "NTFS    "sv, "an NTFS file system"},
    Magic{3, "EXFAT   "sv, "an exFAT file system"},
    Magic{54, "FAT12   "sv, "a FAT file system"},
    Magic{54, "FAT16   "sv, "a FAT file system"},
    Magic{54, "FAT     "sv, "a FAT file system"},
    Magic{82, "FAT32   "sv, "a FAT file system"},
    Magic{32769, "CD001"sv, "an ISO 9660 file system"},
    Magic{32769, "BEA01"sv, "a UDF file system"},
    Magic{32768, "JFS1"sv, "a JFS file system"},
    Magic{65588, "ReIsErFs"sv, "a ReiserFS file system"},
    Magic{65588, "ReIsEr2Fs"sv, "a ReiserFS file system"},
    Magic{65588, "ReIsEr3Fs"sv, "a ReiserFS file system"},
    Magic{0, "hsqs"sv, "a squashfs file system"},
    Magic{1024, "\xe2\xe1\xf5\xe0"sv, "an EROFS file system"},
    Magic{32, "NXSB"sv, "an APFS container"},
    Magic{1024, "H+\0\x04"sv, "an HFS+ file system"},
    Magic{1024, "HX\0\x05"sv, "an HFS+ file system"},
    Magic{kZfsNameOffset, kZfsName, "a ZFS pool member"},
    Magic{kZfsLabelBytes + kZfsNameOffset, kZfsName, "a ZFS pool member"},
    // Bcache and bcachefs: one place, two magics.
    Magic{4120, "\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"sv,
          "a bcache device"},
    Magic{4120, "\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"sv,
          "a bcachefs file system"},
    // Swap space, at the end of a page of the machine that made it.
    Magic{4096 - 10, "SWAPSPACE2"sv, "swap space"},
    Magic{8192 - 10, "SWAPSPACE2"sv, "swap space"},
    Magic{16384 - 10, "SWAPSPACE2"sv, "swap space"},
    Magic{32768 - 10, "SWAPSPACE2"sv, "swap space"},
    Magic{65536 - 10, "SWAPSPACE2"sv, "swap space"},
    Magic{4096 - 10, "SWAP-SPACE"sv, "swap space"},
    // Volumes: LVM2's label lies in any of the first four sectors.
    Magic{0, "LABELONE"sv, "an LVM2 physical volume"},
    Magic{512, "LABELONE"sv, "an LVM2 physical volume"},
    Magic{1024, "LABELONE"sv, "an LVM2 physical volume"},
    Magic{1536, "LABELONE"sv, "an LVM2 physical volume"},
    Magic{0, "LUKS\xba\xbe"sv, "a LUKS volume"},
    Magic{16384, "SKUL\xba\xbe"sv, "a LUKS volume"},
    Magic{32768, "SKUL\xba\xbe"sv, "a LUKS volume"},
    // Partition tables and other RAIDs: at both ends.
    Magic{512, "EFI PART"sv, "a GPT partition table"},
    Magic{4096, "EFI PART"sv, "a GPT partition table"},
    Magic{-512, "EFI PART"sv, "a GPT partition table"},
    Magic{-4096, "EFI PART"sv, "a GPT partition table"},
    Magic{-1024, "Intel Raid ISM Cfg Sig. "sv, "Intel RAID (IMSM) metadata"},
    Magic{-512, "\xde\x11\xde\x11"sv, "DDF RAID metadata"},
};

// A device, read piece by piece.
class Prober {
 public:
  explicit Prober(MemberDevice& device) : device_(device) {}

  uint64_t size_bytes() const { return device_.size_bytes(); }

  // Empty when the range does not lie on the device whole.
  absl::StatusOr<std::vector<uint8_t>> Read(uint64_t offset_bytes, uint64_t length_bytes) {
    if (offset_bytes > size_bytes() || length_bytes > size_bytes() - offset_bytes) {
      return std::vector<uint8_t>{};
    }
    return ReadAnywhere(device_, {offset_bytes, offset_bytes + length_bytes});
  }

  void Add(std::string what, uint64_t offset_bytes, uint64_t length_bytes) {
    found_.push_back({std::move(what), {offset_bytes, offset_bytes + length_bytes}});
  }

  bool HasFound(std::string_view what) const {
    return std::any_of(found_.begin(), found_.end(), [what](const FoundSignature& signature) {
      return signature.what.find(what) != std::string::npos;
    });
  }

  std::vector<FoundSignature> TakeFound() { return std::move(found_); }

 private:
  MemberDevice& device_;
  std::vector<FoundSignature> found_;
};

uint32_t LittleEndian32(const uint8_t* bytes) {
  le32 value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

absl::Status ProbeMagic(Prober& prober, const Magic& magic, uint64_t offset_bytes) {
  MDVOL_ASSIGN_OR_RETURN(const auto bytes, prober.Read(offset_bytes, magic.bytes.size()));
  if (!bytes.empty() && std::memcmp(bytes.data(), magic.bytes.data(), magic.bytes.size()) == 0) {
    prober.Add(magic.what, offset_bytes, magic.bytes.size());
  }
  return absl::OkStatus();
}

absl::Status ProbeMagics(Prober& prober) {
  for (const Magic& magic : kMagics) {
    const auto distance = static_cast<uint64_t>(std::abs(magic.offset_bytes));
    if (magic.offset_bytes >= 0) {
      MDVOL_RETURN_IF_ERROR(ProbeMagic(prober, magic, distance));
    } else if (distance <= prober.size_bytes()) {
      MDVOL_RETURN_IF_ERROR(ProbeMagic(prober, magic, prober.size_bytes() - distance));
    }
  }
  return absl::OkStatus();
}

// ZFS keeps two more labels in the last two whole 256 KiB of a device.
absl::Status ProbeZfsTail(Prober& prober) {
  const uint64_t end = RoundDown(prober.size_bytes(), kZfsLabelBytes);
  for (const uint64_t label : {2 * uint64_t{kZfsLabelBytes}, uint64_t{kZfsLabelBytes}}) {
    if (end >= 2 * label) {
      MDVOL_RETURN_IF_ERROR(ProbeMagic(prober, {0, kZfsName, "a ZFS pool member"},
                                       end - label + uint64_t{kZfsNameOffset}));
    }
  }
  return absl::OkStatus();
}

// ext2, ext3 and ext4 share a magic; features tell them apart.
absl::Status ProbeExt(Prober& prober) {
  constexpr uint64_t kMagicOffset = 1080;
  constexpr uint64_t kFeaturesOffset = 1116;
  constexpr uint32_t kHasJournal = 0x4;
  constexpr uint32_t kExt4Incompatible = 0x40 | 0x80 | 0x200;  // extents, 64bit, flex_bg
  constexpr uint32_t kExt4ReadOnly = 0x8 | 0x10 | 0x40 | 0x400;
  MDVOL_ASSIGN_OR_RETURN(const auto magic, prober.Read(kMagicOffset, 2));
  MDVOL_ASSIGN_OR_RETURN(const auto features, prober.Read(kFeaturesOffset, 12));
  if (features.empty() || magic[0] != 0x53 || magic[1] != 0xef) {
    return absl::OkStatus();
  }
  const bool is_ext4 = (LittleEndian32(&features[4]) & kExt4Incompatible) != 0 ||
                       (LittleEndian32(&features[8]) & kExt4ReadOnly) != 0;
  const bool has_journal = (LittleEndian32(&features[0]) & kHasJournal) != 0;
  prober.Add(is_ext4       ? "an ext4 file system"
             : has_journal ? "an ext3 file system"
                           : "an ext2 file system",
             kMagicOffset, 2);
  return absl::OkStatus();
}

// The boot sector's 55 aa alone says little: FAT and NTFS have it too, and so has a boot loader. It
// counts when the four entries look like partitions and one of them is in use.
absl::Status ProbeMbr(Prober& prober) {
  constexpr size_t kEntryBytes = 16;
  constexpr size_t kEntriesOffset = 446;
  MDVOL_ASSIGN_OR_RETURN(const auto sector, prober.Read(0, kSectorBytes));
  if (sector.empty() || sector[510] != 0x55 || sector[511] != 0xaa || prober.HasFound("FAT") ||
      prober.HasFound("NTFS")) {
    return absl::OkStatus();
  }
  bool is_in_use = false;
  for (size_t i = 0; i < 4; ++i) {
    const uint8_t* const entry = &sector[kEntriesOffset + i * kEntryBytes];
    if ((entry[0] & 0x7f) != 0) {
      return absl::OkStatus();
    }
    is_in_use = is_in_use || entry[4] != 0;
  }
  if (is_in_use) {
    prober.Add("an MBR partition table", 510, 2);
  }
  return absl::OkStatus();
}

absl::Status ProbeMd1(Prober& prober) {
  for (int minor = 0; minor <= 2; ++minor) {
    const auto sector = SuperblockSector(minor, prober.size_bytes() / kSectorBytes);
    if (!sector.ok()) {
      continue;  // Too small a device for a superblock there.
    }
    MDVOL_ASSIGN_OR_RETURN(const auto bytes, prober.Read(*sector * kSectorBytes, kSuperBytes));
    Superblock super;
    if (bytes.size() != sizeof(super)) {
      continue;
    }
    std::memcpy(&super, bytes.data(), sizeof(super));
    if (HasSuperMagic(super) && super.major_version.get() == 1) {
      prober.Add("md metadata 1." + std::to_string(minor) + " of array " +
                     FormatUuidColons(super.set_uuid),
                 *sector * kSectorBytes, sizeof(super.magic));
    }
  }
  return absl::OkStatus();
}

// The superblock before version 1, in the byte order of the machine that wrote it: 64 KiB from the
// end, at a multiple of 64 KiB. Version 1 has the same magic, but not the major version 0 behind
// it.
absl::Status ProbeMd090(Prober& prober) {
  constexpr uint64_t kReservedBytes = 64 * kKiB;
  if (prober.size_bytes() < kReservedBytes) {
    return absl::OkStatus();
  }
  const uint64_t offset = RoundDown(prober.size_bytes(), kReservedBytes) - kReservedBytes;
  MDVOL_RETURN_IF_ERROR(
      ProbeMagic(prober, {0, "\xfc\x4e\x2b\xa9\0\0\0\0"sv, "md metadata 0.90"}, offset));
  return ProbeMagic(prober, {0, "\xa9\x2b\x4e\xfc\0\0\0\0"sv, "md metadata 0.90"}, offset);
}

}  // namespace

absl::StatusOr<std::vector<FoundSignature>> FindSignatures(MemberDevice& device) {
  Prober prober(device);
  MDVOL_RETURN_IF_ERROR(ProbeMd1(prober));
  MDVOL_RETURN_IF_ERROR(ProbeMd090(prober));
  MDVOL_RETURN_IF_ERROR(ProbeExt(prober));
  MDVOL_RETURN_IF_ERROR(ProbeMagics(prober));
  MDVOL_RETURN_IF_ERROR(ProbeZfsTail(prober));
  MDVOL_RETURN_IF_ERROR(ProbeMbr(prober));
  return prober.TakeFound();
}

}  // namespace mdvol
