// See assembly_work.h.

#include "core/metadata/assembly_work.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"

namespace mdvol::assembly {
namespace {

Claim ClaimOf(const Superblock& super) {
  Claim claim;
  claim.role = OwnRole(super);
  claim.slot = OwnSlot(super);
  if (!claim.slot.has_value() && claim.role != kRoleJournal && claim.role != kRoleFaulty) {
    claim.role = kRoleSpare;  // a slot beyond raid_disks is none to the kernel either
  }
  claim.is_rebuilding = claim.slot.has_value() && super.has_feature(kFeatureRecoveryOffset);
  return claim;
}

bool HasVouchingBitmap(const MemberReport& report) {
  return report.bitmap.has_value() && BitmapVouchesFor(*report.bitmap, report.super.events);
}

}  // namespace

Work::Work(const std::vector<MemberReport>& given_reports, const AssemblyOptions& given_options)
    : reports(given_reports), options(given_options) {
  for (const MemberReport& report : reports) {
    claims.push_back(ClaimOf(report.super));
  }
  best_first.resize(reports.size());
  std::iota(best_first.begin(), best_first.end(), size_t{0});
  std::sort(best_first.begin(), best_first.end(),
            [this](size_t a, size_t b) { return IsBetter(a, b); });
  decision.members.resize(reports.size());
}

uint64_t Work::lag(size_t i) const {
  const uint64_t most = events(*freshest);
  return most > events(i) ? most - events(i) : 0;
}

bool Work::IsBetter(size_t a, size_t b) const {
  const auto key = [this](size_t i) {
    return std::tuple<uint64_t, bool, bool, uint32_t, const Uuid&, const std::string&>(
        ~events(i), !claims[i].is_in_sync(), !HasVouchingBitmap(reports[i]),
        super(i).dev_number.get(), super(i).device_uuid, path(i));
  };
  return key(a) < key(b);
}

void Work::Refuse(absl::Status status) {
  if (decision.status.ok()) {
    decision.status = std::move(status);
  }
}

void Work::Judge(size_t i, MemberStanding standing, std::string reason) {
  verdict(i).standing = standing;
  verdict(i).reason = absl::StrCat(path(i), ": ", reason);
}

std::string SlotList(const std::vector<uint32_t>& slots) {
  std::string text = slots.size() == 1 ? "slot " : "slots ";
  for (size_t i = 0; i < slots.size(); ++i) {
    const char* const before = i == 0 ? "" : (i + 1 == slots.size() ? " and " : ", ");
    absl::StrAppend(&text, before, slots[i]);
  }
  return text;
}

std::string EventsOf(const Work& work, size_t i) {
  if (work.lag(i) == 0) {
    return absl::StrCat("events ", work.events(i));
  }
  return absl::StrCat("events ", work.events(i), " of ", work.events(*work.freshest));
}

std::string EventsBehind(uint64_t lag) {
  return absl::StrCat(lag, lag == 1 ? " event behind" : " events behind");
}

}  // namespace mdvol::assembly
