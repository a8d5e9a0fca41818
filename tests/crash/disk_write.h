// DiskWrite: a recorded change of a member as a crash sees it: from when on it may be on the disk,
// and from when on it certainly is. Times are lengths of the log: a crash at time t comes just
// before the log's entry t.
//
// A write may be on the disk once it was submitted, and is once a flush of its member has ended
// that was submitted after the write's end. Pure functions over values.

#ifndef MDVOL_TESTS_CRASH_DISK_WRITE_H_
#define MDVOL_TESTS_CRASH_DISK_WRITE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/support/test_array/recording_device.h"

namespace mdvol::crash {

// What a disk writes as a whole.
inline constexpr uint64_t kAtomBytes = 512;

struct DiskWrite {
  size_t member = 0;
  uint64_t offset_bytes = 0;
  std::vector<std::byte> bytes;         // the zeroes of a discard, too
  size_t visible_at = 0;                // may be on the disk when the crash comes later than this
  size_t durable_at = testing::kNever;  // is on it when the crash comes then or later

  bool IsDurable(size_t time) const { return durable_at <= time; }
  bool IsPending(size_t time) const { return visible_at < time && durable_at > time; }
  bool Touches(uint64_t begin, uint64_t end) const {
    return offset_bytes < end && begin < offset_bytes + bytes.size();
  }
  // Of how many atoms a part is written.
  size_t Atoms() const;
};

// The changes of the log in the order in which they came.
std::vector<DiskWrite> WritesOf(const testing::RecordedRequests& log);

}  // namespace mdvol::crash

#endif  // MDVOL_TESTS_CRASH_DISK_WRITE_H_
