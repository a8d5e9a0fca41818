// Splitting a range of the volume into its chunks. Pure.

#ifndef MDVOL_CORE_STRIPE_CHUNKS_H_
#define MDVOL_CORE_STRIPE_CHUNKS_H_

#include <algorithm>
#include <cstdint>

#include "core/geometry/geometry.h"
#include "core/stripe/stripe_facts.h"

namespace mdvol {

// Calls visit(stripe, data_index, columns, offset in the request) for every chunk that the range
// touches, in volume order.
template <typename Visit>
void ForEachChunk(const ArrayGeometry& geometry, uint64_t offset_bytes, uint64_t length_bytes,
                  Visit visit) {
  uint64_t done = 0;
  while (done < length_bytes) {
    const uint64_t chunk_number = (offset_bytes + done) >> geometry.chunk_shift();
    const uint64_t begin = (offset_bytes + done) & (geometry.chunk_bytes() - 1);
    const uint64_t end = std::min(geometry.chunk_bytes(), begin + (length_bytes - done));
    visit(chunk_number / geometry.data_disks(),
          static_cast<uint32_t>(chunk_number % geometry.data_disks()), ColumnRange{begin, end},
          done);
    done += end - begin;
  }
}

}  // namespace mdvol

#endif  // MDVOL_CORE_STRIPE_CHUNKS_H_
