// CrashPoint: one moment of a recorded run at which the power goes: what is on the disks for
// certain, which changes are pending, and from both the members' images in any of the states that
// the crash may leave. One thread at a time.

#ifndef MDVOL_TESTS_CRASH_CRASH_POINT_H_
#define MDVOL_TESTS_CRASH_CRASH_POINT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/crash/crash_states.h"
#include "tests/crash/image.h"
#include "tests/crash/scenario.h"

namespace mdvol::crash {

// The times at which a crash may leave, or must leave, something else than at any other.
std::vector<size_t> CrashTimes(const RecordedRun& run);

class CrashPoint {
 public:
  // `run` outlives the point. `bound`: of states, see StateChoices.
  CrashPoint(const RecordedRun& run, size_t time, size_t bound, uint64_t seed);

  size_t time() const { return time_; }
  size_t count() const { return choices_.count(); }
  // Makes images() those of the state; what the last one was used for is forgotten.
  void Choose(size_t index);
  std::vector<Image>& images() { return images_; }
  // Equal for equal images of all members, at other times too.
  uint64_t StateHash() const;

  // Stripes in whose chunks a change is pending, ascending.
  const std::vector<uint64_t>& pending_stripes() const { return pending_stripes_; }

 private:
  std::vector<Image> MakeImages() const;

  const RecordedRun& run_;
  size_t time_;
  std::vector<const DiskWrite*> pending_;
  std::vector<uint64_t> pending_stripes_;
  StateChoices choices_;
  std::vector<Image> images_;
  uint64_t base_hash_ = 0;
};

}  // namespace mdvol::crash

#endif  // MDVOL_TESTS_CRASH_CRASH_POINT_H_
