// See state_checker.h.

#include "tests/crash/state_checker.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/array/array.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "core/metadata/bitmap.h"
#include "core/stripe/sync_types.h"
#include "core/sync/start_array.h"
#include "tests/crash/parity_check.h"
#include "tests/support/fake_clock.h"

namespace mdvol::crash {
namespace {

class StateCheck {
 public:
  StateCheck(const StateFacts& facts, std::vector<Image>& images)
      : facts_(facts), images_(images), events_(clock_) {}

  StateVerdict Run() {
    verdict_.violation = Check();
    return std::move(verdict_);
  }

 private:
  std::string Check();
  std::string Assemble();
  absl::StatusOr<std::vector<LoadedMember>> Load();
  absl::StatusOr<std::unique_ptr<Array>> Start(bool force);
  void Exempt(const std::vector<LoadedMember>& members);
  std::string CheckVolume(const char* when);
  absl::Status Rebuild();
  std::string CheckParity();
  std::string CheckStop();

  bool IsExempt(uint64_t stripe) const {
    return std::ranges::binary_search(verdict_.exempt_stripes, stripe);
  }

  const StateFacts& facts_;
  std::vector<Image>& images_;
  testing::FakeClock clock_;
  EventLog events_;
  StateVerdict verdict_;
  std::vector<uint64_t> marked_stripes_;  // written to when the power went, with their bits set
  std::unique_ptr<Array> array_;
};

std::string StateCheck::Check() {
  if (std::string problem = Assemble(); !problem.empty()) {
    return problem;
  }
  if (std::string problem = CheckVolume("after the start"); !problem.empty()) {
    return problem;
  }
  if (array_->PendingRecovery().has_value()) {
    if (const absl::Status status = Rebuild(); !status.ok()) {
      return absl::StrCat("the rebuild failed: ", MessageOf(status));
    }
    if (std::string problem = CheckVolume("after the rebuild"); !problem.empty()) {
      return problem;
    }
  }
  if (std::string problem = CheckParity(); !problem.empty()) {
    return problem;
  }
  return CheckStop();
}

// ---- Assembly ----

absl::StatusOr<std::vector<LoadedMember>> StateCheck::Load() {
  std::vector<LoadedMember> members;
  const size_t own_disks = facts_.run.spec.raid_disks + facts_.run.spec.spares;
  for (size_t disk = 0; disk < images_.size(); ++disk) {
    if (facts_.lost_disk == disk) {
      continue;
    }
    // A disk that was being added may not be a member.
    if (disk >= own_disks && !FindSuperblock(*OpenImage(images_[disk])).ok()) {
      continue;
    }
    MDVOL_ASSIGN_OR_RETURN(LoadedMember member, LoadMember(OpenImage(images_[disk])));
    members.push_back(std::move(member));
  }
  return members;
}

// Bits are looked for on every member: each may have others.
void StateCheck::Exempt(const std::vector<LoadedMember>& members) {
  marked_stripes_.clear();
  for (const uint64_t stripe : facts_.pending_stripes) {
    bool is_marked = !facts_.run.spec.bitmap;
    const uint64_t bit = facts_.run.spec.bitmap ? stripe * facts_.run.spec.chunk_bytes /
                                                      facts_.run.spec.bitmap_chunk_bytes
                                                : 0;
    for (const LoadedMember& member : members) {
      const size_t at = kBitmapSuperBytes + bit / 8;
      is_marked |=
          at < member.bitmap_file.size() && ((member.bitmap_file[at] >> (bit % 8)) & 1) != 0;
    }
    const uint64_t stripe_bytes = facts_.run.geometry.stripe_bytes();
    if (is_marked && facts_.allowed.IsOpen(stripe * stripe_bytes, (stripe + 1) * stripe_bytes)) {
      marked_stripes_.push_back(stripe);
    }
  }
}

absl::StatusOr<std::unique_ptr<Array>> StateCheck::Start(bool force) {
  MDVOL_ASSIGN_OR_RETURN(std::vector<LoadedMember> members, Load());
  Exempt(members);
  ArrayOptions options;
  options.assembly.force = force;
  options.assembly.run = facts_.lost_disk.has_value();
  options.stripe_cache_size = 17;
  return StartArray(std::move(members), options, clock_, events_);
}

std::string StateCheck::Assemble() {
  auto array = Start(/*force=*/false);
  if (!array.ok()) {
    const std::string why = MessageOf(array.status());
    if (absl::StrContains(why, "--run")) {
      return absl::StrCat("it wants --run: ", why);
    }
    array = Start(/*force=*/true);
    if (!array.ok()) {
      return absl::StrCat("it does not assemble: ", MessageOf(array.status()));
    }
    verdict_.forced = true;
    verdict_.exempt_stripes = marked_stripes_;
    if ((*array)->Snapshot().degraded == 0) {
      return absl::StrCat("whole, and yet refused: ", why);
    }
  }
  array_ = *std::move(array);
  for (const MemberSnapshot& member : array_->Snapshot().members) {
    const auto image = std::ranges::find(images_, member.path, &Image::path);
    verdict_.disks.push_back(static_cast<size_t>(image - images_.begin()));
  }
  const uint32_t most_lost = facts_.run.most_lost + (facts_.lost_disk.has_value() ? 1 : 0);
  if (const uint32_t lost = array_->Snapshot().degraded; lost > most_lost) {
    return absl::StrCat(lost, " slots have lost their members, not ", most_lost, " at most");
  }
  if (const auto doubt = array_->NextDoubt(0); doubt.has_value()) {
    return absl::StrCat("stripe ", doubt->first, " is in doubt after the resync");
  }
  return "";
}

// ---- What it holds ----

std::string StateCheck::CheckVolume(const char* when) {
  std::vector<std::byte> volume(array_->volume_bytes());
  if (const absl::Status status = array_->Read(0, volume); !status.ok()) {
    return absl::StrCat(when, " the volume cannot be read: ", MessageOf(status));
  }
  const uint64_t stripe_bytes = array_->geometry().stripe_bytes();
  const auto wrong = facts_.allowed.FirstForbidden(
      volume, [&](uint64_t offset) { return IsExempt(offset / stripe_bytes); });
  if (verdict_.volume.empty()) {
    verdict_.volume = std::move(volume);
  }
  return wrong.has_value() ? absl::StrCat(when, " the volume has wrong bytes at ", *wrong,
                                          ", in stripe ", *wrong / stripe_bytes)
                           : "";
}

absl::Status StateCheck::Rebuild() {
  while (array_->PendingRecovery().has_value()) {
    MDVOL_RETURN_IF_ERROR(array_->BeginRecovery());
    uint64_t from = 0;
    for (auto next = array_->NextToRecover(from); next.has_value();
         next = array_->NextToRecover(from)) {
      SyncFindings findings;
      MDVOL_RETURN_IF_ERROR(array_->RecoverStripes(*next, &findings));
      from = next->first + next->count;
    }
    MDVOL_RETURN_IF_ERROR(array_->EndRecovery());
  }
  return absl::OkStatus();
}

std::string StateCheck::CheckParity() {
  std::vector<std::span<const std::byte>> slots(facts_.run.spec.raid_disks);
  const ArrayGeometry& geometry = array_->geometry();
  for (const MemberSnapshot& member : array_->Snapshot().members) {
    const auto image = std::ranges::find(images_, member.path, &Image::path);
    if (member.slot.has_value() && member.in_sync && image != images_.end()) {
      slots[*member.slot] =
          image->bytes().subspan(member.data_offset_bytes, geometry.component_bytes());
    }
  }
  for (const uint64_t stripe : StripesThatDisagree(geometry, slots)) {
    if (!IsExempt(stripe) &&
        std::ranges::find(facts_.run.unsound_stripes, stripe) == facts_.run.unsound_stripes.end()) {
      return absl::StrCat("parity of stripe ", stripe, " does not agree with its data");
    }
  }
  return "";
}

std::string StateCheck::CheckStop() {
  if (const absl::Status status = array_->Stop(); !status.ok()) {
    return absl::StrCat("it does not stop: ", MessageOf(status));
  }
  if (array_->Snapshot().dirty) {
    return "it does not stop clean";
  }
  return "";
}

}  // namespace

StateVerdict CheckState(const StateFacts& facts, std::vector<Image>& images) {
  return StateCheck(facts, images).Run();
}

}  // namespace mdvol::crash
