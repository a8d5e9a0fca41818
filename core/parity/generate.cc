// See parity.h: generating parity and updating it. The work is done by kernels.h; here blocks in
// any order become an array by exponent, as the kernels take them.

#include <algorithm>
#include <array>
#include <cstring>

#include "core/base/check.h"
#include "core/parity/gf256.h"
#include "core/parity/kernels.h"
#include "core/parity/parity.h"

namespace mdvol {
namespace {

void CheckDistinctData(std::span<const ConstBlock> data) {
  std::array<bool, gf256::kOrder> seen{};
  for (const ConstBlock& block : data) {
    MDVOL_CHECK(block.id.kind == BlockKind::kData && block.id.exponent < gf256::kOrder);
    MDVOL_CHECK(!seen[block.id.exponent]);
    seen[block.id.exponent] = true;
  }
}

}  // namespace

void GenerateParity(std::span<const ConstBlock> data, std::byte* p, std::byte* q, size_t length) {
  CheckDistinctData(data);
  std::array<const std::byte*, gf256::kOrder> by_exponent{};
  size_t count = 0;
  for (const ConstBlock& block : data) {
    by_exponent[block.id.exponent] = block.bytes;
    count = std::max(count, size_t{block.id.exponent} + 1);
  }
  kernels::Generate(std::span(by_exponent).first(count), p, q, length);
}

void UpdateParity(uint8_t exponent, const std::byte* delta, std::byte* p, std::byte* q,
                  size_t length) {
  MDVOL_CHECK(exponent < gf256::kOrder);
  if (p != nullptr && q != nullptr) {
    kernels::MultiplyAddPq(exponent, delta, p, q, length);
  } else if (p != nullptr) {
    kernels::MultiplyAdd(0, delta, p, length);
  } else if (q != nullptr) {
    kernels::MultiplyAdd(exponent, delta, q, length);
  }
}

void XorBlocks(const std::byte* a, const std::byte* b, std::byte* out, size_t length) {
  if (a == b) {
    std::memset(out, 0, length);
  } else if (out == a) {
    kernels::MultiplyAdd(0, b, out, length);
  } else if (out == b) {
    kernels::MultiplyAdd(0, a, out, length);
  } else {
    kernels::Sum(std::array{a, b}, out, length);
  }
}

}  // namespace mdvol
