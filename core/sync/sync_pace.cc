// SyncEngine: when the next window goes, and how large it is. See sync_engine.h.
//
// The policy's word is clamped: a window has a stripe at least and kMostWindowBytes of each member
// at most (a larger stripe is a window by itself: it cannot be divided, for locks, findings and
// progress go by the stripe, and the engine below does it in columns of that size), and no more is
// in flight than two such windows would be (I10).

#include <algorithm>

#include "absl/time/time.h"
#include "core/array/foreground_meter.h"
#include "core/base/units.h"
#include "core/sync/sync_engine.h"

namespace mdvol {
namespace {

constexpr uint64_t kMostBytesInFlight = 2 * kMostWindowBytes;

// A waiting run looks this often whether there is another policy, or the policy has changed its
// mind.
constexpr uint64_t kLongestWaitNs = 100'000'000;

// What the engine does where there is no policy.
constexpr uint64_t kWindowsWithoutPolicy = 2;

// Of memory, that is: larger stripes are done in columns.
uint64_t HeldBytes(uint64_t window_bytes) { return std::min(window_bytes, kMostWindowBytes); }

}  // namespace

std::optional<StripeRange> SyncEngine::Take(SyncWork& work) {
  absl::MutexLock lock(&mutex_);
  ++run_->idle_workers;
  while (run_->MayGoOn() && run_->is_pacing) {
    turn_.Wait(&mutex_);
  }
  --run_->idle_workers;
  if (!run_->MayGoOn()) {
    return std::nullopt;
  }
  run_->is_pacing = true;
  const std::optional<StripeRange> window = AwaitWindow(work);
  run_->is_pacing = false;
  if (!window.has_value()) {
    WakeAll();
    return std::nullopt;
  }
  const uint64_t bytes = window->count << array_.geometry().chunk_shift();
  run_->next_stripe = window->first + window->count;
  run_->issued_bytes += bytes;
  run_->in_flight.push_back({window->first, bytes, clock_.NowNs()});
  TellForeground();
  EngageHelper(work);
  turn_.Signal();
  return window;
}

std::optional<StripeRange> SyncEngine::AwaitWindow(SyncWork& work) {
  const uint32_t shift = array_.geometry().chunk_shift();
  while (run_->MayGoOn()) {
    std::optional<StripeRange> window = work.Next(run_->next_stripe);
    if (!window.has_value()) {
      run_->exhausted = true;
      return std::nullopt;
    }
    if (shown_.max_bytes.has_value()) {
      const uint64_t end = *shown_.max_bytes >> shift;
      if (window->first >= end) {
        changed_.Wait(&mutex_);  // as in md: the run goes on when sync_max does
        continue;
      }
      window->count = std::min(window->count, end - window->first);
    }
    const uint64_t room_bytes = RoomBytes();
    if (room_bytes == 0) {
      changed_.Wait(&mutex_);
      continue;
    }
    const ResyncDecision decision = AskPolicy();
    if (decision.wait_ns != 0) {
      WaitForPace(decision);
      continue;
    }
    const uint64_t wanted_bytes =
        decision.window_bytes == 0 ? kMostWindowBytes : decision.window_bytes;
    const uint64_t most = std::min(wanted_bytes, room_bytes) >> shift;
    window->count = std::min(window->count, std::max<uint64_t>(most, 1));
    return window;
  }
  return std::nullopt;
}

uint64_t SyncEngine::RoomBytes() const {
  uint64_t held_bytes = 0;
  for (const Window& window : run_->in_flight) {
    held_bytes += HeldBytes(window.bytes);
  }
  const uint64_t least_bytes = HeldBytes(array_.geometry().chunk_bytes());
  const bool is_full =
      run_->in_flight.size() >= kMostResyncWindows || held_bytes + least_bytes > kMostBytesInFlight;
  return is_full ? 0 : std::min(kMostBytesInFlight - held_bytes, kMostWindowBytes);
}

ResyncDecision SyncEngine::AskPolicy() {
  const std::shared_ptr<ResyncPacing> pacing = pacing_.Get();
  if (pacing == nullptr) {
    const bool is_full = run_->in_flight.size() >= kWindowsWithoutPolicy;
    return {.wait_ns = is_full ? kLongestWaitNs : 0,
            .wait_for_fewer_windows = kWindowsWithoutPolicy};
  }
  ResyncFacts facts;
  facts.now_ns = clock_.NowNs();
  facts.run = runs_ended_ + 1;
  run_->speed.Note(facts.now_ns, run_->worked_bytes);
  facts.mark_ns = run_->speed.mark_ns();
  facts.bytes_since_mark = run_->speed.bytes_since_mark();
  facts.speed_min = shown_.speed_min_bytes.value_or(kDefaultSpeedMinBytes);
  facts.speed_max = shown_.speed_max_bytes.value_or(kDefaultSpeedMaxBytes);
  facts.issued_bytes = run_->issued_bytes;
  facts.done_bytes = run_->worked_bytes;
  facts.windows_in_flight = run_->in_flight.size();
  facts.windows_done = run_->windows_done;
  facts.last_window_bytes = run_->last_window_bytes;
  facts.last_window_ns = run_->last_window_ns;
  facts.last_done_ns = run_->last_done_ns;
  facts.least_window_bytes = array_.geometry().chunk_bytes();
  array_.ReadMembers(&member_facts_);
  facts.members = member_facts_;
  if (const ForegroundMeter* const foreground = array_.foreground(); foreground != nullptr) {
    facts.foreground = foreground->Read();
  }
  return pacing->Decide(facts);
}

// Ends early when something is to be looked at: fewer windows in flight, another speed, the end.
void SyncEngine::WaitForPace(const ResyncDecision& decision) {
  const uint64_t deadline_ns = clock_.NowNs() + std::min(decision.wait_ns, kLongestWaitNs);
  uint64_t windows_done = 0;
  bool is_late = false;
  // A window that ends is no reason to ask again unless the policy says so.
  do {
    windows_done = run_->windows_done;
    const uint64_t now_ns = clock_.NowNs();
    const uint64_t left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
    is_late = changed_.WaitWithTimeout(&mutex_, absl::Nanoseconds(static_cast<int64_t>(left_ns)));
  } while (!is_late && run_->MayGoOn() && run_->windows_done != windows_done &&
           run_->in_flight.size() >= decision.wait_for_fewer_windows);
}

void SyncEngine::TellForeground() {
  if (ForegroundMeter* const foreground = array_.foreground(); foreground != nullptr) {
    foreground->SetDisturbed(!run_->in_flight.empty());
  }
}

}  // namespace mdvol
