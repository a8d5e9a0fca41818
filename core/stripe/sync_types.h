// What check, repair and recover take and find: values between the stripe engine, the sync engine
// that drives it window by window, and whoever shows what was found.

#ifndef MDVOL_CORE_STRIPE_SYNC_TYPES_H_
#define MDVOL_CORE_STRIPE_SYNC_TYPES_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/stripe/stripe_facts.h"

namespace mdvol {

// What repair does about a lane in which data, P and Q do not agree.
enum class RepairMode : uint8_t {
  kLocate,  // mends the one member that explains it
  kParity,  // rewrites P and Q from the data, as md does
};

// Which member of a lane is wrong.
enum class WrongKind : uint8_t {
  kData,
  kP,
  kQ,
  kSeveral,  // more than one, or it cannot be told: a member is missing or cannot be read
};

// Neighbouring lanes of a stripe with the same verdict, joined.
struct WrongBlock {
  uint64_t stripe = 0;
  ColumnRange columns;
  WrongKind kind = WrongKind::kSeveral;
  uint32_t slot = 0;        // of the wrong block; meaningless for kSeveral
  uint32_t data_index = 0;  // meaningful for kData
  bool repaired = false;
};

// A stripe in which a repair has something to do.
struct StripeToRepair {
  uint64_t stripe = 0;
  bool is_skipped = false;  // is counted in skipped_stripes too
};

struct SyncFindings {
  uint64_t mismatch_sectors = 0;  // 8 a lane that does not agree, as md counts mismatch_cnt
  uint64_t skipped_stripes = 0;   // could not be told, or not wholly, from what is there
  std::vector<WrongBlock> wrong;  // ascending
  // Of a check, ascending: where lanes are wrong, or blocks are on a bad-block list and could be
  // rewritten from the rest of their stripe.
  std::vector<StripeToRepair> to_repair;
};

// A member that is being filled: with what belongs into `slot`. The view's alignment is to cover
// what its device wants, too.
struct RecoverTarget {
  uint32_t slot = 0;
  MemberDevice* device = nullptr;
  uint64_t data_offset_bytes = 0;            // where its data area starts
  uint64_t from_bytes = 0;                   // below this data offset it holds valid bytes already
  const BadBlockList* bad_blocks = nullptr;  // absolute on it; null or empty: none
};

struct RecoverResult {
  // Data offsets of a slot whose bytes could not be recovered: too much of the stripe is lost.
  struct Hole {
    uint32_t slot = 0;
    uint64_t begin_bytes = 0;
    uint64_t end_bytes = 0;
  };
  std::vector<Hole> lost;
  std::vector<std::pair<size_t, int>> target_errors;  // index of the target, errno
  // Of the targets' bad blocks, by index: absolute ranges that have been written over.
  std::vector<std::pair<size_t, ByteRange>> rewritten_bad;
  bool still_bad = false;  // one of them could not be written: it stays on its list
};

}  // namespace mdvol

#endif  // MDVOL_CORE_STRIPE_SYNC_TYPES_H_
