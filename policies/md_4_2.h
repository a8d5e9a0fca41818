// resync_pacing "md-4.2": the kernels from 4.1 to 6.15. With users about it only waits until what
// it has in flight has ended, and goes on. What it has in flight hides the users from the idle
// test, so that it seldom does even that: users with few requests in flight are all but shut out.
// For a resync that has to end, by night.

#ifndef MDVOL_POLICIES_MD_4_2_H_
#define MDVOL_POLICIES_MD_4_2_H_

#include "policies/md_pacing.h"

namespace mdvol {

class Md42Pacing final : public MdPacing {
 public:
  explicit Md42Pacing(PolicyNumbers /*numbers*/ = {}) {}

 protected:
  void Begin(const ResyncFacts& facts) override { test_.Begin(facts); }
  Word Judge(const ResyncFacts& facts, bool is_above_max) override {
    if (is_above_max) {
      return Word::kSleep;
    }
    return test_.IsBusy(facts) ? Word::kDrain : Word::kGo;
  }

 private:
  MdMemberIdleTest test_;
};

}  // namespace mdvol

#endif  // MDVOL_POLICIES_MD_4_2_H_
