// What `create` will write, decided before anything is touched: sizes, areas, superblocks, bitmap.
// Pure.

#ifndef MDVOL_CORE_METADATA_CREATE_PLAN_H_
#define MDVOL_CORE_METADATA_CREATE_PLAN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/geometry/layout.h"
#include "core/metadata/bitmap.h"
#include "core/metadata/journal.h"
#include "core/metadata/member_areas.h"
#include "core/metadata/superblock.h"

namespace mdvol {

// One position on the command line.
struct CreateMember {
  std::string path;           // for messages
  bool missing = false;       // the word "missing": a slot without a member
  bool exists = false;        // false: an image to be made, its size is ours to choose
  uint64_t device_bytes = 0;  // of an existing one
};

struct CreateRequest {
  std::vector<CreateMember> members;    // the first raid_disks fill the slots, the rest are spares
  std::optional<CreateMember> journal;  // the write journal; cannot go with a bitmap
  uint32_t raid_disks = 0;
  uint32_t spares = 0;
  int minor = 2;
  Layout layout = Layout::kLeftSymmetric;
  uint64_t chunk_bytes = uint64_t{512} << 10;
  std::optional<uint64_t>
      size_bytes;  // data space on each member; required when no member exists yet
  std::optional<uint64_t> data_offset_bytes;  // 1 MiB by default; must be 0 or absent for 1.0
  std::string name;
  Uuid array_uuid;
  std::vector<Uuid> device_uuids;  // one per entry of members, and the journal's
  uint32_t journal_seq = 0;        // the new log's first number: random, not to follow an old log
  bool bitmap = true;
  std::optional<uint64_t> bitmap_chunk_bytes;
  bool assume_clean = false;
  uint64_t wall_us = 0;
};

struct PlannedMember {
  bool present = false;       // false for "missing"
  bool journal = false;       // the write journal: no slot, its data area is the ring
  uint64_t device_bytes = 0;  // the length of a new image
  Superblock super;           // sealed
  MemberAreas areas;
};

struct CreatePlan {
  std::vector<PlannedMember> members;  // the request's in their order, then the journal
  uint64_t component_bytes = 0;
  uint64_t volume_bytes = 0;
  bool clean = false;  // starts in sync; otherwise an initial resync is due
  std::optional<BitmapSuperblock> bitmap;
  std::optional<JournalBlock> journal_head;  // the empty log, for the start of the ring
  BitmapBitsImage bitmap_bits;  // all ones when a resync is due, all zeroes when it starts clean
};

// Errors (UsageError or ENOSPC, one line that names option or member): counts that do not fit, bad
// chunk, size, offset, bitmap that does not fit before the data, a bitmap beside a journal, a
// member (or journal) too small, an array too large for a journal, `missing`
// beyond two or among existing members without assume_clean, a name longer than 32 bytes.
absl::StatusOr<CreatePlan> PlanCreate(const CreateRequest& request);

}  // namespace mdvol

#endif  // MDVOL_CORE_METADATA_CREATE_PLAN_H_
