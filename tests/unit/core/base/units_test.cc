// Rounding, overflow, and reading and printing sizes.

#include "core/base/units.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"

namespace mdvol {
namespace {

uint64_t Size(std::string_view text, uint64_t bare_unit_bytes = 1) {
  const absl::StatusOr<uint64_t> size = ParseSize(text, bare_unit_bytes);
  EXPECT_TRUE(size.ok()) << text << ": " << size.status();
  return size.value_or(0);
}

TEST(UnitsTest, RoundsToAnyMultiple) {
  EXPECT_EQ(RoundDown(0, 7), 0u);
  EXPECT_EQ(RoundDown(13, 7), 7u);
  EXPECT_EQ(RoundDown(14, 7), 14u);
  EXPECT_EQ(RoundUp(0, 4096), 0u);
  EXPECT_EQ(RoundUp(1, 4096), 4096u);
  EXPECT_EQ(RoundUp(4096, 4096), 4096u);
  EXPECT_EQ(RoundUp(15, 7), 21u);
  EXPECT_EQ(CeilDiv(0, 3), 0u);
  EXPECT_EQ(CeilDiv(7, 3), 3u);
  EXPECT_EQ(CeilDiv(std::numeric_limits<uint64_t>::max(), 2), uint64_t{1} << 63);
}

TEST(UnitsTest, KnowsPowersOfTwo) {
  EXPECT_FALSE(IsPowerOfTwo(0));
  EXPECT_TRUE(IsPowerOfTwo(1));
  EXPECT_TRUE(IsPowerOfTwo(uint64_t{1} << 63));
  EXPECT_FALSE(IsPowerOfTwo((uint64_t{1} << 63) + 1));
}

TEST(UnitsTest, DetectsSumsAndProductsThatWrap) {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  uint64_t result = 0;
  EXPECT_TRUE(AddFits(kMax - 1, 1, &result));
  EXPECT_EQ(result, kMax);
  EXPECT_FALSE(AddFits(kMax, 1, &result));
  EXPECT_TRUE(MultiplyFits(kMax / 3, 3, &result));
  EXPECT_EQ(result, kMax);
  EXPECT_FALSE(MultiplyFits(kMax / 3 + 1, 3, &result));
}

TEST(ParseSizeTest, ReadsEveryUnitInEitherCase) {
  EXPECT_EQ(Size("512K"), 512 * kKiB);
  EXPECT_EQ(Size("3m"), 3 * kMiB);
  EXPECT_EQ(Size("1G"), kGiB);
  EXPECT_EQ(Size("16t"), 16 * kTiB);
  EXPECT_EQ(Size("64KiB"), 64 * kKiB);
  EXPECT_EQ(Size("64kb"), 64 * kKiB);
  EXPECT_EQ(Size("64MB"), 64 * kMiB);
  EXPECT_EQ(Size("0"), 0u);
  EXPECT_EQ(Size("007"), 7u);
}

TEST(ParseSizeTest, CountsABareNumberInTheCallersUnit) {
  EXPECT_EQ(Size("512", kKiB), 512 * kKiB);
  EXPECT_EQ(Size("512", 1), 512u);
  EXPECT_EQ(Size("512B", kKiB), 512u);
  EXPECT_EQ(Size("1.5", kKiB), 1536u);
  EXPECT_EQ(Size("512K", kKiB), 512 * kKiB);
}

TEST(ParseSizeTest, ComputesFractionsExactly) {
  EXPECT_EQ(Size("1.5G"), kGiB + kGiB / 2);
  EXPECT_EQ(Size("0.25K"), 256u);
  EXPECT_EQ(Size("1.0000"), 1u);
  EXPECT_EQ(Size("0.0009765625K"), 1u);
  EXPECT_EQ(Size("0.0000000000009094947017729282379150390625T"), 1u);  // 2^-40
}

TEST(ParseSizeTest, ReachesTwoToThe63AndNoFurther) {
  EXPECT_EQ(Size("9223372036854775808"), uint64_t{1} << 63);
  EXPECT_EQ(Size("8388608T"), uint64_t{1} << 63);
  for (const char* text : {"9223372036854775809", "8388609T", "8388608.5T", "18446744073709551616",
                           "16777216T", "99999999999999999999999"}) {
    const absl::StatusOr<uint64_t> size = ParseSize(text, 1);
    ASSERT_FALSE(size.ok()) << text;
    EXPECT_EQ(MessageOf(size.status()),
              absl::StrCat("'", text, "': too large: sizes end at 2^63 bytes"));
  }
}

TEST(ParseSizeTest, RefusesWhatIsNoSize) {
  for (const char* text : {"", "K", ".", ".5K", "1.", "1.K", "-1", "+1", " 1", "x", "0x10"}) {
    const absl::StatusOr<uint64_t> size = ParseSize(text, 1);
    ASSERT_FALSE(size.ok()) << text;
    EXPECT_TRUE(IsUsageError(size.status())) << text;
    EXPECT_EQ(MessageOf(size.status()).find(absl::StrCat("'", text, "': ")), 0u) << text;
  }
}

TEST(ParseSizeTest, RefusesUnknownUnits) {
  for (const char* text :
       {"1P", "1E", "1 K", "1K ", "1KK", "1KiBB", "1iB", "1Bi", "1,5K", "1K1", "1.5.5", "1BB"}) {
    const absl::StatusOr<uint64_t> size = ParseSize(text, 1);
    ASSERT_FALSE(size.ok()) << text;
    EXPECT_TRUE(IsUsageError(size.status())) << text;
    EXPECT_NE(MessageOf(size.status()).find("unknown unit"), std::string::npos) << text;
  }
}

TEST(ParseSizeTest, RefusesPartsOfAByte) {
  for (const char* text : {"1.5", "0.1K", "1.00001M", "0.5B"}) {
    const absl::StatusOr<uint64_t> size = ParseSize(text, 1);
    ASSERT_FALSE(size.ok()) << text;
    EXPECT_EQ(MessageOf(size.status()), absl::StrCat("'", text, "': not a whole number of bytes"));
    EXPECT_EQ(ErrnoOf(size.status()), EINVAL);
  }
}

TEST(ParseUnsignedTest, ReadsWholeNumbersOnly) {
  EXPECT_EQ(*ParseUnsigned("0"), 0u);
  EXPECT_EQ(*ParseUnsigned("00042"), 42u);
  EXPECT_EQ(*ParseUnsigned("18446744073709551615"), std::numeric_limits<uint64_t>::max());
  for (const char* text : {"", "-1", "+1", " 1", "1 ", "1K", "0x1", "1.0"}) {
    const absl::StatusOr<uint64_t> value = ParseUnsigned(text);
    ASSERT_FALSE(value.ok()) << text;
    EXPECT_EQ(MessageOf(value.status()), absl::StrCat("'", text, "': not a whole number"));
    EXPECT_TRUE(IsUsageError(value.status()));
  }
  EXPECT_EQ(MessageOf(ParseUnsigned("18446744073709551616").status()),
            "'18446744073709551616': too large: numbers end at 2^64 - 1");
}

TEST(FormatSizeTest, UsesTheLargestUnitThatDivides) {
  EXPECT_EQ(FormatSize(0), "0");
  EXPECT_EQ(FormatSize(12345), "12345");
  EXPECT_EQ(FormatSize(512 * kKiB), "512K");
  EXPECT_EQ(FormatSize(1536 * kKiB), "1536K");
  EXPECT_EQ(FormatSize(kMiB), "1M");
  EXPECT_EQ(FormatSize(1024 * kMiB), "1G");
  EXPECT_EQ(FormatSize(2048 * kTiB), "2048T");
}

TEST(FormatSizeTest, IsReadBackByParseSize) {
  for (const uint64_t bytes : {uint64_t{1}, kKiB, kKiB + 1, 3 * kMiB, 5 * kGiB, 7 * kTiB}) {
    EXPECT_EQ(Size(FormatSize(bytes)), bytes);
  }
}

}  // namespace
}  // namespace mdvol
