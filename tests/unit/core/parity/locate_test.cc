// LocateByte and LocateBlock: every single wrong block with every error byte is named exactly, two
// wrong blocks never pass for good ones.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/parity/parity.h"
#include "gtest/gtest.h"
#include "tests/support/full.h"
#include "tests/support/oracle/field.h"
#include "tests/support/seed.h"
#include "tests/unit/core/parity/codeword.h"

namespace mdvol {
namespace {

namespace oracle = testing::oracle;
using testing::Exponents;
using testing::ExponentSets;
using testing::Prng;

// What a wrong block adds to the two syndromes: an error byte times its column of the code.
struct Column {
  BlockId id;
  uint8_t p;
  uint8_t q;
};

std::vector<Column> ColumnsOf(const Exponents& exponents) {
  std::vector<Column> columns = {{{BlockKind::kP}, 1, 0}, {{BlockKind::kQ}, 0, 1}};
  for (const uint8_t e : exponents) {
    columns.push_back({{BlockKind::kData, e}, 1, oracle::PowerOfTwo(e)});
  }
  return columns;
}

Located NameOf(BlockId id) {
  switch (id.kind) {
    case BlockKind::kP:
      return {LocateVerdict::kP};
    case BlockKind::kQ:
      return {LocateVerdict::kQ};
    case BlockKind::kData:
      break;
  }
  return {LocateVerdict::kData, id.exponent};
}

std::vector<Exponents> SetsToTry() {
  std::vector<Exponents> sets;
  for (const uint32_t members : {4u, 5u, 6u, 7u, 8u, 12u}) {
    for (const Exponents& exponents : ExponentSets(members)) {
      sets.push_back(exponents);
    }
  }
  for (const uint32_t members : {36u, 128u, 255u}) {
    const auto of_size = ExponentSets(members);
    sets.push_back(of_size.front());
    sets.push_back(of_size.back());
  }
  return sets;
}

TEST(LocateByteTest, NamesEverySingleWrongBlockForEveryError) {
  for (const Exponents& exponents : SetsToTry()) {
    // Of large arrays every seventh error, another choice for each block.
    const unsigned step = exponents.size() <= 34 || testing::FullRun() ? 1 : 7;
    unsigned first = 1;
    for (const Column& column : ColumnsOf(exponents)) {
      first = first % step + 1;
      for (unsigned error = first; error < 256; error += step) {
        const auto byte = static_cast<uint8_t>(error);
        ASSERT_EQ(
            LocateByte(oracle::Product(column.p, byte), oracle::Product(column.q, byte), exponents),
            NameOf(column.id))
            << exponents.size() << " data blocks, exponent " << unsigned{column.id.exponent};
      }
    }
    ASSERT_EQ(LocateByte(0, 0, exponents), Located{});
  }
}

TEST(LocateByteTest, NeverTakesTwoWrongBlocksForGoodOnesNorNamesOneOfThem) {
  for (const Exponents& exponents : {Exponents{0, 1}, Exponents{0, 1, 2, 3}, Exponents{0, 3, 4}}) {
    const std::vector<Column> columns = ColumnsOf(exponents);
    for (size_t a = 0; a < columns.size(); ++a) {
      for (size_t b = 0; b < a; ++b) {
        for (unsigned errors = 0; errors < 65536; ++errors) {
          const auto x = static_cast<uint8_t>(errors >> 8);
          const auto y = static_cast<uint8_t>(errors & 0xff);
          if (x == 0 || y == 0) {
            continue;
          }
          const auto delta_p = static_cast<uint8_t>(oracle::Product(columns[a].p, x) ^
                                                    oracle::Product(columns[b].p, y));
          const auto delta_q = static_cast<uint8_t>(oracle::Product(columns[a].q, x) ^
                                                    oracle::Product(columns[b].q, y));
          const Located located = LocateByte(delta_p, delta_q, exponents);
          ASSERT_NE(located.verdict, LocateVerdict::kGood);
          ASSERT_NE(located, NameOf(columns[a].id));
          ASSERT_NE(located, NameOf(columns[b].id));
        }
      }
    }
  }
}

TEST(LocateByteTest, KnowsOnlyTheBlocksThatArePresent) {
  for (unsigned e = 0; e < 255; ++e) {
    Exponents others;
    for (unsigned other = 0; other < 255; ++other) {
      if (other != e) {
        others.push_back(static_cast<uint8_t>(other));
      }
    }
    ASSERT_EQ(LocateByte(1, oracle::PowerOfTwo(e), others), Located{LocateVerdict::kSeveral}) << e;
    ASSERT_EQ(LocateByte(1, oracle::PowerOfTwo(e), {}), Located{LocateVerdict::kSeveral}) << e;
  }
  EXPECT_EQ(LocateByte(1, 0, {}), Located{LocateVerdict::kP});
  EXPECT_EQ(LocateByte(0, 1, {}), Located{LocateVerdict::kQ});
}

class LocateBlockTest : public ::testing::Test {
 protected:
  static constexpr size_t kLength = 517;

  void Add(const Column& column, size_t at, uint8_t error) {
    delta_p_[at] ^= std::byte{oracle::Product(column.p, error)};
    delta_q_[at] ^= std::byte{oracle::Product(column.q, error)};
  }

  Located Locate(size_t begin = 0, size_t length = kLength) const {
    return LocateBlock(delta_p_.data() + begin, delta_q_.data() + begin, length, exponents_);
  }

  void Clear() {
    delta_p_.assign(kLength, std::byte{0});
    delta_q_.assign(kLength, std::byte{0});
  }

  Exponents exponents_ = {0, 1, 2, 3, 6, 7};
  std::vector<Column> columns_ = ColumnsOf(exponents_);
  std::vector<std::byte> delta_p_ = std::vector<std::byte>(kLength);
  std::vector<std::byte> delta_q_ = std::vector<std::byte>(kLength);
};

TEST_F(LocateBlockTest, IsGoodWithoutErrorsAndWithoutBytes) {
  EXPECT_EQ(Locate(), Located{});
  EXPECT_EQ(Locate(0, 0), Located{});
}

TEST_F(LocateBlockTest, NamesABlockWithOneWrongByteAnywhere) {
  for (const Column& column : columns_) {
    for (size_t at = 0; at < kLength; ++at) {
      Clear();
      Add(column, at, static_cast<uint8_t>(1 + at % 255));
      ASSERT_EQ(Locate(), NameOf(column.id)) << at;
      // At any alignment, and with the wrong byte just outside.
      ASSERT_EQ(Locate(at / 2, kLength - at / 2), NameOf(column.id)) << at;
      ASSERT_EQ(Locate(at + 1, kLength - at - 1), Located{}) << at;
      ASSERT_EQ(Locate(0, at), Located{}) << at;
      ASSERT_EQ(Locate(at, 1), NameOf(column.id)) << at;
    }
  }
}

TEST_F(LocateBlockTest, NamesABlockThatIsWrongInManyBytes) {
  Prng prng(testing::TestSeed("LocateBlockMany"));
  for (const Column& column : columns_) {
    for (const uint64_t rarity : {1u, 2u, 30u}) {
      Clear();
      Add(column, 0, 0x80);
      for (size_t at = 1; at < kLength; ++at) {
        if (prng.OneIn(rarity)) {
          Add(column, at, static_cast<uint8_t>(prng.Below(256)));
        }
      }
      ASSERT_EQ(Locate(), NameOf(column.id));
    }
  }
}

TEST_F(LocateBlockTest, CallsItSeveralWhenPositionsPointToDifferentBlocks) {
  Prng prng(testing::TestSeed("LocateBlockSeveral"));
  for (size_t a = 0; a < columns_.size(); ++a) {
    for (size_t b = 0; b < columns_.size(); ++b) {
      if (a == b) {
        continue;
      }
      for (int round = 0; round < 40; ++round) {
        Clear();
        const size_t first = prng.Below(kLength);
        const size_t second = (first + 1 + prng.Below(kLength - 1)) % kLength;
        Add(columns_[a], first, static_cast<uint8_t>(prng.Between(1, 255)));
        Add(columns_[b], second, static_cast<uint8_t>(prng.Between(1, 255)));
        ASSERT_EQ(Locate(), Located{LocateVerdict::kSeveral});
      }
    }
  }
}

TEST_F(LocateBlockTest, CallsItSeveralWhenOnePositionFitsNoBlock) {
  for (const size_t at : {size_t{0}, size_t{8}, size_t{13}, kLength - 1}) {
    Clear();
    delta_p_[at] = std::byte{1};
    delta_q_[at] = std::byte{oracle::PowerOfTwo(5)};  // no block has this exponent
    EXPECT_EQ(Locate(), Located{LocateVerdict::kSeveral});
    Add(columns_[2], (at + 100) % kLength, 1);
    EXPECT_EQ(Locate(), Located{LocateVerdict::kSeveral});
  }
}

}  // namespace
}  // namespace mdvol
