// What the parity tests share: blocks at any alignment between bytes that must not change,
// codewords of random data with parity from the oracle, and the sets of exponents that occur in
// real arrays.
//
// Not thread-safe; each test owns its own.

#ifndef MDVOL_TESTS_UNIT_CORE_PARITY_CODEWORD_H_
#define MDVOL_TESTS_UNIT_CORE_PARITY_CODEWORD_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/aligned_buffer.h"
#include "core/parity/parity.h"
#include "tests/support/seed.h"

namespace mdvol::testing {

// `length` bytes whose address is `alignment` (0..63) beyond a multiple of 64, with guard bytes on
// both sides.
class GuardedBlock {
 public:
  GuardedBlock(size_t length, size_t alignment);

  std::byte* data() { return buffer_.data() + begin_; }
  const std::byte* data() const { return buffer_.data() + begin_; }
  std::span<std::byte> span() { return {data(), length_}; }
  std::span<const std::byte> span() const { return {data(), length_}; }

  void Fill(std::byte value);
  // Whether nothing was written outside of the block.
  bool GuardsHold() const;

 private:
  size_t length_;
  size_t begin_;
  AlignedBuffer buffer_;
};

// All sets of exponents of the stripes of an array with so many members: 0..n-3, and the DDF
// layouts' n sets with gaps where P and Q are. The first is 0..n-3.
using Exponents = std::vector<uint8_t>;
std::vector<Exponents> ExponentSets(uint32_t members);

// Random data blocks with the given exponents, then P, then Q, from the oracle.
class TestCodeword {
 public:
  // `alignments[i % size]` is that of block i.
  TestCodeword(const Exponents& exponents, size_t length, const std::vector<size_t>& alignments,
               Prng* prng);

  size_t size() const { return ids_.size(); }
  size_t length() const { return length_; }
  BlockId id(size_t i) const { return ids_[i]; }
  size_t p_index() const { return size() - 2; }
  size_t q_index() const { return size() - 1; }
  const GuardedBlock& block(size_t i) const { return blocks_[i]; }
  GuardedBlock& block(size_t i) { return blocks_[i]; }

  std::vector<ConstBlock> Data() const;
  // All blocks but those with the given indices, shuffled.
  std::vector<ConstBlock> AllBut(const std::vector<size_t>& lost, Prng* prng) const;
  bool GuardsHold() const;

 private:
  size_t length_;
  std::vector<BlockId> ids_;
  std::vector<GuardedBlock> blocks_;
};

// Around the sizes at which vector code changes its ways.
inline const std::vector<size_t> kLengths = {0,   1,   31,  32,   33,   63,   64,  65,
                                             127, 511, 512, 4096, 4097, 8192, 9999};

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_UNIT_CORE_PARITY_CODEWORD_H_
