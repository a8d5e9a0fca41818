// See invalidator.h.

#include "fuse/invalidator.h"

#include <algorithm>

namespace mdvol {
namespace {

// Beyond so many, the ranges become one that covers them all.
constexpr size_t kMaxRanges = 4096;

}  // namespace

void Invalidator::Start(Invalidate invalidate) {
  thread_ = std::thread([this, invalidate = std::move(invalidate)] { Loop(invalidate); });
}

void Invalidator::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  if (thread_.joinable()) {
    thread_.join();
  }
}

void Invalidator::Add(uint64_t offset_bytes, uint64_t length_bytes) {
  absl::MutexLock lock(&mutex_);
  if (!ranges_.empty()) {
    Range& last = ranges_.back();
    if (last.offset_bytes + last.length_bytes == offset_bytes) {
      last.length_bytes += length_bytes;
      return;
    }
  }
  if (ranges_.size() >= kMaxRanges) {
    uint64_t begin = offset_bytes;
    uint64_t end = offset_bytes + length_bytes;
    for (const Range& range : ranges_) {
      begin = std::min(begin, range.offset_bytes);
      end = std::max(end, range.offset_bytes + range.length_bytes);
    }
    ranges_.assign(1, {begin, end - begin});
    return;
  }
  ranges_.push_back({offset_bytes, length_bytes});
}

void Invalidator::Loop(const Invalidate& invalidate) {
  for (;;) {
    Range range{};
    {
      absl::MutexLock lock(&mutex_);
      const auto has_work = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
        return stop_ || !ranges_.empty();
      };
      mutex_.Await(absl::Condition(&has_work));
      if (stop_) {
        return;
      }
      range = ranges_.front();
      ranges_.pop_front();
    }
    invalidate(range.offset_bytes, range.length_bytes);
  }
}

}  // namespace mdvol
