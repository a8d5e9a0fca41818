// See doubt_map.h.

#include "core/array/doubt_map.h"

#include <algorithm>

#include "core/base/units.h"

namespace mdvol {

DoubtMap::DoubtMap(uint64_t stripe_count, uint64_t stripes_per_bit)
    : stripe_count_(stripe_count),
      stripes_per_bit_(std::max({uint64_t{1}, stripes_per_bit, CeilDiv(stripe_count, kMostBits)})),
      bits_(CeilDiv(stripe_count, stripes_per_bit_)) {}

StripeRange DoubtMap::StripesOf(uint64_t bit) const {
  const uint64_t first = bit * stripes_per_bit_;
  return {first, std::min(stripes_per_bit_, stripe_count_ - first)};
}

void DoubtMap::Add(StripeRange range) {
  if (range.count == 0) {
    return;
  }
  absl::MutexLock lock(&mutex_);
  const uint64_t last = std::min((range.first + range.count - 1) / stripes_per_bit_,
                                 static_cast<uint64_t>(bits_.size()) - 1);
  for (uint64_t bit = range.first / stripes_per_bit_; bit <= last; ++bit) {
    if (!bits_[bit]) {
      bits_[bit] = true;
      marked_.fetch_add(1, std::memory_order_release);
    }
  }
}

void DoubtMap::Remove(StripeRange range) {
  absl::MutexLock lock(&mutex_);
  const uint64_t end = range.first + range.count;
  for (uint64_t bit = CeilDiv(range.first, stripes_per_bit_); bit < bits_.size(); ++bit) {
    const StripeRange stripes = StripesOf(bit);
    if (stripes.first + stripes.count > end) {
      return;
    }
    if (bits_[bit]) {
      bits_[bit] = false;
      marked_.fetch_sub(1, std::memory_order_release);
    }
  }
}

void DoubtMap::Clear() {
  absl::MutexLock lock(&mutex_);
  std::fill(bits_.begin(), bits_.end(), false);
  marked_.store(0, std::memory_order_release);
}

bool DoubtMap::Contains(uint64_t stripe) const {
  if (empty()) {
    return false;
  }
  absl::MutexLock lock(&mutex_);
  return bits_[stripe / stripes_per_bit_];
}

std::optional<StripeRange> DoubtMap::Next(uint64_t from) const {
  if (empty()) {
    return std::nullopt;
  }
  absl::MutexLock lock(&mutex_);
  // The last bit may cover fewer stripes than the others: beyond the end is not inside it.
  for (uint64_t bit = from / stripes_per_bit_; from < stripe_count_ && bit < bits_.size(); ++bit) {
    const StripeRange stripes = StripesOf(bit);
    const uint64_t first = std::max(from, stripes.first);
    if (bits_[bit] && first < stripes.first + stripes.count) {  // the last bit may be short
      return StripeRange{first, stripes.first + stripes.count - first};
    }
  }
  return std::nullopt;
}

std::optional<StripeRange> DoubtMap::RunOf(uint64_t stripe) const {
  const uint64_t bit = stripe / stripes_per_bit_;
  absl::MutexLock lock(&mutex_);
  return bits_[bit] ? std::optional(StripesOf(bit)) : std::nullopt;
}

uint64_t DoubtMap::CountStripes() const {
  absl::MutexLock lock(&mutex_);
  uint64_t count = 0;
  for (uint64_t bit = 0; bit < bits_.size(); ++bit) {
    count += bits_[bit] ? StripesOf(bit).count : 0;
  }
  return count;
}

}  // namespace mdvol
