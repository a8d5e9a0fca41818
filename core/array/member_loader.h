// Opening a member: find its superblock (1.0, 1.1, 1.2), check it, read its bitmap and bad-block log. Reads only; what is
// found is handed to the assembly decision and to `examine`.

#ifndef MDVOL_CORE_ARRAY_MEMBER_LOADER_H_
#define MDVOL_CORE_ARRAY_MEMBER_LOADER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/device/member_device.h"
#include "core/metadata/assembly.h"
#include "core/metadata/bad_blocks.h"
#include "core/metadata/bitmap.h"
#include "core/metadata/member_areas.h"

namespace mdvol {

struct LoadedMember {
  std::unique_ptr<MemberDevice> device;
  MemberReport report;
  MemberAreas areas;
  BadBlockList bad_blocks;
  std::vector<uint8_t> bitmap_file;  // superblock and bits, whole 4 KiB; empty without a usable bitmap
};

// Tries the three places, takes the valid superblock with the latest ctime. Errors name the path: no md metadata, a
// damaged superblock (which check failed), a device shorter than its superblock says. A damaged bitmap or bad-block log is
// an error too: what they say is not guessed.
absl::StatusOr<LoadedMember> LoadMember(std::unique_ptr<MemberDevice> device);

}  // namespace mdvol

#endif  // MDVOL_CORE_ARRAY_MEMBER_LOADER_H_
