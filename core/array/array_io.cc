// ArrayImpl: reads, writes, zeroes, flushes. See array_impl.h for the locking.

#include <algorithm>
#include <cerrno>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/array/array_impl.h"
#include "core/base/status.h"
#include "core/device/io_batch.h"
#include "core/stripe/io_errors.h"

namespace mdvol {
namespace {

constexpr uint64_t kZeroStripesPerPart = 1024;
constexpr size_t kMaxOwedStripes = 4096;

}  // namespace

absl::Status ArrayImpl::CheckRange(uint64_t offset_bytes, uint64_t length_bytes) const {
  const uint64_t volume = geometry_.volume_bytes();
  if (offset_bytes > volume || length_bytes > volume - offset_bytes) {
    return ErrnoStatus(EINVAL, absl::StrCat("range ", offset_bytes, "+", length_bytes,
                                            " lies outside the volume of ", volume, " bytes"));
  }
  return absl::OkStatus();
}

absl::Status ArrayImpl::Read(uint64_t offset_bytes, std::span<std::byte> out) {
  MDVOL_RETURN_IF_ERROR(CheckRange(offset_bytes, out.size()));
  ForegroundMeter::Request metered(foreground_);
  EngineResult result;
  Aftermath after;
  {
    GateShare share(members_gate_);
    const uint64_t still_bad = still_bad_.load(std::memory_order_acquire);
    result = engine_.Read(view_, offset_bytes, out);
    after = AftermathOf(result, still_bad);
  }
  if (result.wants_upkeep) {
    PokeMaintenance();
  }
  absl::Status status = SettleRead(result, after);
  if (!status.ok()) {
    metered.Failed();
  }
  return status;
}

absl::Status ArrayImpl::Write(uint64_t offset_bytes, std::span<const std::byte> data) {
  MDVOL_RETURN_IF_ERROR(CheckRange(offset_bytes, data.size()));
  ForegroundMeter::Request metered(foreground_);
  absl::Status status = RunWrite(
      {offset_bytes, data.size()}, "write",
      [&](const MemberView& view) { return engine_.Write(view, offset_bytes, data); },
      Suspendable::kYes);
  if (!status.ok()) {
    metered.Failed();  // refused, as a rule
  }
  return status;
}

// In parts, so that a transition (a member that has to be failed under another's write, say) need
// not wait until all of a large volume has been discarded.
absl::Status ArrayImpl::Zero(uint64_t offset_bytes, uint64_t length_bytes) {
  MDVOL_RETURN_IF_ERROR(CheckRange(offset_bytes, length_bytes));
  ForegroundMeter::Request metered(foreground_);
  const uint64_t part_bytes = kZeroStripesPerPart * geometry_.stripe_bytes();
  const uint64_t end = offset_bytes + length_bytes;
  while (offset_bytes < end) {
    const uint64_t length = std::min(end - offset_bytes, part_bytes - offset_bytes % part_bytes);
    absl::Status status = RunWrite(
        {offset_bytes, length}, "zeroing",
        [&](const MemberView& view) { return engine_.Zero(view, offset_bytes, length); },
        Suspendable::kYes);
    if (!status.ok()) {
      metered.Failed();
      return status;
    }
    offset_bytes += length;
  }
  return absl::OkStatus();
}

WriteIntent::Range ArrayImpl::IntentRange(uint64_t offset_bytes, uint64_t length_bytes) const {
  // md widens to whole stripes, then covers that range of the members.
  const uint64_t first = offset_bytes / geometry_.stripe_bytes();
  const uint64_t last = (offset_bytes + length_bytes - 1) / geometry_.stripe_bytes();
  return intent_->BitsOf(first << geometry_.chunk_shift(), (last + 1) << geometry_.chunk_shift());
}

// The frame of every change: dirty mark, then bits, then the work, then the transitions that it
// made necessary.
absl::Status ArrayImpl::RunWrite(VolumeRange range, const char* what, WriteWork work,
                                 Suspendable suspendable) {
  const auto [offset_bytes, length_bytes] = range;
  if (length_bytes == 0) {
    return absl::OkStatus();
  }
  for (;;) {
    StoreOutcome bits;
    bool must_mark = false;
    EngineResult result;
    Aftermath after;
    {
      GateShare writes(writes_gate_);
      if (suspendable == Suspendable::kYes && IsSuspended(offset_bytes, length_bytes)) {
        return ErrnoStatus(EAGAIN, "writes to this range are suspended");
      }
      if (read_only()) {
        return ErrnoStatus(EROFS, "the array is read-only");
      }
      if (failed_.load(std::memory_order_acquire)) {
        return ErrnoStatus(EIO, "the array has lost more than two members: nothing is written");
      }
      must_mark =
          !dirty_.load(std::memory_order_acquire) || !recorded_.load(std::memory_order_acquire);
      if (!must_mark) {
        GateShare members(members_gate_);
        const auto store = [&](const std::vector<BitmapPage>& pages, bool flush) {
          StorePages(pages, flush, &bits);
          return bits.ok();
        };
        if (intent_ == nullptr || intent_->Start(IntentRange(offset_bytes, length_bytes), store)) {
          const uint64_t still_bad = still_bad_.load(std::memory_order_acquire);
          result = work(view_);
          after = NoteWritten(result, still_bad);
          if (intent_ != nullptr) {
            intent_->End(IntentRange(offset_bytes, length_bytes));
          }
        }
      }
    }
    if (must_mark) {
      MDVOL_RETURN_IF_ERROR(MarkDirty());
    } else if (!bits.failures.empty()) {
      MDVOL_RETURN_IF_ERROR(FailMembers(bits.failures));
    } else if (!bits.ok()) {
      return bits.full;
    } else {
      return SettleWrite(result, after, what);
    }
  }
}

// Before the bits may grow old and before the gates are left: whoever closes them must know.
ArrayImpl::Aftermath ArrayImpl::NoteWritten(const EngineResult& result, uint64_t still_bad_before) {
  last_write_ns_.store(clock_.NowNs(), std::memory_order_relaxed);
  NoteOwed(result);
  Aftermath after = AftermathOf(result, still_bad_before);
  AddMirrorFailures(&after.failures);
  if (!after.failures.empty()) {
    unsettled_.fetch_add(1, std::memory_order_acq_rel);
  }
  writes_done_.fetch_add(1, std::memory_order_release);
  return after;
}

ArrayImpl::Aftermath ArrayImpl::AftermathOf(const EngineResult& result, uint64_t still_bad_before) {
  Aftermath after;
  after.still_bad = still_bad_before;
  if (result.still_bad) {
    ++after.still_bad;
    still_bad_.fetch_add(1, std::memory_order_acq_rel);
  }
  if (!result.member_errors.empty()) {
    after.failures = FailuresOf(result.member_errors);
  }
  if (!result.rewritten_bad.empty()) {
    absl::MutexLock lock(&state_);
    for (const RewrittenBad& bad : result.rewritten_bad) {
      for (const auto& member : members_) {
        // A replacement that has failed a write is not to be believed to have got this one.
        const bool is_his = bad.is_replacement
                                ? member->replaces == bad.slot && member->mirror != nullptr &&
                                      member->mirror->replacement_error() == 0
                                : member->slot == bad.slot;
        if (is_his && !member->faulty) {
          after.rewritten.push_back({member.get(), bad.range});
        }
      }
    }
  }
  return after;
}

// Too many to be kept one by one are kept as doubt, as coarsely as the bitmap.
void ArrayImpl::NoteOwed(const EngineResult& result) {
  if (result.owed_stripes.empty()) {
    return;
  }
  absl::MutexLock lock(&state_);
  for (const uint64_t stripe : result.owed_stripes) {
    if (owed_.size() < kMaxOwedStripes || owed_.contains(stripe)) {
      owed_[stripe] = ++owed_sequence_;
    } else {
      doubt_.Add({stripe, 1});
      doubt_sequence_ = ++owed_sequence_;
      doubt_awaits_space_.store(true, std::memory_order_release);
    }
  }
  owed_is_fresh_.store(true, std::memory_order_release);
}

absl::Status ArrayImpl::SettleWrite(const EngineResult& result, const Aftermath& after,
                                    const char* what) {
  const absl::Status status = Settle(result, after, what);
  if (!after.failures.empty()) {
    unsettled_.fetch_sub(1, std::memory_order_acq_rel);
    absl::MutexLock lock(&state_);
    settled_.SignalAll();
  }
  if (!result.owed_stripes.empty()) {
    PokeMaintenance();
  }
  return status;
}

// The bytes are good or not, whatever becomes of the member that could not be mended: nothing was
// written that would have to wait for its failure, and whoever writes next finds it unrecorded.
absl::Status ArrayImpl::SettleRead(const EngineResult& result, const Aftermath& after) {
  MemberFailures failures = after.failures;
  if (!after.rewritten.empty()) {
    ForgetBadBlocks(after.rewritten, after.still_bad, &failures);
  }
  if (!failures.empty()) {
    if (const absl::Status status = FailMembers(failures); !status.ok()) {
      events_.Add(EventLevel::kError, "failure not recorded", "", MessageOf(status));
    }
  }
  return Settle(result, {}, "read");
}

// What an engine call leaves to be done before it is acknowledged, and its status.
absl::Status ArrayImpl::Settle(const EngineResult& result, const Aftermath& after,
                               const char* what) {
  MemberFailures failures = after.failures;
  if (!after.rewritten.empty()) {
    ForgetBadBlocks(after.rewritten, after.still_bad, &failures);
  }
  if (!result.mended_slots.empty()) {
    NoteMended(result);
  }
  if (!failures.empty()) {
    MDVOL_RETURN_IF_ERROR(FailMembers(failures));
  }
  if (result.error == 0) {
    return absl::OkStatus();
  }
  if (result.error == EIO) {
    return ErrnoStatus(EIO, absl::StrCat(what, " failed: more than two members are lost there"));
  }
  return SystemError(result.error, absl::StrCat(what, " failed"));
}

// One event a member and call, however many lanes of it were put right.
void ArrayImpl::NoteMended(const EngineResult& result) {
  std::map<uint32_t, uint32_t> lanes_of;
  for (const uint32_t slot : result.mended_slots) {
    ++lanes_of[slot];
  }
  for (const auto& [slot, lanes] : lanes_of) {
    ArrayMember* member = MemberOfSlot(slot);
    if (member != nullptr) {
      member->corrected_errors.fetch_add(lanes, std::memory_order_relaxed);
      events_.Add(EventLevel::kWarning, "read error corrected", member->name,
                  absl::StrCat(lanes, lanes == 1 ? " lane was" : " lanes were",
                               " recovered from the other members and rewritten"));
    }
  }
}

absl::Status ArrayImpl::FlushAll() {
  const uint64_t wanted = writes_done_.load(std::memory_order_acquire);
  uint64_t covered = 0;
  MemberFailures failures;
  {
    GateShare share(members_gate_);
    absl::MutexLock lock(&flush_);
    if (wanted <= writes_flushed_.load(std::memory_order_acquire)) {
      return absl::OkStatus();  // by a flush that began after all of our writes had ended
    }
    covered = writes_done_.load(std::memory_order_acquire);
    FlushUsed(&failures);
    if (failures.empty()) {
      NoteFlushed(covered);  // before the next in line looks
      return absl::OkStatus();
    }
  }
  MDVOL_RETURN_IF_ERROR(FailMembers(failures));
  NoteFlushed(covered);  // by the survivors
  return absl::OkStatus();
}

void ArrayImpl::NoteFlushed(uint64_t covered) {
  uint64_t flushed = writes_flushed_.load(std::memory_order_relaxed);
  while (flushed < covered &&
         !writes_flushed_.compare_exchange_weak(flushed, covered, std::memory_order_release)) {
  }
}

absl::Status ArrayImpl::Flush() {
  if (read_only() || writes_flushed_.load(std::memory_order_acquire) ==
                         writes_done_.load(std::memory_order_acquire)) {
    return absl::OkStatus();  // nothing was written since the last flush
  }
  if (failed_.load(std::memory_order_acquire)) {
    return ErrnoStatus(EIO, "the array has lost more than two members: nothing can be flushed");
  }
  return FlushAll();
}

// A change like any other: parity is bytes that bits and dirty mark have to cover. Nothing counts
// as recomputed unless all went well: the work may not even have begun.
absl::Status ArrayImpl::RecomputeParity(StripeRange stripes, uint64_t* skipped_stripes) {
  *skipped_stripes = stripes.count;
  const uint64_t stripe_bytes = geometry_.stripe_bytes();
  uint64_t skipped = 0;
  const absl::Status status =
      RunWrite({stripes.first * stripe_bytes, stripes.count * stripe_bytes}, "resync",
               [&](const MemberView& view) {
                 EngineResult result = engine_.RecomputeParity(view, stripes.first, stripes.count);
                 skipped = result.skipped_stripes + result.owed_stripes.size();
                 return result;
               });
  if (status.ok()) {
    *skipped_stripes = skipped;
  } else if (IsFull(ErrnoOf(status)) && doubt_.Touches(stripes)) {
    doubt_awaits_space_.store(true, std::memory_order_release);
    PokeMaintenance();
  }
  return status;
}

}  // namespace mdvol
