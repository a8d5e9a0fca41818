// ArrayImpl: members come and go: add, re-add, remove, replace. What is written to a newcomer
// before its superblock makes it a member is written first, durably; a generation that tells all of
// it follows. While writes_gate_ is closed nobody sets bits, so that a copy of the bitmap is one.

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/array/array_impl.h"
#include "core/array/create.h"
#include "core/array/member_io.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "core/metadata/newcomer.h"
#include "core/stripe/io_errors.h"

namespace mdvol {
namespace {

// The superblock of a device that may be added, if it has one of this array. Refused: what belongs
// to somebody.
absl::StatusOr<std::optional<FoundSuperblock>> FindOwnSuperblock(MemberDevice& device,
                                                                 const Uuid& array) {
  const auto found = FindSuperblock(device);
  if (found.ok() && found->super.set_uuid == array) {
    return *found;
  }
  MDVOL_ASSIGN_OR_RETURN(const std::string signature, FindSignature(device));
  if (!signature.empty()) {
    return ErrnoStatus(EEXIST, absl::StrCat(device.path(), ": carries ", signature,
                                            ": wipe it first if nobody needs that"));
  }
  return std::nullopt;
}

}  // namespace

absl::Status ArrayImpl::MayChangeMembers() const {
  if (read_only()) {
    return ErrnoStatus(EROFS, "the array is read-only: its members cannot be changed");
  }
  if (failed_.load(std::memory_order_acquire)) {
    return ErrnoStatus(EBUSY, "the array has lost more than two members: nothing is recorded");
  }
  return absl::OkStatus();
}

absl::StatusOr<ArrayMember*> ArrayImpl::MemberAt(size_t index) const {
  absl::MutexLock lock(&state_);
  if (index >= members_.size() || members_[index]->removed) {
    return ErrnoStatus(ENODEV, absl::StrCat("the array has no member ", index));
  }
  return members_[index].get();
}

// ---- Add ----

absl::StatusOr<size_t> ArrayImpl::AddMember(std::unique_ptr<MemberDevice> device, AddMode mode) {
  const std::string path = device->path();
  MDVOL_RETURN_IF_ERROR(MayChangeMembers());
  if (device->read_only()) {
    return ErrnoStatus(EROFS, absl::StrCat(path, ": is read-only"));
  }
  MDVOL_ASSIGN_OR_RETURN(const std::optional<FoundSuperblock> found,
                         FindOwnSuperblock(*device, reference_.set_uuid));
  absl::MutexLock transition(&transition_);
  GateClosure closed(writes_gate_);
  MDVOL_RETURN_IF_ERROR(MayChangeMembers());
  MDVOL_RETURN_IF_ERROR(CheckIsNew(path, found));
  auto member = std::make_unique<ArrayMember>();
  member->path = path;
  member->device = std::move(device);
  std::string why_not = "it carries no metadata of this array";
  if (found.has_value()) {
    why_not = PrepareReturn(*member, *found);
  }
  if (!why_not.empty() && mode == AddMode::kReAdd) {
    return ErrnoStatus(EINVAL, absl::StrCat(path, ": cannot be re-added: ", why_not,
                                            "; add it, and all of it is rebuilt"));
  }
  if (!why_not.empty()) {
    MDVOL_RETURN_IF_ERROR(PrepareSpare(*member));
  }
  return Admit(std::move(member));
}

absl::Status ArrayImpl::CheckIsNew(const std::string& path,
                                   const std::optional<FoundSuperblock>& found) const {
  absl::MutexLock lock(&state_);
  for (const auto& member : members_) {
    const bool is_same =
        member->path == path ||
        (found.has_value() && found->super.device_uuid == member->super.device_uuid);
    if (!member->removed && is_same) {
      return ErrnoStatus(EBUSY,
                         absl::StrCat(path, ": is a member already",
                                      member->faulty ? ", a faulty one: remove it first" : ""));
    }
  }
  return absl::OkStatus();
}

bool ArrayImpl::IsNumberHeld(uint32_t number) const {
  return std::any_of(members_.begin(), members_.end(), [&](const auto& member) {
    return !member->removed && member->super.dev_number == number;
  });
}

bool ArrayImpl::IsSlotHeld(uint32_t slot) const {
  return std::any_of(members_.begin(), members_.end(), [&](const auto& member) {
    return !member->faulty && (member->slot == slot || member->replaces == slot);
  });
}

// Makes it the member of the slot that it had, to be brought up to date by the bitmap; why not, if
// it cannot be.
std::string ArrayImpl::PrepareReturn(ArrayMember& member, const FoundSuperblock& found) {
  ReAddFacts facts{.reference = reference_, .minor = minor_, .events = 0, .events_cleared = {}};
  if (intent_ != nullptr) {
    facts.events_cleared = intent_->super().events_cleared;
  }
  {
    absl::MutexLock lock(&state_);
    facts.events = events_count_;
    const std::optional<uint32_t> slot = OwnSlot(found.super);
    if (IsNumberHeld(found.super.dev_number) || (slot.has_value() && IsSlotHeld(*slot))) {
      return "another member has its place";
    }
  }
  if (std::string why = WhyNoReAdd(found.super, found.minor, facts); !why.empty()) {
    return why;
  }
  auto loaded = LoadAreas(*member.device, found.super);
  if (!loaded.ok()) {
    return MessageOf(loaded.status());
  }
  const auto areas = LayOutMember(found.super, member.device->size_bytes() / kSectorBytes,
                                  kBitmapSuperBytes + CeilDiv(intent_->bits(), 8));
  if (!areas.ok() || areas->bitmap.empty()) {
    return "it has no room for the array's bitmap";
  }
  if (const absl::Status status = CheckMemberAlignment(*member.device, areas->data.begin);
      !status.ok()) {
    return MessageOf(status);
  }
  if (const absl::Status status = WriteWholeBitmap(*member.device, *areas); !status.ok()) {
    return MessageOf(status);
  }
  member.super = found.super;
  member.minor = found.minor;
  member.areas = *areas;
  member.bad_blocks = std::move(loaded->bad_blocks);
  member.corrected_errors.store(found.super.cnt_corrected_read);
  member.slot = OwnSlot(found.super);
  member.guided = true;
  member.is_returning = true;
  return "";
}

absl::Status ArrayImpl::PrepareSpare(ArrayMember& member) {
  SpareRequest request;
  request.path = member.path;
  request.device_bytes = member.device->size_bytes();
  request.minor = minor_;
  request.bitmap_bytes = intent_ == nullptr ? 0 : kBitmapSuperBytes + CeilDiv(intent_->bits(), 8);
  MDVOL_ASSIGN_OR_RETURN(request.dev_number, FreeNumber());
  MDVOL_ASSIGN_OR_RETURN(request.device_uuid, RandomUuid());
  MDVOL_ASSIGN_OR_RETURN(const PlannedSpare plan, PlanSpare(reference_, request));
  MDVOL_RETURN_IF_ERROR(CheckMemberAlignment(*member.device, plan.areas.data.begin));
  const std::vector<uint8_t> empty_log(plan.areas.bad_blocks.size(), 0xff);
  MDVOL_RETURN_IF_ERROR(WriteAnywhere(*member.device, plan.areas.bad_blocks.begin, empty_log));
  MDVOL_RETURN_IF_ERROR(WriteWholeBitmap(*member.device, plan.areas));
  MDVOL_RETURN_IF_ERROR(FlushMember(*member.device));
  member.super = plan.super;
  member.minor = minor_;
  member.areas = plan.areas;
  member.spare = true;
  return absl::OkStatus();
}

// One that nobody has; of those rather one that nobody had. md gives numbers out again at once, but
// then whoever had it before may be taken for who has it now.
absl::StatusOr<uint32_t> ArrayImpl::FreeNumber() const {
  absl::MutexLock lock(&state_);
  std::optional<uint32_t> used_before;
  for (uint32_t number = 0; number < role_entries_; ++number) {
    if (IsNumberHeld(number)) {
      continue;
    }
    if (!faulty_numbers_.contains(number)) {
      return number;
    }
    used_before = used_before.value_or(number);
  }
  if (used_before.has_value()) {
    return *used_before;
  }
  return ErrnoStatus(ENOSPC, absl::StrCat("the superblocks have room for ", role_entries_,
                                          " members, and all are taken"));
}

// Durable when it returns.
absl::Status ArrayImpl::WriteWholeBitmap(MemberDevice& device, const MemberAreas& areas) const {
  if (intent_ == nullptr || areas.bitmap.empty()) {
    return absl::OkStatus();
  }
  for (const BitmapPage& page : intent_->Pages()) {
    if (page.offset_bytes < areas.bitmap.size()) {
      const size_t length =
          std::min<uint64_t>(page.bytes.size(), areas.bitmap.size() - page.offset_bytes);
      MDVOL_RETURN_IF_ERROR(WriteAnywhere(device, areas.bitmap.begin + page.offset_bytes,
                                          std::span(page.bytes).first(length)));
    }
  }
  return FlushMember(device);
}

// Into the array, and into everybody's superblock.
absl::StatusOr<size_t> ArrayImpl::Admit(std::unique_ptr<ArrayMember> newcomer) {
  ArrayMember& member = *newcomer;
  member.name = UniqueName(member.path);
  member.counting = dynamic_cast<CountingDevice*>(member.device.get());
  if (member.counting != nullptr) {
    member.counting->SetRange(member.areas.data.begin, member.areas.data.end);
  }
  {
    GateClosure members(members_gate_);
    absl::MutexLock lock(&state_);
    member.index = members_.size();
    member.durable_events = events_count_;  // nothing that it would lack: it is written first
    members_.push_back(std::move(newcomer));
    RebuildView();
  }
  absl::Status status = WriteGeneration();
  if (status.ok() && member.faulty) {
    status = ErrnoStatus(EIO, absl::StrCat(member.path, ": its metadata could not be written"));
  }
  if (!status.ok()) {
    Dismiss(member);
    return status;
  }
  events_.Add(EventLevel::kInfo, member.spare ? "spare added" : "member re-added", member.name,
              member.spare ? ""
                           : absl::StrCat("into slot ", *member.slot,
                                          ", what it missed is rebuilt as the bitmap knows it"));
  return member.index;
}

// ---- Remove ----

// What is left of it is an entry that keeps the others' indices as they are. Its number stays
// faulty, so that the device is not taken for a member when it is named again.
void ArrayImpl::Dismiss(ArrayMember& member) {
  std::unique_ptr<MemberDevice> device;
  {
    GateClosure members(members_gate_);
    absl::MutexLock lock(&state_);
    member.faulty = true;
    member.removed = true;
    faulty_numbers_.insert(member.super.dev_number);
    device = std::move(member.device);
    member.counting = nullptr;
    member.mirror = nullptr;
    member.replaces.reset();
    RebuildView();
  }
}

absl::Status ArrayImpl::RemoveMember(size_t member_index) {
  absl::MutexLock transition(&transition_);
  GateClosure closed(writes_gate_);
  MDVOL_ASSIGN_OR_RETURN(ArrayMember* const member, MemberAt(member_index));
  if (read_only()) {
    return ErrnoStatus(EROFS, "the array is read-only: its members cannot be changed");
  }
  if (!member->faulty && !member->spare) {
    return ErrnoStatus(EBUSY, absl::StrCat(member->path, ": is in use: fail it first"));
  }
  if (member->mirror != nullptr && (unsettled_.load(std::memory_order_acquire) != 0 ||
                                    failed_.load(std::memory_order_acquire))) {
    return ErrnoStatus(EBUSY, absl::StrCat(member->path, ": a member is about to be failed"));
  }
  if (member->faulty && !recorded_.load(std::memory_order_acquire)) {
    MDVOL_RETURN_IF_ERROR(WriteGeneration());  // its failure is not durable yet
  }
  const bool is_news = !member->faulty;
  Dismiss(*member);
  events_.Add(EventLevel::kInfo, "member removed", member->name, "");
  return is_news && !failed_.load(std::memory_order_acquire) ? WriteGeneration() : absl::OkStatus();
}

// ---- Spares into slots ----

bool ArrayImpl::IsIdleSpare(const ArrayMember& member) const {
  return member.spare && !member.faulty && member.minor == minor_ &&
         member.super.data_size.get() >= reference_.size.get();
}

std::optional<uint32_t> ArrayImpl::OpenSlot() const {
  for (uint32_t slot = 0; slot < geometry_.raid_disks(); ++slot) {
    if (!IsSlotHeld(slot)) {
      return slot;
    }
  }
  return std::nullopt;
}

ArrayMember* ArrayImpl::FirstIdleSpare() const {
  for (const auto& member : members_) {
    if (IsIdleSpare(*member)) {
      return member.get();
    }
  }
  return nullptr;
}

// Gives a spare a slot, or a place beside the slot's member. In memory, but for the bitmap on the
// spare, which is durable; a generation has to follow. A spare that cannot be written is failed.
absl::Status ArrayImpl::AssignSpare(ArrayMember& spare, uint32_t slot, bool is_replacement) {
  Superblock super = spare.super;  // a spare's view of the array may be old
  super.set_name = reference_.set_name;
  super.ctime = reference_.ctime;
  super.size = reference_.size;
  super.raid_disks = reference_.raid_disks;
  const uint64_t bitmap_bytes =
      intent_ == nullptr ? 0 : kBitmapSuperBytes + CeilDiv(intent_->bits(), 8);
  const auto areas = LayOutMember(super, spare.device->size_bytes() / kSectorBytes, bitmap_bytes);
  absl::Status status = areas.status();
  if (status.ok()) {
    status = WriteWholeBitmap(*spare.device, *areas);
  }
  if (!status.ok()) {
    if (!IsFull(ErrnoOf(status))) {
      TakeOut(spare, absl::StrCat("cannot take a slot: ", MessageOf(status)));
    }
    return status;
  }
  GateClosure members(members_gate_);
  absl::MutexLock lock(&state_);
  spare.super = super;
  spare.areas = *areas;
  spare.bad_blocks = BadBlockList();
  spare.spare = false;
  spare.guided = false;
  spare.in_sync = false;
  spare.checkpoint_bytes = 0;
  spare.valid_bytes.store(0, std::memory_order_release);
  if (is_replacement) {
    spare.replaces = slot;
    BeginMirroring(spare);
  } else {
    spare.slot = slot;
  }
  RebuildView();
  return absl::OkStatus();
}

// Both are written by one request.
bool ArrayImpl::CanReplace(const ArrayMember& spare, const ArrayMember& member) const {
  const uint64_t alignment =
      std::max<uint64_t>(spare.device->alignment_bytes(), member.device->alignment_bytes());
  return spare.areas.data.begin % alignment == member.areas.data.begin % alignment;
}

ArrayMember* ArrayImpl::FirstSpareFor(const ArrayMember& member) const {
  for (const auto& spare : members_) {
    if (IsIdleSpare(*spare) && CanReplace(*spare, member)) {
      return spare.get();
    }
  }
  return nullptr;
}

absl::Status ArrayImpl::SetReplacement(size_t member_index, std::optional<size_t> with_spare) {
  absl::MutexLock transition(&transition_);
  GateClosure closed(writes_gate_);
  MDVOL_RETURN_IF_ERROR(MayChangeMembers());
  MDVOL_ASSIGN_OR_RETURN(ArrayMember* const member, MemberAt(member_index));
  ArrayMember* spare = nullptr;
  if (with_spare.has_value()) {
    MDVOL_ASSIGN_OR_RETURN(spare, MemberAt(*with_spare));
  }
  {
    absl::MutexLock lock(&state_);
    if (!IsInSync(*member)) {
      return ErrnoStatus(EBUSY, absl::StrCat(member->path, ": is not in sync in a slot: there is ",
                                             "nothing to replace"));
    }
    if (spare != nullptr && !CanReplace(*spare, *member)) {
      return ErrnoStatus(EBUSY, absl::StrCat(spare->path, ": its data do not begin where direct ",
                                             "I/O could write them together with ", member->path));
    }
    if (ReplacementOf(*member->slot) != nullptr) {
      return ErrnoStatus(EBUSY, absl::StrCat(member->path, ": is being replaced already"));
    }
    if (spare != nullptr && !IsIdleSpare(*spare)) {
      return ErrnoStatus(EBUSY,
                         absl::StrCat(spare->path, ": is no spare that could take its place"));
    }
    if (spare != nullptr && unsettled_.load(std::memory_order_acquire) != 0) {
      return ErrnoStatus(EBUSY,
                         "a member is about to be failed: try again");  // which would be lost
    }
    member->want_replacement = true;
    spare = spare == nullptr ? FirstSpareFor(*member) : spare;
  }
  events_.Add(EventLevel::kInfo, "replacement wanted", member->name, "");
  // Without a spare the wish stays until there is one; so it does while another member's failure is
  // on its way, which must find the slots as they are.
  if (spare == nullptr || unsettled_.load(std::memory_order_acquire) != 0) {
    return absl::OkStatus();
  }
  MDVOL_RETURN_IF_ERROR(AssignSpare(*spare, *member->slot, /*is_replacement=*/true));
  return WriteGeneration();
}

absl::Status ArrayImpl::ClearReplacementWish(size_t member_index) {
  absl::MutexLock transition(&transition_);
  MDVOL_ASSIGN_OR_RETURN(ArrayMember* const member, MemberAt(member_index));
  absl::MutexLock lock(&state_);
  member->want_replacement = false;
  return absl::OkStatus();
}

}  // namespace mdvol
