// Signatures: what a member or device carries that somebody may still want, recognised by a magic
// at a fixed place. For refusing to create an array over it, and for wiping it when told to. Only
// reads; knows nothing of what lies behind the magic, so it may be wrong, and --force is the way
// round it. Places and values: the documentation of each format, as libblkid collects them.

#ifndef MDVOL_CORE_ARRAY_SIGNATURES_H_
#define MDVOL_CORE_ARRAY_SIGNATURES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/device/member_device.h"
#include "core/metadata/member_areas.h"

namespace mdvol {

struct FoundSignature {
  std::string what;  // "an ext4 file system", "md metadata 1.2 of array …"
  ByteRange magic;   // where the bytes are that give it away
};

// In no particular order of importance; several when several are there. An error is one of reading.
absl::StatusOr<std::vector<FoundSignature>> FindSignatures(MemberDevice& device);

}  // namespace mdvol

#endif  // MDVOL_CORE_ARRAY_SIGNATURES_H_
