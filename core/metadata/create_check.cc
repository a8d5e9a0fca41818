// See create_check.h.

#include "core/metadata/create_check.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "core/geometry/geometry.h"

namespace mdvol {
namespace {

constexpr uint32_t kMaxMissing = 2;
constexpr uint64_t kGrainBytes = 4096;
constexpr uint64_t kMinBitmapChunkBytes = 4096;
constexpr uint64_t kMaxBitmapChunkBytes = uint64_t{1} << 31;
constexpr uint64_t kMaxDataOffsetBytes = kTiB;

template <typename... Parts>
absl::Status Refuse(const Parts&... parts) {
  return UsageError(absl::StrCat(parts...));
}

absl::Status CheckCounts(const CreateRequest& request) {
  if (request.raid_disks < kMinRaidDisks || request.raid_disks > kMaxRaidDisks) {
    return Refuse("--raid-devices ", request.raid_disks, ": a RAID6 array has ", kMinRaidDisks,
                  " to ", kMaxRaidDisks, " members");
  }
  const uint32_t journals = request.journal.has_value() ? 1 : 0;
  if (request.spares > kMaxDevices - journals - request.raid_disks) {
    return Refuse("--spare-devices ", request.spares, ": an array has at most ", kMaxDevices,
                  " members and spares");
  }
  const size_t wanted = size_t{request.raid_disks} + request.spares;
  if (request.members.size() != wanted) {
    return Refuse(request.members.size(), " members are named, but ", request.raid_disks,
                  " members and ", request.spares, " spares are wanted: name ", wanted,
                  ", a member may be the word missing");
  }
  MDVOL_CHECK(request.device_uuids.size() == wanted + journals);
  return absl::OkStatus();
}

absl::Status CheckJournal(const CreateRequest& request) {
  if (!request.journal.has_value()) {
    return absl::OkStatus();
  }
  if (request.journal->missing) {
    return Refuse("--write-journal missing: a journal cannot be missing, name an image or device");
  }
  if (request.raid_disks > kMaxJournalRaidDisks) {
    return Refuse("--write-journal: an array with a journal has at most ", kMaxJournalRaidDisks,
                  " members, not ", request.raid_disks);
  }
  if (request.bitmap) {
    return Refuse("--write-journal: an array has a journal or a bitmap, not both: leave out ",
                  "--bitmap internal");
  }
  return absl::OkStatus();
}

absl::Status CheckMissing(const CreateRequest& request) {
  const auto spares = request.members.begin() + request.raid_disks;
  const auto is_missing = [](const CreateMember& member) { return member.missing; };
  if (std::any_of(spares, request.members.end(), is_missing)) {
    return Refuse("missing stands for a spare: only the first ", request.raid_disks,
                  " members can be missing");
  }
  const auto missing = std::count_if(request.members.begin(), spares, is_missing);
  if (missing > kMaxMissing) {
    return Refuse(missing, " members are missing: a RAID6 array runs without ", kMaxMissing,
                  " at most");
  }
  if (missing > 0 && HasExistingSlotMember(request) && !request.assume_clean) {
    return Refuse(
        "a member is missing and others exist already: their parity could not be made right, give "
        "--assume-clean if it is");
  }
  return absl::OkStatus();
}

absl::Status CheckShape(const CreateRequest& request) {
  if (request.minor < 0 || request.minor > 2) {
    return Refuse("--metadata 1.", request.minor, ": must be 1.0, 1.1 or 1.2");
  }
  if (!IsKnownLayout(static_cast<int32_t>(request.layout))) {
    return Refuse("--layout ", static_cast<int32_t>(request.layout), ": not a RAID6 layout");
  }
  if (!IsPowerOfTwo(request.chunk_bytes) || request.chunk_bytes < mdvol::kMinChunkBytes ||
      request.chunk_bytes > mdvol::kMaxChunkBytes) {
    return Refuse("--chunk ", FormatSize(request.chunk_bytes),
                  ": must be a power of two from 4K to 16M");
  }
  if (constexpr size_t kMaxName = sizeof(Superblock::set_name); request.name.size() > kMaxName) {
    return Refuse("--name ", request.name, ": must have at most ", kMaxName, " bytes");
  }
  return absl::OkStatus();
}

absl::Status CheckSizes(const CreateRequest& request) {
  if (request.size_bytes.has_value()) {
    const uint64_t size_bytes = *request.size_bytes;
    if (size_bytes % kSectorBytes != 0 || size_bytes < request.chunk_bytes) {
      return Refuse("--size ", FormatSize(size_bytes), ": must be whole sectors and at least one ",
                    "chunk of ", FormatSize(request.chunk_bytes));
    }
  } else if (std::none_of(request.members.begin(), request.members.end(),
                          [](const CreateMember& m) { return !m.missing && m.exists; })) {
    return Refuse("--size is needed: no member exists yet that could give it");
  }
  if (request.data_offset_bytes.has_value()) {
    const uint64_t offset_bytes = *request.data_offset_bytes;
    if (request.minor == 0 && offset_bytes != 0) {
      return Refuse("--data-offset ", FormatSize(offset_bytes),
                    ": metadata 1.0 has its data at the start of the member");
    }
    if (offset_bytes % kGrainBytes != 0 || offset_bytes > kMaxDataOffsetBytes) {
      return Refuse("--data-offset ", FormatSize(offset_bytes),
                    ": must be a multiple of 4K and at most ", FormatSize(kMaxDataOffsetBytes));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckBitmapOptions(const CreateRequest& request) {
  if (!request.bitmap_chunk_bytes.has_value()) {
    return absl::OkStatus();
  }
  const uint64_t chunk_bytes = *request.bitmap_chunk_bytes;
  if (!request.bitmap) {
    return Refuse("--bitmap-chunk ", FormatSize(chunk_bytes), ": there is no bitmap");
  }
  if (!IsPowerOfTwo(chunk_bytes) || chunk_bytes < kMinBitmapChunkBytes ||
      chunk_bytes > kMaxBitmapChunkBytes) {
    return Refuse("--bitmap-chunk ", FormatSize(chunk_bytes), ": must be a power of two from ",
                  FormatSize(kMinBitmapChunkBytes), " to ", FormatSize(kMaxBitmapChunkBytes));
  }
  return absl::OkStatus();
}

}  // namespace

bool HasExistingSlotMember(const CreateRequest& request) {
  return std::any_of(request.members.begin(), request.members.begin() + request.raid_disks,
                     [](const CreateMember& m) { return !m.missing && m.exists; });
}

absl::Status CheckCreateRequest(const CreateRequest& request) {
  MDVOL_RETURN_IF_ERROR(CheckCounts(request));
  MDVOL_RETURN_IF_ERROR(CheckJournal(request));
  MDVOL_RETURN_IF_ERROR(CheckMissing(request));
  MDVOL_RETURN_IF_ERROR(CheckShape(request));
  MDVOL_RETURN_IF_ERROR(CheckSizes(request));
  return CheckBitmapOptions(request);
}

}  // namespace mdvol
