// The five block operations that all of core/parity is made of, over ISA-L. For core/parity only.
//
// ISA-L's terms stay in kernels.cc: its `int` lengths, its 32-byte alignment where it has one, its
// tables per coefficient. All operations take any length and any alignment. Blocks may not overlap
// unless said. Coefficients are given as exponents of g, e < 255.
//
// Threading: stateless but for tables that the first call builds (a local static, thread-safe);
// 32 KiB of them for all of the process. No allocation. What has been written is ordered for other
// threads as by ordinary stores, although ISA-L uses non-temporal ones on some machines.

#ifndef MDVOL_CORE_PARITY_KERNELS_H_
#define MDVOL_CORE_PARITY_KERNELS_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace mdvol::kernels {

// Blocks are worked on in pieces of this size where one result feeds the next step, so that it is
// still in the first-level cache.
inline constexpr size_t kPieceBytes = 4096;

// target ^= g^e * source.
void MultiplyAdd(uint32_t e, const std::byte* source, std::byte* target, size_t length);

// p ^= source and q ^= g^e * source, reading the source once.
void MultiplyAddPq(uint32_t e, const std::byte* source, std::byte* p, std::byte* q, size_t length);

// target = g^e * source.
void Multiply(uint32_t e, const std::byte* source, std::byte* target, size_t length);

// target = the sum of the sources, of which there may be none; at most 256. A null source is zero.
void Sum(std::span<const std::byte* const> sources, std::byte* target, size_t length);

// p = sum of sources[e], q = sum of g^e * sources[e]; either may be null: not wanted. At most 255
// sources, of which any may be null: zero.
void Generate(std::span<const std::byte* const> sources, std::byte* p, std::byte* q, size_t length);

}  // namespace mdvol::kernels

#endif  // MDVOL_CORE_PARITY_KERNELS_H_
