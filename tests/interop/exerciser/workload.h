// What volume_exerciser does to a volume: random writes, zeroings and reads under many threads,
// each remembered in a shadow; a comparison of the whole; and a run that ends with the daemon's
// death.
//
// Sizes go from 1 byte to three stripes at any alignment; aligned requests and whole stripes are
// drawn more often than chance would. No two threads touch the same bytes at once.

#ifndef MDVOL_TESTS_INTEROP_EXERCISER_WORKLOAD_H_
#define MDVOL_TESTS_INTEROP_EXERCISER_WORKLOAD_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "tests/interop/exerciser/shadow.h"
#include "tests/interop/exerciser/volume_file.h"

namespace mdvol::testing {

enum class AccessMode : uint8_t { kBuffered, kDirect, kMixed };

struct WorkloadOptions {
  uint64_t seed = 0;
  uint64_t operations = 200;  // of all threads together
  uint32_t jobs = 2;          // threads
  uint64_t chunk_bytes = 65536;
  uint64_t stripe_bytes = 262144;  // data of one stripe: chunk x (members - 2)
  uint64_t begin_bytes = 0;        // nothing is done outside [begin, end) of the volume
  uint64_t end_bytes = std::numeric_limits<uint64_t>::max();
  AccessMode access = AccessMode::kMixed;
  uint32_t zero_percent = 10;  // operations that punch or zero
  uint32_t read_percent = 15;  // operations that read back and compare
};

// What of the volume the options leave to requests.
inline Extent BoundsOf(const WorkloadOptions& options, uint64_t volume_bytes) {
  const uint64_t end_bytes = std::min(options.end_bytes, volume_bytes);
  return {options.begin_bytes, end_bytes - std::min(options.begin_bytes, end_bytes)};
}

// Writes to the volume and to `shadow`, then syncs. Fails at the first error and at the first byte
// that reads wrong.
absl::Status RunWorkload(const VolumeFile& volume, const Shadow& shadow,
                         const WorkloadOptions& options);

// Compares every byte; buffered and with O_DIRECT where `access` is mixed.
absl::Status VerifyVolume(const VolumeFile& volume, const Shadow& shadow, AccessMode access);

// Writes until the daemon dies. `latest` has every byte that was handed to the volume, `durable`
// the bytes as of the last fsync that returned; between two fsyncs no byte is written twice, so
// each byte of the volume must afterwards be the one or the other. After each fsync a line goes to
// `progress_path`. OK if at least one fsync returned and the end was the daemon's death; anything
// else is an error.
absl::Status RunUntilDaemonDies(const VolumeFile& volume, const Shadow& durable,
                                const Shadow& latest, const std::string& progress_path,
                                const WorkloadOptions& options);

// Every byte must be durable's or latest's, or lie in `exempt`; both then become what the volume
// holds.
absl::Status VerifyAfterCrash(const VolumeFile& volume, const Shadow& durable, const Shadow& latest,
                              std::span<const Extent> exempt);

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_INTEROP_EXERCISER_WORKLOAD_H_
