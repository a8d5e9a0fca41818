// P and Q over GF(2^8): generate, update by difference, recover any one or two lost chunks, locate
// a single wrong one.
//
// The code: polynomial 0x11d, generator g = 2. For data chunks D with exponents e:
//
//   P = sum of D      Q = sum of g^e * D      (sums are XOR)
//
// Data, P and Q together are a codeword, and every byte position of it is a codeword of its own. So
// all functions work on any length at any alignment, and the blocks below may be chunks, lanes or
// any slice of them. Distinct exponents e < 255 have distinct g^e, hence any two blocks follow from
// the rest. Source: H. P. Anvin, "The mathematics of RAID-6".
//
// Fastest where every address is a multiple of 32 bytes; correct everywhere. Pure and thread-safe,
// nothing is allocated (at most 16 KiB of stack). A block whose `bytes` are null is a block of
// zeroes where it is read, and a block that nobody wants where it is written.

#ifndef MDVOL_CORE_PARITY_PARITY_H_
#define MDVOL_CORE_PARITY_PARITY_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace mdvol {

// What a block of a codeword is; a data block has an exponent.
enum class BlockKind : uint8_t { kData, kP, kQ };

struct BlockId {
  BlockKind kind = BlockKind::kData;
  uint8_t exponent = 0;  // meaningful for kData; 0..254
  friend bool operator==(const BlockId&, const BlockId&) = default;
};

struct ConstBlock {
  BlockId id;
  const std::byte* bytes = nullptr;
};

struct MutableBlock {
  BlockId id;
  std::byte* bytes = nullptr;
};

// Writes P and Q (either may be null: not wanted) of `data`, in any order of exponents; all must be
// data blocks and their exponents distinct, which is checked. Blocks that are absent count as zero.
// Outputs may not overlap inputs.
void GenerateParity(std::span<const ConstBlock> data, std::byte* p, std::byte* q, size_t length);

// Folds the change of one data block into P and Q (either may be null): P ^= delta, Q ^= g^exponent
// * delta. No two of the three may overlap.
void UpdateParity(uint8_t exponent, const std::byte* delta, std::byte* p, std::byte* q,
                  size_t length);

// out = a ^ b; out may be a or b, but not overlap them otherwise.
void XorBlocks(const std::byte* a, const std::byte* b, std::byte* out, size_t length);

// Computes the one or two blocks in `lost` from `survivors`. The survivors must be all other blocks
// of the codeword, but data blocks that are known to be zero may be left out, and for one lost
// block an unneeded parity: a lost data block needs P or Q (P is used when both are there); a lost
// P needs no Q and a lost Q needs no P. Survivor order is free. Outputs may not overlap inputs. To
// have only one of two lost blocks written, hand in the other with null `bytes`; that also saves
// its work.
//
// False, and nothing is written, when what was handed in is no such codeword (a caller's bug): more
// than two lost, the needed parity absent, the same block named twice, an exponent of 255.
bool Recover(std::span<const ConstBlock> survivors, std::span<const MutableBlock> lost,
             size_t length);

// Which single block explains what is wrong with a codeword; kSeveral when none does.
enum class LocateVerdict : uint8_t { kGood, kP, kQ, kData, kSeveral };

struct Located {
  LocateVerdict verdict = LocateVerdict::kGood;
  uint8_t exponent = 0;  // meaningful for kData, 0 otherwise
  friend bool operator==(const Located&, const Located&) = default;
};

// For one byte position. delta_p and delta_q: stored parity ^ parity recomputed from the data.
// `exponents` are those of the data blocks present. A single wrong block is named exactly. Two
// wrong blocks are never kGood, but may look like a third (the limit of the code).
Located LocateByte(uint8_t delta_p, uint8_t delta_q, std::span<const uint8_t> exponents);

// For a run of byte positions: the one verdict that explains all of them. Positions that point to
// different blocks make it kSeveral.
Located LocateBlock(const std::byte* delta_p, const std::byte* delta_q, size_t length,
                    std::span<const uint8_t> exponents);

}  // namespace mdvol

#endif  // MDVOL_CORE_PARITY_PARITY_H_
