// See md_pacing.h.

#include "policies/md_pacing.h"

#include <algorithm>
#include <cstddef>

namespace mdvol {
namespace {

constexpr uint64_t kKib = 1024;
constexpr uint64_t kSectorBytes = 512;
constexpr uint64_t kNsPerSecond = 1'000'000'000;
constexpr int32_t kBusySectors = 64;
// Until what is waited for; the engine asks earlier.
constexpr uint64_t kLong = 10 * kNsPerSecond;

}  // namespace

uint64_t MdCurrentSpeed(const ResyncFacts& facts) {
  const uint64_t seconds = (facts.now_ns - facts.mark_ns) / kNsPerSecond;
  return facts.bytes_since_mark / kKib / (seconds + 1) + 1;
}

ResyncDecision MdPacing::Decide(const ResyncFacts& facts) {
  if (facts.run != run_) {
    run_ = facts.run;
    phase_ = Phase::kJudge;
    was_cache_full_ = false;
    Begin(facts);
  }
  return Step(facts);
}

// Every phase that is over falls through to the next.
ResyncDecision MdPacing::Step(const ResyncFacts& facts) {
  if (phase_ == Phase::kSleep || phase_ == Phase::kJiffy) {
    if (facts.now_ns < sleep_until_ns_) {
      return {.wait_ns = sleep_until_ns_ - facts.now_ns};
    }
    phase_ = phase_ == Phase::kSleep ? Phase::kJudge : Phase::kCache;
  }
  if (phase_ == Phase::kJudge) {
    const uint64_t speed = MdCurrentSpeed(facts);
    const Word word =
        speed <= facts.speed_min / kKib ? Word::kGo : Judge(facts, speed > facts.speed_max / kKib);
    if (word == Word::kSleep) {
      phase_ = Phase::kSleep;
      sleep_until_ns_ = facts.now_ns + kMdSleepNs;
      return {.wait_ns = kMdSleepNs};
    }
    phase_ = word == Word::kDrain ? Phase::kDrain : Phase::kCache;
  }
  if (phase_ == Phase::kDrain) {
    if (facts.windows_in_flight > 0) {
      return {.wait_ns = kLong, .wait_for_fewer_windows = 1};
    }
    phase_ = Phase::kCache;
  }
  const uint64_t window_bytes = std::max(kMdWindowBytes, facts.least_window_bytes);
  if (facts.windows_in_flight > 0 && facts.in_flight_bytes() + window_bytes > kMdCacheBytes) {
    was_cache_full_ = true;
    return {.wait_ns = kLong, .wait_for_fewer_windows = facts.windows_in_flight};
  }
  if (was_cache_full_) {
    was_cache_full_ = false;
    phase_ = Phase::kJiffy;
    sleep_until_ns_ = facts.now_ns + kMdJiffyNs;
    return {.wait_ns = kMdJiffyNs};
  }
  phase_ = Phase::kJudge;
  return {.wait_ns = 0, .wait_for_fewer_windows = 0, .window_bytes = kMdWindowBytes};
}

// A counter never goes back.
bool MdMemberIdleTest::AreTheSame(std::span<const ResyncMemberFacts> members) const {
  return std::equal(members.begin(), members.end(), last_completed_bytes_.begin(),
                    last_completed_bytes_.end(),
                    [](const ResyncMemberFacts& member, uint64_t last_completed_bytes) {
                      return member.completed_bytes >= last_completed_bytes;
                    });
}

bool MdMemberIdleTest::IsBusy(const ResyncFacts& facts) {
  bool is_busy = false;
  const bool are_known = AreTheSame(facts.members);
  last_events_.resize(facts.members.size());
  last_completed_bytes_.resize(facts.members.size());
  for (size_t i = 0; i < facts.members.size(); ++i) {
    const ResyncMemberFacts& member = facts.members[i];
    last_completed_bytes_[i] = member.completed_bytes;
    const auto events = static_cast<uint32_t>(member.completed_bytes / kSectorBytes -
                                              member.sync_issued_bytes / kSectorBytes);
    if (!are_known || static_cast<int32_t>(events - last_events_[i]) > kBusySectors) {
      is_busy |= are_known;
      last_events_[i] = events;
    }
  }
  return is_busy;
}

}  // namespace mdvol
