// See verbs.h.

#include "fuse/cli/verbs.h"

#include <array>

namespace mdvol {

std::span<AddVerb* const> AllVerbs() {
  static constexpr std::array kVerbs{
      &AddCreate, &AddExamine, &AddMount,   &AddDetail, &AddStatus, &AddFail,   &AddRemove,
      &AddAdd,    &AddReAdd,   &AddReplace, &AddCheck,  &AddRepair, &AddResync, &AddIdle,
      &AddFreeze, &AddWait,    &AddGet,     &AddSet,    &AddStop,   &AddMap,    &AddPolicies};
  return kVerbs;
}

}  // namespace mdvol
