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
  // kFeatureReplacement, and the member that it will replace is in `slots`. A replacement that is
  // all its slot has got stands in `slots` like any other member.
  bool is_replacement = false;
  uint64_t recovery_bytes = 0;  // for kRecovering: valid bytes of its data area
  bool forced = false;          // --force made it in-sync although it is behind
  std::string reason;           // one line, path first
};

struct AssemblyDecision {
  // OK: run. Otherwise the one-line reason with the remedy (--run, --force, …) in it; what follows
  // then says how far the members would have got.
  absl::Status status;
  std::vector<MemberVerdict> members;  // parallel to the reports
  // Index of the freshest in-sync member: its superblock speaks for the array.
  size_t reference = 0;
  // Index of the member whose table of roles is believed, and its events: the reference, unless one
  // that is being rebuilt (or the journal) is an event ahead of all that are in sync. What is
  // written next must have more events than these.
  size_t freshest = 0;
  uint64_t events = 0;
  // Report index of the in-sync or recovering member of each slot. Empty when the array is such
  // that it has no slots to speak of.
  std::vector<std::optional<size_t>> slots;
  uint32_t missing = 0;  // slots without an in-sync member
  // Parity may be out of date: resync from resync_bytes, narrowed by the bitmap if it is usable.
  bool dirty = false;
  uint64_t resync_bytes = 0;
  // The reference's bitmap knows of every write; otherwise all bits count as set.
  bool bitmap_usable = false;
  // Force was needed: record it (events, clean mark) when running read-write.
  bool forced = false;
  std::vector<std::string> warnings;
};

// Refuses, each with a reason of one line: members of different arrays (names both uuids and
// paths), the same member twice, parameters that disagree, unsupported levels or features (reshape
// in progress, journal that is absent, clustered, PPL), two present members that claim one slot,
// members that each say the other has failed, too few members (names the missing slots), fewer than
// were active last time without run (or force), dirty and degraded without force.
// The order of the reports changes nothing but the indices.
AssemblyDecision DecideAssembly(const std::vector<MemberReport>& reports,
                                const AssemblyOptions& options);

}  // namespace mdvol

#endif  // MDVOL_CORE_METADATA_ASSEMBLY_H_
