// resync_pacing "adaptive": goes as fast as the members allow while nobody uses the volume, and
// beside users takes what one option grants: the share by which their requests may take longer
// because of the resync (latency_share, 0.10 by default: 10 %).
//
// How. What a window costs the users is measured, not modelled: requests that no window touched say
// how long a request takes (quiet); what the others take beyond that, added up over a window, and
// divided by how many requests are in flight on average, is the time that the window took from the
// users. It rests for that time / latency_share after each window: so the users lose the share, be
// the members what they may. A window can cost no more than it lasts, so until the cost is known
// its duration stands for it, which errs on the users' side.
//
//   - Windows are large and rare, a mebibyte of each member: few requests meet one at all.
//   - With more requests in flight than members, all that the resync takes is taken from the users'
//     throughput, and what waits already would wait longer still: three fifths of the share, spent
//     on two windows at a time, for the sake of disks that have to seek.
//   - With a share so large that a quiet request may wait for one and a half windows, it no longer
//     rests but makes its windows smaller, two in flight: one request slips in between any two.
//   - Users have come when a request is seen, and gone 100 ms after the last one.
//   - speed_max and speed_min as in speed_bounds.h; the latter goes before the share.
//
// Its own I/O plays no part in any of this, so it cannot hold itself back.

#ifndef MDVOL_POLICIES_ADAPTIVE_PACING_H_
#define MDVOL_POLICIES_ADAPTIVE_PACING_H_

#include <cstdint>

#include "core/policy/resync_pacing.h"
#include "policies/speed_bounds.h"

namespace mdvol {

inline constexpr PolicyOptionInfo kAdaptivePacingOptions[] = {
    {"latency_share", 0.10, 0.01, 100, false,
     "by which share of their duration users' requests may take longer because of the resync"},
};

class AdaptivePacing final : public ResyncPacing {
 public:
  explicit AdaptivePacing(PolicyNumbers numbers) : latency_share_(numbers[0]) {}
  ResyncDecision Decide(const ResyncFacts& facts) override;

 private:
  // How the next windows go beside users.
  struct Manner {
    uint64_t windows = 1;  // in flight
    uint64_t window_bytes = 0;
    bool rests = true;
    uint64_t period_ns = 0;  // from one burst to the next, at least
  };

  void BeginRun(const ResyncFacts& facts);
  bool SeeUsers(const ResyncFacts& facts);
  void Learn(const ResyncFacts& facts);
  void Meet(const ResyncFacts& facts);
  void BeginBurst(const ResyncFacts& facts);
  bool WantsQuiet(const ResyncFacts& facts, bool rests);
  double InFlight() const;  // users' requests, on average
  bool IsSaturated(const ResyncFacts& facts) const;
  double CostNs(const ResyncFacts& facts) const;
  Manner MannerFor(const ResyncFacts& facts) const;
  uint64_t AlignmentNs(const ResyncFacts& facts, uint64_t period_end_ns);
  ResyncDecision BesideUsers(const ResyncFacts& facts);

  const double latency_share_;
  SpeedLimit limit_;
  SpeedFloor floor_;

  uint64_t run_ = 0;
  // Users.
  uint64_t ended_ = 0;         // requests, at the last look
  uint64_t last_seen_ns_ = 0;  // a request in flight, or one that had ended
  bool are_there_ = false;
  // A burst: the windows of one go, with the rest after it. What is learned is learned by bursts.
  bool is_in_burst_ = false;
  uint64_t burst_begun_ns_ = 0;
  bool manner_rests_ = true;  // at the last decision
  bool burst_rests_ = true;
  uint64_t burst_begun_bytes_ = 0;
  bool is_in_rest_ = false;
  bool is_aligning_ = false;
  uint64_t aligning_ended_ = 0;
  uint64_t rest_begun_ns_ = 0;
  uint64_t rest_begun_ended_ = 0;
  uint64_t burst_windows_ = 0;      // that have gone in it
  double burst_ns_ = 0;             // how long the last one's windows lasted
  ResyncForegroundFacts at_begin_;  // of the burst
  // Learned; sums whose older parts fade.
  double per_byte_ns_ = 0;  // of a window, beyond what a quiet request takes
  uint64_t quiet_seen_ = 0;
  uint64_t quiet_seen_ns_ = 0;  // when a quiet request was last seen
  double quiet_count_ = 0;
  double quiet_sum_ns_ = 0;
  double cost_sum_ns_ = 0;     // what disturbed requests took beyond quiet ones
  double latency_sum_ns_ = 0;  // of all requests
  double time_sum_ns_ = 0;     // in which they were
  double bursts_ = 0;
  // Requests that ended while windows were in flight, and while none was.
  double counted_bursts_ = 0;
  double burst_time_ns_ = 0;
  double burst_ended_ = 0;
  double rest_time_ns_ = 0;
  double rest_ended_ = 0;
};

}  // namespace mdvol

#endif  // MDVOL_POLICIES_ADAPTIVE_PACING_H_
