// ArrayImpl: metadata generations, and the stores that they are made of.
//
// A generation is one number of events: first the bitmap's superblock, then every member's, each
// durable on all live members before the next begins (I11). So live members are one event apart at
// most, whenever a crash comes; two apart, they would be thrown out. A number is used again as long
// as no superblock carries it, and for want of space (I13). Once a member was lost on the way the
// survivors take the next, because the lost one may carry this; but those that have no superblock
// of this number yet get one first.

#include <algorithm>
#include <cerrno>
#include <span>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "core/array/array_impl.h"
#include "core/array/member_io.h"
#include "core/base/check.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "core/device/io_batch.h"
#include "core/stripe/io_errors.h"

namespace mdvol {
namespace {

// The place of an error of metadata I/O in the outcome.
void NoteError(const ArrayMember& member, const absl::Status& status, StoreOutcome* outcome) {
  if (IsFull(ErrnoOf(status))) {
    outcome->full = Annotate(status, "metadata could not be written");
  } else {
    outcome->failures.push_back(
        {member.index, absl::StrCat("metadata could not be written: ", MessageOf(status))});
  }
}

}  // namespace

// ---- Flushes ----

void ArrayImpl::FlushMembers(const std::vector<ArrayMember*>& members, MemberFailures* failures) {
  IoBatch batch;
  for (const ArrayMember* member : members) {
    batch.AddFlush(member->device.get());
  }
  if (!batch.empty() && !batch.Run()) {
    for (size_t i = 0; i < members.size(); ++i) {
      if (batch.error(i) != 0 && members[i]->flush_error == 0) {
        members[i]->flush_error = batch.error(i);
      }
    }
  }
  for (const ArrayMember* member : members) {
    if (member->flush_error != 0) {
      failures->push_back(
          {member->index,
           absl::StrCat("flush failed: ", std::generic_category().message(member->flush_error))});
    }
  }
}

void ArrayImpl::FlushUsed(MemberFailures* failures) {
  std::vector<ArrayMember*> used;
  for (const auto& member : members_) {
    // A replacement too: what was written to it must not be lost when the bits are cleared.
    if ((member->slot.has_value() || member->replaces.has_value()) && !member->faulty) {
      used.push_back(member.get());
    }
  }
  FlushMembers(used, failures);
}

// ---- Stores ----

void ArrayImpl::StorePages(const std::vector<BitmapPage>& pages, bool flush,
                           StoreOutcome* outcome) {
  std::vector<ArrayMember*> stored;
  for (const auto& member : members_) {
    if (member->faulty || member->spare || member->areas.bitmap.empty()) {
      continue;  // a spare's bitmap is written when it gets a slot, as in md
    }
    const ByteRange& area = member->areas.bitmap;
    absl::Status status;
    for (const BitmapPage& page : pages) {
      if (status.ok() && page.offset_bytes < area.size()) {
        const size_t length =
            std::min<uint64_t>(page.bytes.size(), area.size() - page.offset_bytes);
        status = WriteAnywhere(*member->device, area.begin + page.offset_bytes,
                               std::span(page.bytes).first(length));
      }
    }
    if (status.ok()) {
      stored.push_back(member.get());
    } else {
      NoteError(*member, status, outcome);
    }
  }
  if (flush) {
    absl::MutexLock lock(&flush_);
    FlushMembers(stored, &outcome->failures);
  }
}

// Whose role is news to its own superblock is written first, durably: if that is all that comes to
// be, the member claims what the others do not know yet, and is believed (it has the most events);
// the other way round a slot would be lost that was to be filled.
void ArrayImpl::StoreSupers(StoreOutcome* outcome) {
  std::vector<ArrayMember*> newcomers;
  std::vector<ArrayMember*> others;
  {
    absl::MutexLock lock(&state_);
    for (const auto& member : members_) {
      if (member->faulty) {
        continue;
      }
      const bool is_news =
          member->is_returning || OwnRole(member->super) != RoleOf(*member) ||
          member->super.has_feature(kFeatureReplacement) != member->replaces.has_value();
      (is_news ? newcomers : others).push_back(member.get());
    }
  }
  StoreSupers(newcomers, outcome);
  if (outcome->ok()) {
    StoreSupers(others, outcome);
  }
}

void ArrayImpl::StoreSupers(const std::vector<ArrayMember*>& members, StoreOutcome* outcome) {
  std::vector<ArrayMember*> stored;
  for (ArrayMember* const member : members) {
    // Composed on the side: what a failed write should have said is news still.
    const Superblock super = ComposeSuper(*member);
    const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(&super),
                                         std::min(kSuperBytes, member->areas.super.size()));
    const absl::Status status = WriteAnywhere(*member->device, member->areas.super.begin, bytes);
    if (status.ok()) {
      stored.push_back(member);
      absl::MutexLock lock(&state_);
      member->super = super;
      member->is_returning = false;
    } else {
      NoteError(*member, status, outcome);
    }
  }
  {
    absl::MutexLock lock(&flush_);
    FlushMembers(stored, &outcome->failures);
  }
  for (ArrayMember* const member : stored) {
    const bool is_durable =
        std::none_of(outcome->failures.begin(), outcome->failures.end(),
                     [&](const MemberFailure& failure) { return failure.index == member->index; });
    if (is_durable) {
      member->durable_events = member->super.events;
    }
  }
}

// ---- What they hold ----

uint16_t ArrayImpl::RoleOf(const ArrayMember& member) const {
  if (member.faulty) {
    return kRoleFaulty;
  }
  const std::optional<uint32_t> slot = member.slot.has_value() ? member.slot : member.replaces;
  return slot.has_value() ? static_cast<uint16_t>(*slot) : kRoleSpare;
}

// Derived from the members alone, so that no member can be given what it has not got: what a table
// on a disk says of a member that was judged otherwise is not handed on.
std::vector<uint16_t> ArrayImpl::RoleTable() const {
  std::vector<uint16_t> table(role_entries_, kRoleSpare);
  for (const uint32_t number : faulty_numbers_) {
    if (number < table.size()) {
      table[number] = kRoleFaulty;
    }
  }
  for (const auto& member : members_) {
    if (!member->removed && member->super.dev_number < table.size()) {
      table[member->super.dev_number] = RoleOf(*member);
    }
  }
  return table;
}

Superblock ArrayImpl::ComposeSuper(const ArrayMember& member) {
  absl::MutexLock lock(&state_);
  Superblock super = member.super;
  super.events = events_count_;
  super.utime = PackMdTime(updated_us_);
  const bool clean = !dirty_.load(std::memory_order_acquire) && doubt_.empty();
  super.resync_offset = clean ? kResyncDone : resync_checkpoint_bytes_ / kSectorBytes;
  super.cnt_corrected_read =
      static_cast<uint32_t>(member.corrected_errors.load(std::memory_order_relaxed));
  const std::vector<uint16_t> table = RoleTable();
  for (uint32_t number = 0; number < std::min<uint32_t>(super.max_dev, kMaxDevices); ++number) {
    super.dev_roles[number] = number < table.size() ? table[number] : kRoleSpare;
  }
  const bool has_slot = member.slot.has_value() || member.replaces.has_value();
  MDVOL_CHECK(OwnRole(super) >= kRoleMax || has_slot);
  uint32_t features = super.feature_map & ~(kFeatureRecoveryOffset | kFeatureRecoveryBitmap |
                                            kFeatureReplacement | kFeatureBadBlocks);
  if (has_slot && !member.in_sync) {
    features |= kFeatureRecoveryOffset | (member.guided ? kFeatureRecoveryBitmap : 0);
    super.recovery_offset = member.checkpoint_bytes / kSectorBytes;
  }
  features |= member.replaces.has_value() ? kFeatureReplacement : 0;
  features |= member.bad_blocks.empty() ? 0 : kFeatureBadBlocks;
  super.feature_map = features;
  SealSuperblock(super);
  return super;
}

BitmapPage ArrayImpl::ComposeBitmapSuper(uint64_t generation) {
  const bool whole = InSyncSlots() == geometry_.raid_disks();
  return intent_->UpdateSuper([&](BitmapSuperblock& super) {
    super.events = generation;
    if (whole) {
      super.events_cleared = generation;
    }
    super.daemon_sleep = time_base_s_.load();
    // The bits that memory has are durable everywhere by now (RecordStart).
    super.state = super.state & ~(kBitmapStale | kBitmapWriteError);
  });
}

// ---- Generations ----

uint64_t ArrayImpl::NumberGeneration() {
  const bool is_any_behind = AnyBehind();
  absl::MutexLock lock(&state_);
  const bool is_due = generation_ == Generation::kComplete || generation_ == Generation::kSpoilt;
  if (is_due && is_any_behind) {
    generation_ = Generation::kSpoilt;
  } else if (is_due) {
    ++events_count_;
    generation_ = Generation::kNumbered;
  }
  updated_us_ = clock_.WallUs();
  return events_count_;
}

absl::Status ArrayImpl::WriteGeneration() {
  recorded_.store(false, std::memory_order_release);
  while (!failed_.load(std::memory_order_acquire)) {
    const uint64_t generation = NumberGeneration();
    StoreOutcome outcome;
    if (intent_ != nullptr) {
      StorePages({ComposeBitmapSuper(generation)}, /*flush=*/true, &outcome);
    }
    if (outcome.ok()) {
      if (generation_ == Generation::kNumbered) {
        generation_ = Generation::kPartlyWritten;
      }
      StoreSupers(&outcome);
    }
    if (outcome.ok() && generation_ == Generation::kSpoilt) {
      continue;  // now that all have this one, the next may tell of the loss
    }
    if (outcome.ok()) {
      generation_ = Generation::kComplete;
      recorded_.store(true, std::memory_order_release);
      return absl::OkStatus();
    }
    if (outcome.failures.empty()) {
      return outcome.full;
    }
    MDVOL_RETURN_IF_ERROR(TakeOut(outcome.failures));
  }
  return ErrnoStatus(EIO, "the array has lost more than two members: nothing is recorded");
}

}  // namespace mdvol
