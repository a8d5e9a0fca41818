// DecideAssembly: which stale members --force takes, as mdadm does: the newest that were in sync,
// with all of the same age, until there are enough members to run. Never more than is needed for
// that, and none when it would not be enough.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/metadata/assembly_work.h"

namespace mdvol::assembly {
namespace {

// For each empty slot the newest stale member that was in sync there. None for a slot that two
// members of one age claim: nothing tells which is right.
std::vector<size_t> NewestPerSlot(const Work& work) {
  std::vector<std::optional<size_t>> newest(work.decision.slots.size());
  std::vector<bool> is_ambiguous(work.decision.slots.size());
  for (const size_t i : work.best_first) {
    const Claim& claim = work.claims[i];
    if (work.decision.members[i].standing != MemberStanding::kStale || !claim.is_in_sync() ||
        work.super(i).has_feature(kFeatureReplacement) || !ParameterMismatch(work, i).empty() ||
        work.decision.slots[*claim.slot].has_value() ||
        IsNumberPlaced(work, work.super(i).dev_number)) {
      continue;
    }
    std::optional<size_t>& best = newest[*claim.slot];
    if (!best.has_value()) {
      best = i;
    } else if (work.events(*best) == work.events(i)) {
      is_ambiguous[*claim.slot] = true;
    }
  }
  std::vector<size_t> candidates;
  for (size_t slot = 0; slot < newest.size(); ++slot) {
    if (newest[slot].has_value() && !is_ambiguous[slot]) {
      candidates.push_back(*newest[slot]);
    }
  }
  std::sort(candidates.begin(), candidates.end(),
            [&](size_t a, size_t b) { return work.IsBetter(a, b); });
  return candidates;
}

}  // namespace

std::vector<size_t> ChooseForced(const Work& work) {
  const size_t needed = work.decision.slots.size() - 2;
  const size_t in_sync = CountInSync(work);
  if (in_sync >= needed) {
    return {};
  }
  const std::vector<size_t> candidates = NewestPerSlot(work);
  if (in_sync + candidates.size() < needed) {
    return {};
  }
  size_t take = needed - in_sync;
  while (take < candidates.size() &&
         work.events(candidates[take]) == work.events(candidates[take - 1])) {
    ++take;
  }
  return {candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(take)};
}

void TakeForced(Work& work, const std::vector<size_t>& chosen) {
  for (const size_t i : chosen) {
    if (IsNumberPlaced(work, work.super(i).dev_number)) {
      continue;  // by one that was chosen before it
    }
    const uint32_t slot = *work.claims[i].slot;
    const std::string age =
        work.lag(i) == 0 ? std::string("contradicted") : EventsBehind(work.lag(i));
    MemberVerdict& verdict = work.verdict(i);
    verdict.slot = slot;
    verdict.forced = true;
    work.Judge(i, MemberStanding::kInSync,
               absl::StrCat("in sync in slot ", slot, " by --force, although ", age, " (",
                            EventsOf(work, i), ")"));
    work.decision.slots[slot] = i;
    work.decision.forced = true;
    work.decision.warnings.push_back(absl::StrCat(
        verdict.reason, ": what was written without it is lost or damaged, check the contents"));
  }
}

}  // namespace mdvol::assembly
