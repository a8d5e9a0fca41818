// ArrayImpl: what happens by itself. Marks the array clean after safe_mode_delay without writes,
// clears idle bitmap bits every time base, puts owed parity right. One caller at a time: the
// maintenance thread, or an owner that drives it.

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/array/array_impl.h"
#include "core/base/status.h"

namespace mdvol {
namespace {

constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
constexpr uint64_t kNsPerMs = 1000000;
constexpr uint64_t kNsPerSecond = 1000 * kNsPerMs;

}  // namespace

uint64_t ArrayImpl::RunMaintenance() {
  if (read_only() || failed_.load(std::memory_order_acquire)) {
    return kNever;
  }
  const uint64_t now = clock_.NowNs();
  uint64_t next = kNever;
  if (intent_ != nullptr) {
    const uint64_t period = uint64_t{time_base_s_.load()} * kNsPerSecond;
    if (next_clear_ns_ == 0) {
      next_clear_ns_ = now + period;
    }
    if (now >= next_clear_ns_) {
      RetryOwedParity();
      ClearIdleBits();
      next_clear_ns_ = now + period;
    }
    next = next_clear_ns_;
  } else {
    RetryOwedParity();
  }
  const uint64_t delay = uint64_t{safe_mode_delay_ms_.load()} * kNsPerMs;
  if (dirty_.load(std::memory_order_acquire) && delay != 0) {
    if (now >= last_write_ns_.load(std::memory_order_relaxed) + delay) {
      const absl::Status status = MarkClean(/*forced=*/false);
      if (!status.ok()) {
        events_.Add(EventLevel::kError, "clean mark failed", "", MessageOf(status));
      }
    }
    // Dirty still: writes came, or parity is owed.
    const uint64_t due = last_write_ns_.load(std::memory_order_relaxed) + delay;
    if (dirty_.load(std::memory_order_acquire)) {
      next = std::min(next, std::max(due, now + delay));
    }
  }
  return next;
}

void ArrayImpl::ClearIdleBits() {
  MemberErrors errors;
  {
    GateShare writes(writes_gate_);
    if (InSyncSlots() < geometry_.raid_disks() || !doubt_.empty() || OwesParity()) {
      return;  // degraded: the bits tell a returning member what it missed
    }
    GateShare members(members_gate_);
    const auto flush = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      FlushMembers(&errors);
      return errors.empty();
    };
    intent_->ClearIdle(flush, [&](const std::vector<BitmapPage>& pages, bool durably) {
      return StoreBits(pages, durably, &errors);
    });
  }
  if (!errors.empty()) {
    const absl::Status status = FailMembers(errors);
    if (!status.ok()) {
      events_.Add(EventLevel::kError, "bitmap upkeep failed", "", MessageOf(status));
    }
  }
}

bool ArrayImpl::OwesParity() const {
  absl::MutexLock lock(&state_);
  return !owed_.empty();
}

// Recomputes the parity that a full file system kept from being written; what still cannot be stays
// owed.
void ArrayImpl::RetryOwedParity() {
  std::vector<std::pair<uint64_t, uint64_t>> owed;
  {
    absl::MutexLock lock(&state_);
    owed.assign(owed_.begin(), owed_.end());
  }
  for (const auto& [stripe, sequence] : owed) {
    uint64_t skipped = 0;
    if (!RecomputeParity({stripe, 1}, &skipped).ok() || skipped != 0) {
      continue;
    }
    absl::MutexLock lock(&state_);
    const auto found = owed_.find(stripe);
    if (found != owed_.end() && found->second == sequence) {  // else it is owed again
      owed_.erase(found);
    }
  }
}

void ArrayImpl::StartMaintenance() {
  if (!read_only()) {
    maintenance_ = std::thread([this] { MaintenanceLoop(); });
  }
}

void ArrayImpl::PokeMaintenance() {
  absl::MutexLock lock(&maintenance_mutex_);
  maintenance_poked_ = true;
  maintenance_poke_.Signal();
}

void ArrayImpl::MaintenanceLoop() {
  for (;;) {
    {
      absl::MutexLock lock(&maintenance_mutex_);
      if (maintenance_stop_) {
        return;
      }
      maintenance_poked_ = false;
    }
    const uint64_t next = RunMaintenance();
    absl::MutexLock lock(&maintenance_mutex_);
    while (!maintenance_stop_ && !maintenance_poked_) {
      const uint64_t now = clock_.NowNs();
      if (now >= next) {
        break;
      }
      const uint64_t wait_ns = std::min<uint64_t>(next - now, 3600 * kNsPerSecond);
      maintenance_poke_.WaitWithTimeout(&maintenance_mutex_,
                                        absl::Nanoseconds(static_cast<int64_t>(wait_ns)));
    }
  }
}

ArrayImpl::~ArrayImpl() {
  if (maintenance_.joinable()) {
    {
      absl::MutexLock lock(&maintenance_mutex_);
      maintenance_stop_ = true;
      maintenance_poke_.Signal();
    }
    maintenance_.join();
  }
}

absl::Status ArrayImpl::Stop() {
  if (maintenance_.joinable()) {
    {
      absl::MutexLock lock(&maintenance_mutex_);
      maintenance_stop_ = true;
      maintenance_poke_.Signal();
    }
    maintenance_.join();
  }
  if (read_only()) {
    return absl::OkStatus();
  }
  if (failed_.load(std::memory_order_acquire)) {
    return ErrnoStatus(EIO, "the array has lost more than two members: it is left dirty");
  }
  RetryOwedParity();
  MDVOL_RETURN_IF_ERROR(FlushAll());
  const bool whole = InSyncSlots() == geometry_.raid_disks();
  const bool has_bits = intent_ != nullptr && intent_->CountSet() != 0;
  if (whole && has_bits && doubt_.empty()) {
    absl::MutexLock transition(&transition_);
    GateClosure closed(writes_gate_);
    // Marked clean first would leave a moment with set bits forgotten; cleared first, the dirty
    // mark still tells the next assembly to resync, of nothing. All data is durable either way.
    absl::flat_hash_set<size_t> failed;
    StoreOnLive(intent_->ClearAll(), /*flush=*/true, &failed);
    dirty_.store(true, std::memory_order_release);  // so that MarkClean writes a generation
  }
  MDVOL_RETURN_IF_ERROR(MarkClean(/*forced=*/true));
  if (dirty_.load(std::memory_order_acquire)) {
    events_.Add(EventLevel::kWarning, "array stopped dirty", "",
                "some stripes still await their parity");
  } else {
    events_.Add(EventLevel::kInfo, "array stopped", "", "clean");
  }
  return absl::OkStatus();
}

}  // namespace mdvol
