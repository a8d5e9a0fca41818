// CRC-32C (Castagnoli, polynomial 0x1edc6f41, reflected), as md's write journal uses it: the raw
// register goes in and comes out, nothing is inverted at either end. The usual CRC-32C of a message
// is ~Crc32c(~0, message). Pure, safe from any thread; ISA-L does the work.

#ifndef MDVOL_CORE_PARITY_CRC32C_H_
#define MDVOL_CORE_PARITY_CRC32C_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace mdvol {

// Crc32c(Crc32c(seed, a), b) is the CRC of a followed by b.
uint32_t Crc32c(uint32_t seed, std::span<const std::byte> bytes);

}  // namespace mdvol

#endif  // MDVOL_CORE_PARITY_CRC32C_H_
