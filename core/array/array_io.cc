// ArrayImpl: reads, writes, zeroes, flushes. See array_impl.h for the locking.

#include <algorithm>
#include <cerrno>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/array/array_impl.h"
#include "core/base/status.h"
#include "core/device/io_batch.h"

namespace mdvol {

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
  EngineResult result;
  {
    GateShare share(members_gate_);
    result = engine_.Read(view_, offset_bytes, out);
  }
  return Settle(result, "read");
}

absl::Status ArrayImpl::Write(uint64_t offset_bytes, std::span<const std::byte> data) {
  return RunWrite(offset_bytes, data.size(),
                  [&](const MemberView& view) { return engine_.Write(view, offset_bytes, data); });
}

absl::Status ArrayImpl::Zero(uint64_t offset_bytes, uint64_t length_bytes) {
  return RunWrite(offset_bytes, length_bytes, [&](const MemberView& view) {
    return engine_.Zero(view, offset_bytes, length_bytes);
  });
}

WriteIntent::Range ArrayImpl::IntentRange(uint64_t offset_bytes, uint64_t length_bytes) const {
  // md widens to whole stripes, then covers that range of the members.
  const uint64_t first = offset_bytes / geometry_.stripe_bytes();
  const uint64_t last = (offset_bytes + length_bytes - 1) / geometry_.stripe_bytes();
  return intent_->BitsOf(first << geometry_.chunk_shift(), (last + 1) << geometry_.chunk_shift());
}

// The frame of every change: dirty mark, then bits, then the work, then the transitions that it
// made necessary.
template <typename Work>
absl::Status ArrayImpl::RunWrite(uint64_t offset_bytes, uint64_t length_bytes, Work work) {
  MDVOL_RETURN_IF_ERROR(CheckRange(offset_bytes, length_bytes));
  if (length_bytes == 0) {
    return absl::OkStatus();
  }
  for (;;) {
    MemberErrors bit_errors;
    bool must_mark = false;
    EngineResult result;
    {
      GateShare writes(writes_gate_);
      if (read_only()) {
        return ErrnoStatus(EROFS, "the array is read-only");
      }
      if (failed_.load(std::memory_order_acquire)) {
        return ErrnoStatus(EIO, "the array has lost more than two members: nothing is written");
      }
      must_mark = !dirty_.load(std::memory_order_acquire);
      if (!must_mark) {
        GateShare members(members_gate_);
        const auto store = [&](const std::vector<BitmapPage>& pages, bool flush) {
          return StoreBits(pages, flush, &bit_errors);
        };
        const bool started =
            intent_ == nullptr || intent_->Start(IntentRange(offset_bytes, length_bytes), store);
        if (started) {
          result = work(view_);
          last_write_ns_.store(clock_.NowNs(), std::memory_order_relaxed);
          writes_done_.fetch_add(1, std::memory_order_release);
          NoteOwed(result);  // before the bits may grow old
          if (intent_ != nullptr) {
            intent_->End(IntentRange(offset_bytes, length_bytes));
          }
        }
      }
    }
    if (must_mark) {
      MDVOL_RETURN_IF_ERROR(MarkDirty());
      continue;
    }
    if (!bit_errors.empty()) {
      MDVOL_RETURN_IF_ERROR(FailMembers(bit_errors));
      continue;
    }
    return Settle(result, "write");
  }
}

// What an engine call leaves to be done before it is acknowledged, and its status.
absl::Status ArrayImpl::Settle(const EngineResult& result, std::string_view what) {
  if (!result.mended_slots.empty()) {
    NoteMended(result);
  }
  if (!result.member_errors.empty()) {
    MDVOL_RETURN_IF_ERROR(FailMembers(result.member_errors));
  }
  if (result.error == 0) {
    return absl::OkStatus();
  }
  if (result.error == EIO) {
    return ErrnoStatus(
        EIO, absl::StrCat(std::string(what), " failed: more than two members are lost there"));
  }
  return SystemError(result.error, absl::StrCat(std::string(what), " failed"));
}

void ArrayImpl::NoteOwed(const EngineResult& result) {
  if (!result.owed_stripes.empty()) {
    absl::MutexLock lock(&state_);
    for (const uint64_t stripe : result.owed_stripes) {
      owed_[stripe] = ++owed_sequence_;
    }
  }
}

void ArrayImpl::NoteMended(const EngineResult& result) {
  for (const uint32_t slot : result.mended_slots) {
    ArrayMember* member = MemberOfSlot(slot);
    if (member != nullptr) {
      member->corrected_errors.fetch_add(1, std::memory_order_relaxed);
      events_.Add(EventLevel::kWarning, "read error corrected", member->name,
                  "the block was recovered from the other members and rewritten");
    }
  }
}

void ArrayImpl::FlushMembers(MemberErrors* errors) {
  IoBatch batch;
  absl::InlinedVector<uint32_t, 16> slots;
  for (uint32_t slot = 0; slot < view_.slots.size(); ++slot) {
    if (view_.slots[slot].present()) {
      batch.AddFlush(view_.slots[slot].device);
      slots.push_back(slot);
    }
  }
  if (batch.empty() || batch.Run()) {
    return;
  }
  for (size_t i = 0; i < slots.size(); ++i) {
    if (batch.error(i) != 0) {
      errors->push_back({.slot = slots[i], .error = batch.error(i), .is_flush = true});
    }
  }
}

absl::Status ArrayImpl::FlushAll() {
  const uint64_t covered = writes_done_.load(std::memory_order_acquire);
  MemberErrors errors;
  {
    GateShare share(members_gate_);
    FlushMembers(&errors);
  }
  if (!errors.empty()) {
    MDVOL_RETURN_IF_ERROR(FailMembers(errors));
  }
  uint64_t flushed = writes_flushed_.load(std::memory_order_relaxed);
  while (flushed < covered &&
         !writes_flushed_.compare_exchange_weak(flushed, covered, std::memory_order_release)) {
  }
  return absl::OkStatus();
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

absl::Status ArrayImpl::RecomputeParity(StripeRange stripes, uint64_t* skipped_stripes) {
  *skipped_stripes = 0;
  EngineResult result;
  {
    GateShare writes(writes_gate_);
    if (read_only() || failed_.load(std::memory_order_acquire)) {
      return ErrnoStatus(EROFS, "parity is not recomputed on a read-only or broken array");
    }
    GateShare members(members_gate_);
    result = engine_.RecomputeParity(view_, stripes.first, stripes.count);
    writes_done_.fetch_add(1, std::memory_order_release);
    NoteOwed(result);
  }
  *skipped_stripes = result.skipped_stripes;
  return Settle(result, "resync");
}

}  // namespace mdvol
