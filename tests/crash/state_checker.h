// What a crash state must be good for: its members assemble as users would assemble them (never
// --run for members that are all there, --force only where md demands it, too: dirty and degraded),
// the volume holds what it may (VolumeModel), a rebuild that was begun can be finished, parity
// agrees afterwards, and the array stops clean. Everything by the product's own code, but for the
// judgement.
//
// Exempt are, in an array that was dirty and degraded at the crash, stripes in which a write of the
// volume was pending on some member and whose bit is set: the write hole, which a bitmap does not
// close. Of parity also
// stripes that had rotted before and that nobody has repaired.
//
// Stateless; one thread for each set of images.

#ifndef MDVOL_TESTS_CRASH_STATE_CHECKER_H_
#define MDVOL_TESTS_CRASH_STATE_CHECKER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/crash/image.h"
#include "tests/crash/scenario.h"
#include "tests/crash/volume_model.h"

namespace mdvol::crash {

struct StateFacts {
  const RecordedRun& run;
  const AllowedContent& allowed;
  const std::vector<uint64_t>& pending_stripes;
  std::optional<size_t> lost_disk;  // gone together with the power
};

struct StateVerdict {
  std::string violation;  // empty: none
  // How it was assembled.
  std::vector<size_t> disks;  // those that were taken for members
  bool forced = false;
  std::vector<uint64_t> exempt_stripes;
  std::vector<std::byte> volume;  // as it was read after the start
};

// Runs the array on the images, which are changed by it.
StateVerdict CheckState(const StateFacts& facts, std::vector<Image>& images);

}  // namespace mdvol::crash

#endif  // MDVOL_TESTS_CRASH_STATE_CHECKER_H_
