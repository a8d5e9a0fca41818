// See crc32c.h.

#include "core/parity/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>

namespace mdvol {

uint32_t Crc32c(uint32_t seed, std::span<const std::byte> bytes) {
  constexpr size_t kMostBytes = size_t{1} << 30;  // ISA-L counts in int
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(bytes.size(), kMostBytes));
    // ISA-L reads only; its signature merely lacks the const.
    auto* begin = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(part.data()));
    seed = crc32_iscsi(begin, static_cast<int>(part.size()), seed);
    bytes = bytes.subspan(part.size());
  }
  return seed;
}

}  // namespace mdvol
