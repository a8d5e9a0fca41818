// See parity.h: recovering lost blocks.
//
// Let dP and dQ be stored parity ^ parity of the surviving data. With data blocks a and b lost:
//
//   dP = Da + Db,  dQ = g^a Da + g^b Db   =>   Db = (dQ + g^a dP) / (g^a + g^b),  Da = Db + dP
//
// With one data block and one parity lost, dP or dQ alone gives the data block, and it completes
// the recomputed other parity. Each step below is one block operation of kernels.h, piece by piece,
// so that all but the first find their input in the first-level cache.

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/parity/gf256.h"
#include "core/parity/kernels.h"
#include "core/parity/parity.h"

namespace mdvol {
namespace {

using kernels::kPieceBytes;
using Sources = std::array<const std::byte*, gf256::kOrder>;

struct LostData {
  uint32_t exponent = 0;
  std::byte* bytes = nullptr;
};

// What was handed in to Recover(), sorted by kind.
struct Codeword {
  Sources data{};        // by exponent; null where lost or zero
  size_t data_size = 0;  // one more than the largest surviving exponent
  const std::byte* p = nullptr;
  const std::byte* q = nullptr;
  bool has_p = false;
  bool has_q = false;
  std::array<LostData, 2> lost_data;
  size_t lost_data_count = 0;
  std::byte* lost_p = nullptr;
  std::byte* lost_q = nullptr;

  std::span<const std::byte* const> Data() const { return std::span(data).first(data_size); }
};

// Each block of a codeword may be named once.
class NamedBlocks {
 public:
  // False when `id` was named before or does not exist.
  bool Add(BlockId id) {
    if (id.kind == BlockKind::kData && id.exponent >= gf256::kOrder) {
      return false;
    }
    const size_t index = id.kind == BlockKind::kP   ? gf256::kOrder
                         : id.kind == BlockKind::kQ ? gf256::kOrder + 1
                                                    : id.exponent;
    if (seen_[index]) {
      return false;
    }
    seen_[index] = true;
    return true;
  }

 private:
  std::bitset<gf256::kOrder + 2> seen_;
};

void AddSurvivor(const ConstBlock& block, Codeword* codeword) {
  switch (block.id.kind) {
    case BlockKind::kData:
      codeword->data[block.id.exponent] = block.bytes;
      codeword->data_size = std::max(codeword->data_size, size_t{block.id.exponent} + 1);
      break;
    case BlockKind::kP:
      codeword->p = block.bytes;
      codeword->has_p = true;
      break;
    case BlockKind::kQ:
      codeword->q = block.bytes;
      codeword->has_q = true;
      break;
  }
}

void AddLost(const MutableBlock& block, Codeword* codeword) {
  switch (block.id.kind) {
    case BlockKind::kData:
      codeword->lost_data[codeword->lost_data_count++] = {block.id.exponent, block.bytes};
      break;
    case BlockKind::kP:
      codeword->lost_p = block.bytes;
      break;
    case BlockKind::kQ:
      codeword->lost_q = block.bytes;
      break;
  }
}

bool Sort(std::span<const ConstBlock> survivors, std::span<const MutableBlock> lost,
          Codeword* codeword) {
  if (lost.size() > 2) {
    return false;
  }
  NamedBlocks named;
  for (const ConstBlock& block : survivors) {
    if (!named.Add(block.id)) {
      return false;
    }
    AddSurvivor(block, codeword);
  }
  for (const MutableBlock& block : lost) {
    if (!named.Add(block.id)) {
      return false;
    }
    AddLost(block, codeword);
  }
  // A parity that is there is an equation for one lost data block.
  return codeword->lost_data_count <= (codeword->has_p ? 1u : 0u) + (codeword->has_q ? 1u : 0u);
}

// Holds an intermediate result, or a block that nobody wants.
struct alignas(64) Scratch {
  std::array<std::byte, kPieceBytes> bytes;
};

// One piece of a codeword: [offset, offset + length) of every block, at most kPieceBytes.
class Piece {
 public:
  Piece(const Codeword& codeword, size_t offset, size_t length)
      : codeword_(codeword), offset_(offset), length_(length) {
    for (size_t e = 0; e < codeword.data_size; ++e) {
      const std::byte* const bytes = codeword.data[e];
      data_[e] = bytes == nullptr ? nullptr : bytes + offset;
    }
  }

  void SolveTwoData() {
    const LostData& a = codeword_.lost_data[0];
    const LostData& b = codeword_.lost_data[1];
    std::byte* const block_a = OutputOr(a.bytes, &unwanted_);
    std::byte* const block_b = OutputOr(b.bytes, &unwanted_);
    std::byte* const delta_p = block_a;
    std::byte* const delta_q = temporary_.bytes.data();
    Generate(delta_p, delta_q);
    AddTo(delta_p, codeword_.p);
    AddTo(delta_q, codeword_.q);
    kernels::MultiplyAdd(a.exponent, delta_p, delta_q, length_);
    const uint8_t sum = gf256::PowerOfG(a.exponent) ^ gf256::PowerOfG(b.exponent);
    kernels::Multiply(gf256::InverseExponent(gf256::ExponentOf(sum)), delta_q, block_b, length_);
    if (a.bytes != nullptr) {
      kernels::MultiplyAdd(0, block_b, block_a, length_);
    }
  }

  // One data block from P; Q, lost as well, is wanted.
  void SolveDataAndQ() {
    const LostData& lost = codeword_.lost_data[0];
    std::byte* const block = OutputOr(lost.bytes, &unwanted_);
    std::byte* const q = codeword_.lost_q + offset_;
    Generate(block, q);
    AddTo(block, codeword_.p);
    kernels::MultiplyAdd(lost.exponent, block, q, length_);
  }

  // One data block from Q; P is lost or just not there, and perhaps wanted.
  void SolveDataAndP() {
    const LostData& lost = codeword_.lost_data[0];
    std::byte* const block = OutputOr(lost.bytes, &unwanted_);
    std::byte* const p = codeword_.lost_p == nullptr ? nullptr : codeword_.lost_p + offset_;
    std::byte* const delta_q = temporary_.bytes.data();
    Generate(p, delta_q);
    AddTo(delta_q, codeword_.q);
    kernels::Multiply(gf256::InverseExponent(lost.exponent), delta_q, block, length_);
    if (p != nullptr) {
      kernels::MultiplyAdd(0, block, p, length_);
    }
  }

 private:
  std::byte* OutputOr(std::byte* output, Scratch* scratch) const {
    return output == nullptr ? scratch->bytes.data() : output + offset_;
  }

  void Generate(std::byte* p, std::byte* q) const {
    kernels::Generate(std::span(data_).first(codeword_.data_size), p, q, length_);
  }

  void AddTo(std::byte* target, const std::byte* block) const {
    if (block != nullptr) {
      kernels::MultiplyAdd(0, block + offset_, target, length_);
    }
  }

  const Codeword& codeword_;
  size_t offset_;
  size_t length_;
  Sources data_;
  Scratch temporary_;
  Scratch unwanted_;
};

// The lost data block from P alone, which is a plain sum.
void SolveDataFromP(const Codeword& codeword, size_t length) {
  std::array<const std::byte*, gf256::kOrder + 1> terms;
  const auto end = std::copy_n(codeword.data.begin(), codeword.data_size, terms.begin());
  *end = codeword.p;
  kernels::Sum(std::span(terms).first(codeword.data_size + 1), codeword.lost_data[0].bytes, length);
}

void ForEachPiece(const Codeword& codeword, size_t length, void (Piece::*solve)()) {
  for (size_t offset = 0; offset < length; offset += kPieceBytes) {
    Piece piece(codeword, offset, std::min(kPieceBytes, length - offset));
    (piece.*solve)();
  }
}

void Solve(const Codeword& codeword, size_t length) {
  const std::byte* const lost_data = codeword.lost_data[0].bytes;
  switch (codeword.lost_data_count) {
    case 0:
      kernels::Generate(codeword.Data(), codeword.lost_p, codeword.lost_q, length);
      return;
    case 1:
      if (!codeword.has_p) {
        ForEachPiece(codeword, length, &Piece::SolveDataAndP);
      } else if (codeword.lost_q != nullptr) {
        ForEachPiece(codeword, length, &Piece::SolveDataAndQ);
      } else if (lost_data != nullptr) {
        SolveDataFromP(codeword, length);
      }
      return;
    default:
      ForEachPiece(codeword, length, &Piece::SolveTwoData);
  }
}

}  // namespace

bool Recover(std::span<const ConstBlock> survivors, std::span<const MutableBlock> lost,
             size_t length) {
  Codeword codeword;
  if (!Sort(survivors, lost, &codeword)) {
    return false;
  }
  Solve(codeword, length);
  return true;
}

}  // namespace mdvol
