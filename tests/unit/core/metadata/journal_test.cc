// The journal's codec against recorded bytes.

#include "core/metadata/journal.h"

#include <cstring>
#include <string>
#include <vector>

#include "core/parity/crc32c.h"
#include "gtest/gtest.h"

namespace mdvol {
namespace {

Uuid CountingUuid() {
  Uuid uuid;
  for (size_t i = 0; i < uuid.bytes.size(); ++i) uuid.bytes[i] = static_cast<uint8_t>(i);
  return uuid;
}

uint64_t ReadLe(const JournalBlock& block, size_t offset, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = bytes; i-- > 0;) {
    value = value << 8 | std::to_integer<uint64_t>(block[offset + i]);
  }
  return value;
}

// A page of one byte throughout, and its checksum.
struct Page {
  explicit Page(uint8_t fill) : bytes(kJournalBlockBytes, std::byte{fill}) {}
  uint64_t Checksum(uint32_t seed) const { return Crc32c(seed, bytes); }
  std::vector<std::byte> bytes;
};

TEST(JournalTest, TheSeedIsTheRawCrcOfTheArraysUuid) {
  EXPECT_EQ(JournalSeed(CountingUuid()), 0x2636f714u);
}

TEST(JournalTest, AnEmptyBlockIsMdsByteForByte) {
  const JournalBlock block = ComposeJournalMeta(JournalSeed(CountingUuid()), 5, 0, {});
  JournalBlock expected{};
  constexpr uint8_t kHead[] = {0x09, 0xc5, 0x33, 0x64, 0xe5, 0x3e, 0x0f, 0xc4, 1, 0, 0, 0,
                               32,   0,    0,    0,    5,    0,    0,    0,    0, 0, 0, 0};
  std::memcpy(expected.data(), kHead, sizeof(kHead));
  EXPECT_EQ(block, expected);
  EXPECT_EQ(ReadLe(block, 4, 4), 0xc40f3ee5u);
}

TEST(JournalTest, TheChecksumIgnoresItsOwnField) {
  const uint32_t seed = JournalSeed(CountingUuid());
  JournalBlock block = ComposeJournalMeta(seed, 5, 0, {});
  EXPECT_EQ(JournalMetaChecksum(seed, block), 0xc40f3ee5u);
  block[4] ^= std::byte{0xff};
  EXPECT_EQ(JournalMetaChecksum(seed, block), 0xc40f3ee5u);
  block[8] ^= std::byte{0x01};
  EXPECT_NE(JournalMetaChecksum(seed, block), 0xc40f3ee5u);
}

// Two lanes of an array of six: one with two data pages, one with one.
TEST(JournalTest, ARecordListsEachLanesDataThenItsParity) {
  const uint32_t seed = JournalSeed(CountingUuid());
  const Page a(1), b(2), c(3), p(4), q(5), p2(6), q2(7);
  const std::vector<JournalLane> lanes = {
      {.member_bytes = 0x5000,
       .data = {{0x123456789000, a.bytes.data()}, {0x40000, b.bytes.data()}},
       .p = p.bytes.data(),
       .q = q.bytes.data()},
      {.member_bytes = 0x7ffffff000,
       .data = {{0, c.bytes.data()}},
       .p = p2.bytes.data(),
       .q = q2.bytes.data()},
  };
  const JournalBlock block = ComposeJournalMeta(seed, 0x0102030405060708, 0xabc000, lanes);
  struct Field {
    size_t bytes;
    uint64_t value;
  };
  const std::vector<Field> fields = {{4, 0x6433c509},
                                     {4, JournalMetaChecksum(seed, block)},
                                     {4, 1},
                                     {4, 32 + 64 + 44},
                                     {8, 0x0102030405060708},
                                     {8, 0xabc000 / 512},
                                     {2, 0},
                                     {2, 0},
                                     {4, 8},
                                     {8, 0x123456789000 / 512},
                                     {4, a.Checksum(seed)},
                                     {2, 0},
                                     {2, 0},
                                     {4, 8},
                                     {8, 0x40000 / 512},
                                     {4, b.Checksum(seed)},
                                     {2, 1},
                                     {2, 0},
                                     {4, 16},
                                     {8, 0x5000 / 512},
                                     {4, p.Checksum(seed)},
                                     {4, q.Checksum(seed)},
                                     {2, 0},
                                     {2, 0},
                                     {4, 8},
                                     {8, 0},
                                     {4, c.Checksum(seed)},
                                     {2, 1},
                                     {2, 0},
                                     {4, 16},
                                     {8, 0x7ffffff000 / 512},
                                     {4, p2.Checksum(seed)},
                                     {4, q2.Checksum(seed)}};
  size_t offset = 0;
  for (const Field& field : fields) {
    EXPECT_EQ(ReadLe(block, offset, field.bytes), field.value) << "at " << offset;
    offset += field.bytes;
  }
  EXPECT_EQ(offset, size_t{32 + 64 + 44});
  for (; offset < block.size(); ++offset) {
    ASSERT_EQ(block[offset], std::byte{0}) << "at " << offset;
  }
}

TEST(JournalTest, ALaneOfTheLargestArrayFits) {
  EXPECT_EQ(JournalLaneMetaBytes(2), 64u);
  const Page page(9);
  JournalLane lane{.member_bytes = 0, .data = {}, .p = page.bytes.data(), .q = page.bytes.data()};
  lane.data.assign(kMaxJournalRaidDisks - 2, {0, page.bytes.data()});
  const JournalBlock block = ComposeJournalMeta(1, 1, 0, {&lane, 1});
  EXPECT_EQ(ReadLe(block, 12, 4), 32u + 20 * 201 + 24);
  EXPECT_EQ(ReadLe(block, 4, 4), JournalMetaChecksum(1, block));
}

TEST(JournalDeathTest, WhatDoesNotFitIsOurOwnBug) {
  const Page page(9);
  JournalLane lane{.member_bytes = 0, .data = {}, .p = page.bytes.data(), .q = page.bytes.data()};
  EXPECT_DEATH(ComposeJournalMeta(1, 1, 0, {&lane, 1}), "");  // no data
  lane.data.assign(kMaxJournalRaidDisks + 1, {0, page.bytes.data()});
  EXPECT_DEATH(ComposeJournalMeta(1, 1, 0, {&lane, 1}), "");
  EXPECT_DEATH(ComposeJournalMeta(1, 1, 512, {}), "");
}

}  // namespace
}  // namespace mdvol
