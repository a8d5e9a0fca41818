// write_admission: how many writes a member is given at once, and what becomes of those that have
// to wait. Asked by many threads at once, for one member at a time, and then not again for a
// millisecond or so. With no policy: no bound.
//
// A policy serves all members of an array; what it wants to remember of one it puts into `note`.
// The engine takes any answer: one write is always let through, whatever the bounds say, and
// metadata, flushes and reads never wait.

#ifndef MDVOL_CORE_POLICY_WRITE_ADMISSION_H_
#define MDVOL_CORE_POLICY_WRITE_ADMISSION_H_

#include <cstdint>

#include "core/policy/families.h"
#include "core/policy/policy.h"

namespace mdvol {

// Of one member. Reads are those that a reader of the volume waits for: neither what a write has to
// read first nor what a sync reads. Times of reads are divided by the reads that were in flight
// when one began, itself included: what reads do to each other is not the writes' doing.
struct WriteAdmissionFacts {
  static constexpr uint64_t kNever = UINT64_MAX;

  uint64_t now_ns = 0;
  uint32_t writes_in_flight = 0;
  uint32_t writes_waiting = 0;
  uint32_t reads_in_flight = 0;
  uint64_t since_read_ns = kNever;  // since a read was last seen to begin or end

  // The reads measured since the last time that this was not 0, eight of them or what half a second
  // brought; 0: not yet enough.
  uint32_t reads = 0;
  uint64_t median_read_ns = 0;
  uint64_t slowest_read_ns = 0;
  // The shortest time of a read since the last decision that said `learn`; 0: not known.
  uint64_t least_read_ns = 0;
  uint64_t since_learn_ns = kNever;

  uint64_t note = 0;  // of the last decision for this member; at first 0
};

struct WriteAdmissionDecision {
  uint32_t most_writes = UINT32_MAX;     // accepted at once: in flight, or about to be (see below)
  uint32_t most_in_flight = UINT32_MAX;  // at the member itself: its queue's depth
  uint64_t most_bytes = UINT64_MAX;      // in flight at once
  uint64_t longest_bytes = 1 << 20;      // that neighbours grow to when they are joined
  // True: whoever waits can be joined with its neighbours, and all that wait go in ascending order.
  // False: writes beyond most_writes sleep in the order of their arrival and cannot be joined;
  // those accepted but not in flight can.
  bool waiters_join = true;
  uint32_t wake_batch = 1;  // so many must have ended before any that wait are let on
  bool learn = false;       // forget least_read_ns, find it anew
  uint64_t note = 0;
};

class WriteAdmission : public Policy {
 public:
  static constexpr PolicyFamily kFamily = PolicyFamily::kWriteAdmission;
  virtual WriteAdmissionDecision Decide(const WriteAdmissionFacts& facts) = 0;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_POLICY_WRITE_ADMISSION_H_
