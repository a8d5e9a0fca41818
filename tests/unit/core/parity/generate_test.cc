// GenerateParity, UpdateParity and XorBlocks against the oracle: all exponent sets of real arrays,
// all alignments, lengths around the vectors' sizes.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/geometry/layout.h"
#include "core/parity/parity.h"
#include "gtest/gtest.h"
#include "tests/support/oracle/known_rows.h"
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

enum class Want { kBoth, kP, kQ };

void ExpectEqual(const GuardedBlock& actual, const GuardedBlock& expected) {
  ASSERT_TRUE(actual.GuardsHold());
  ASSERT_TRUE(std::ranges::equal(actual.span(), expected.span()));
}

void ExpectGenerates(const TestCodeword& codeword, std::vector<ConstBlock> data, Want want,
                     size_t alignment) {
  GuardedBlock p(codeword.length(), alignment);
  GuardedBlock q(codeword.length(), alignment);
  p.Fill(kStale);
  q.Fill(kStale);
  GenerateParity(data, want == Want::kQ ? nullptr : p.data(), want == Want::kP ? nullptr : q.data(),
                 codeword.length());
  if (want != Want::kQ) {
    ASSERT_NO_FATAL_FAILURE(ExpectEqual(p, codeword.block(codeword.p_index())));
  }
  if (want != Want::kP) {
    ASSERT_NO_FATAL_FAILURE(ExpectEqual(q, codeword.block(codeword.q_index())));
  }
  ASSERT_TRUE(codeword.GuardsHold());
}

TEST(GenerateParityTest, AgreesWithTheOracleForAllExponentsThatOccur) {
  Prng prng(testing::TestSeed("GenerateExponents"));
  for (uint32_t members = 4; members <= 12; ++members) {
    for (const Exponents& exponents : ExponentSets(members)) {
      for (const size_t length : kLengths) {
        const std::vector<size_t> alignments = {prng.OneIn(2) ? 0 : prng.Below(64)};
        const TestCodeword codeword(exponents, length, alignments, &prng);
        std::vector<ConstBlock> data = codeword.Data();
        std::ranges::shuffle(data, prng);
        for (const Want want : {Want::kBoth, Want::kP, Want::kQ}) {
          SCOPED_TRACE(::testing::Message() << members << " members, length " << length
                                            << ", alignment " << alignments[0]);
          ASSERT_NO_FATAL_FAILURE(ExpectGenerates(codeword, data, want, alignments[0]));
        }
      }
    }
  }
}

TEST(GenerateParityTest, TakesEveryAlignment) {
  Prng prng(testing::TestSeed("GenerateAlignments"));
  const std::vector<Exponents> sets = {{0, 1, 2, 3}, {0, 3, 4, 5}, {0, 1}, {7}};
  for (size_t alignment = 0; alignment < 64; ++alignment) {
    for (const Exponents& exponents : sets) {
      for (const size_t length : kLengths) {
        // All blocks alike; then one data block, or the outputs only, at an odd place.
        const std::vector<std::vector<size_t>> placements = {
            {alignment}, {0, alignment, 0, 0, 0, 0}, {0}};
        for (size_t i = 0; i < placements.size(); ++i) {
          const TestCodeword codeword(exponents, length, placements[i], &prng);
          const size_t output_alignment = i == 1 ? 0 : alignment;
          for (const Want want : {Want::kBoth, Want::kP, Want::kQ}) {
            SCOPED_TRACE(::testing::Message()
                         << "alignment " << alignment << ", length " << length);
            ASSERT_NO_FATAL_FAILURE(
                ExpectGenerates(codeword, codeword.Data(), want, output_alignment));
          }
        }
      }
    }
  }
}

TEST(GenerateParityTest, TakesLargeArrays) {
  Prng prng(testing::TestSeed("GenerateLarge"));
  for (const uint32_t members : {36u, 128u, 255u}) {
    const std::vector<Exponents> sets = ExponentSets(members);
    for (int round = 0; round < 3; ++round) {
      const Exponents& exponents = sets[round == 0 ? 0 : prng.Below(sets.size())];
      for (const size_t length : {size_t{33}, size_t{4096}, size_t{8193}}) {
        for (const size_t alignment : {size_t{0}, size_t{1} + prng.Below(63)}) {
          const TestCodeword codeword(exponents, length, {alignment}, &prng);
          for (const Want want : {Want::kBoth, Want::kP, Want::kQ}) {
            ASSERT_NO_FATAL_FAILURE(ExpectGenerates(codeword, codeword.Data(), want, alignment));
          }
        }
      }
    }
  }
}

TEST(GenerateParityTest, TakesAnyExponentUpTo254) {
  Prng prng(testing::TestSeed("GenerateAnyExponent"));
  for (unsigned e = 0; e < 255; ++e) {
    Exponents exponents = {static_cast<uint8_t>(e)};
    if (e > 100) {
      exponents.push_back(17);
    }
    const TestCodeword codeword(exponents, 96, {0}, &prng);
    ASSERT_NO_FATAL_FAILURE(ExpectGenerates(codeword, codeword.Data(), Want::kBoth, 0));
  }
}

TEST(GenerateParityTest, CountsAbsentAndNullBlocksAsZero) {
  Prng prng(testing::TestSeed("GenerateAbsent"));
  const Exponents all = {0, 1, 2, 3, 4, 5, 6, 7};
  for (unsigned present = 0; present < 256; ++present) {
    Exponents exponents;
    std::vector<ConstBlock> nulls;
    for (const uint8_t e : all) {
      if ((present >> e & 1) != 0) {
        exponents.push_back(e);
      } else if (prng.OneIn(2)) {
        nulls.push_back({{BlockKind::kData, e}, nullptr});
      }
    }
    for (const size_t alignment : {size_t{0}, size_t{5}}) {
      const TestCodeword codeword(exponents, 5000, {alignment}, &prng);
      std::vector<ConstBlock> data = codeword.Data();
      data.insert(data.end(), nulls.begin(), nulls.end());
      for (const Want want : {Want::kBoth, Want::kP, Want::kQ}) {
        ASSERT_NO_FATAL_FAILURE(ExpectGenerates(codeword, data, want, alignment)) << present;
      }
    }
  }
}

TEST(GenerateParityTest, WritesTheBytesThatTheKernelWrites) {
  constexpr size_t kChunk = 4096;
  for (const auto& known : testing::oracle::kSixMembers) {
    for (uint64_t stripe = 0; stripe < 6; ++stripe) {
      const StripeRoles roles(static_cast<Layout>(known.layout_id), 6, stripe);
      std::vector<GuardedBlock> chunks;
      std::vector<ConstBlock> data;
      for (uint32_t slot = 0; slot < 6; ++slot) {
        chunks.emplace_back(kChunk, 0);
        const ChunkRole role = roles.RoleOf(slot);
        if (role.kind == ChunkKind::kData) {
          chunks.back().Fill(std::byte{testing::oracle::kSixMemberData[role.data_index]});
          data.push_back({{BlockKind::kData, role.exponent}, chunks.back().data()});
        }
      }
      GenerateParity(data, chunks[roles.p_slot()].data(), chunks[roles.q_slot()].data(), kChunk);
      for (uint32_t slot = 0; slot < 6; ++slot) {
        const auto hex = std::string(known.rows[stripe].substr(size_t{2} * slot, 2));
        const auto expected = std::byte(std::stoul(hex, nullptr, 16));
        EXPECT_TRUE(std::ranges::all_of(chunks[slot].span(),
                                        [&](std::byte byte) { return byte == expected; }))
            << "layout " << known.layout_id << ", stripe " << stripe << ", slot " << slot;
      }
    }
  }
}

TEST(UpdateParityTest, EqualsGeneratingAnew) {
  Prng prng(testing::TestSeed("UpdateParity"));
  const std::vector<Exponents> sets = {{0, 1, 2, 3}, {0, 3, 4, 5}, {0, 253, 254}};
  for (const Exponents& exponents : sets) {
    for (size_t alignment = 0; alignment < 64; ++alignment) {
      for (const size_t length : kLengths) {
        TestCodeword before(exponents, length, {alignment, 0}, &prng);
        TestCodeword after(exponents, length, {0}, &prng);
        // One block differs: give the others of `after` the same bytes, with new parity.
        const size_t changed = prng.Below(exponents.size());
        for (size_t i = 0; i < exponents.size(); ++i) {
          if (i != changed) {
            std::ranges::copy(before.block(i).span(), after.block(i).data());
          }
        }
        GenerateParity(after.Data(), after.block(after.p_index()).data(),
                       after.block(after.q_index()).data(), length);

        GuardedBlock delta(length, prng.Below(64));
        XorBlocks(before.block(changed).data(), after.block(changed).data(), delta.data(), length);
        ASSERT_TRUE(delta.GuardsHold());
        GuardedBlock& p = before.block(before.p_index());
        GuardedBlock& q = before.block(before.q_index());
        if (prng.OneIn(2)) {
          UpdateParity(exponents[changed], delta.data(), p.data(), q.data(), length);
        } else {
          UpdateParity(exponents[changed], delta.data(), p.data(), nullptr, length);
          UpdateParity(exponents[changed], delta.data(), nullptr, q.data(), length);
        }
        UpdateParity(exponents[changed], delta.data(), nullptr, nullptr, length);
        SCOPED_TRACE(::testing::Message() << "alignment " << alignment << ", length " << length);
        ASSERT_NO_FATAL_FAILURE(ExpectEqual(p, after.block(after.p_index())));
        ASSERT_NO_FATAL_FAILURE(ExpectEqual(q, after.block(after.q_index())));
      }
    }
  }
}

TEST(UpdateParityTest, KnowsEveryExponent) {
  Prng prng(testing::TestSeed("UpdateExponents"));
  for (unsigned e = 0; e < 255; ++e) {
    const TestCodeword codeword({static_cast<uint8_t>(e)}, 200, {0}, &prng);
    GuardedBlock p(200, 0);
    GuardedBlock q(200, 0);
    p.Fill(std::byte{0});
    q.Fill(std::byte{0});
    UpdateParity(static_cast<uint8_t>(e), codeword.block(0).data(), p.data(), q.data(), 200);
    ASSERT_NO_FATAL_FAILURE(ExpectEqual(p, codeword.block(codeword.p_index()))) << e;
    ASSERT_NO_FATAL_FAILURE(ExpectEqual(q, codeword.block(codeword.q_index()))) << e;
  }
}

TEST(XorBlocksTest, AddsAtAnyAlignmentAndInPlace) {
  Prng prng(testing::TestSeed("XorBlocks"));
  for (size_t alignment = 0; alignment < 64; ++alignment) {
    for (const size_t length : kLengths) {
      std::vector<GuardedBlock> blocks;
      for (const size_t place : {alignment, size_t{0}, alignment, prng.Below(64)}) {
        blocks.emplace_back(length, place);
        prng.Fill(blocks.back().span());
      }
      GuardedBlock expected(length, 0);
      for (size_t i = 0; i < length; ++i) {
        expected.data()[i] = blocks[0].data()[i] ^ blocks[1].data()[i];
      }
      SCOPED_TRACE(::testing::Message() << "alignment " << alignment << ", length " << length);
      XorBlocks(blocks[0].data(), blocks[1].data(), blocks[2].data(), length);
      ASSERT_NO_FATAL_FAILURE(ExpectEqual(blocks[2], expected));
      XorBlocks(blocks[0].data(), blocks[1].data(), blocks[3].data(), length);
      ASSERT_NO_FATAL_FAILURE(ExpectEqual(blocks[3], expected));

      GuardedBlock left(length, alignment);
      std::ranges::copy(blocks[0].span(), left.data());
      XorBlocks(left.data(), blocks[1].data(), left.data(), length);
      ASSERT_NO_FATAL_FAILURE(ExpectEqual(left, expected));
      XorBlocks(blocks[0].data(), blocks[1].data(), blocks[1].data(), length);
      ASSERT_NO_FATAL_FAILURE(ExpectEqual(blocks[1], expected));

      expected.Fill(std::byte{0});
      XorBlocks(left.data(), left.data(), blocks[0].data(), length);
      ASSERT_NO_FATAL_FAILURE(ExpectEqual(blocks[0], expected));
      XorBlocks(left.data(), left.data(), left.data(), length);
      ASSERT_NO_FATAL_FAILURE(ExpectEqual(left, expected));
    }
  }
}

TEST(GenerateParityDeathTest, MalformedCodewordsAreOurBugs) {
  std::array<std::byte, 64> bytes{};
  std::array<std::byte, 64> p{};
  std::array<std::byte, 64> q{};
  const auto generate = [&](const std::vector<ConstBlock>& data) {
    GenerateParity(data, p.data(), q.data(), bytes.size());
  };
  EXPECT_DEATH(generate({{{BlockKind::kP}, bytes.data()}}), "check failed");
  EXPECT_DEATH(generate({{{BlockKind::kQ}, bytes.data()}}), "check failed");
  EXPECT_DEATH(generate({{{BlockKind::kData, 255}, bytes.data()}}), "check failed");
  EXPECT_DEATH(generate({{{BlockKind::kData, 3}, bytes.data()}, {{BlockKind::kData, 3}, p.data()}}),
               "check failed");
  EXPECT_DEATH(UpdateParity(255, bytes.data(), p.data(), q.data(), bytes.size()), "check failed");
}

}  // namespace
}  // namespace mdvol
