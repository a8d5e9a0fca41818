// ArraySnapshot: everything that mdstat, detail, status.json and the md/ attributes show, taken at
// one moment. A value.

#ifndef MDVOL_CORE_ARRAY_SNAPSHOT_H_
#define MDVOL_CORE_ARRAY_SNAPSHOT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/uuid.h"
#include "core/device/counting_device.h"
#include "core/geometry/layout.h"
#include "core/metadata/member_areas.h"

namespace mdvol {

// md's words for array_state, as far as a running mdvol array can be in them.
enum class ArrayState : uint8_t { kClean, kActive, kActiveIdle, kReadonly, kFailed };
// "clean", "active", "active-idle", "readonly", "broken" (md's word for an array that lost too many
// members).
const char* ArrayStateWord(ArrayState state);

struct MemberSnapshot {
  size_t index =
      0;  // stable for the life of the array, not a place in `members`; FailMember takes it
  std::string name;  // dev-NAME
  std::string path;
  uint32_t dev_number = 0;
  std::optional<uint32_t> slot;
  bool in_sync = false;
  bool faulty = false;
  bool spare = false;
  bool recovering = false;  // in its slot, or beside the member that it will replace
  bool want_replacement = false;
  bool replacement = false;
  std::optional<uint32_t> replaces;  // of a replacement: the slot that it will take
  bool write_mostly = false;
  Uuid uuid;
  uint64_t device_bytes = 0;
  uint64_t data_offset_bytes = 0;
  uint64_t data_bytes = 0;      // what the array uses of it
  uint64_t recovery_bytes = 0;  // valid data while recovering, data_bytes when in sync
  uint64_t errors = 0;          // read errors put right, as md's dev-X/errors
  uint64_t events = 0;
  std::vector<ByteRange> bad_blocks;  // absolute on the member
  MemberIoCounts io;
};

struct BitmapSnapshot {
  uint64_t chunk_bytes = 0;
  uint32_t time_base_s = 0;
  bool can_clear = true;
  int64_t offset_sectors = 0;  // from the superblock, as md/bitmap/location prints
  uint64_t bits = 0;
  uint64_t bits_set = 0;
  uint64_t pages = 0;  // 4 KiB pages of the bitmap, and those with a set bit
  uint64_t pages_set = 0;
};

struct ArraySnapshot {
  std::string name;  // set_name
  Uuid uuid;
  int minor = 2;  // metadata 1.MINOR
  Layout layout = Layout::kLeftSymmetric;
  uint32_t raid_disks = 0;
  uint64_t chunk_bytes = 0;
  uint64_t component_bytes = 0;
  uint64_t array_bytes = 0;
  ArrayState state = ArrayState::kClean;
  bool read_only = false;
  bool dirty = false;  // as the superblocks say: not stopped, or being written
  // Some stripes wait for their parity until a full file system has room again.
  bool awaits_space = false;
  uint32_t degraded = 0;  // slots without an in-sync member
  uint64_t events = 0;
  uint64_t resync_bytes = 0;  // kResyncDone when in sync
  uint64_t created_s = 0;     // ctime and utime, seconds since 1970
  uint64_t updated_s = 0;
  uint32_t rmw_level = 1;
  uint32_t safe_mode_delay_ms = 200;
  uint32_t max_read_errors = 20;
  uint32_t stripe_cache_size = 0;    // lanes
  uint32_t stripe_cache_active = 0;  // of them, those that hold something
  uint64_t mismatch_cnt = 0;
  std::optional<BitmapSnapshot> bitmap;
  std::vector<MemberSnapshot> members;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_ARRAY_SNAPSHOT_H_
