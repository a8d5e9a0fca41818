// ParityBy: a parity_workers policy that always decides the same.

#ifndef MDVOL_TESTS_SUPPORT_STRIPES_PARITY_BY_H_
#define MDVOL_TESTS_SUPPORT_STRIPES_PARITY_BY_H_

#include <array>
#include <memory>

#include "core/policy/parity_workers.h"
#include "core/policy/policy_set.h"
#include "tests/support/seed.h"

namespace mdvol::testing {

class ParityBy final : public ParityWorkers {
 public:
  explicit ParityBy(ParityWorkersDecision decision) : decision_(decision) {}
  ParityWorkersDecision Decide(const ParityWorkersFacts& /*facts*/) const override {
    return decision_;
  }

 private:
  const ParityWorkersDecision decision_;
};

inline constexpr std::array kParityWays = {ParityWorkersWay::kInline, ParityWorkersWay::kSingle,
                                           ParityWorkersWay::kPasses,
                                           ParityWorkersWay::kOperations};

// Another way, or none.
inline void SwitchParity(PolicySet& policies, Prng& prng) {
  const size_t way = prng.Below(kParityWays.size() + 1);
  policies.parity_workers.Set(way == kParityWays.size()
                                  ? nullptr
                                  : std::make_shared<ParityBy>(ParityWorkersDecision{
                                        kParityWays[way], static_cast<uint32_t>(prng.Below(4)),
                                        static_cast<uint32_t>(prng.Below(5))}));
}

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_SUPPORT_STRIPES_PARITY_BY_H_
