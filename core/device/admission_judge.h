// AdmissionJudge: who tells an AdmissionDevice how many writes may be at its member at once. The
// device states facts and obeys; core/array hands the question on to a policy, whose header
// (core/policy/write_admission.h) explains each field. The same names mean the same here.

#ifndef MDVOL_CORE_DEVICE_ADMISSION_JUDGE_H_
#define MDVOL_CORE_DEVICE_ADMISSION_JUDGE_H_

#include <cstdint>

namespace mdvol {

// Of the reads that readers wait for.
struct ReadFacts {
  uint32_t in_flight = 0;
  uint64_t since_last_ns = UINT64_MAX;
  uint32_t count = 0;  // measured since the last time that this was not 0
  uint64_t median_ns = 0;
  uint64_t slowest_ns = 0;
  uint64_t least_ns = 0;
  uint64_t since_learn_ns = UINT64_MAX;
};

struct AdmissionFacts {
  uint64_t now_ns = 0;
  uint32_t writes_in_flight = 0;
  uint32_t writes_waiting = 0;
  ReadFacts reads;
  uint64_t note = 0;
};

struct AdmissionLimits {
  uint32_t most_writes = UINT32_MAX;
  uint32_t most_in_flight = UINT32_MAX;
  uint64_t most_bytes = UINT64_MAX;
  uint64_t longest_bytes = 1 << 20;
  bool waiters_join = true;
  uint32_t wake_batch = 1;

  friend bool operator==(const AdmissionLimits&, const AdmissionLimits&) = default;
};

struct AdmissionRuling {
  AdmissionLimits limits;
  bool learn = false;
  uint64_t note = 0;
};

// Asked under the lock of its device, so by one thread at a time; must not block. version() is
// asked by any thread.
class AdmissionJudge {
 public:
  virtual ~AdmissionJudge() = default;
  virtual AdmissionRuling Judge(const AdmissionFacts& facts) = 0;
  // Changes when what was said before is void. Asked on every write: cheap.
  virtual uint64_t version() const = 0;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_DEVICE_ADMISSION_JUDGE_H_
