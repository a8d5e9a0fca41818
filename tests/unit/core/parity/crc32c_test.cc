// CRC-32C against its published check value, RFC 3720's examples and a bitwise computation.

#include "core/parity/crc32c.h"

#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/seed.h"

namespace mdvol {
namespace {

using ::mdvol::testing::Prng;
using ::mdvol::testing::TestSeed;

constexpr uint32_t kOnes = 0xffffffff;

uint32_t Bitwise(uint32_t crc, std::span<const std::byte> bytes) {
  for (const std::byte byte : bytes) {
    crc ^= std::to_integer<uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f63b78 : 0);
    }
  }
  return crc;
}

TEST(Crc32cTest, KnowsTheCheckValue) {
  constexpr std::string_view kDigits = "123456789";
  EXPECT_EQ(Crc32c(kOnes, std::as_bytes(std::span(kDigits))), 0x1cf96d7cu);
  EXPECT_EQ(~Crc32c(kOnes, std::as_bytes(std::span(kDigits))), 0xe3069283u);
}

TEST(Crc32cTest, KnowsTheExamplesOfIscsi) {
  std::vector<std::byte> bytes(32);
  EXPECT_EQ(~Crc32c(kOnes, bytes), 0x8a9136aau);
  bytes.assign(32, std::byte{0xff});
  EXPECT_EQ(~Crc32c(kOnes, bytes), 0x62a8ab43u);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  EXPECT_EQ(~Crc32c(kOnes, bytes), 0x46dd794eu);
}

TEST(Crc32cTest, NothingLeavesTheSeedAsItIs) {
  EXPECT_EQ(Crc32c(kOnes, {}), kOnes);
  EXPECT_EQ(Crc32c(0x12345678, {}), 0x12345678u);
}

TEST(Crc32cTest, AgreesWithTheDefinitionAtEveryLengthAndInParts) {
  Prng prng(TestSeed("Crc32cTest.AgreesWithTheDefinitionAtEveryLengthAndInParts"));
  std::vector<std::byte> bytes(4096);
  prng.Fill(bytes);
  for (size_t length = 0; length <= bytes.size(); length += 1 + length / 16) {
    const auto seed = static_cast<uint32_t>(prng.Next());
    const std::span<const std::byte> whole(bytes.data() + bytes.size() - length, length);
    const uint32_t expected = Bitwise(seed, whole);
    ASSERT_EQ(Crc32c(seed, whole), expected) << length;
    const size_t cut = prng.Between(0, length);
    ASSERT_EQ(Crc32c(Crc32c(seed, whole.first(cut)), whole.subspan(cut)), expected) << cut;
  }
}

}  // namespace
}  // namespace mdvol
