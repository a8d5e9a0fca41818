// See codeword.h.

#include "tests/unit/core/parity/codeword.h"

#include <algorithm>
#include <utility>

#include "core/geometry/layout.h"
#include "tests/support/oracle/array.h"
#include "tests/support/oracle/layout.h"

namespace mdvol::testing {
namespace {

constexpr size_t kGuardBytes = 64;
constexpr std::byte kGuard{0xa5};

}  // namespace

GuardedBlock::GuardedBlock(size_t length, size_t alignment)
    : length_(length), begin_(kGuardBytes + alignment), buffer_(begin_ + length + kGuardBytes) {
  std::ranges::fill(buffer_.span(), kGuard);
}

void GuardedBlock::Fill(std::byte value) { std::ranges::fill(span(), value); }

bool GuardedBlock::GuardsHold() const {
  const auto holds = [](std::byte byte) { return byte == kGuard; };
  return std::ranges::all_of(buffer_.span().first(begin_), holds) &&
         std::ranges::all_of(buffer_.span().subspan(begin_ + length_), holds);
}

std::vector<Exponents> ExponentSets(uint32_t members) {
  std::vector<Exponents> sets;
  for (const Layout layout : AllLayouts()) {
    for (uint64_t stripe = 0; stripe < members; ++stripe) {
      Exponents exponents;
      for (const auto& cell : oracle::RowOf(static_cast<int>(layout), members, stripe)) {
        if (cell.kind == 'D') {
          exponents.push_back(static_cast<uint8_t>(cell.exponent));
        }
      }
      std::ranges::sort(exponents);
      if (std::ranges::find(sets, exponents) == sets.end()) {
        sets.push_back(std::move(exponents));
      }
    }
  }
  return sets;
}

TestCodeword::TestCodeword(const Exponents& exponents, size_t length,
                           const std::vector<size_t>& alignments, Prng* prng)
    : length_(length) {
  std::vector<oracle::DataBlock> data;
  for (const uint8_t exponent : exponents) {
    ids_.push_back({BlockKind::kData, exponent});
  }
  ids_.push_back({BlockKind::kP});
  ids_.push_back({BlockKind::kQ});
  for (size_t i = 0; i < ids_.size(); ++i) {
    blocks_.emplace_back(length, alignments[i % alignments.size()]);
    if (ids_[i].kind == BlockKind::kData) {
      prng->Fill(blocks_.back().span());
      data.push_back({ids_[i].exponent, std::as_const(blocks_.back()).span()});
    }
  }
  std::ranges::copy(oracle::ParityP(data, length), block(p_index()).data());
  std::ranges::copy(oracle::ParityQ(data, length), block(q_index()).data());
}

std::vector<ConstBlock> TestCodeword::Data() const {
  std::vector<ConstBlock> data;
  for (size_t i = 0; i < p_index(); ++i) {
    data.push_back({ids_[i], blocks_[i].data()});
  }
  return data;
}

std::vector<ConstBlock> TestCodeword::AllBut(const std::vector<size_t>& lost, Prng* prng) const {
  std::vector<ConstBlock> rest;
  for (size_t i = 0; i < size(); ++i) {
    if (std::ranges::find(lost, i) == lost.end()) {
      rest.push_back({ids_[i], blocks_[i].data()});
    }
  }
  std::ranges::shuffle(rest, *prng);
  return rest;
}

bool TestCodeword::GuardsHold() const {
  return std::ranges::all_of(blocks_, [](const GuardedBlock& b) { return b.GuardsHold(); });
}

}  // namespace mdvol::testing
