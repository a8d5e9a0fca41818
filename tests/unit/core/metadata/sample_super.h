// A valid superblock to start from, and words for the checks in these tests.

#ifndef MDVOL_TESTS_UNIT_CORE_METADATA_SAMPLE_SUPER_H_
#define MDVOL_TESTS_UNIT_CORE_METADATA_SAMPLE_SUPER_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "core/metadata/superblock.h"

namespace mdvol::testing {

inline constexpr uint64_t kSampleDeviceSectors = 64 * 2048;  // 64 MiB

// Member 3 of a clean array of six, metadata 1.2, chunks of 512 KiB, with a bitmap of 4 KiB and a
// bad-block log behind it: the superblock whose checksum is known to be 0x84f73420. Sealed.
Superblock SampleSuper();

// The same array with its superblock at the place of metadata 1.`minor`. Sealed.
Superblock SampleSuper(int minor);

// What CheckSuperblock says of the sample (at its own place) once `super` has been sealed again.
absl::Status CheckSealed(Superblock super, int minor = 2);

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_UNIT_CORE_METADATA_SAMPLE_SUPER_H_
