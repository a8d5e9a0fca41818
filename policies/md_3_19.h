// resync_pacing "md-3.19": the kernels until 4.0. Any sustained use of a member pins the resync at
// speed_min: above it, and with users about or above speed_max, it sleeps for half a second and
// judges again. While it sleeps all it had in flight ends, so nothing hides the users from the idle
// test. For users who must not feel a resync that may take for ever.

#ifndef MDVOL_POLICIES_MD_3_19_H_
#define MDVOL_POLICIES_MD_3_19_H_

#include "policies/md_pacing.h"

namespace mdvol {

class Md319Pacing final : public MdPacing {
 public:
  explicit Md319Pacing(PolicyNumbers /*numbers*/ = {}) {}

 protected:
  void Begin(const ResyncFacts& facts) override { test_.Begin(facts); }
  Word Judge(const ResyncFacts& facts, bool is_above_max) override {
    return is_above_max || test_.IsBusy(facts) ? Word::kSleep : Word::kGo;
  }

 private:
  MdMemberIdleTest test_;
};

}  // namespace mdvol

#endif  // MDVOL_POLICIES_MD_3_19_H_
