// The fourteen RAID6 layouts of md: their ids, their names, and who holds what in a stripe.
//
// A stripe is one chunk on every member at one member offset. In stripe s each slot (position of a
// member in the array, 0..raid_disks-1) holds a data chunk, P or Q. Two numberings of the data
// chunks matter and differ in several layouts: the data index k (order in the volume) and the
// syndrome exponent e (Q = sum of g^e * D).
//
// Sources: the layouts are those of Linux md's raid5_compute_sector and mdadm's geo_map, the names
// those of mdadm's r6layout; docs/architecture.md restates the formulas. Everything here is pure,
// needs constant time and no table, and is safe from any thread.

#ifndef MDVOL_CORE_GEOMETRY_LAYOUT_H_
#define MDVOL_CORE_GEOMETRY_LAYOUT_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"

namespace mdvol {

inline constexpr uint32_t kMinRaidDisks = 4;
inline constexpr uint32_t kMaxRaidDisks = 255;  // g has order 255: exponents 0..254 are distinct

// The values are md's ids, as superblocks carry them.
enum class Layout : int32_t {
  kLeftAsymmetric = 0,
  kRightAsymmetric = 1,
  kLeftSymmetric = 2,
  kRightSymmetric = 3,
  kParityFirst = 4,
  kParityLast = 5,
  kDdfZeroRestart = 8,
  kDdfNRestart = 9,
  kDdfNContinue = 10,
  kLeftAsymmetric6 = 16,
  kRightAsymmetric6 = 17,
  kLeftSymmetric6 = 18,
  kRightSymmetric6 = 19,
  kParityFirst6 = 20,
};

// All fourteen, in the order of their ids.
std::span<const Layout> AllLayouts();
bool IsKnownLayout(int32_t id);

// mdadm's word, as --examine prints it and --create takes it, e.g. "left-symmetric",
// "ddf-N-restart", "left-symmetric-6".
std::string_view LayoutName(Layout layout);

// Accepts mdadm's words and abbreviations (la, ra, ls, rs, default), the same abbreviations with
// "-6", and a bare id. Anything else is a UsageError that lists the words.
absl::StatusOr<Layout> ParseLayout(std::string_view text);

// What a slot holds in one stripe.
enum class ChunkKind : uint8_t { kData, kP, kQ };

struct ChunkRole {
  ChunkKind kind = ChunkKind::kData;
  uint8_t data_index = 0;  // k; meaningful for kData, 0 otherwise
  uint8_t exponent = 0;    // e; meaningful for kData, 0 otherwise
  friend bool operator==(const ChunkRole&, const ChunkRole&) = default;
};

// The roles of one stripe. raid_disks in kMinRaidDisks..kMaxRaidDisks; arguments outside their
// range are our own bugs and are checked.
class StripeRoles {
 public:
  StripeRoles(Layout layout, uint32_t raid_disks, uint64_t stripe);

  uint32_t p_slot() const { return p_slot_; }
  uint32_t q_slot() const { return q_slot_; }
  // The slot of data chunk k, 0 <= k < raid_disks - 2.
  uint32_t DataSlot(uint32_t data_index) const;
  ChunkRole RoleOf(uint32_t slot) const;
  // The exponent of g for the data chunk in `slot` (not P's, not Q's).
  uint32_t Exponent(uint32_t slot) const;

 private:
  uint32_t DataIndex(uint32_t slot) const;

  Layout layout_;
  uint32_t raid_disks_;
  uint32_t p_slot_;
  uint32_t q_slot_;
};

// One more than the largest exponent: raid_disks - 2, or raid_disks for the DDF layouts, where P
// and Q count as zero chunks. (In a given DDF stripe the largest exponent may be smaller.)
uint32_t ExponentCount(Layout layout, uint32_t raid_disks);

// True when `slot` holds P or Q in every stripe: P's and Q's slots in layouts 4, 5 and 20, Q's in
// 16..19. md exempts a recovering member that holds only parity from "dirty and degraded".
bool HoldsOnlyParity(Layout layout, uint32_t raid_disks, uint32_t slot);

}  // namespace mdvol

#endif  // MDVOL_CORE_GEOMETRY_LAYOUT_H_
