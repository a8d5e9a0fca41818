// What a recording of all members proves about the order of writes: the invariants of
// docs/failure-model.md that speak of "before" and "durable". Each function takes the disks as they
// were when the recording began, the recording, and the disks that lived through all of it (not
// those that were failed meanwhile), and returns "" or the first violation in words.
//
// "May hold at time t" means: whatever a loss of power just before entry t leaves, the last durable
// version or any later one.

#ifndef MDVOL_TESTS_SUPPORT_TEST_ARRAY_LOG_CHECKS_H_
#define MDVOL_TESTS_SUPPORT_TEST_ARRAY_LOG_CHECKS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "tests/support/test_array/disks.h"
#include "tests/support/test_array/recording_device.h"
#include "tests/support/test_array/test_array.h"

namespace mdvol::testing {

struct RecordedRun {
  const TestArray& array;  // for its shape
  const Disks& before;
  const RecordedRequests& log;
  std::vector<size_t> live;
};

// I1: at each write of data its bits may only be held as set, by every live member; a bit is
// cleared only when all that was written under it is durable on every live member.
std::string CheckIntentOrder(const RecordedRun& run);

// I2: at each write of data every live member may only be held as dirty; a clean mark is written
// only when all data written before is durable on every live member.
std::string CheckCleanOrder(const RecordedRun& run);

// I7, I11: whenever power is lost, the live members' superblocks are one event apart at most, and
// no bitmap is behind a superblock.
std::string CheckEventOrder(const RecordedRun& run);

// I3: whatever a loss of power leaves at the end of the recording, every live member says that
// `failed` is faulty, and has more events than it.
std::string CheckFailureRecorded(const RecordedRun& run, size_t failed);

// The first three.
std::string CheckOrder(const RecordedRun& run);

// The disks as a crash just before entry `time` leaves them. Without `prng` the operating system
// survives: all that was submitted is there. With it power is lost: what was not durable is there
// or not, request by request.
Disks CrashAt(const Disks& before, const RecordedRequests& log, size_t time, Prng* prng = nullptr);

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_SUPPORT_TEST_ARRAY_LOG_CHECKS_H_
