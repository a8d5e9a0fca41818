// What a rig may do to the record of a run before it looks for crashes in it: take the marks away
// that a guard consists of, or plant a bug, as if the product had written so. The product itself
// has no switch for either. Pure functions over values; the order of writes is that of visible_at.

#ifndef MDVOL_TESTS_CRASH_LOG_EDITS_H_
#define MDVOL_TESTS_CRASH_LOG_EDITS_H_

#include <vector>

#include "core/metadata/member_areas.h"
#include "tests/crash/disk_write.h"
#include "tests/support/test_array/recording_device.h"

namespace mdvol::crash {

// Of a recorded run; `areas` is the same for every member.
struct RecordedWrites {
  MemberAreas areas;
  const testing::RecordedRequests* log = nullptr;
  std::vector<DiskWrite> writes;
};

// No superblock says that the array is dirty, no bitmap has a bit: as without any guard.
void SuppressMarks(RecordedWrites* run);

// Bits are cleared before the flush that has to come before it.
void PlantEarlyBitClear(RecordedWrites* run);

// A superblock reaches its disk only together with the next one.
void PlantLateSuperblock(RecordedWrites* run);

}  // namespace mdvol::crash

#endif  // MDVOL_TESTS_CRASH_LOG_EDITS_H_
