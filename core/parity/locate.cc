// See parity.h: locating a wrong block from the two syndromes.
//
// Let the block with coefficient c be wrong by x, i.e. it reads D + x. Then
//
//   a data block e:  delta_p = x,  delta_q = g^e x    hence  g^e = delta_q / delta_p
//   P:               delta_p = x,  delta_q = 0
//   Q:               delta_p = 0,  delta_q = x
//
// so the pair names the block, whatever x is. Two wrong blocks never give (0, 0): any two columns
// of the code are linearly independent.

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/parity/gf256.h"
#include "core/parity/parity.h"

namespace mdvol {
namespace {

using ExponentSet = std::bitset<256>;

ExponentSet MakeSet(std::span<const uint8_t> exponents) {
  ExponentSet set;
  for (const uint8_t e : exponents) {
    set[e] = true;
  }
  return set;
}

Located Locate(uint8_t delta_p, uint8_t delta_q, const ExponentSet& exponents) {
  if (delta_p == 0) {
    return {delta_q == 0 ? LocateVerdict::kGood : LocateVerdict::kQ};
  }
  if (delta_q == 0) {
    return {LocateVerdict::kP};
  }
  const uint32_t difference =
      gf256::kOrder + gf256::ExponentOf(delta_q) - gf256::ExponentOf(delta_p);
  const auto exponent = static_cast<uint8_t>(difference % gf256::kOrder);
  if (!exponents[exponent]) {
    return {LocateVerdict::kSeveral};
  }
  return {LocateVerdict::kData, exponent};
}

uint64_t Word(const std::byte* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

// The first position >= `from` with a syndrome that is not zero, or `length`.
size_t NextWrong(const std::byte* delta_p, const std::byte* delta_q, size_t from, size_t length) {
  size_t at = from;
  while (at + sizeof(uint64_t) <= length && (Word(delta_p + at) | Word(delta_q + at)) == 0) {
    at += sizeof(uint64_t);
  }
  while (at < length && (delta_p[at] | delta_q[at]) == std::byte{0}) {
    ++at;
  }
  return at;
}

}  // namespace

Located LocateByte(uint8_t delta_p, uint8_t delta_q, std::span<const uint8_t> exponents) {
  return Locate(delta_p, delta_q, MakeSet(exponents));
}

Located LocateBlock(const std::byte* delta_p, const std::byte* delta_q, size_t length,
                    std::span<const uint8_t> exponents) {
  const ExponentSet set = MakeSet(exponents);
  Located verdict;
  for (size_t at = NextWrong(delta_p, delta_q, 0, length); at < length;
       at = NextWrong(delta_p, delta_q, at + 1, length)) {
    const Located here =
        Locate(std::to_integer<uint8_t>(delta_p[at]), std::to_integer<uint8_t>(delta_q[at]), set);
    if (verdict.verdict == LocateVerdict::kGood) {
      verdict = here;
    } else if (verdict != here) {
      return {LocateVerdict::kSeveral};
    }
    if (verdict.verdict == LocateVerdict::kSeveral) {
      return verdict;
    }
  }
  return verdict;
}

}  // namespace mdvol
