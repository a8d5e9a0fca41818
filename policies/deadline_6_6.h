// write_admission "deadline-6.6": a quarter of the slots is kept from writes, whether anybody reads
// or not: mq-deadline of Linux 6.6 to 6.8 (commit d47f9717e5cf, reverted by 256aab46e316).
//
// Tags are bits in words of 2^shift: shift is 6 and shrinks while four words would be more than
// there are tags. Writes may use the first 3/4 x 2^shift bits of each word (async_depth was a limit
// per word). 256 tags: four words of 64, 48 of each, 192 in all. A last word that is cut short
// gives what it has, 48 at most. That is less than the device's own depth of 254: no write ever
// stands where a neighbour could join it, all the others sleep, and that is the loss. (Reads, which
// may use any bit, take no bits from writes here: one reader takes one of 256.)

#ifndef MDVOL_POLICIES_DEADLINE_6_6_H_
#define MDVOL_POLICIES_DEADLINE_6_6_H_

#include <array>
#include <cstdint>

#include "core/policy/write_admission.h"
#include "policies/scheduler_queue.h"

namespace mdvol {

// How the bits of `tags` tags are dealt out.
uint32_t TagWordShift(uint32_t tags);
// How many of them writes may have: the sum over the words.
uint32_t AsyncTags(uint32_t tags);

class Deadline66 final : public WriteAdmission {
 public:
  static constexpr std::array kOptions = kSchedulerQueueOptions;

  explicit Deadline66(PolicyNumbers numbers) : queue_(numbers) {}
  WriteAdmissionDecision Decide(const WriteAdmissionFacts& /*facts*/) override {
    return SleepingDecision(queue_, AsyncTags(queue_.nr_requests));
  }

 private:
  const SchedulerQueue queue_;
};

}  // namespace mdvol

#endif  // MDVOL_POLICIES_DEADLINE_6_6_H_
