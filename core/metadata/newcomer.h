// Members that come to a running array, decided before anything is touched: what a new spare is
// given, and whether a member that was away may have its slot back. As md and mdadm do it. Pure.

#ifndef MDVOL_CORE_METADATA_NEWCOMER_H_
#define MDVOL_CORE_METADATA_NEWCOMER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "core/base/uuid.h"
#include "core/metadata/member_areas.h"
#include "core/metadata/superblock.h"

namespace mdvol {

struct SpareRequest {
  std::string path;  // for messages
  uint64_t device_bytes = 0;
  int minor = 2;
  uint64_t bitmap_bytes = 0;  // of the array's bitmap, superblock included; 0 without one
  uint32_t dev_number = 0;    // below the max_dev of `like`
  Uuid device_uuid;
};

struct PlannedSpare {
  Superblock super;  // sealed; roles and events are those of `like`
  MemberAreas areas;
};

// A spare for the array of `like`, a member's superblock: metadata in the same places, the data at
// the same offset where they fit there, closer to the metadata otherwise. ENOSPC when the device is
// too small.
absl::StatusOr<PlannedSpare> PlanSpare(const Superblock& like, const SpareRequest& request);

// What is known of the array that a member wants to come back to.
struct ReAddFacts {
  const Superblock& reference;  // of a member in sync
  int minor = 2;
  uint64_t events = 0;
  // Of the bitmap: it knows what was written since these events. Absent without a bitmap.
  std::optional<uint64_t> events_cleared;
};

// Why a member of the array (same set_uuid) cannot have the slot back that its own superblock
// claims, with only what the bitmap names rebuilt; "" when it can, provided that its number and
// that slot are free.
std::string WhyNoReAdd(const Superblock& member, int minor, const ReAddFacts& facts);

}  // namespace mdvol

#endif  // MDVOL_CORE_METADATA_NEWCOMER_H_
