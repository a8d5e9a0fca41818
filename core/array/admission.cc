// See admission.h.

#include "core/array/admission.h"

#include <cstdint>
#include <utility>

#include "core/device/admission_device.h"
#include "core/device/admission_judge.h"

namespace mdvol {
namespace {

WriteAdmissionFacts PolicyFacts(const AdmissionFacts& facts) {
  return {
      .now_ns = facts.now_ns,
      .writes_in_flight = facts.writes_in_flight,
      .writes_waiting = facts.writes_waiting,
      .reads_in_flight = facts.reads.in_flight,
      .since_read_ns = facts.reads.since_last_ns,
      .reads = facts.reads.count,
      .median_read_ns = facts.reads.median_ns,
      .slowest_read_ns = facts.reads.slowest_ns,
      .least_read_ns = facts.reads.least_ns,
      .since_learn_ns = facts.reads.since_learn_ns,
      .note = facts.note,
  };
}

class PolicyJudge final : public AdmissionJudge {
 public:
  explicit PolicyJudge(const PolicySlot<WriteAdmission>& slot) : slot_(slot) {}

  // What one policy has noted is nothing to another: a new one starts with an empty note.
  AdmissionRuling Judge(const AdmissionFacts& facts) override {
    const auto [policy, version] = slot_.GetVersioned();
    if (policy == nullptr) {
      return {};
    }
    WriteAdmissionFacts policy_facts = PolicyFacts(facts);
    if (version != noted_version_) {
      noted_version_ = version;
      policy_facts.note = 0;
    }
    const WriteAdmissionDecision decision = policy->Decide(policy_facts);
    return {.limits = {.most_writes = decision.most_writes,
                       .most_in_flight = decision.most_in_flight,
                       .most_bytes = decision.most_bytes,
                       .longest_bytes = decision.longest_bytes,
                       .waiters_join = decision.waiters_join,
                       .wake_batch = decision.wake_batch},
            .learn = decision.learn,
            .note = decision.note};
  }

  uint64_t version() const override { return slot_.version(); }

 private:
  const PolicySlot<WriteAdmission>& slot_;
  uint64_t noted_version_ = UINT64_MAX;  // under the lock of the device, which alone asks
};

}  // namespace

std::unique_ptr<CountingDevice> NewAdmittedDevice(std::unique_ptr<CountingDevice> inner,
                                                  const PolicySlot<WriteAdmission>& slot,
                                                  Clock& clock) {
  return NewAdmissionDevice(std::move(inner), std::make_unique<PolicyJudge>(slot), clock);
}

}  // namespace mdvol
