// Recover: every loss of one or two blocks, in all exponent sets of real arrays, at every
// alignment; what need not be handed in or written; and what must be refused.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/parity/parity.h"
#include "gtest/gtest.h"
#include "tests/support/seed.h"
#include "tests/unit/core/parity/codeword.h"

namespace mdvol {
namespace {

using testing::Exponents;
using testing::ExponentSets;
using testing::GuardedBlock;
using testing::kLengths;
using testing::Prng;
using testing::TestCodeword;

constexpr std::byte kStale{0xee};

using Loss = std::vector<size_t>;  // indices into a TestCodeword

std::vector<Loss> AllLosses(size_t blocks) {
  std::vector<Loss> losses;
  for (size_t a = 0; a < blocks; ++a) {
    losses.push_back({a});
    for (size_t b = 0; b < blocks; ++b) {  // both orders: `lost` may be in any
      if (b != a) {
        losses.push_back({a, b});
      }
    }
  }
  return losses;
}

// Recovers `lost` and compares. With `only`, one of two lost blocks is asked for.
void ExpectRecovers(const TestCodeword& codeword, const std::vector<ConstBlock>& survivors,
                    const Loss& lost, size_t alignment, const size_t* only = nullptr) {
  std::vector<GuardedBlock> outputs;
  std::vector<MutableBlock> wanted;
  for (const size_t index : lost) {
    outputs.emplace_back(codeword.length(), alignment);
    outputs.back().Fill(kStale);
    const bool is_wanted = only == nullptr || *only == index;
    wanted.push_back({codeword.id(index), is_wanted ? outputs.back().data() : nullptr});
  }
  ASSERT_TRUE(Recover(survivors, wanted, codeword.length()));
  for (size_t i = 0; i < lost.size(); ++i) {
    ASSERT_TRUE(outputs[i].GuardsHold());
    if (wanted[i].bytes != nullptr) {
      ASSERT_TRUE(std::ranges::equal(outputs[i].span(), codeword.block(lost[i]).span()))
          << "block " << lost[i];
    }
  }
}

// All ways to hand in one loss: everything that survives; one output only; a parity left out.
void ExpectRecoversInEveryForm(const TestCodeword& codeword, const Loss& lost, size_t alignment,
                               Prng* prng) {
  ASSERT_NO_FATAL_FAILURE(ExpectRecovers(codeword, codeword.AllBut(lost, prng), lost, alignment));
  if (lost.size() == 2) {
    for (const size_t only : lost) {
      ASSERT_NO_FATAL_FAILURE(
          ExpectRecovers(codeword, codeword.AllBut(lost, prng), lost, alignment, &only));
    }
    return;
  }
  for (const size_t parity : {codeword.p_index(), codeword.q_index()}) {
    if (parity != lost[0]) {
      const Loss absent = {lost[0], parity};
      ASSERT_NO_FATAL_FAILURE(
          ExpectRecovers(codeword, codeword.AllBut(absent, prng), lost, alignment));
    }
  }
}

TEST(RecoverTest, RecoversEveryLossInAllExponentSets) {
  Prng prng(testing::TestSeed("RecoverEveryLoss"));
  for (uint32_t members = 4; members <= 12; ++members) {
    for (const Exponents& exponents : ExponentSets(members)) {
      for (const size_t length : {size_t{0}, size_t{1}, size_t{33}, size_t{512}, size_t{4097}}) {
        const size_t alignment = prng.OneIn(2) ? 0 : prng.Below(64);
        const TestCodeword codeword(exponents, length, {alignment}, &prng);
        for (const Loss& lost : AllLosses(codeword.size())) {
          SCOPED_TRACE(::testing::Message()
                       << members << " members, length " << length << ", alignment " << alignment
                       << ", lost " << lost[0] << " " << lost.back());
          ASSERT_NO_FATAL_FAILURE(ExpectRecoversInEveryForm(codeword, lost, alignment, &prng));
        }
        ASSERT_TRUE(codeword.GuardsHold());
      }
    }
  }
}

TEST(RecoverTest, TakesEveryAlignmentAndLength) {
  Prng prng(testing::TestSeed("RecoverAlignments"));
  const std::vector<Exponents> sets = {{0, 1, 2}, {0, 3, 4}};
  for (size_t alignment = 0; alignment < 64; ++alignment) {
    for (const Exponents& exponents : sets) {
      for (const size_t length : kLengths) {
        // All blocks alike, or each at a place of its own.
        const TestCodeword alike(exponents, length, {alignment}, &prng);
        const TestCodeword mixed(exponents, length, {0, alignment, 0, prng.Below(64), 0}, &prng);
        for (const Loss& lost : AllLosses(alike.size())) {
          SCOPED_TRACE(::testing::Message() << "alignment " << alignment << ", length " << length
                                            << ", lost " << lost[0] << " " << lost.back());
          ASSERT_NO_FATAL_FAILURE(ExpectRecoversInEveryForm(alike, lost, alignment, &prng));
          ASSERT_NO_FATAL_FAILURE(ExpectRecoversInEveryForm(mixed, lost, prng.Below(64), &prng));
        }
      }
    }
  }
}

TEST(RecoverTest, TakesLargeArrays) {
  Prng prng(testing::TestSeed("RecoverLarge"));
  for (const uint32_t members : {36u, 128u, 255u}) {
    const std::vector<Exponents> sets = ExponentSets(members);
    for (int round = 0; round < 4; ++round) {
      const Exponents& exponents = sets[round == 0 ? 0 : prng.Below(sets.size())];
      const size_t alignment = round % 2 == 0 ? 0 : prng.Below(64);
      const TestCodeword codeword(exponents, 4096 + 65, {alignment}, &prng);
      std::vector<Loss> losses = AllLosses(codeword.size());
      std::ranges::shuffle(losses, prng);
      losses.resize(60);
      // And what a shuffle of so many pairs would miss.
      const size_t p = codeword.p_index();
      const size_t q = codeword.q_index();
      losses.insert(losses.end(), {{p}, {q}, {p, q}, {0}, {p - 1}, {0, p - 1}, {0, p}, {q, p - 1}});
      for (const Loss& lost : losses) {
        ASSERT_NO_FATAL_FAILURE(ExpectRecoversInEveryForm(codeword, lost, alignment, &prng))
            << members << " members, lost " << lost[0] << " " << lost.back();
      }
    }
  }
}

TEST(RecoverTest, TakesPairsOfAllExponents) {
  Prng prng(testing::TestSeed("RecoverExponentPairs"));
  Exponents exponents;
  for (unsigned e = 0; e < 255; ++e) {
    exponents.push_back(static_cast<uint8_t>(e));
  }
  const TestCodeword codeword(exponents, 32, {0}, &prng);
  for (size_t a = 0; a < exponents.size(); ++a) {
    const size_t b = (a + 1 + prng.Below(254)) % 255;
    ASSERT_NO_FATAL_FAILURE(ExpectRecovers(codeword, codeword.AllBut({a, b}, &prng), {a, b}, 0));
    ASSERT_NO_FATAL_FAILURE(ExpectRecovers(
        codeword, codeword.AllBut({a, codeword.p_index()}, &prng), {a, codeword.p_index()}, 0));
  }
}

// Blocks of zeroes may be left out or handed in as null, P and Q that are all zero as null.
TEST(RecoverTest, TakesZeroBlocksAsAbsentOrNull) {
  Prng prng(testing::TestSeed("RecoverZeroBlocks"));
  constexpr size_t kLength = 5001;
  for (int round = 0; round < 200; ++round) {
    TestCodeword codeword({0, 1, 2, 3, 4}, kLength, {prng.OneIn(2) ? size_t{0} : prng.Below(64)},
                          &prng);
    std::vector<bool> is_zero(codeword.size());
    for (size_t i = 0; i < codeword.p_index(); ++i) {
      is_zero[i] = round == 0 || prng.OneIn(2);
      if (is_zero[i]) {
        codeword.block(i).Fill(std::byte{0});
      }
    }
    GenerateParity(codeword.Data(), codeword.block(codeword.p_index()).data(),
                   codeword.block(codeword.q_index()).data(), kLength);
    for (size_t i = codeword.p_index(); i < codeword.size(); ++i) {
      is_zero[i] = std::ranges::all_of(codeword.block(i).span(),
                                       [](std::byte byte) { return byte == std::byte{0}; });
    }
    for (const Loss& lost : AllLosses(codeword.size())) {
      std::vector<ConstBlock> survivors;
      for (size_t i = 0; i < codeword.size(); ++i) {
        const bool may_be_absent = is_zero[i] && i < codeword.p_index();
        if (std::ranges::find(lost, i) == lost.end() && !(may_be_absent && prng.OneIn(2))) {
          survivors.push_back({codeword.id(i), is_zero[i] ? nullptr : codeword.block(i).data()});
        }
      }
      ASSERT_NO_FATAL_FAILURE(ExpectRecovers(codeword, survivors, lost, prng.Below(2) * 7))
          << "round " << round << ", lost " << lost[0] << " " << lost.back();
    }
  }
}

TEST(RecoverTest, DoesNothingWhenNothingIsLost) {
  Prng prng(testing::TestSeed("RecoverNothing"));
  const TestCodeword codeword({0, 1, 2}, 100, {0}, &prng);
  EXPECT_TRUE(Recover(codeword.AllBut({}, &prng), {}, 100));
  EXPECT_TRUE(Recover({}, {}, 100));
}

class RecoverRefusalTest : public ::testing::Test {
 protected:
  static constexpr size_t kLength = 128;

  // The codeword's blocks are D0..D3 (0..3), P (4) and Q (5).
  static std::vector<ConstBlock> Survivors(const std::vector<BlockId>& ids) {
    static const std::array<std::byte, kLength> bytes{};
    std::vector<ConstBlock> survivors;
    survivors.reserve(ids.size());
    for (const BlockId id : ids) {
      survivors.push_back({id, bytes.data()});
    }
    return survivors;
  }

  // Expects a refusal that leaves the outputs alone.
  static void ExpectRefused(const std::vector<BlockId>& survivors,
                            const std::vector<BlockId>& lost) {
    std::vector<GuardedBlock> outputs;
    std::vector<MutableBlock> wanted;
    for (const BlockId id : lost) {
      outputs.emplace_back(kLength, 0);
      outputs.back().Fill(kStale);
      wanted.push_back({id, outputs.back().data()});
    }
    EXPECT_FALSE(Recover(Survivors(survivors), wanted, kLength));
    for (const GuardedBlock& output : outputs) {
      EXPECT_TRUE(output.GuardsHold());
      EXPECT_TRUE(std::ranges::all_of(output.span(), [](std::byte b) { return b == kStale; }));
    }
  }
};

constexpr BlockId kD0{BlockKind::kData, 0};
constexpr BlockId kD1{BlockKind::kData, 1};
constexpr BlockId kD2{BlockKind::kData, 2};
constexpr BlockId kNoSuch{BlockKind::kData, 255};
constexpr BlockId kP{BlockKind::kP};
constexpr BlockId kQ{BlockKind::kQ};

TEST_F(RecoverRefusalTest, MoreThanTwoLost) {
  ExpectRefused({kP, kQ}, {kD0, kD1, kD2});
  ExpectRefused({kD1, kD2, kQ}, {kD0, kP, kQ});
  ExpectRefused({kD0, kD1, kD2}, {kP, kQ, kD0});
}

TEST_F(RecoverRefusalTest, TheNeededParityIsAbsent) {
  ExpectRefused({kD1, kD2}, {kD0});
  ExpectRefused({kD2, kP}, {kD0, kD1});
  ExpectRefused({kD2, kQ}, {kD0, kD1});
  ExpectRefused({kD2}, {kD0, kD1});
  ExpectRefused({kD1, kD2}, {kD0, kP});
  ExpectRefused({kD1, kD2}, {kD0, kQ});
}

TEST_F(RecoverRefusalTest, ABlockIsNamedTwice) {
  ExpectRefused({kD1, kD1, kP, kQ}, {kD0});
  ExpectRefused({kD1, kD2, kP, kP}, {kD0});
  ExpectRefused({kD1, kD2, kQ, kQ}, {kD0});
  ExpectRefused({kD0, kD1, kD2, kP, kQ}, {kD0});
  ExpectRefused({kD0, kD1, kP}, {kP});
  ExpectRefused({kD0, kD1, kQ}, {kQ});
  ExpectRefused({kD1, kD2, kP, kQ}, {kD0, kD0});
  ExpectRefused({kD0, kD1, kD2}, {kP, kP});
}

TEST_F(RecoverRefusalTest, AnExponentDoesNotExist) {
  ExpectRefused({kNoSuch, kD1, kP, kQ}, {kD0});
  ExpectRefused({kNoSuch, kD1, kQ}, {kD0});
  ExpectRefused({kD0, kD1, kP, kQ}, {kNoSuch});
  ExpectRefused({kD0, kD1, kQ}, {kNoSuch});
}

}  // namespace
}  // namespace mdvol
