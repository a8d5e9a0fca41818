// See stripe_model.h.

#include "tests/support/stripe_model.h"

#include <algorithm>
#include <utility>

namespace mdvol::testing {

StripeModel::StripeModel(std::vector<std::byte> bytes)
    : bytes_(std::move(bytes)), known_(bytes_.size(), true) {}

void StripeModel::SetKnown(uint64_t offset_bytes, uint64_t length_bytes, bool known) {
  const auto begin = known_.begin() + static_cast<ptrdiff_t>(offset_bytes);
  std::fill(begin, begin + static_cast<ptrdiff_t>(length_bytes), known);
}

void StripeModel::Write(uint64_t offset_bytes, std::span<const std::byte> data) {
  std::copy(data.begin(), data.end(), bytes_.begin() + static_cast<ptrdiff_t>(offset_bytes));
  SetKnown(offset_bytes, data.size(), true);
}

void StripeModel::Zero(uint64_t offset_bytes, uint64_t length_bytes) {
  const auto begin = bytes_.begin() + static_cast<ptrdiff_t>(offset_bytes);
  std::fill(begin, begin + static_cast<ptrdiff_t>(length_bytes), std::byte{0});
  SetKnown(offset_bytes, length_bytes, true);
}

void StripeModel::Forget(uint64_t offset_bytes, uint64_t length_bytes) {
  SetKnown(offset_bytes, length_bytes, false);
}

std::optional<uint64_t> StripeModel::FirstDifference(uint64_t offset_bytes,
                                                     std::span<const std::byte> data) const {
  for (uint64_t i = 0; i < data.size(); ++i) {
    if (known_[offset_bytes + i] && data[i] != bytes_[offset_bytes + i]) {
      return offset_bytes + i;
    }
  }
  return std::nullopt;
}

}  // namespace mdvol::testing
