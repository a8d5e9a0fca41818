// DecideAssembly: whose table of roles is believed.
//
// Only voters of the most events are asked. One of them may not know yet that it has been failed:
// md steps the events back by one when an array turns clean again, so a member that missed that
// write is as fresh as the survivors who failed it afterwards. Whoever is disowned by another voter
// of the most events is therefore no witness; when two disown each other, the array ran in two
// halves, and none is.

#include <cerrno>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/metadata/assembly_work.h"

namespace mdvol::assembly {
namespace {

// Whether `witness` gives `member` another role than it claims.
bool Disowns(const Work& work, size_t witness, size_t member) {
  return RoleOfDevice(work.super(witness), work.super(member).dev_number) !=
         work.claims[member].role;
}

// The voters with the most events, best first.
std::vector<size_t> FreshVoters(const Work& work) {
  std::vector<size_t> voters;
  for (const size_t i : work.best_first) {
    if (!work.claims[i].is_voter()) {
      continue;
    }
    if (!voters.empty() && work.events(i) != work.events(voters.front())) {
      break;
    }
    voters.push_back(i);
  }
  return voters;
}

void RefuseTwoParts(Work& work, size_t a, size_t b, const char* contradiction) {
  work.Refuse(ErrnoStatus(
      EINVAL,
      absl::StrCat(work.path(a), " and ", work.path(b), contradiction, " (events ", work.events(a),
                   "): it ran in two parts, name the members of one part only")));
}

}  // namespace

void FindFreshest(Work& work) {
  const std::vector<size_t> voters = FreshVoters(work);
  if (voters.empty()) {
    work.Refuse(ErrnoStatus(EINVAL,
                            "no member that is in a slot: spares and failed members alone do not "
                            "make an array, name its other members"));
    return;
  }
  for (const size_t member : voters) {
    bool is_disowned = false;
    for (const size_t witness : voters) {
      if (witness == member || !Disowns(work, witness, member)) {
        continue;
      }
      is_disowned = true;
      if (Disowns(work, member, witness)) {
        RefuseTwoParts(work, member, witness, " each say that the other is out of the array");
      }
    }
    if (!is_disowned) {
      work.heads.push_back(member);
    }
  }
  if (work.heads.empty()) {
    if (voters.size() > 1) {
      RefuseTwoParts(work, voters[0], voters[1], " do not agree on who is in the array");
    }
    work.heads.push_back(voters.front());
  }
  work.freshest = work.heads.front();
  work.decision.freshest = *work.freshest;
  work.decision.events = work.events(*work.freshest);
}

}  // namespace mdvol::assembly
