// write_admission "unlimited": writes may have all slots of the queue before a member, as under the
// kernel's mq-deadline where nothing is reserved for readers (before Linux 6.6, and since 6.10).
// nr_requests writes are accepted; those that the member's own queue of device_depth has no room
// for can be joined meanwhile, and later ones sleep. Right where nobody reads, or where the member
// itself puts reads first.

#ifndef MDVOL_POLICIES_UNLIMITED_H_
#define MDVOL_POLICIES_UNLIMITED_H_

#include <array>

#include "core/policy/write_admission.h"
#include "policies/scheduler_queue.h"

namespace mdvol {

class UnlimitedWrites final : public WriteAdmission {
 public:
  static constexpr std::array kOptions = kSchedulerQueueOptions;

  explicit UnlimitedWrites(PolicyNumbers numbers) : queue_(numbers) {}
  WriteAdmissionDecision Decide(const WriteAdmissionFacts& /*facts*/) override {
    return SleepingDecision(queue_, queue_.nr_requests);
  }

 private:
  const SchedulerQueue queue_;
};

}  // namespace mdvol

#endif  // MDVOL_POLICIES_UNLIMITED_H_
