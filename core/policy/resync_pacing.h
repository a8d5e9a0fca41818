// resync_pacing: how much of the members a resync takes while others use them. The policy is asked
// before every window, and again after each wait that it demanded; it sees facts and knows nothing
// of members. With no policy: two windows in flight, never a wait. Implementations are in
// policies/. A policy may keep state of its own; the engine asks from one thread at a time.
//
// A window is a run of neighbouring stripes, handled as one: so many bytes of every member. It is
// in flight from the moment at which a policy let it go until all that it found is noted. "Resync"
// stands for check, repair and recovery too.

#ifndef MDVOL_CORE_POLICY_RESYNC_PACING_H_
#define MDVOL_CORE_POLICY_RESYNC_PACING_H_

#include <cstdint>
#include <span>

#include "core/policy/families.h"
#include "core/policy/policy.h"

namespace mdvol {

// What one member has done since it was opened, in its data area: differences count. Members that
// have gone are left out, so the number of members may change.
struct ResyncMemberFacts {
  uint64_t completed_bytes = 0;    // all that has ended, reads and writes, the resync's too
  uint64_t sync_issued_bytes = 0;  // of the resync, counted when it is handed to the member
};

struct ResyncLatencies {
  uint64_t count = 0;
  uint64_t sum_ns = 0;
};

// What users of the volume asked for since the first resync: differences count. A request is quiet
// if no window was in flight at any time between its beginning and its end; its latency then is
// what it would be without the resync.
struct ResyncForegroundFacts {
  uint64_t in_flight = 0;
  ResyncLatencies quiet;
  ResyncLatencies disturbed;
};

struct ResyncFacts {
  uint64_t now_ns = 0;
  uint64_t run = 0;  // another number: another run, whose counts begin at 0
  // The start of the interval over which speed is judged, as md's marks: half a minute ago, or the
  // beginning of the run.
  uint64_t mark_ns = 0;
  uint64_t bytes_since_mark = 0;  // of each member, done
  // Bytes per second and member: below the first a resync is never held back, above the second
  // always.
  uint64_t speed_min = 0;
  uint64_t speed_max = 0;

  // The run's own windows; bytes are those of each member.
  uint64_t issued_bytes = 0;
  uint64_t done_bytes = 0;
  uint64_t windows_in_flight = 0;
  uint64_t windows_done = 0;
  uint64_t last_window_bytes = 0;   // of the window that ended last: its size,
  uint64_t last_window_ns = 0;      // how long it was in flight,
  uint64_t last_done_ns = 0;        // and when it ended
  uint64_t least_window_bytes = 0;  // no window is smaller: a stripe cannot be divided

  std::span<const ResyncMemberFacts> members;
  ResyncForegroundFacts foreground;

  uint64_t in_flight_bytes() const { return issued_bytes - done_bytes; }
};

struct ResyncDecision {
  // 0: the next window may go now. Otherwise the policy is asked again after this time, or
  // earlier: at least ten times a second, and as the next line says.
  uint64_t wait_ns = 0;
  // When waiting: asked again as soon as fewer windows are in flight than this. 1: when all have
  // ended. 0: not for that reason.
  uint64_t wait_for_fewer_windows = 0;
  // When going: the most bytes of each member that the window may have; rounded down to whole
  // stripes, at least one. 0: the largest window that the engine makes, a mebibyte as a rule.
  uint64_t window_bytes = 0;
};

// The engine has at most so many windows in flight, and at most two mebibytes of each member, or
// two stripes if that is more.
inline constexpr uint64_t kMostResyncWindows = 8;

class ResyncPacing : public Policy {
 public:
  static constexpr PolicyFamily kFamily = PolicyFamily::kResyncPacing;
  virtual ResyncDecision Decide(const ResyncFacts& facts) = 0;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_POLICY_RESYNC_PACING_H_
