// DecideAssembly: who stands in which slot. One member, and beside it at most one replacement.

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/metadata/assembly_work.h"

namespace mdvol::assembly {
namespace {

bool IsPlaced(const MemberVerdict& verdict) {
  return verdict.standing == MemberStanding::kInSync ||
         verdict.standing == MemberStanding::kRecovering;
}

void RefuseTwoClaims(Work& work, size_t first, size_t second, uint32_t slot) {
  work.Refuse(ErrnoStatus(
      EINVAL, absl::StrCat(work.path(first), " and ", work.path(second), " both claim slot ", slot,
                           " (events ", work.events(first), " and ", work.events(second),
                           "): name only the right one")));
  work.verdict(second).slot.reset();
  work.verdict(second).recovery_bytes = 0;
  work.Judge(second, MemberStanding::kForeign,
             absl::StrCat("claims slot ", slot, " as ", work.path(first), " does"));
}

// A replacement holds the slot when the member that it replaces is absent, or is itself being
// rebuilt while the replacement is whole.
void SettleReplacement(Work& work, uint32_t slot) {
  std::optional<size_t>& original = work.decision.slots[slot];
  std::optional<size_t>& replacement = work.replacements[slot];
  if (!replacement.has_value()) {
    return;
  }
  if (!original.has_value()) {
    std::swap(original, replacement);
    return;
  }
  if (work.super(*original).dev_number.get() == work.super(*replacement).dev_number.get()) {
    RefuseTwoClaims(work, *original, *std::exchange(replacement, std::nullopt), slot);
    return;
  }
  if (work.verdict(*replacement).standing == MemberStanding::kInSync &&
      work.verdict(*original).standing == MemberStanding::kRecovering) {
    work.verdict(*original).slot.reset();
    work.verdict(*original).recovery_bytes = 0;
    work.Judge(*original, MemberStanding::kSpare,
               absl::StrCat("spare: ", work.path(*replacement), " has replaced it in slot ", slot));
    original = std::exchange(replacement, std::nullopt);
    return;
  }
  work.verdict(*replacement).is_replacement = true;
  work.verdict(*replacement).reason += absl::StrCat(", to replace ", work.path(*original));
}

}  // namespace

void FillSlots(Work& work) {
  const uint32_t raid_disks = work.super(*work.freshest).raid_disks;
  work.decision.slots.assign(raid_disks, std::nullopt);
  work.replacements.assign(raid_disks, std::nullopt);
  for (const size_t i : work.best_first) {
    if (!IsPlaced(work.verdict(i))) {
      continue;
    }
    const uint32_t slot = *work.verdict(i).slot;
    std::optional<size_t>& place = work.super(i).has_feature(kFeatureReplacement)
                                       ? work.replacements[slot]
                                       : work.decision.slots[slot];
    if (place.has_value()) {
      RefuseTwoClaims(work, *place, i, slot);
    } else {
      place = i;
    }
  }
  for (uint32_t slot = 0; slot < raid_disks; ++slot) {
    SettleReplacement(work, slot);
  }
}

bool IsNumberPlaced(const Work& work, uint32_t number) {
  for (size_t i = 0; i < work.reports.size(); ++i) {
    if (IsPlaced(work.decision.members[i]) && work.super(i).dev_number == number) {
      return true;
    }
  }
  return false;
}

void LeaveOutTwins(Work& work) {
  std::map<uint32_t, size_t> spares;
  for (const size_t i : work.best_first) {
    if (work.verdict(i).standing != MemberStanding::kSpare) {
      continue;
    }
    const uint32_t number = work.super(i).dev_number;
    const auto [first, is_new] = spares.try_emplace(number, i);
    if (!is_new || IsNumberPlaced(work, number)) {
      work.Judge(i, MemberStanding::kForeign,
                 absl::StrCat("left out: a spare whose number, ", number,
                              ", another member has got since; wipe it and add it again"));
    }
  }
}

uint32_t CountInSync(const Work& work) {
  return static_cast<uint32_t>(
      std::count_if(work.decision.slots.begin(), work.decision.slots.end(), [&](const auto& i) {
        return i.has_value() && work.decision.members[*i].standing == MemberStanding::kInSync;
      }));
}

}  // namespace mdvol::assembly
