// The two queues of one member as Linux has them, for the policies of write_admission: the
// scheduler's, of nr_requests slots (tags), and the device's own, of device_depth. The standard
// values are those of a device of depth 254: nr_requests = 2 x min(depth, 128) = 256. Pure.

#ifndef MDVOL_POLICIES_SCHEDULER_QUEUE_H_
#define MDVOL_POLICIES_SCHEDULER_QUEUE_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/policy/write_admission.h"

namespace mdvol {

inline constexpr std::array kSchedulerQueueOptions{
    PolicyOptionInfo{"nr_requests", 256, 1, 1024, true, "slots of a member's queue"},
    PolicyOptionInfo{"device_depth", 254, 1, 1024, true, "requests at the member itself at once"},
};

struct SchedulerQueue {
  uint32_t nr_requests = 256;
  uint32_t device_depth = 254;

  explicit SchedulerQueue(PolicyNumbers numbers)
      : nr_requests(static_cast<uint32_t>(numbers[0])),
        device_depth(static_cast<uint32_t>(numbers[1])) {}
};

// How many requests have to end before sleepers are woken, so many at once: an eighth of the slots,
// eight at most. Waking one by one lets writers cut into each other's sequences.
constexpr uint32_t WakeBatch(uint32_t slots) { return std::clamp(slots / 8, 1U, 8U); }

// Writes have `slots` of the queue's; who finds none sleeps, out of reach of those beside him.
inline WriteAdmissionDecision SleepingDecision(const SchedulerQueue& queue, uint32_t slots) {
  WriteAdmissionDecision decision;
  decision.most_writes = slots;
  decision.most_in_flight = queue.device_depth;
  decision.waiters_join = false;
  decision.wake_batch = WakeBatch(slots);
  return decision;
}

}  // namespace mdvol

#endif  // MDVOL_POLICIES_SCHEDULER_QUEUE_H_
