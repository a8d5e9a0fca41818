// DecideAssembly: what each member is. Its own claim holds as long as it is at most one event
// behind and no fresh witness says otherwise.

#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "core/metadata/assembly_work.h"

namespace mdvol::assembly {
namespace {

constexpr char kCallsItselfFailed[] = "left out: its own superblock says that it has failed";

// The first witness that has something else to say about member i than its own claim.
std::optional<size_t> Contradictor(const Work& work, size_t i) {
  for (const size_t head : work.heads) {
    if (head != i &&
        RoleOfDevice(work.super(head), work.super(i).dev_number) != work.claims[i].role) {
      return head;
    }
  }
  return std::nullopt;
}

void JudgeStale(Work& work, size_t i, const std::string& why) {
  const bool forceable = work.claims[i].is_in_sync();
  work.Judge(i, MemberStanding::kStale,
             absl::StrCat("left out: ", why,
                          forceable ? "; --force takes it only if too few others are left" : ""));
}

// Stale, foreign or neither; true when that settled it.
bool JudgeAgainstOthers(Work& work, size_t i) {
  const std::string& freshest = work.path(*work.freshest);
  if (work.lag(i) > kEventMargin) {
    JudgeStale(work, i,
               absl::StrCat(EventsBehind(work.lag(i)), " ", freshest, " (", work.events(i), " of ",
                            work.events(*work.freshest), ")"));
    return true;
  }
  if (const std::optional<size_t> head = Contradictor(work, i); head.has_value()) {
    const uint16_t role = RoleOfDevice(work.super(*head), work.super(i).dev_number);
    const std::string says = absl::StrCat(work.path(*head), " says that ");
    if (role == kRoleFaulty) {
      JudgeStale(work, i, absl::StrCat(says, "it has failed (", EventsOf(work, i), ")"));
    } else if (role == kRoleSpare) {
      JudgeStale(work, i, absl::StrCat(says, "it was removed (", EventsOf(work, i), ")"));
    } else {
      work.Judge(i, MemberStanding::kForeign,
                 absl::StrCat("left out: ", says, "its place is slot ", role,
                              ", but its own superblock says ", work.claims[i].role));
    }
    return true;
  }
  // A witness that is itself being rebuilt or the journal may be news to a member one event behind.
  const size_t head = *work.freshest;
  if (work.claims[head].is_in_sync() &&
      RoleOfDevice(work.super(i), work.super(head).dev_number) != work.claims[head].role) {
    JudgeStale(
        work, i,
        absl::StrCat("it says that ", freshest, " is out of the array (", EventsOf(work, i), ")"));
    return true;
  }
  return false;
}

void JudgeSpare(Work& work, size_t i) {
  if (const std::string mismatch = ParameterMismatch(work, i); !mismatch.empty()) {
    work.Judge(i, MemberStanding::kForeign, absl::StrCat("left out: a spare with ", mismatch));
    return;
  }
  std::string chosen;
  for (const size_t head : work.heads) {
    const uint32_t number = work.super(i).dev_number;
    if (RoleOfDevice(work.super(head), number) == kRoleFaulty) {
      JudgeStale(work, i, absl::StrCat(work.path(head), " says that it has failed"));
      return;
    }
    if (const auto slot = SlotOfDevice(work.super(head), number); slot.has_value()) {
      chosen = absl::StrCat(", chosen for slot ", *slot, ", nothing rebuilt yet");
    }
  }
  work.Judge(i, MemberStanding::kSpare, absl::StrCat("spare", chosen));
}

void JudgeJournal(Work& work, size_t i) {
  if (JudgeAgainstOthers(work, i)) {
    return;
  }
  if (!work.super(*work.freshest).has_feature(kFeatureJournal)) {
    work.Judge(i, MemberStanding::kForeign, "left out: a write journal, but the array has none");
    return;
  }
  work.Judge(i, MemberStanding::kJournal, absl::StrCat("write journal, ", EventsOf(work, i)));
}

void JudgeSlotMember(Work& work, size_t i) {
  if (JudgeAgainstOthers(work, i)) {
    return;
  }
  if (const std::string mismatch = ParameterMismatch(work, i); !mismatch.empty()) {
    work.Judge(i, MemberStanding::kForeign, absl::StrCat("has ", mismatch));
    work.Refuse(ErrnoStatus(
        EINVAL, absl::StrCat(work.path(i), " has ", mismatch, ": they do not belong together")));
    return;
  }
  const Superblock& super = work.super(i);
  const uint32_t slot = *work.claims[i].slot;
  work.verdict(i).slot = slot;
  if (!work.claims[i].is_rebuilding) {
    work.Judge(i, MemberStanding::kInSync,
               absl::StrCat("in sync in slot ", slot, ", ", EventsOf(work, i)));
    return;
  }
  const uint64_t component_bytes = ComponentBytes(super);
  const uint64_t valid_bytes = super.recovery_offset.get() >= component_bytes / kSectorBytes
                                   ? component_bytes
                                   : super.recovery_offset.get() * kSectorBytes;
  work.verdict(i).recovery_bytes = valid_bytes;
  work.Judge(
      i, MemberStanding::kRecovering,
      absl::StrCat("being rebuilt in slot ", slot, ", ",
                   valid_bytes / CeilDiv(component_bytes, 100), "% done, ", EventsOf(work, i)));
}

}  // namespace

std::string ParameterMismatch(const Work& work, size_t i) {
  const size_t freshest = *work.freshest;
  const Superblock& ours = work.super(i);
  const Superblock& theirs = work.super(freshest);
  std::string text;
  const auto compare = [&](const char* field, int64_t a, int64_t b) {
    if (text.empty() && a != b) {
      text = absl::StrCat(field, a, ", but ", work.path(freshest), " has ", field, b);
    }
  };
  compare("metadata 1.", work.reports[i].minor, work.reports[freshest].minor);
  compare("level ", ours.level, theirs.level);
  compare("layout ", ours.layout, theirs.layout);
  compare("chunksize ", ours.chunksize, theirs.chunksize);
  if (work.claims[i].slot.has_value()) {  // a spare's view of the rest may be old
    compare("raid_disks ", ours.raid_disks, theirs.raid_disks);
    compare("size ", static_cast<int64_t>(ours.size.get()),
            static_cast<int64_t>(theirs.size.get()));
    compare("ctime ", static_cast<int64_t>(ours.ctime.get()),
            static_cast<int64_t>(theirs.ctime.get()));
  }
  return text;
}

void JudgeMembers(Work& work) {
  for (const size_t i : work.best_first) {
    const Claim& claim = work.claims[i];
    if (!claim.counts) {
      continue;
    }
    if (claim.slot.has_value()) {
      JudgeSlotMember(work, i);
    } else if (claim.role == kRoleJournal) {
      JudgeJournal(work, i);
    } else if (claim.role == kRoleSpare) {
      JudgeSpare(work, i);
    } else {
      work.Judge(i, MemberStanding::kStale, kCallsItselfFailed);
    }
  }
}

void JudgeWithoutArray(Work& work) {
  for (const size_t i : work.best_first) {
    const Claim& claim = work.claims[i];
    if (!claim.counts) {
      continue;
    }
    if (claim.role == kRoleSpare) {
      work.Judge(i, MemberStanding::kSpare, "spare");
    } else if (claim.role == kRoleFaulty) {
      work.Judge(i, MemberStanding::kStale, kCallsItselfFailed);
    } else {
      work.Judge(i, MemberStanding::kStale, absl::StrCat("not judged, events ", work.events(i)));
    }
  }
}

}  // namespace mdvol::assembly
