// DecideAssembly, last step: whether what there is may run, and what must be known about it.

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "core/geometry/layout.h"
#include "core/metadata/assembly_work.h"

namespace mdvol::assembly {
namespace {

constexpr uint32_t kMaxMissing = 2;

// Refusals that the kernel makes when it runs an array carry its errno.
template <typename... Parts>
void RefuseToRun(Work& work, const Parts&... parts) {
  work.Refuse(ErrnoStatus(EIO, absl::StrCat(parts...)));
}

std::vector<uint32_t> SlotsWithoutInSync(const Work& work) {
  std::vector<uint32_t> slots;
  for (uint32_t slot = 0; slot < work.decision.slots.size(); ++slot) {
    const std::optional<size_t>& i = work.decision.slots[slot];
    if (!i.has_value() || work.decision.members[*i].standing != MemberStanding::kInSync) {
      slots.push_back(slot);
    }
  }
  return slots;
}

// Members that are present but being rebuilt and hold nothing but parity: the data is whole, so
// their parity can be computed again even when the array is dirty.
uint32_t CountHarmless(const Work& work, const std::vector<uint32_t>& missing) {
  const Superblock& super = work.super(*work.freshest);
  const auto layout = static_cast<Layout>(super.layout.get());
  return static_cast<uint32_t>(std::count_if(missing.begin(), missing.end(), [&](uint32_t slot) {
    return work.decision.slots[slot].has_value() && HoldsOnlyParity(layout, super.raid_disks, slot);
  }));
}

// The numbers of spares that were the array's at its last events. Numbers are given out again: an
// older spare may have left long ago, and who has its number since then is missing.
std::set<uint32_t> NumbersOfFreshSpares(const Work& work) {
  std::set<uint32_t> numbers;
  for (size_t i = 0; i < work.reports.size(); ++i) {
    if (work.decision.members[i].standing == MemberStanding::kSpare &&
        work.lag(i) <= kEventMargin) {
      numbers.insert(work.super(i).dev_number);
    }
  }
  return numbers;
}

// Slots that had a member last time and have none now. A spare that was to fill its slot and does
// not know it yet has lost nothing.
std::vector<uint32_t> SlotsLost(const Work& work) {
  const Superblock& table = work.super(*work.freshest);
  const std::set<uint32_t> spares = NumbersOfFreshSpares(work);
  std::set<uint32_t> lost;
  const uint32_t numbers = std::min<uint32_t>(table.max_dev, kMaxDevices);
  for (uint32_t number = 0; number < numbers; ++number) {
    const std::optional<uint32_t> slot = SlotOfDevice(table, number);
    if (slot.has_value() && !work.decision.slots[*slot].has_value() && !spares.contains(number)) {
      lost.insert(*slot);
    }
  }
  return {lost.begin(), lost.end()};
}

void FindReference(Work& work) {
  AssemblyDecision& decision = work.decision;
  decision.reference = *work.freshest;
  for (const size_t i : work.best_first) {
    const MemberVerdict& verdict = decision.members[i];
    if (verdict.standing == MemberStanding::kInSync && !verdict.is_replacement) {
      decision.reference = i;
      return;
    }
  }
}

// The array is as dirty as the dirtiest of its freshest members in sync.
void FindDirt(Work& work, bool is_any_forced) {
  AssemblyDecision& decision = work.decision;
  uint64_t resync_sectors = kResyncDone;
  for (size_t i = 0; i < work.reports.size(); ++i) {
    if (decision.members[i].standing == MemberStanding::kInSync && !decision.members[i].forced &&
        work.events(i) == work.events(decision.reference)) {
      resync_sectors = std::min<uint64_t>(resync_sectors, work.super(i).resync_offset);
    }
  }
  if (is_any_forced) {
    resync_sectors = 0;
  }
  decision.dirty = resync_sectors != kResyncDone;
  if (decision.dirty) {
    const uint64_t component_bytes = ComponentBytes(work.super(decision.reference));
    decision.resync_bytes = std::min(resync_sectors, component_bytes / kSectorBytes) * kSectorBytes;
  }
  const MemberReport& reference = work.reports[decision.reference];
  if (!reference.super.has_feature(kFeatureBitmapOffset)) {
    return;
  }
  decision.bitmap_usable = !is_any_forced && reference.bitmap.has_value() &&
                           BitmapVouchesFor(*reference.bitmap, decision.events);
  if (!decision.bitmap_usable && !is_any_forced) {
    decision.warnings.push_back(
        reference.bitmap.has_value()
            ? absl::StrCat(reference.path, ": the bitmap (events ", reference.bitmap->events.get(),
                           ", state ", reference.bitmap->state.get(),
                           ") does not vouch for the array (events ", decision.events,
                           "): all of it counts as written")
            : absl::StrCat(reference.path,
                           ": the bitmap is damaged or missing: all of the array counts as "
                           "written"));
  }
}

void CheckJournal(Work& work) {
  const Superblock& super = work.super(*work.freshest);
  std::vector<size_t> journals;
  for (const size_t i : work.best_first) {
    if (work.decision.members[i].standing == MemberStanding::kJournal) {
      journals.push_back(i);
    }
  }
  if (journals.size() > 1) {
    work.Refuse(
        ErrnoStatus(EINVAL, absl::StrCat(work.path(journals[0]), " and ", work.path(journals[1]),
                                         " are both the array's write journal: name only "
                                         "the right one")));
  }
  if (!super.has_feature(kFeatureJournal) || !journals.empty()) {
    return;
  }
  if (work.options.read_only) {
    work.decision.warnings.push_back(
        "the array's write journal is missing: what it holds is not in the volume");
  } else {
    RefuseToRun(work,
                "the array's write journal is missing: name it too, or look at the array with "
                "--read-only");
  }
}

void CheckMissing(Work& work, const std::vector<uint32_t>& missing,
                  const std::vector<size_t>& forceable) {
  const size_t raid_disks = work.decision.slots.size();
  if (missing.size() <= kMaxMissing) {
    return;
  }
  std::string remedy = work.options.force ? "; no stale member could fill them, even with --force"
                                          : "; --force would not help";
  if (!forceable.empty()) {
    remedy = "; --force would take";
    for (const size_t i : forceable) {
      absl::StrAppend(&remedy, i == forceable.front() ? " " : ", ", work.path(i), " (slot ",
                      *work.claims[i].slot, ", ", EventsOf(work, i), ")");
    }
  }
  RefuseToRun(work, "too few members: ", raid_disks - missing.size(), " of ", raid_disks,
              " are in sync, ", raid_disks - kMaxMissing, " are needed, missing from ",
              SlotList(missing), remedy);
}

void CheckDirtyAndDegraded(Work& work, const std::vector<uint32_t>& missing) {
  if (!work.decision.dirty || missing.size() <= CountHarmless(work, missing)) {
    return;
  }
  const std::string fact =
      absl::StrCat("the array was not shut down cleanly and has no member in sync in ",
                   SlotList(missing), ": what is rebuilt from parity may be wrong");
  if (work.options.read_only) {
    work.decision.warnings.push_back(fact);
  } else if (work.options.force) {
    work.decision.forced = true;
    work.decision.warnings.push_back(absl::StrCat(fact, " (started with --force)"));
  } else {
    RefuseToRun(work, fact, "; look at it with --read-only, or start it as it is with --force");
  }
}

void CheckLost(Work& work) {
  const std::vector<uint32_t> lost = SlotsLost(work);
  if (lost.empty() || work.options.run || work.options.force) {
    return;
  }
  RefuseToRun(work, "fewer members than were active last time: none that is fresh for ",
              SlotList(lost), "; name the missing ones too, or start without them with --run");
}

}  // namespace

void DecideRun(Work& work, const std::vector<size_t>& forceable) {
  const std::vector<uint32_t> missing = SlotsWithoutInSync(work);
  work.decision.missing = static_cast<uint32_t>(missing.size());
  FindReference(work);
  const bool is_any_forced =
      std::any_of(work.decision.members.begin(), work.decision.members.end(),
                  [](const MemberVerdict& verdict) { return verdict.forced; });
  FindDirt(work, is_any_forced);
  CheckJournal(work);
  CheckMissing(work, missing, forceable);
  CheckDirtyAndDegraded(work, missing);
  CheckLost(work);
}

}  // namespace mdvol::assembly
