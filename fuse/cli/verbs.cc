// See verbs.h.

#include "fuse/cli/verbs.h"

#include <array>

namespace mdvol {

std::span<AddVerb* const> AllVerbs() {
  static constexpr std::array kVerbs{&AddCreate, &AddExamine, &AddMount,   &AddDetail,
                                     &AddStatus, &AddFail,    &AddGet,     &AddSet,
                                     &AddStop,   &AddMap,     &AddPolicies};
  return kVerbs;
}

}  // namespace mdvol
