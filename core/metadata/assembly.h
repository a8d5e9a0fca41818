// Assembly: from what the members say of themselves to "run like this" or "refused because". A pure
// decision, as md and mdadm take it (freshness by events, roles from the freshest in-sync member,
// quorum, dirty, degraded); the caller reads the members before and acts afterwards.

#ifndef MDVOL_CORE_METADATA_ASSEMBLY_H_
#define MDVOL_CORE_METADATA_ASSEMBLY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/metadata/bitmap.h"
#include "core/metadata/superblock.h"

namespace mdvol {

// What one member says. Superblocks have passed CheckSuperblock.
struct MemberReport {
  std::string path;
  uint64_t device_sectors = 0;
  int minor = 2;
  Superblock super;
  std::optional<BitmapSuperblock> bitmap;  // absent: no bitmap, or one that failed CheckBitmap
};

struct AssemblyOptions {
  bool force = false;      // --force: dirty and degraded; stale members if they are needed
  bool run = false;        // --run: fewer members than were active last time
  bool read_only = false;  // nothing will be written: dirty and degraded is served as it stands
};

enum class MemberStanding : uint8_t {
  kInSync,
  kRecovering,  // in a slot, valid up to recovery_bytes
  kSpare,
  kJournal,
  kStale,    // left out: too many events behind, or the freshest member calls it faulty
  kForeign,  // left out: the freshest members call its slot someone else's, or its device uuid is a
             // duplicate
};

struct MemberVerdict {
  MemberStanding standing = MemberStanding::kStale;
  std::optional<uint32_t> slot;  // for kInSync and kRecovering
  bool is_replacement =
      false;  // kFeatureReplacement: shares its slot with the member it will replace
  uint64_t recovery_bytes = 0;  // for kRecovering: valid bytes of its data area
  bool forced = false;          // --force made it in-sync although it is behind
  std::string reason;           // one line
};

struct AssemblyDecision {
  absl::Status
      status;  // OK: run. Otherwise the one-line reason with the remedy (--run, --force, …) in it
  std::vector<MemberVerdict> members;  // parallel to the reports
  size_t reference =
      0;  // index of the freshest in-sync member: its superblock speaks for the array
  std::vector<std::optional<size_t>>
      slots;             // report index of the in-sync or recovering member of each slot
  uint32_t missing = 0;  // slots without an in-sync member
  bool dirty = false;    // parity may be out of date: resync from resync_bytes, narrowed by the
                         // bitmap if it is fresh
  uint64_t resync_bytes = 0;
  bool bitmap_usable = false;  // the bitmap's events vouch for it; otherwise all bits count as set
  bool forced = false;  // force was needed: record it (events, clean mark) when running read-write
  std::vector<std::string> warnings;
};

// `reports` must not be empty. Refuses, each with a reason of one line: members of different arrays
// (names both uuids and paths), the same member twice, parameters that disagree, unsupported levels
// or features (reshape in progress, journal that is absent, clustered, PPL), two present members
// that claim one slot, too few members (names the missing slots), fewer than were active last time
// without run, dirty and degraded without force.
AssemblyDecision DecideAssembly(const std::vector<MemberReport>& reports,
                                const AssemblyOptions& options);

}  // namespace mdvol

#endif  // MDVOL_CORE_METADATA_ASSEMBLY_H_
