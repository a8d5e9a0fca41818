// See kernels.h. Which of ISA-L's functions does what, and why:
//
//   pq_gen, xor_gen        the fastest by two and more (no multiplication tables: Horner's rule, or
//                          none at all), but they want 32-byte alignment and at least two sources,
//                          and pq_gen wants whole 32 bytes and every exponent from 0 up
//   ec_encode_data_update  one source into one or two targets, any alignment; documented to
//                          accumulate in place; piecewise it beats ec_encode_data over all sources
//   ec_encode_data         a product that does not accumulate
//
// Tables for ec_* are made by ec_init_tables for exactly the (sources, targets) that they are used
// with: their inner form belongs to ISA-L and differs between its versions and machines.

#include "core/parity/kernels.h"

#include <isa-l/erasure_code.h>
#include <isa-l/raid.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <array>
#include <cstring>

#include "core/base/check.h"
#include "core/parity/gf256.h"

namespace mdvol::kernels {
namespace {

constexpr size_t kMaxSources = 256;
constexpr size_t kVectorBytes = 32;  // alignment and granularity of pq_gen
// ISA-L's lengths are ints; a power of two keeps every piece but the last a whole number of
// vectors.
constexpr size_t kMaxCallBytes = size_t{1} << 30;
constexpr size_t kTableBytes = 32;  // per coefficient, at most

struct alignas(64) CoefficientTables {
  std::array<uint8_t, kTableBytes> single;    // one target: g^e
  std::array<uint8_t, 2 * kTableBytes> pair;  // two targets: 1, g^e
};

using AllTables = std::array<CoefficientTables, gf256::kOrder>;

const CoefficientTables& TablesOf(uint32_t e) {
  static const AllTables tables = [] {
    AllTables made;
    for (uint32_t i = 0; i < gf256::kOrder; ++i) {
      std::array<uint8_t, 2> coefficients = {1, gf256::PowerOfG(i)};
      ec_init_tables(1, 1, &coefficients[1], made[i].single.data());
      ec_init_tables(1, 2, coefficients.data(), made[i].pair.data());
    }
    return made;
  }();
  MDVOL_CHECK(e < gf256::kOrder);
  return tables[e];
}

// ISA-L takes what it only reads as non-const, too.
uint8_t* Mutable(const uint8_t* bytes) { return const_cast<uint8_t*>(bytes); }
uint8_t* Mutable(const std::byte* bytes) {
  return const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(bytes));
}

bool IsVectorAligned(const void* address) {
  return reinterpret_cast<uintptr_t>(address) % kVectorBytes == 0;
}

// Some of ISA-L's pq_gen and xor_gen store past the cache, which x86 orders with nothing else.
void OrderStores() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

// Calls function(offset, piece length) for [0, length) in pieces of at most `piece_bytes`.
template <typename Function>
void ForEachPiece(size_t length, size_t piece_bytes, Function function) {
  for (size_t offset = 0; offset < length; offset += piece_bytes) {
    function(offset, std::min(piece_bytes, length - offset));
  }
}

// xor_gen: two sources or more, all aligned.
void SumAligned(std::span<const std::byte* const> sources, std::byte* target, size_t length) {
  std::array<void*, kMaxSources + 1> vectors;
  ForEachPiece(length, kMaxCallBytes, [&](size_t offset, size_t piece) {
    size_t count = 0;
    for (const std::byte* const source : sources) {
      vectors[count++] = Mutable(source + offset);
    }
    vectors[count++] = target + offset;
    const int failed = xor_gen(static_cast<int>(count), static_cast<int>(piece), vectors.data());
    MDVOL_CHECK(failed == 0);
  });
  OrderStores();
}

// Stands for every absent source of pq_gen.
alignas(64) constexpr std::array<std::byte, kPieceBytes> kZeroPiece{};

// Whether pq_gen takes these addresses and is the faster way: where most sources are absent,
// summing up zeroes in their stead costs more than it saves.
bool WantsPqGen(std::span<const std::byte* const> sources, const std::byte* p, const std::byte* q) {
  const auto absent = static_cast<size_t>(std::count(sources.begin(), sources.end(), nullptr));
  return sources.size() >= 2 && absent * 2 <= sources.size() && IsVectorAligned(p) &&
         IsVectorAligned(q) && std::all_of(sources.begin(), sources.end(), IsVectorAligned);
}

// P and Q of the whole vectors in [0, length) by pq_gen. Returns where they end: the caller does
// the rest.
size_t GeneratePqAligned(std::span<const std::byte* const> sources, std::byte* p, std::byte* q,
                         size_t length) {
  const size_t vectors_bytes = length - length % kVectorBytes;
  const bool has_gaps = std::find(sources.begin(), sources.end(), nullptr) != sources.end();
  std::array<void*, kMaxSources + 2> vectors;
  ForEachPiece(
      vectors_bytes, has_gaps ? kPieceBytes : kMaxCallBytes, [&](size_t offset, size_t piece) {
        size_t count = 0;
        for (const std::byte* const source : sources) {
          vectors[count++] = Mutable(source == nullptr ? kZeroPiece.data() : source + offset);
        }
        vectors[count++] = p + offset;
        vectors[count++] = q + offset;
        const int failed = pq_gen(static_cast<int>(count), static_cast<int>(piece), vectors.data());
        MDVOL_CHECK(failed == 0);
      });
  OrderStores();
  return vectors_bytes;
}

// P and Q of [offset, offset + length), one source after the other.
void AccumulatePq(std::span<const std::byte* const> sources, std::byte* p, std::byte* q,
                  size_t offset, size_t length) {
  std::memset(p + offset, 0, length);
  std::memset(q + offset, 0, length);
  for (uint32_t e = 0; e < sources.size(); ++e) {
    if (sources[e] != nullptr) {
      MultiplyAddPq(e, sources[e] + offset, p + offset, q + offset, length);
    }
  }
}

void AccumulateQ(std::span<const std::byte* const> sources, std::byte* q, size_t offset,
                 size_t length) {
  std::memset(q + offset, 0, length);
  for (uint32_t e = 0; e < sources.size(); ++e) {
    if (sources[e] != nullptr) {
      MultiplyAdd(e, sources[e] + offset, q + offset, length);
    }
  }
}

}  // namespace

void MultiplyAdd(uint32_t e, const std::byte* source, std::byte* target, size_t length) {
  uint8_t* const table = Mutable(TablesOf(e).single.data());
  ForEachPiece(length, kMaxCallBytes, [&](size_t offset, size_t piece) {
    uint8_t* targets[] = {Mutable(target + offset)};
    ec_encode_data_update(static_cast<int>(piece), 1, 1, 0, table, Mutable(source + offset),
                          targets);
  });
}

void MultiplyAddPq(uint32_t e, const std::byte* source, std::byte* p, std::byte* q, size_t length) {
  uint8_t* const table = Mutable(TablesOf(e).pair.data());
  ForEachPiece(length, kMaxCallBytes, [&](size_t offset, size_t piece) {
    uint8_t* targets[] = {Mutable(p + offset), Mutable(q + offset)};
    ec_encode_data_update(static_cast<int>(piece), 1, 2, 0, table, Mutable(source + offset),
                          targets);
  });
}

void Multiply(uint32_t e, const std::byte* source, std::byte* target, size_t length) {
  uint8_t* const table = Mutable(TablesOf(e).single.data());
  ForEachPiece(length, kMaxCallBytes, [&](size_t offset, size_t piece) {
    uint8_t* sources[] = {Mutable(source + offset)};
    uint8_t* targets[] = {Mutable(target + offset)};
    ec_encode_data(static_cast<int>(piece), 1, 1, table, sources, targets);
  });
}

void Sum(std::span<const std::byte* const> sources, std::byte* target, size_t length) {
  MDVOL_CHECK(sources.size() <= kMaxSources);
  if (length == 0) {
    return;
  }
  std::array<const std::byte*, kMaxSources> present;
  const auto end = std::remove_copy(sources.begin(), sources.end(), present.begin(), nullptr);
  const std::span<const std::byte* const> terms(present.begin(), end);
  if (terms.empty()) {
    std::memset(target, 0, length);
  } else if (terms.size() >= 2 && IsVectorAligned(target) &&
             std::all_of(terms.begin(), terms.end(), IsVectorAligned)) {
    SumAligned(terms, target, length);
  } else {
    ForEachPiece(length, kPieceBytes, [&](size_t offset, size_t piece) {
      std::memcpy(target + offset, terms.front() + offset, piece);
      for (const std::byte* const term : terms.subspan(1)) {
        MultiplyAdd(0, term + offset, target + offset, piece);
      }
    });
  }
}

void Generate(std::span<const std::byte* const> sources, std::byte* p, std::byte* q,
              size_t length) {
  MDVOL_CHECK(sources.size() <= gf256::kOrder);
  if (q == nullptr) {
    if (p != nullptr) {
      Sum(sources, p, length);
    }
    return;
  }
  size_t done = 0;
  if (p != nullptr && WantsPqGen(sources, p, q)) {
    done = GeneratePqAligned(sources, p, q, length);
  }
  ForEachPiece(length - done, kPieceBytes, [&](size_t offset, size_t piece) {
    if (p != nullptr) {
      AccumulatePq(sources, p, q, done + offset, piece);
    } else {
      AccumulateQ(sources, q, done + offset, piece);
    }
  });
}

}  // namespace mdvol::kernels
