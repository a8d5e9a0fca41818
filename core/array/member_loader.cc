// See member_loader.h.

#include "core/array/member_loader.h"

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/array/member_io.h"
#include "core/array/signatures.h"
#include "core/base/status.h"
#include "core/base/units.h"

namespace mdvol {
namespace {

constexpr int kMinors = 3;

struct Candidate {
  bool has_magic = false;
  absl::Status read_status;  // not OK: the place could not be read
  absl::Status status;       // OK: whole
  Superblock super;
};

// Reads the superblock of one minor version, if there is one in that place.
Candidate ProbeSuperblock(MemberDevice& device, int minor) {
  Candidate candidate;
  const uint64_t device_sectors = device.size_bytes() / kSectorBytes;
  const auto sector = SuperblockSector(minor, device_sectors);
  if (!sector.ok()) {
    candidate.status = sector.status();
    return candidate;
  }
  const uint64_t begin = *sector * kSectorBytes;
  const auto bytes = ReadAnywhere(device, {begin, begin + kSuperBytes});
  if (!bytes.ok()) {
    candidate.status = candidate.read_status = bytes.status();
    return candidate;
  }
  std::memcpy(&candidate.super, bytes->data(), kSuperBytes);
  candidate.has_magic = HasSuperMagic(candidate.super);
  candidate.status = CheckSuperblockFormat(candidate.super, minor, device_sectors);
  return candidate;
}

// md's packed time so that it can be compared: seconds first.
std::pair<uint64_t, uint64_t> CreationTime(const Superblock& super) {
  const uint64_t packed = super.ctime;
  return {MdTimeSeconds(packed), packed >> 40};
}

// Why none of the places holds a whole superblock.
absl::Status NoSuperblock(MemberDevice& device, const std::vector<Candidate>& candidates) {
  for (int minor = kMinors - 1; minor >= 0; --minor) {
    const Candidate& candidate = candidates[static_cast<size_t>(minor)];
    if (candidate.has_magic) {
      return Annotate(candidate.status,
                      absl::StrCat(device.path(), ": the md superblock (1.", minor,
                                   ") cannot be used, leave this member out"));
    }
  }
  for (const Candidate& candidate : candidates) {
    MDVOL_RETURN_IF_ERROR(candidate.read_status);
  }
  MDVOL_ASSIGN_OR_RETURN(const auto signatures, FindSignatures(device));
  for (const FoundSignature& signature : signatures) {
    if (signature.what == "md metadata 0.90") {
      return ErrnoStatus(EINVAL, absl::StrCat(device.path(), ": has md metadata 0.90, mdvol reads ",
                                              "1.0, 1.1 and 1.2: use a copy converted by mdadm ",
                                              "--assemble --update=metadata"));
    }
  }
  return ErrnoStatus(
      EINVAL, absl::StrCat(device.path(), ": no md superblock found in ", device.size_bytes(),
                           " bytes: it is no member of an md array, or was cut"));
}

absl::StatusOr<BadBlockList> LoadBadBlocks(MemberDevice& device, const Superblock& super,
                                           const ByteRange& area) {
  // As in the kernel, the log counts only where the superblock says that it holds something.
  if (area.empty() || !super.has_feature(kFeatureBadBlocks)) {
    return BadBlockList{};
  }
  MDVOL_ASSIGN_OR_RETURN(const auto log, ReadAnywhere(device, area));
  return ParseBadBlockLog(log, super.bblog_shift, device.size_bytes());
}

// The bitmap's superblock, checked; nothing may be derived from it before.
absl::StatusOr<BitmapSuperblock> LoadBitmapSuper(MemberDevice& device, const Superblock& super,
                                                 const ByteRange& area, uint64_t room_bytes) {
  MDVOL_ASSIGN_OR_RETURN(const auto bytes,
                         ReadAnywhere(device, {area.begin, area.begin + kBitmapSuperBytes}));
  BitmapSuperblock bitmap;
  std::memcpy(&bitmap, bytes.data(), kBitmapSuperBytes);
  MDVOL_RETURN_IF_ERROR(CheckBitmap(bitmap, super.set_uuid, ComponentBytes(super), room_bytes));
  return bitmap;
}

absl::Status LoadBitmap(MemberDevice& device, const Superblock& super, LoadedAreas& loaded) {
  const uint64_t device_sectors = device.size_bytes() / kSectorBytes;
  MDVOL_ASSIGN_OR_RETURN(const uint64_t room_bytes, BitmapRoomBytes(super, device_sectors));
  const auto bitmap = LoadBitmapSuper(device, super, loaded.areas.bitmap, room_bytes);
  if (!bitmap.ok()) {
    return OwnSlot(super).has_value() ? bitmap.status() : absl::OkStatus();
  }
  const uint64_t bitmap_bytes = BitmapBytes(ComponentBytes(super), bitmap->chunksize);
  MDVOL_ASSIGN_OR_RETURN(loaded.areas, LayOutMember(super, device_sectors, bitmap_bytes));
  MDVOL_ASSIGN_OR_RETURN(loaded.bitmap_file, ReadAnywhere(device, loaded.areas.bitmap));
  loaded.bitmap = *bitmap;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<FoundSuperblock> FindSuperblock(MemberDevice& device) {
  std::vector<Candidate> candidates;
  const Candidate* best = nullptr;
  int best_minor = 0;
  for (int minor = 0; minor < kMinors; ++minor) {
    candidates.push_back(ProbeSuperblock(device, minor));
  }
  for (int minor = 0; minor < kMinors; ++minor) {
    const Candidate& candidate = candidates[static_cast<size_t>(minor)];
    if (candidate.status.ok() &&
        (best == nullptr || CreationTime(candidate.super) > CreationTime(best->super))) {
      best = &candidate;
      best_minor = minor;
    }
  }
  if (best == nullptr) {
    return NoSuperblock(device, candidates);
  }
  return FoundSuperblock{best_minor, best->super};
}

absl::StatusOr<LoadedAreas> LoadAreas(MemberDevice& device, const Superblock& super) {
  LoadedAreas loaded;
  MDVOL_ASSIGN_OR_RETURN(loaded.areas, LayOutMember(super, device.size_bytes() / kSectorBytes, 0));
  MDVOL_ASSIGN_OR_RETURN(loaded.bad_blocks, LoadBadBlocks(device, super, loaded.areas.bad_blocks));
  if (!loaded.areas.bitmap.empty()) {
    MDVOL_RETURN_IF_ERROR(LoadBitmap(device, super, loaded));
  }
  return loaded;
}

absl::StatusOr<LoadedMember> LoadMember(std::unique_ptr<MemberDevice> device) {
  MDVOL_ASSIGN_OR_RETURN(const FoundSuperblock found, FindSuperblock(*device));
  const std::string& path = device->path();
  MDVOL_RETURN_IF_ERROR(Annotate(CheckSuperblockSupported(found.super), path));
  auto areas = LoadAreas(*device, found.super);
  if (!areas.ok()) {
    return Annotate(areas.status(), path);
  }
  LoadedMember member;
  member.report.path = path;
  member.report.device_sectors = device->size_bytes() / kSectorBytes;
  member.report.minor = found.minor;
  member.report.super = found.super;
  member.report.bitmap = areas->bitmap;
  member.areas = areas->areas;
  member.bad_blocks = std::move(areas->bad_blocks);
  member.bitmap_file = std::move(areas->bitmap_file);
  member.device = std::move(device);
  return member;
}

}  // namespace mdvol
