// The oracle for whole arrays: the members' data areas for given volume bytes, byte by byte, and
// back. For small arrays: everything is copied. Built on layout.h and field.h; shares nothing with
// core. Pure.

#ifndef MDVOL_TESTS_SUPPORT_ORACLE_ARRAY_H_
#define MDVOL_TESTS_SUPPORT_ORACLE_ARRAY_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mdvol::testing::oracle {

using Bytes = std::vector<std::byte>;

struct Shape {
  int layout_id = 2;
  unsigned members = 4;
  size_t chunk_bytes = 4096;
};

// P or Q of blocks of one length, with the exponent that each has; blocks may be none.
struct DataBlock {
  unsigned exponent = 0;
  std::span<const std::byte> bytes;
};
Bytes ParityP(std::span<const DataBlock> data, size_t length);
Bytes ParityQ(std::span<const DataBlock> data, size_t length);

// The data area of each member. `volume` must be whole stripes.
std::vector<Bytes> MembersOf(const Shape& shape, std::span<const std::byte> volume);

// The volume that the members hold, from their data chunks alone.
Bytes VolumeOf(const Shape& shape, const std::vector<Bytes>& members);

// The stripes whose P or Q is not that of their data, ascending.
std::vector<uint64_t> InconsistentStripes(const Shape& shape, const std::vector<Bytes>& members);

}  // namespace mdvol::testing::oracle

#endif  // MDVOL_TESTS_SUPPORT_ORACLE_ARRAY_H_
