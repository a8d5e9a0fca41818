// ArrayImpl: the transitions (dirty, clean, member failed) and the metadata generations that make
// them durable.

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "core/array/array_impl.h"
#include "core/base/check.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "core/device/io_batch.h"

namespace mdvol {
namespace {

std::string ErrorText(int error) { return std::generic_category().message(error); }

// Writes bytes whose place need not fit the device's alignment: reads around them when it does not.
// Metadata is written by one thread at a time, so nobody changes the surroundings meanwhile.
absl::Status WriteAnywhere(MemberDevice& device, uint64_t offset_bytes, const uint8_t* bytes,
                           size_t length_bytes) {
  const uint64_t alignment = device.alignment_bytes();
  const uint64_t begin = RoundDown(offset_bytes, alignment);
  const uint64_t end = RoundUp(offset_bytes + length_bytes, alignment);
  AlignedBuffer buffer(end - begin);
  if (begin != offset_bytes || end != offset_bytes + length_bytes) {
    MDVOL_RETURN_IF_ERROR(ReadMember(device, begin, buffer.data(), buffer.size()));
  }
  std::memcpy(buffer.data() + (offset_bytes - begin), bytes, length_bytes);
  return WriteMember(device, begin, buffer.data(), buffer.size());
}

}  // namespace

ArrayMember* ArrayImpl::MemberOfSlot(uint32_t slot) {
  absl::MutexLock lock(&state_);
  for (const auto& member : members_) {
    if (member->slot == slot && !member->faulty) {
      return member.get();
    }
  }
  return nullptr;
}

uint32_t ArrayImpl::InSyncSlots() const {
  absl::MutexLock lock(&state_);
  return static_cast<uint32_t>(std::count_if(members_.begin(), members_.end(), [&](const auto& m) {
    return m->slot.has_value() && !m->faulty && m->valid_bytes >= geometry_.component_bytes();
  }));
}

// ---- Dirty and clean
// -------------------------------------------------------------------------------

absl::Status ArrayImpl::MarkDirty() {
  {
    absl::MutexLock transition(&transition_);
    GateClosure closed(writes_gate_);
    if (dirty_.load(std::memory_order_acquire) || failed_.load(std::memory_order_acquire)) {
      return absl::OkStatus();  // somebody else's flight has done it, or the caller finds out
    }
    dirty_.store(true, std::memory_order_release);
    last_write_ns_.store(clock_.NowNs(), std::memory_order_relaxed);
    MDVOL_RETURN_IF_ERROR(WriteGeneration());
  }
  PokeMaintenance();
  return absl::OkStatus();
}

// `forced`: at once. Otherwise only when no write came for safe_mode_delay.
absl::Status ArrayImpl::MarkClean(bool forced) {
  // The bulk of the flushing happens while writers may still go on; the second one, alone, finds
  // little to do.
  MDVOL_RETURN_IF_ERROR(FlushAll());
  absl::MutexLock transition(&transition_);
  MemberErrors errors;
  GateClosure closed(writes_gate_);
  const uint64_t delay_ns = uint64_t{safe_mode_delay_ms_.load()} * 1000000;
  const bool idle = clock_.NowNs() - last_write_ns_.load(std::memory_order_relaxed) >= delay_ns;
  {
    absl::MutexLock lock(&state_);
    if (!owed_.empty()) {
      return absl::OkStatus();  // I2: a stripe awaits its parity
    }
  }
  if (!dirty_.load(std::memory_order_acquire) || failed_.load(std::memory_order_acquire) ||
      !doubt_.empty() || (!idle && !forced)) {
    return absl::OkStatus();
  }
  {
    GateShare share(members_gate_);
    FlushMembers(&errors);
  }
  for (const MemberError& error : errors) {
    MDVOL_RETURN_IF_ERROR(
        FailSlot(error.slot, absl::StrCat("flush failed: ", ErrorText(error.error))));
  }
  writes_flushed_.store(writes_done_.load(std::memory_order_acquire), std::memory_order_release);
  dirty_.store(false, std::memory_order_release);
  return WriteGeneration();
}

// ---- Failures
// --------------------------------------------------------------------------------------

absl::Status ArrayImpl::FailMembers(const MemberErrors& errors) {
  absl::MutexLock transition(&transition_);
  GateClosure closed(writes_gate_);
  bool any = false;
  for (const MemberError& error : errors) {
    const ArrayMember* member = MemberOfSlot(error.slot);
    if (member == nullptr) {
      continue;  // already failed, durably: transitions come one at a time
    }
    if (read_only()) {
      continue;  // nothing is recorded, nothing was skipped
    }
    const std::string why =
        absl::StrCat(error.is_flush  ? "flush failed: "
                     : error.is_read ? "a block that could not be read could not be rewritten: "
                                     : "write failed: ",
                     ErrorText(error.error));
    MDVOL_RETURN_IF_ERROR(FailSlot(error.slot, why));
    any = true;
  }
  return any ? WriteGeneration() : absl::OkStatus();
}

// Takes the member of a slot out, in memory; EIO when the array cannot live without it, which then
// has failed as a whole.
absl::Status ArrayImpl::FailSlot(uint32_t slot, const std::string& why) {
  ArrayMember* member = MemberOfSlot(slot);
  if (member == nullptr) {
    return absl::OkStatus();
  }
  const bool counts = member->valid_bytes >= geometry_.component_bytes();
  if (counts && InSyncSlots() <= geometry_.data_disks()) {
    EnterFailed(absl::StrCat(member->name, ": ", why));
    return ErrnoStatus(
        EIO, absl::StrCat(member->path, ": ", why, ": the array has lost more than two members"));
  }
  TakeOut(*member, why);
  return absl::OkStatus();
}

// The third loss: writing stops, no role changes are recorded, so that a cable put back is enough
// (I13).
void ArrayImpl::EnterFailed(const std::string& why) {
  if (!failed_.exchange(true, std::memory_order_acq_rel)) {
    events_.Add(EventLevel::kError, "array broken", "",
                absl::StrCat(why, "; a third member is lost: writing has stopped"));
  }
}

void ArrayImpl::TakeOut(ArrayMember& member, const std::string& why) {
  {
    GateClosure closed(members_gate_);
    absl::MutexLock lock(&state_);
    member.faulty = true;
    const uint32_t number = member.super.dev_number;
    if (number < roles_.size()) {
      roles_[number] = kRoleFaulty;
    }
    if (member.slot.has_value()) {
      view_.slots[*member.slot] = SlotView();
    }
  }
  events_.Add(EventLevel::kError, "member failed", member.name, why);
}

absl::Status ArrayImpl::FailMember(size_t member_index, std::string_view why) {
  if (member_index >= members_.size()) {
    return ErrnoStatus(ENODEV, absl::StrCat("the array has no member ", member_index));
  }
  absl::MutexLock transition(&transition_);
  GateClosure closed(writes_gate_);
  ArrayMember& member = *members_[member_index];
  {
    absl::MutexLock lock(&state_);
    if (member.faulty) {
      return absl::OkStatus();
    }
  }
  if (read_only()) {
    return ErrnoStatus(EROFS, "the array is read-only: no member can be failed");
  }
  const bool counts = member.slot.has_value() && member.valid_bytes >= geometry_.component_bytes();
  if (counts && InSyncSlots() <= geometry_.data_disks()) {
    return ErrnoStatus(EBUSY, absl::StrCat(member.path, ": the array cannot live without it"));
  }
  TakeOut(member, std::string(why));
  return WriteGeneration();
}

// ---- Generations
// -----------------------------------------------------------------------------------

void ArrayImpl::ComposeSuper(ArrayMember& member) {
  absl::MutexLock lock(&state_);
  Superblock& super = member.super;
  super.events = events_count_;
  super.utime = PackMdTime(updated_us_);
  const bool clean = !dirty_.load(std::memory_order_acquire) && doubt_.empty();
  super.resync_offset = clean ? kResyncDone : 0;
  super.cnt_corrected_read =
      static_cast<uint32_t>(member.corrected_errors.load(std::memory_order_relaxed));
  for (uint32_t number = 0; number < std::min<uint32_t>(super.max_dev, kMaxDevices); ++number) {
    super.dev_roles[number] = number < roles_.size() ? roles_[number] : kRoleSpare;
  }
  uint32_t features = super.feature_map;
  if (member.slot.has_value() && !member.replacement) {
    const bool recovering = member.valid_bytes < geometry_.component_bytes();
    features = recovering ? features | kFeatureRecoveryOffset
                          : features & ~(kFeatureRecoveryOffset | kFeatureRecoveryBitmap);
  }
  if (member.replacement) {
    // Writes do not reach it while it is not being filled: what it holds is worth nothing from now
    // on.
    features |= kFeatureRecoveryOffset;
    super.recovery_offset = 0;
  }
  super.feature_map = features;
  SealSuperblock(super);
}

bool ArrayImpl::StoreOnLive(const std::vector<BitmapPage>& pages, bool flush,
                            absl::flat_hash_set<size_t>* failed) {
  const size_t failed_before = failed->size();
  IoBatch flushes;
  std::vector<size_t> flushed;
  for (const auto& member : members_) {
    if (member->faulty || member->areas.bitmap.empty() || failed->contains(member->index)) {
      continue;
    }
    for (const BitmapPage& page : pages) {
      if (page.offset_bytes >= member->areas.bitmap.size()) {
        continue;
      }
      const size_t length =
          std::min<uint64_t>(page.bytes.size(), member->areas.bitmap.size() - page.offset_bytes);
      if (!WriteAnywhere(*member->device, member->areas.bitmap.begin + page.offset_bytes,
                         page.bytes.data(), length)
               .ok()) {
        failed->insert(member->index);
        break;
      }
    }
    if (flush && !failed->contains(member->index)) {
      flushes.AddFlush(member->device.get());
      flushed.push_back(member->index);
    }
  }
  if (!flushes.empty() && !flushes.Run()) {
    for (size_t i = 0; i < flushed.size(); ++i) {
      if (flushes.error(i) != 0) {
        failed->insert(flushed[i]);
      }
    }
  }
  return failed->size() == failed_before;
}

void ArrayImpl::StoreSupers(absl::flat_hash_set<size_t>* failed) {
  IoBatch flushes;
  std::vector<size_t> flushed;
  for (const auto& member : members_) {
    if (member->faulty) {
      continue;
    }
    ComposeSuper(*member);
    const size_t length = member->areas.super.size();
    if (!WriteAnywhere(*member->device, member->areas.super.begin,
                       reinterpret_cast<const uint8_t*>(&member->super), length)
             .ok()) {
      failed->insert(member->index);
      continue;
    }
    flushes.AddFlush(member->device.get());
    flushed.push_back(member->index);
  }
  if (!flushes.empty() && !flushes.Run()) {
    for (size_t i = 0; i < flushed.size(); ++i) {
      if (flushes.error(i) != 0) {
        failed->insert(flushed[i]);
      }
    }
  }
}

absl::Status ArrayImpl::WriteGeneration() {
  for (;;) {
    uint64_t generation = 0;
    {
      absl::MutexLock lock(&state_);
      generation = ++events_count_;
      updated_us_ = clock_.WallUs();
    }
    absl::flat_hash_set<size_t> failed;
    if (intent_ != nullptr) {
      const bool whole = InSyncSlots() == geometry_.raid_disks();
      const BitmapPage page = intent_->UpdateSuper([&](BitmapSuperblock& super) {
        super.events = generation;
        if (whole) {
          super.events_cleared = generation;
        }
      });
      StoreOnLive({page}, /*flush=*/true, &failed);
    }
    if (failed.empty()) {
      StoreSupers(&failed);
    }
    if (failed.empty()) {
      return absl::OkStatus();
    }
    // The next generation goes to the survivors, and tells of the loss.
    for (const size_t index : failed) {
      ArrayMember& member = *members_[index];
      const std::string why = "its metadata could not be written";
      if (member.slot.has_value()) {
        MDVOL_RETURN_IF_ERROR(FailSlot(*member.slot, why));
      } else {
        TakeOut(member, why);
      }
    }
  }
}

bool ArrayImpl::StoreBits(const std::vector<BitmapPage>& pages, bool flush, MemberErrors* errors) {
  absl::flat_hash_set<size_t> failed;
  if (StoreOnLive(pages, flush, &failed)) {
    return true;
  }
  for (const size_t index : failed) {
    if (members_[index]->slot.has_value()) {
      errors->push_back({.slot = *members_[index]->slot, .error = EIO});
    }
  }
  return errors->empty();
}

}  // namespace mdvol
