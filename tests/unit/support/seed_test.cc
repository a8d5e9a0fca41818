// Tests of tests/support/seed.h: what is promised to those who run a failure again.

#include "tests/support/seed.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mdvol::testing {
namespace {

uint64_t SeedOf(const char* name, const char* seed_text, const char* salt_text) {
  uint64_t seed = 0;
  EXPECT_TRUE(DeriveSeed(name, seed_text, salt_text, &seed)) << seed_text;
  return seed;
}

TEST(DeriveSeedTest, TakesDecimalAndHexadecimal) {
  EXPECT_EQ(SeedOf("a", "123", nullptr), 123u);
  EXPECT_EQ(SeedOf("a", "0123", nullptr), 123u);
  EXPECT_EQ(SeedOf("a", "0x7B", nullptr), 123u);
  EXPECT_EQ(SeedOf("a", "0xffffffffffffffff", nullptr), ~uint64_t{0});
}

TEST(DeriveSeedTest, GivenSeedHoldsForEveryNameAndSalt) {
  EXPECT_EQ(SeedOf("a", "5", "salt"), SeedOf("b", "5", nullptr));
}

TEST(DeriveSeedTest, RefusesWhatIsNoNumber) {
  uint64_t seed = 0;
  for (const char* const text :
       {"", " 1", "-1", "+1", "1 ", "12a", "0x", "0xg", "x", "18446744073709551616"}) {
    EXPECT_FALSE(DeriveSeed("a", text, nullptr, &seed)) << text;
  }
}

TEST(DeriveSeedTest, DefaultNeverChanges) {
  // A failing seed is quoted in commits; the default is part of what they mean.
  EXPECT_EQ(SeedOf("a", nullptr, nullptr), 0x622468a3ae4b5327u);
}

TEST(DeriveSeedTest, NamesAndSaltsGiveDifferentSeeds) {
  std::vector<uint64_t> seeds = {SeedOf("a", nullptr, nullptr),  SeedOf("b", nullptr, nullptr),
                                 SeedOf("ab", nullptr, nullptr), SeedOf("ba", nullptr, nullptr),
                                 SeedOf("a", nullptr, "1"),      SeedOf("a", nullptr, "2"),
                                 SeedOf("a", nullptr, "")};
  std::sort(seeds.begin(), seeds.end());
  EXPECT_EQ(std::adjacent_find(seeds.begin(), seeds.end()), seeds.end());
}

TEST(TestSeedTest, PrintsEachNameOnce) {
  ::testing::internal::CaptureStdout();
  const uint64_t first = TestSeed("PrintsEachNameOnce");
  const uint64_t second = TestSeed("PrintsEachNameOnce");
  const std::string output = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(first, second);
  EXPECT_THAT(output,
              ::testing::MatchesRegex("\\[ SEED     \\] PrintsEachNameOnce 0x[0-9a-f]{16}\n"));
}

TEST(TestSeedTest, EndsTheProcessOnAnUnreadableSeed) {
  EXPECT_EXIT(
      {
        setenv("MDVOL_TEST_SEED", "seven", 1);
        TestSeed("a");
      },
      ::testing::ExitedWithCode(2), "MDVOL_TEST_SEED=seven: not a 64-bit number");
}

TEST(PrngTest, MatchesThePublishedSequence) {
  // The first outputs of SplitMix64 for seed 1234567, as its reference implementation prints them.
  Prng prng(1234567);
  EXPECT_EQ(prng.Next(), 6457827717110365317u);
  EXPECT_EQ(prng.Next(), 3203168211198807973u);
  EXPECT_EQ(prng.Next(), 9817491932198370423u);
}

TEST(PrngTest, BelowIsTheHighHalfOfTheProduct) {
  for (const uint64_t bound : {uint64_t{1}, uint64_t{3}, uint64_t{1} << 32, ~uint64_t{0}}) {
    Prng values(9);
    Prng prng(9);
    for (int i = 0; i < 1000; ++i) {
      __extension__ using Wide = unsigned __int128;
      EXPECT_EQ(prng.Below(bound), static_cast<uint64_t>(Wide{values.Next()} * bound >> 64));
    }
  }
}

TEST(PrngTest, BetweenReachesBothEndsAndTheWholeRange) {
  Prng prng(1);
  std::array<int, 3> counts = {};
  for (int i = 0; i < 300; ++i) ++counts.at(prng.Between(5, 7) - 5);
  EXPECT_THAT(counts, ::testing::Each(::testing::Gt(50)));
  Prng same(2);
  EXPECT_EQ(Prng(2).Between(0, ~uint64_t{0}), same.Next());
}

TEST(PrngTest, FillReachesEveryByteOfOddLengths) {
  for (size_t length = 0; length < 20; ++length) {
    std::vector<std::byte> seen(length);
    Prng prng(3);
    for (int i = 0; i < 16; ++i) {
      std::vector<std::byte> bytes(length);
      prng.Fill(bytes);
      for (size_t k = 0; k < length; ++k) seen[k] |= bytes[k];
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), std::byte{0}), 0) << length;
  }
}

TEST(PrngTest, ShufflesLikeAnyGenerator) {
  std::vector<int> numbers(100);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::vector<int> shuffled = numbers;
  std::shuffle(shuffled.begin(), shuffled.end(), Prng(4));
  EXPECT_NE(shuffled, numbers);
  EXPECT_THAT(shuffled, ::testing::UnorderedElementsAreArray(numbers));
}

}  // namespace
}  // namespace mdvol::testing
