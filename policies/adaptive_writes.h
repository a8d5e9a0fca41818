// write_admission "adaptive": room for readers only while there are readers, measured by what they
// wait, and those that wait stay where their neighbours can join them.
//
// Nobody has read for hold_ms: writes may have all of the queue, as under "unlimited", but who
// waits holds no slot and can be joined.
//
// Somebody reads: the bytes of writes that may be at the member at once are steered so that the
// slowest reads take at most `read_latency` times what a read takes that meets no write. A read
// waits for the bytes before it, so bytes, not requests, are what is bounded; a joined request is
// at most half of them, so that a member that overlaps two requests is never idle between them, and
// no more than two are at the member while the bytes are few. The
// slowest is not measured but inferred: a read comes at any moment of the service of what is before
// it, so its times lie evenly between the shortest and the slowest, and
//     slowest = least + 2 x (median - least).
// One outlier, a thread that got no processor, then moves nothing. What a read alone takes is the
// shortest that was seen; while writes flow without end it would grow with the bound, so every
// learn_ms one request at a time is let on until a few reads have shown it anew, for half a second
// at most, and only at a member that is being read: elsewhere it would show nothing.
//
// Reads faster than 60 us in spite of the writes are let be: memory and the page cache have no
// queue that is worth guarding.
//
// Readers are the array's: one who reads here and there, and waits long, comes to each member so
// seldom that each by itself would forget him, and he would wait for ever so long. So when a read
// was last seen is shared by all members, in one atomic word; the bound is each member's own, in
// its note.

#ifndef MDVOL_POLICIES_ADAPTIVE_WRITES_H_
#define MDVOL_POLICIES_ADAPTIVE_WRITES_H_

#include <array>
#include <atomic>
#include <cstdint>

#include "core/policy/write_admission.h"
#include "policies/scheduler_queue.h"

namespace mdvol {

class AdaptiveWrites final : public WriteAdmission {
 public:
  static constexpr std::array kOptions{
      kSchedulerQueueOptions[0],
      kSchedulerQueueOptions[1],
      PolicyOptionInfo{"read_latency", 3, 1, 100, false,
                       "slowest reads beside writes, in times of a read alone"},
      PolicyOptionInfo{"hold_ms", 100, 0, 10000, true, "how long a read is remembered"},
      PolicyOptionInfo{"learn_ms", 5000, 100, 600000, true,
                       "how often the time of a read alone is measured anew"},
  };

  explicit AdaptiveWrites(PolicyNumbers numbers);
  WriteAdmissionDecision Decide(const WriteAdmissionFacts& facts) override;

 private:
  WriteAdmissionDecision Open() const;
  WriteAdmissionDecision Bounded(uint64_t bytes) const;
  bool HasReader(const WriteAdmissionFacts& facts);
  uint64_t Steer(uint64_t bytes, const WriteAdmissionFacts& facts) const;

  const SchedulerQueue queue_;
  const double read_latency_;
  const uint64_t hold_ns_;
  const uint64_t learn_ns_;
  std::atomic<uint64_t> last_read_ns_{0};  // at any member; 0: never
};

}  // namespace mdvol

#endif  // MDVOL_POLICIES_ADAPTIVE_WRITES_H_
