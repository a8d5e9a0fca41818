// See array.h.

#include "tests/support/oracle/array.h"

#include <algorithm>
#include <array>

#include "tests/support/oracle/field.h"
#include "tests/support/oracle/layout.h"

namespace mdvol::testing::oracle {
namespace {

// Calls function(stripe, row) for every stripe of members that hold `member_bytes` each.
template <typename Function>
void ForEachStripe(const Shape& shape, size_t member_bytes, Function function) {
  for (uint64_t stripe = 0; stripe * shape.chunk_bytes < member_bytes; ++stripe) {
    function(stripe, RowOf(shape.layout_id, shape.members, stripe));
  }
}

std::span<const std::byte> ChunkOf(const Shape& shape, const Bytes& member, uint64_t stripe) {
  return std::span(member).subspan(stripe * shape.chunk_bytes, shape.chunk_bytes);
}

struct Parities {
  Bytes p;
  Bytes q;
};

Parities ParitiesOf(const Shape& shape, const std::vector<Cell>& row,
                    const std::vector<Bytes>& members, uint64_t stripe) {
  std::vector<DataBlock> data;
  for (size_t slot = 0; slot < row.size(); ++slot) {
    if (row[slot].kind == 'D') {
      data.push_back({row[slot].exponent, ChunkOf(shape, members[slot], stripe)});
    }
  }
  return {ParityP(data, shape.chunk_bytes), ParityQ(data, shape.chunk_bytes)};
}

}  // namespace

Bytes ParityP(std::span<const DataBlock> data, size_t length) {
  Bytes p(length);
  for (const DataBlock& block : data) {
    for (size_t i = 0; i < length; ++i) {
      p[i] ^= block.bytes[i];
    }
  }
  return p;
}

Bytes ParityQ(std::span<const DataBlock> data, size_t length) {
  Bytes q(length);
  for (const DataBlock& block : data) {
    const uint8_t coefficient = PowerOfTwo(block.exponent);
    std::array<std::byte, 256> products;  // all of this block's: long blocks would take too long
    for (unsigned value = 0; value < products.size(); ++value) {
      products[value] = std::byte{Product(coefficient, static_cast<uint8_t>(value))};
    }
    for (size_t i = 0; i < length; ++i) {
      q[i] ^= products[std::to_integer<size_t>(block.bytes[i])];
    }
  }
  return q;
}

std::vector<Bytes> MembersOf(const Shape& shape, std::span<const std::byte> volume) {
  const size_t stripe_bytes = shape.chunk_bytes * (shape.members - 2);
  const size_t member_bytes = volume.size() / stripe_bytes * shape.chunk_bytes;
  std::vector<Bytes> members(shape.members, Bytes(member_bytes));
  ForEachStripe(shape, member_bytes, [&](uint64_t stripe, const std::vector<Cell>& row) {
    const size_t at = stripe * shape.chunk_bytes;
    for (size_t slot = 0; slot < row.size(); ++slot) {
      if (row[slot].kind == 'D') {
        const auto chunk = volume.subspan(
            stripe * stripe_bytes + row[slot].data_index * shape.chunk_bytes, shape.chunk_bytes);
        std::copy(chunk.begin(), chunk.end(), members[slot].begin() + static_cast<ptrdiff_t>(at));
      }
    }
    const Parities parities = ParitiesOf(shape, row, members, stripe);
    for (size_t slot = 0; slot < row.size(); ++slot) {
      if (row[slot].kind != 'D') {
        const Bytes& parity = row[slot].kind == 'P' ? parities.p : parities.q;
        std::copy(parity.begin(), parity.end(), members[slot].begin() + static_cast<ptrdiff_t>(at));
      }
    }
  });
  return members;
}

Bytes VolumeOf(const Shape& shape, const std::vector<Bytes>& members) {
  Bytes volume;
  ForEachStripe(shape, members[0].size(), [&](uint64_t stripe, const std::vector<Cell>& row) {
    for (unsigned k = 0; k + 2 < shape.members; ++k) {
      const auto holder = std::find_if(row.begin(), row.end(), [k](const Cell& cell) {
        return cell.kind == 'D' && cell.data_index == k;
      });
      const auto slot = static_cast<size_t>(holder - row.begin());
      const auto chunk = ChunkOf(shape, members[slot], stripe);
      volume.insert(volume.end(), chunk.begin(), chunk.end());
    }
  });
  return volume;
}

std::vector<uint64_t> InconsistentStripes(const Shape& shape, const std::vector<Bytes>& members) {
  std::vector<uint64_t> stripes;
  ForEachStripe(shape, members[0].size(), [&](uint64_t stripe, const std::vector<Cell>& row) {
    const Parities parities = ParitiesOf(shape, row, members, stripe);
    for (size_t slot = 0; slot < row.size(); ++slot) {
      const Bytes& parity = row[slot].kind == 'P' ? parities.p : parities.q;
      if (row[slot].kind != 'D' &&
          !std::ranges::equal(parity, ChunkOf(shape, members[slot], stripe))) {
        stripes.push_back(stripe);
        break;
      }
    }
  });
  return stripes;
}

}  // namespace mdvol::testing::oracle
