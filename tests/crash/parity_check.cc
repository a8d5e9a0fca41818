// See parity_check.h.

#include "tests/crash/parity_check.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace mdvol::crash {
namespace {

using Chunk = std::vector<uint64_t>;

// Each of the eight bytes times 2.
uint64_t Double(uint64_t bytes) {
  const uint64_t carries = (bytes >> 7) & 0x0101010101010101;
  return ((bytes & 0x7f7f7f7f7f7f7f7f) << 1) ^ (carries * 0x1d);
}

Chunk Load(const ArrayGeometry& geometry, std::span<const std::byte> slot, uint64_t stripe) {
  Chunk chunk(geometry.chunk_bytes() / sizeof(uint64_t));
  if (!slot.empty()) {
    std::memcpy(chunk.data(), slot.data() + stripe * geometry.chunk_bytes(),
                geometry.chunk_bytes());
  }
  return chunk;
}

void AddTo(Chunk* sum, const Chunk& chunk) {
  for (size_t i = 0; i < sum->size(); ++i) {
    (*sum)[i] ^= chunk[i];
  }
}

Chunk Syndrome(const std::vector<Chunk>& by_exponent) {
  Chunk q(by_exponent[0].size());
  for (size_t exponent = by_exponent.size(); exponent-- > 0;) {
    for (size_t i = 0; i < q.size(); ++i) {
      q[i] = Double(q[i]) ^ by_exponent[exponent][i];
    }
  }
  return q;
}

bool Agrees(const ArrayGeometry& geometry, const std::vector<std::span<const std::byte>>& slots,
            uint64_t stripe) {
  const StripeRoles roles = geometry.RolesOf(stripe);
  const Chunk p = Load(geometry, slots[roles.p_slot()], stripe);
  Chunk sum = p;  // of data and P: nothing, or the data chunk that is missing
  // DDF layouts have gaps among the exponents: those of P and Q.
  std::vector<Chunk> by_exponent(slots.size(), Chunk(p.size()));
  std::optional<uint32_t> missing;
  for (uint32_t slot = 0; slot < slots.size(); ++slot) {
    if (slot == roles.p_slot() || slot == roles.q_slot()) {
      continue;
    }
    Chunk& chunk = by_exponent[roles.Exponent(slot)];
    chunk = Load(geometry, slots[slot], stripe);
    AddTo(&sum, chunk);
    if (slots[slot].empty()) {
      missing = roles.Exponent(slot);
    }
  }
  if (missing.has_value()) {
    by_exponent[*missing] = sum;
  } else if (!slots[roles.p_slot()].empty() &&
             std::any_of(sum.begin(), sum.end(), [](uint64_t word) { return word != 0; })) {
    return false;
  }
  const std::span<const std::byte> q = slots[roles.q_slot()];
  return q.empty() || Syndrome(by_exponent) == Load(geometry, q, stripe);
}

}  // namespace

std::vector<uint64_t> StripesThatDisagree(const ArrayGeometry& geometry,
                                          const std::vector<std::span<const std::byte>>& slots) {
  std::vector<uint64_t> stripes;
  const auto missing =
      std::count_if(slots.begin(), slots.end(), [](const auto& slot) { return slot.empty(); });
  for (uint64_t stripe = 0; missing < 2 && stripe < geometry.stripe_count(); ++stripe) {
    if (!Agrees(geometry, slots, stripe)) {
      stripes.push_back(stripe);
    }
  }
  return stripes;
}

}  // namespace mdvol::crash
