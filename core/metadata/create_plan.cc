// See create_plan.h. Places are mdadm's: the bitmap 4 KiB behind a superblock at the start of the
// member (1.1, 1.2), or before the bad-block log that lies before one at the end (1.0); room for a
// bitmap is kept even when there is none, so that one can be added later.

#include "core/metadata/create_plan.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "core/geometry/geometry.h"
#include "core/metadata/create_check.h"
#include "core/metadata/journal_ring.h"

namespace mdvol {
namespace {

constexpr uint64_t kGrainBytes = 4096;
constexpr uint64_t kDefaultDataOffsetBytes = kMiB;
constexpr uint64_t kLogBytes = 4096;           // the bad-block log
constexpr uint64_t kMaxNewBitmapBytes = kMiB;  // eight million bits; mdadm stops at 128 KiB
constexpr uint64_t kTailSuperBytes = 8192;     // 1.0: from the superblock to the end of a new image
constexpr uint64_t kNewJournalBytes = 64 * kMiB;  // the ring of a new image, or more if needed
constexpr uint64_t kSuperToBitmapBytes = 4096;    // 1.1, 1.2

// Where things lie on every member of this array.
struct Frame {
  uint64_t data_offset_bytes = 0;
  uint64_t component_bytes = 0;     // whole chunks
  uint64_t new_data_bytes = 0;      // the data space of an image yet to be made, whole sectors
  uint64_t bitmap_chunk_bytes = 0;  // 0: no bitmap
  uint64_t bitmap_room_bytes = 0;   // what lies between superblock (or data) and bad-block log
};

uint64_t DataOffset(const CreateRequest& request) {
  return request.minor == 0 ? 0 : request.data_offset_bytes.value_or(kDefaultDataOffsetBytes);
}

// 1.0: what is kept free for a bitmap between data and bad-block log.
uint64_t TailRoom(const CreateRequest& request, uint64_t data_bytes) {
  const uint64_t room_bytes = DefaultBitmapRoom(data_bytes);
  if (!request.bitmap_chunk_bytes.has_value()) {
    return room_bytes;
  }
  return std::max(room_bytes,
                  RoundUp(BitmapBytes(data_bytes, *request.bitmap_chunk_bytes), kGrainBytes));
}

// The space for data on an existing member.
absl::StatusOr<uint64_t> DataRoom(const CreateRequest& request, const CreateMember& member) {
  const auto super_sector = SuperblockSector(request.minor, member.device_bytes / kSectorBytes);
  if (!super_sector.ok()) {
    return ErrnoStatus(ENOSPC, absl::StrCat(member.path, ": ", MessageOf(super_sector.status())));
  }
  uint64_t end_bytes = RoundDown(member.device_bytes, kSectorBytes);
  uint64_t taken_bytes = DataOffset(request);
  if (request.minor == 0) {
    end_bytes = *super_sector * kSectorBytes;
    taken_bytes = kLogBytes + TailRoom(request, end_bytes);
  }
  if (end_bytes < taken_bytes || end_bytes - taken_bytes < request.chunk_bytes) {
    return ErrnoStatus(ENOSPC, absl::StrCat(member.path, ": too small: metadata and a chunk of ",
                                            FormatSize(request.chunk_bytes), " do not fit into ",
                                            FormatSize(member.device_bytes)));
  }
  return end_bytes - taken_bytes;
}

// The smallest room of the existing members, or the size that was asked for.
absl::StatusOr<uint64_t> DataBytes(const CreateRequest& request) {
  uint64_t data_bytes = request.size_bytes.value_or(~uint64_t{0});
  for (const CreateMember& member : request.members) {
    if (member.missing || !member.exists) {
      continue;
    }
    MDVOL_ASSIGN_OR_RETURN(const uint64_t room_bytes, DataRoom(request, member));
    if (request.size_bytes.has_value() && room_bytes < *request.size_bytes) {
      return ErrnoStatus(
          ENOSPC, absl::StrCat(member.path, ": too small: it has room for ", FormatSize(room_bytes),
                               " of data, --size asks for ", FormatSize(*request.size_bytes)));
    }
    data_bytes = std::min(data_bytes, room_bytes);
  }
  return data_bytes;
}

// 1.1, 1.2: what is free between the superblock's 4 KiB and a bad-block log right before the data.
absl::StatusOr<uint64_t> HeadRoom(const CreateRequest& request, uint64_t data_offset_bytes) {
  const uint64_t taken_bytes =
      (request.minor == 2 ? kSuperBytes : 0) + kSuperToBitmapBytes + kLogBytes;
  if (data_offset_bytes < taken_bytes) {
    return UsageError(absl::StrCat("--data-offset ", FormatSize(data_offset_bytes),
                                   ": superblock and bad-block log need ",
                                   FormatSize(taken_bytes)));
  }
  return data_offset_bytes - taken_bytes;
}

// Chooses the bitmap's chunk, or checks the one that was asked for.
absl::StatusOr<uint64_t> BitmapChunk(const CreateRequest& request, const Frame& frame) {
  if (request.bitmap_chunk_bytes.has_value()) {
    const uint64_t chunk_bytes = *request.bitmap_chunk_bytes;
    const uint64_t needed = RoundUp(BitmapBytes(frame.component_bytes, chunk_bytes), kGrainBytes);
    const uint64_t room_bytes = std::min(frame.bitmap_room_bytes, kMaxNewBitmapBytes);
    if (needed > room_bytes) {
      return UsageError(absl::StrCat(
          "--bitmap-chunk ", FormatSize(chunk_bytes), ": such a bitmap takes ", FormatSize(needed),
          ", but it can have ", FormatSize(room_bytes), ": give a larger chunk",
          room_bytes < kMaxNewBitmapBytes ? " or --data-offset" : ""));
    }
    return chunk_bytes;
  }
  const uint64_t room_bytes =
      RoundDown(std::min(frame.bitmap_room_bytes, kMaxNewBitmapBytes), kGrainBytes);
  uint64_t chunk_bytes = DefaultBitmapChunk(
      frame.component_bytes, std::min(room_bytes, DefaultBitmapRoom(frame.component_bytes)));
  if (chunk_bytes == 0) {
    chunk_bytes = DefaultBitmapChunk(frame.component_bytes, room_bytes);
  }
  if (chunk_bytes == 0) {
    return UsageError(absl::StrCat("no bitmap fits before the data, where there is room for ",
                                   FormatSize(room_bytes),
                                   ": give a larger --data-offset or --bitmap none"));
  }
  return chunk_bytes;
}

absl::StatusOr<Frame> ChooseFrame(const CreateRequest& request) {
  Frame frame;
  frame.data_offset_bytes = DataOffset(request);
  MDVOL_ASSIGN_OR_RETURN(frame.new_data_bytes, DataBytes(request));
  const auto geometry = ArrayGeometry::Make(request.layout, request.raid_disks, request.chunk_bytes,
                                            frame.new_data_bytes);
  if (!geometry.ok()) {
    return UsageError(MessageOf(geometry.status()));
  }
  frame.component_bytes = geometry->component_bytes();
  if (request.minor == 0) {
    frame.bitmap_room_bytes = TailRoom(request, frame.component_bytes);
  } else {
    MDVOL_ASSIGN_OR_RETURN(frame.bitmap_room_bytes, HeadRoom(request, frame.data_offset_bytes));
  }
  if (request.bitmap) {
    MDVOL_ASSIGN_OR_RETURN(frame.bitmap_chunk_bytes, BitmapChunk(request, frame));
  }
  return frame;
}

int32_t ToSectors(uint64_t bytes) { return static_cast<int32_t>(bytes / kSectorBytes); }

// Bitmap and bad-block log, relative to the superblock.
void PlaceAreas(const CreateRequest& request, const Frame& frame, Superblock& super) {
  const bool bitmap = frame.bitmap_chunk_bytes != 0;
  uint64_t bitmap_bytes = DefaultBitmapRoom(frame.component_bytes);
  if (bitmap) {
    super.feature_map = kFeatureBitmapOffset;
    bitmap_bytes =
        RoundUp(BitmapBytes(frame.component_bytes, frame.bitmap_chunk_bytes), kGrainBytes);
  }
  super.bblog_size = static_cast<uint16_t>(ToSectors(kLogBytes));
  if (request.minor == 0) {
    super.bblog_offset = -ToSectors(kLogBytes);
    super.bitmap_offset = bitmap ? -ToSectors(kLogBytes + bitmap_bytes) : 0;
    return;
  }
  bitmap_bytes = std::min(bitmap_bytes, RoundDown(frame.bitmap_room_bytes, kGrainBytes));
  super.bblog_offset = ToSectors(kSuperToBitmapBytes + bitmap_bytes);
  super.bitmap_offset = bitmap ? ToSectors(kSuperToBitmapBytes) : 0;
}

// What all members' superblocks have in common.
Superblock CommonSuper(const CreateRequest& request, const Frame& frame, bool clean) {
  Superblock super{};
  super.magic = kSuperMagic;
  super.major_version = 1;
  super.set_uuid = request.array_uuid;
  std::copy(request.name.begin(), request.name.end(), super.set_name.begin());
  super.ctime = PackMdTime(request.wall_us);
  super.utime = super.ctime;
  super.level = 6;
  super.layout = static_cast<int32_t>(request.layout);
  super.size = frame.component_bytes / kSectorBytes;
  super.chunksize = static_cast<uint32_t>(request.chunk_bytes / kSectorBytes);
  super.raid_disks = request.raid_disks;
  super.data_offset = frame.data_offset_bytes / kSectorBytes;
  super.resync_offset = clean ? kResyncDone : 0;
  const uint32_t devices = request.raid_disks + request.spares;
  super.max_dev = MaxDevFor(devices + (request.journal.has_value() ? 1 : 0));
  super.dev_roles.fill(kRoleSpare);
  for (uint32_t slot = 0; slot < request.raid_disks; ++slot) {
    if (!request.members[slot].missing) {
      super.dev_roles[slot] = static_cast<uint16_t>(slot);
    }
  }
  PlaceAreas(request, frame, super);
  if (request.journal.has_value()) {
    super.feature_map = super.feature_map | kFeatureJournal;
    super.dev_roles[devices] = kRoleJournal;
  }
  return super;
}

uint64_t NewImageBytes(const CreateRequest& request, const Frame& frame) {
  if (request.minor != 0) {
    return frame.data_offset_bytes + frame.new_data_bytes;
  }
  return RoundUp(frame.new_data_bytes, kGrainBytes) + TailRoom(request, frame.new_data_bytes) +
         kLogBytes + kTailSuperBytes;
}

absl::StatusOr<PlannedMember> PlanMember(const CreateRequest& request, const Frame& frame,
                                         const Superblock& common, uint32_t number) {
  const CreateMember& member = request.members[number];
  PlannedMember planned;
  if (member.missing) {
    return planned;
  }
  planned.present = true;
  planned.device_bytes = member.exists ? member.device_bytes : NewImageBytes(request, frame);
  const uint64_t device_sectors = planned.device_bytes / kSectorBytes;
  Superblock& super = planned.super = common;
  MDVOL_ASSIGN_OR_RETURN(const uint64_t super_sector,
                         SuperblockSector(request.minor, device_sectors));
  super.super_offset = super_sector;
  super.dev_number = number;
  super.device_uuid = request.device_uuids[number];
  super.data_size = device_sectors - super.data_offset;
  if (request.minor == 0) {
    const uint64_t end_bytes = super_sector * kSectorBytes;
    super.data_size = (end_bytes - kLogBytes -
                       TailRoom(request, member.exists ? end_bytes : frame.new_data_bytes)) /
                      kSectorBytes;
  }
  SealSuperblock(super);
  const uint64_t bitmap_bytes = frame.bitmap_chunk_bytes == 0
                                    ? 0
                                    : BitmapBytes(frame.component_bytes, frame.bitmap_chunk_bytes);
  MDVOL_RETURN_IF_ERROR(
      Annotate(CheckSuperblock(super, request.minor, device_sectors), member.path));
  MDVOL_ASSIGN_OR_RETURN(planned.areas, LayOutMember(super, device_sectors, bitmap_bytes));
  return planned;
}

uint64_t NewJournalImageBytes(const CreateRequest& request, const Frame& frame) {
  const uint64_t ring_bytes =
      std::max(kNewJournalBytes, JournalRing::LeastNewBytes(request.raid_disks));
  return request.minor == 0 ? ring_bytes + kLogBytes + kTailSuperBytes
                            : frame.data_offset_bytes + ring_bytes;
}

// All that its metadata leaves is the ring. Its superblock says that the log begins at 0.
absl::StatusOr<PlannedMember> PlanJournal(const CreateRequest& request, const Frame& frame,
                                          const Superblock& common) {
  const CreateMember& journal = *request.journal;
  PlannedMember planned;
  planned.present = true;
  planned.journal = true;
  planned.device_bytes =
      journal.exists ? journal.device_bytes : NewJournalImageBytes(request, frame);
  const uint64_t device_sectors = planned.device_bytes / kSectorBytes;
  const uint64_t least_bytes = JournalRing::LeastNewBytes(request.raid_disks);
  const auto super_sector = SuperblockSector(request.minor, device_sectors);
  const uint64_t taken_bytes = request.minor == 0 ? kLogBytes : frame.data_offset_bytes;
  uint64_t ring_bytes = 0;
  if (super_sector.ok()) {
    const uint64_t end_sector = request.minor == 0 ? *super_sector : device_sectors;
    const uint64_t end_bytes = end_sector * kSectorBytes;
    ring_bytes = RoundDown(end_bytes - std::min(end_bytes, taken_bytes), kJournalBlockBytes);
  }
  if (ring_bytes < least_bytes) {
    return ErrnoStatus(
        ENOSPC, absl::StrCat(journal.path, ": too small for a write journal: it has ",
                             FormatSize(ring_bytes), " beside its metadata, ", request.raid_disks,
                             " members need ", FormatSize(least_bytes)));
  }
  Superblock& super = planned.super = common;
  super.super_offset = *super_sector;
  super.dev_number = static_cast<uint32_t>(request.members.size());
  super.device_uuid = request.device_uuids.back();
  super.data_size = ring_bytes / kSectorBytes;
  SealSuperblock(super);
  MDVOL_RETURN_IF_ERROR(
      Annotate(CheckSuperblock(super, request.minor, device_sectors), journal.path));
  MDVOL_ASSIGN_OR_RETURN(planned.areas, LayOutMember(super, device_sectors, 0));
  return planned;
}

}  // namespace

absl::StatusOr<CreatePlan> PlanCreate(const CreateRequest& request) {
  MDVOL_RETURN_IF_ERROR(CheckCreateRequest(request));
  MDVOL_ASSIGN_OR_RETURN(const Frame frame, ChooseFrame(request));
  CreatePlan plan;
  plan.component_bytes = frame.component_bytes;
  plan.volume_bytes = frame.component_bytes * (request.raid_disks - 2);
  plan.clean = request.assume_clean || !HasExistingSlotMember(request);
  if (request.bitmap) {
    plan.bitmap =
        NewBitmapSuperblock(request.array_uuid, frame.component_bytes, frame.bitmap_chunk_bytes);
    plan.bitmap_bits = BitmapBitsImage(BitmapBits(frame.component_bytes, frame.bitmap_chunk_bytes));
    plan.bitmap_bits.SetAll(!plan.clean);
  }
  const Superblock common = CommonSuper(request, frame, plan.clean);
  for (uint32_t number = 0; number < request.members.size(); ++number) {
    MDVOL_ASSIGN_OR_RETURN(PlannedMember member, PlanMember(request, frame, common, number));
    plan.members.push_back(std::move(member));
  }
  if (request.journal.has_value()) {
    MDVOL_ASSIGN_OR_RETURN(PlannedMember journal, PlanJournal(request, frame, common));
    plan.members.push_back(std::move(journal));
    plan.journal_head =
        ComposeJournalMeta(JournalSeed(request.array_uuid), request.journal_seq, 0, {});
  }
  return plan;
}

}  // namespace mdvol
