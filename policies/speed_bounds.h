// SpeedLimit and SpeedFloor: sync_speed_max and sync_speed_min as the resync_pacing policies of
// this folder keep them. Both are token buckets over the bytes that a run has issued, so that they
// judge the present and not a mean of the last half minute, and wait for milliseconds, not for half
// seconds. Values without locking.

#ifndef MDVOL_POLICIES_SPEED_BOUNDS_H_
#define MDVOL_POLICIES_SPEED_BOUNDS_H_

#include <cstdint>

#include "core/policy/resync_pacing.h"

namespace mdvol {

// Over any second the bytes issued are speed_max times that second, to 2 %: a window is at most
// 10 ms of speed_max (a stripe at least), and at most 8 ms are made up for when a window went late.
class SpeedLimit {
 public:
  // To be called at every decision; how long nothing may go.
  uint64_t WaitNs(const ResyncFacts& facts);
  // The most that a window may have.
  static uint64_t MostWindowBytes(const ResyncFacts& facts);

 private:
  uint64_t run_ = 0;
  uint64_t last_ns_ = 0;
  uint64_t issued_bytes_ = 0;
  double tokens_bytes_ = 0;
};

// In every 3 s at least speed_min times 3 s, as long as the members can do it: aims half as high
// again, for windows wait behind users' requests, in windows of 0.75 s of speed_min, and forgets
// all but one such window of what was done beyond it.
class SpeedFloor {
 public:
  // To be called at every decision; whether a window is due whatever else is asked of the members.
  bool IsDue(const ResyncFacts& facts);
  static uint64_t WindowBytes(const ResyncFacts& facts);

 private:
  uint64_t run_ = 0;
  uint64_t last_ns_ = 0;
  uint64_t issued_bytes_ = 0;
  double owed_bytes_ = 0;
};

}  // namespace mdvol

#endif  // MDVOL_POLICIES_SPEED_BOUNDS_H_
