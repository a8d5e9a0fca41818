// Opening a member: find its superblock (1.0, 1.1, 1.2), check it, read its bitmap and bad-block
// log. Reads only; what is found is handed to the assembly decision and to `examine`. Functions
// without state, as thread-safe as the device.

#ifndef MDVOL_CORE_ARRAY_MEMBER_LOADER_H_
#define MDVOL_CORE_ARRAY_MEMBER_LOADER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/device/member_device.h"
#include "core/metadata/assembly.h"
#include "core/metadata/bad_blocks.h"
#include "core/metadata/bitmap.h"
#include "core/metadata/member_areas.h"

namespace mdvol {

struct FoundSuperblock {
  int minor = 2;  // metadata 1.MINOR
  Superblock super;
};

// Tries the three places and takes the superblock with the latest ctime of those that are whole
// (CheckSuperblockFormat: any level, any known feature). Errors name the path: unreadable, no md
// metadata, metadata 0.90, a damaged superblock and which check failed.
absl::StatusOr<FoundSuperblock> FindSuperblock(MemberDevice& device);

struct LoadedMember {
  std::unique_ptr<MemberDevice> device;
  MemberReport report;
  MemberAreas areas;
  BadBlockList bad_blocks;           // empty where the superblock does not say that there are any
  std::vector<uint8_t> bitmap_file;  // the bytes of areas.bitmap; empty without a usable bitmap
};

// FindSuperblock, and everything else that an array needs to know of a member. Errors, besides
// those above: an array that mdvol does not run, a device shorter than its superblock says, areas
// that overlap. A damaged bad-block log is an error too, and so is a damaged bitmap on a member in
// a slot: what they say is not guessed. A spare's bitmap was never kept up to date, so a spare with
// a damaged one counts as without.
absl::StatusOr<LoadedMember> LoadMember(std::unique_ptr<MemberDevice> device);

// What LoadMember finds for a superblock that is known already; reads through `device`.
struct LoadedAreas {
  MemberAreas areas;
  std::optional<BitmapSuperblock> bitmap;
  BadBlockList bad_blocks;
  std::vector<uint8_t> bitmap_file;
};
absl::StatusOr<LoadedAreas> LoadAreas(MemberDevice& device, const Superblock& super);

}  // namespace mdvol

#endif  // MDVOL_CORE_ARRAY_MEMBER_LOADER_H_
