// See reader_watch.h. A token is 0 for a read that is not timed, else when it began, shifted to
// make room for how many reads were in flight then, itself included. The time loses its highest
// bits (it comes round after 2.3 years), which the difference of two does not need.

#include "core/device/reader_watch.h"

#include <algorithm>

namespace mdvol {
namespace {

constexpr uint64_t kTimedOneIn = 16;
constexpr uint64_t kDepthBits = 8;
constexpr uint64_t kMostDepth = (uint64_t{1} << kDepthBits) - 1;
constexpr uint64_t kTimeMask = UINT64_MAX >> kDepthBits;
// A count is handed out when it has so many reads, or any at all after so long.
constexpr size_t kFullCount = 8;
constexpr uint64_t kLongestCountNs = 500'000'000;

}  // namespace

uint64_t ReaderWatch::Begin(bool writes_are_about) {
  const uint64_t before = begun_.fetch_add(1, std::memory_order_relaxed);
  if (!writes_are_about && before % kTimedOneIn != 0) {
    return 0;
  }
  // Counted one by one, the two may seem to have passed each other.
  const uint64_t ended = ended_.load(std::memory_order_relaxed);
  const uint64_t depth = before >= ended ? before - ended + 1 : 1;
  return (clock_.NowNs() << kDepthBits) | std::min(depth, kMostDepth);
}

void ReaderWatch::End(uint64_t token, bool is_ok) {
  ended_.fetch_add(1, std::memory_order_relaxed);
  if (token == 0 || !is_ok) {
    return;
  }
  const uint64_t now_ns = clock_.NowNs();
  const uint64_t duration_ns = (now_ns - (token >> kDepthBits)) & kTimeMask;
  const uint64_t share_ns = std::max<uint64_t>(duration_ns / (token & kMostDepth), 1);
  absl::MutexLock lock(&mutex_);
  least_ns_ = least_ns_ == 0 ? share_ns : std::min(least_ns_, share_ns);
  slowest_ns_ = std::max(slowest_ns_, share_ns);
  if (count_ == 0) {
    count_begin_ns_ = now_ns;
  }
  samples_ns_[count_++ % kMostSamples] = share_ns;
}

ReadFacts ReaderWatch::Facts(uint64_t now_ns) {
  absl::MutexLock lock(&mutex_);
  const uint64_t begun = begun_.load(std::memory_order_relaxed);
  const uint64_t ended = ended_.load(std::memory_order_relaxed);
  if (begun != seen_.load(std::memory_order_relaxed) || ended != seen_ended_) {
    seen_.store(begun, std::memory_order_relaxed);
    seen_ended_ = ended;
    last_read_ns_ = now_ns;
  }
  ReadFacts facts;
  facts.in_flight = static_cast<uint32_t>(begun - std::min(begun, ended));
  if (last_read_ns_ != 0) {
    facts.since_last_ns = now_ns - std::min(now_ns, last_read_ns_);
  }
  if (learned_ns_ != 0) {
    facts.since_learn_ns = now_ns - std::min(now_ns, learned_ns_);
  }
  facts.least_ns = least_ns_;
  const bool is_old = now_ns >= count_begin_ns_ + kLongestCountNs;
  if (count_ == 0 || (count_ < kFullCount && !is_old)) {
    return facts;
  }
  const auto end =
      samples_ns_.begin() + static_cast<std::ptrdiff_t>(std::min(count_, kMostSamples));
  const auto middle = samples_ns_.begin() + (end - samples_ns_.begin()) / 2;
  std::nth_element(samples_ns_.begin(), middle, end);
  facts.count = static_cast<uint32_t>(std::min<size_t>(count_, UINT32_MAX));
  facts.median_ns = *middle;
  facts.slowest_ns = slowest_ns_;
  count_ = 0;
  slowest_ns_ = 0;
  return facts;
}

void ReaderWatch::Learn(uint64_t now_ns) {
  absl::MutexLock lock(&mutex_);
  least_ns_ = 0;
  learned_ns_ = now_ns;
  count_ = 0;
  slowest_ns_ = 0;
}

}  // namespace mdvol
