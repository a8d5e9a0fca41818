// Reading the journal: what is written is read back, and whatever is not exactly a record ends the
// log.

#include "core/metadata/journal_scan.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/parity/crc32c.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/seed.h"

namespace mdvol {
namespace {

using ::mdvol::testing::Prng;
using ::mdvol::testing::TestSeed;
using ::testing::ElementsAre;
using Kind = JournalPayload::Kind;

constexpr uint32_t kSeed = 0x2636f714;
constexpr uint64_t kRingBytes = 64 * kJournalBlockBytes;
constexpr JournalPlace kHere{.offset_bytes = 3 * kJournalBlockBytes, .seq = 77};

ArrayGeometry SixDisks() {
  return ArrayGeometry::Make(Layout::kLeftSymmetric, 6, 64 * kKiB, kMiB).value();
}

// A record of two lanes (two data pages and one), and the pages behind it in order.
struct Record {
  explicit Record(uint64_t seed = 1) : pages(7 * kJournalBlockBytes) {
    Prng(seed).Fill(pages);
    const std::vector<JournalLane> lanes = {
        {.member_bytes = 0x5000,
         .data = {{0x3ff000, Page(0)}, {0x40000, Page(1)}},
         .p = Page(2),
         .q = Page(3)},
        {.member_bytes = kMiB - 4096, .data = {{0, Page(4)}}, .p = Page(5), .q = Page(6)}};
    block = ComposeJournalMeta(kSeed, kHere.seq, kHere.offset_bytes, lanes);
  }

  const std::byte* Page(size_t i) const { return pages.data() + i * kJournalBlockBytes; }

  void Put(size_t offset, uint64_t value, size_t bytes) {
    const le64 field = value;
    std::memcpy(block.data() + offset, &field, bytes);
    Seal();
  }

  void Seal() {
    const le32 checksum = JournalMetaChecksum(kSeed, block);
    std::memcpy(block.data() + offsetof(JournalMeta, checksum), &checksum, sizeof(checksum));
  }

  std::optional<JournalEntry> Parse(JournalPlace expected = kHere,
                                    uint64_t ring_bytes = kRingBytes) const {
    return ParseJournalMeta(block, kSeed, expected, SixDisks(), ring_bytes);
  }

  std::vector<std::byte> pages;
  JournalBlock block;
};

constexpr size_t kFirst = sizeof(JournalMeta);                // a data payload
constexpr size_t kParity = kFirst + 40;                       // the first parity payload
constexpr uint32_t kMetaBytes = 32 + 20 + 20 + 24 + 20 + 24;  // of Record

TEST(JournalScanTest, ReadsBackWhatIsComposed) {
  const Record record;
  const auto entry = record.Parse();
  ASSERT_TRUE(entry.has_value());
  EXPECT_EQ(entry->pages, 7u);
  ASSERT_EQ(entry->payloads.size(), 5u);
  const Kind kinds[] = {Kind::kData, Kind::kData, Kind::kParity, Kind::kData, Kind::kParity};
  const uint64_t locations[] = {0x3ff000, 0x40000, 0x5000, 0, kMiB - 4096};
  const uint32_t first_pages[] = {0, 1, 2, 4, 5};
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(entry->payloads[i].kind, kinds[i]);
    EXPECT_EQ(entry->payloads[i].location_bytes, locations[i]);
    EXPECT_EQ(entry->payloads[i].first_page, first_pages[i]);
    EXPECT_EQ(entry->payloads[i].checksums[0],
              Crc32c(kSeed, {record.Page(first_pages[i]), kJournalBlockBytes}));
  }
  EXPECT_EQ(entry->payloads[4].checksums[1], Crc32c(kSeed, {record.Page(6), kJournalBlockBytes}));
  EXPECT_TRUE(JournalPagesMatch(*entry, record.pages, kSeed));
}

TEST(JournalScanTest, AnEmptyBlockIsARecordWithoutPages) {
  const JournalBlock block = ComposeJournalMeta(kSeed, 5, 0, {});
  const auto entry = ParseJournalMeta(block, kSeed, {0, 5}, SixDisks(), kRingBytes);
  ASSERT_TRUE(entry.has_value());
  EXPECT_TRUE(entry->payloads.empty());
  EXPECT_EQ(entry->pages, 0u);
  EXPECT_TRUE(JournalPagesMatch(*entry, {}, kSeed));
}

TEST(JournalScanTest, AnyFlippedBitOfTheMetaBlockEndsTheLog) {
  Record record;
  for (size_t bit = 0; bit < 8 * kJournalBlockBytes; ++bit) {
    const auto flip = static_cast<std::byte>(1u << bit % 8);
    record.block[bit / 8] ^= flip;
    ASSERT_FALSE(record.Parse().has_value()) << bit;
    record.block[bit / 8] ^= flip;
  }
  EXPECT_TRUE(record.Parse().has_value());
}

TEST(JournalScanTest, AnyFlippedBitOfAPageIsSeen) {
  Record record;
  const auto entry = record.Parse();
  ASSERT_TRUE(entry.has_value());
  for (size_t byte = 0; byte < record.pages.size(); byte += 509) {
    record.pages[byte] ^= std::byte{0x10};
    ASSERT_FALSE(JournalPagesMatch(*entry, record.pages, kSeed)) << byte;
    record.pages[byte] ^= std::byte{0x10};
  }
  EXPECT_FALSE(JournalPagesMatch(*entry, record.pages, kSeed + 1));
}

TEST(JournalScanTest, ABlockOfAnotherPlaceLapOrArrayEndsTheLog) {
  const Record record;
  EXPECT_FALSE(record.Parse({kHere.offset_bytes, kHere.seq + 1}).has_value());
  EXPECT_FALSE(record.Parse({kHere.offset_bytes, kHere.seq - 1}).has_value());
  EXPECT_FALSE(record.Parse({kHere.offset_bytes + kJournalBlockBytes, kHere.seq}).has_value());
  EXPECT_FALSE(
      ParseJournalMeta(record.block, kSeed ^ 1, kHere, SixDisks(), kRingBytes).has_value());
}

// Every field with a right checksum over a wrong value.
TEST(JournalScanTest, SealedNonsenseEndsTheLog) {
  struct Case {
    const char* what;
    size_t offset;
    uint64_t value;
    size_t bytes;
  };
  const uint64_t volume_sectors = SixDisks().volume_bytes() / kSectorBytes;
  const Case cases[] = {
      {"magic", 0, kJournalMagic + 1, 4},
      {"version 0", 8, 0, 1},
      {"version 2", 8, 2, 1},
      {"meta_size below the header", 12, 31, 4},
      {"meta_size 0", 12, 0, 4},
      {"meta_size beyond the block", 12, 4097, 4},
      {"meta_size huge", 12, 0xffffffff, 4},
      {"seq", 16, kHere.seq + 1, 8},
      {"position", 24, kHere.offset_bytes / kSectorBytes + 8, 8},
      {"position in bytes", 24, kHere.offset_bytes, 8},
      {"unknown type", kFirst, 3, 2},
      {"data of no page", kFirst + 4, 0, 4},
      {"data of two pages", kFirst + 4, 16, 4},
      {"data of 2^32 - 8 sectors", kFirst + 4, 0xfffffff8, 4},
      {"data at the volume's end", kFirst + 8, volume_sectors, 8},
      {"data far beyond", kFirst + 8, ~uint64_t{7}, 8},
      {"data at 2^55 sectors, 2^64 bytes", kFirst + 8, uint64_t{1} << 55, 8},
      {"data between pages", kFirst + 8, 4, 8},
      {"parity of one page", kParity + 4, 8, 4},
      {"parity at the member's end", kParity + 8, kMiB / kSectorBytes, 8},
      {"parity far beyond", kParity + 8, ~uint64_t{7}, 8},
      {"parity between pages", kParity + 8, 1, 8},
  };
  for (const Case& c : cases) {
    Record record;
    record.Put(c.offset, c.value, c.bytes);
    EXPECT_FALSE(record.Parse().has_value()) << c.what;
  }
  Record record;
  record.Put(kFirst + 8, volume_sectors - 8, 8);
  record.Put(kParity + 8, kMiB / kSectorBytes - 8, 8);
  EXPECT_TRUE(record.Parse().has_value()) << "the last page of all is one";
}

TEST(JournalScanTest, PayloadsEndWhereMetaSizeSays) {
  const std::vector<uint32_t> whole = {32, 52, 72, 96, 116, 140};
  for (uint32_t size = 32; size <= 160; ++size) {
    Record record;
    record.Put(12, size, 4);
    // Behind the payloads are zeroes: heads of data payloads of size 0.
    const bool is_whole = std::find(whole.begin(), whole.end(), size) != whole.end();
    EXPECT_EQ(record.Parse().has_value(), is_whole) << size;
  }
}

TEST(JournalScanTest, ARecordIsShorterThanTheRing) {
  const Record record;
  EXPECT_TRUE(record.Parse(kHere, 9 * kJournalBlockBytes).has_value());
  EXPECT_FALSE(record.Parse(kHere, 8 * kJournalBlockBytes).has_value());
  EXPECT_FALSE(record.Parse(kHere, 4 * kJournalBlockBytes).has_value());
}

TEST(JournalScanTest, FlushesNameLanesAndCarryNoPages) {
  Record record;
  record.Put(kFirst, kJournalFlush, 2);
  record.Put(kFirst + 4, 16, 4);  // bytes
  record.Put(kFirst + 8, 0x40, 8);
  record.Put(kFirst + 16, kMiB / kSectorBytes - 8, 8);
  record.Put(12, kFirst + 24, 4);
  const auto entry = record.Parse();
  ASSERT_TRUE(entry.has_value());
  ASSERT_EQ(entry->payloads.size(), 1u);
  EXPECT_EQ(entry->payloads[0].kind, Kind::kFlush);
  EXPECT_THAT(entry->payloads[0].flushed_bytes,
              ElementsAre(0x40 * kSectorBytes, kMiB - kJournalBlockBytes));
  EXPECT_EQ(entry->pages, 0u);

  for (const uint32_t bytes : {8u, 12u, 17u, 24u, 4096u, 0xfffffff8u}) {
    record.Put(kFirst + 4, bytes, 4);
    EXPECT_FALSE(record.Parse().has_value()) << bytes;
  }
  record.Put(kFirst + 4, 16, 4);
  record.Put(kFirst + 16, kMiB / kSectorBytes, 8);
  EXPECT_FALSE(record.Parse().has_value()) << "a lane beyond the members";
}

TEST(JournalScanTest, AFlushOfNothingIsOne) {
  Record record;
  record.Put(kFirst, kJournalFlush, 2);
  record.Put(kFirst + 4, 0, 4);
  record.Put(12, kFirst + 8, 4);
  const auto entry = record.Parse();
  ASSERT_TRUE(entry.has_value());
  EXPECT_TRUE(entry->payloads[0].flushed_bytes.empty());
}

TEST(JournalScanTest, TheNextRecordFollowsAroundTheRingsEnd) {
  JournalEntry entry;
  entry.pages = 4;
  for (uint64_t block = 0; block < 64; ++block) {
    const JournalPlace next = NextJournalPlace({block * kJournalBlockBytes, 9}, entry, kRingBytes);
    EXPECT_EQ(next.offset_bytes, (block + 5) % 64 * kJournalBlockBytes);
    EXPECT_EQ(next.seq, 10u);
  }
}

TEST(JournalScanTest, JudgesTheBlockAtTheTail) {
  JournalBlock block = ComposeJournalMeta(kSeed, 12345, 0x8000, {});
  uint64_t seq = 0;
  EXPECT_EQ(JudgeJournalHead(block, kSeed, 0x8000, &seq), JournalHead::kUsable);
  EXPECT_EQ(seq, 12345u);
  seq = 1;
  EXPECT_EQ(JudgeJournalHead(block, kSeed, 0x9000, &seq), JournalHead::kDamaged);
  EXPECT_EQ(JudgeJournalHead(block, kSeed + 1, 0x8000, &seq), JournalHead::kDamaged);
  block.back() = std::byte{1};
  EXPECT_EQ(JudgeJournalHead(block, kSeed, 0x8000, &seq), JournalHead::kDamaged);
  block.fill(std::byte{0});
  EXPECT_EQ(JudgeJournalHead(block, kSeed, 0x8000, &seq), JournalHead::kBlank);
  block.back() = std::byte{1};
  EXPECT_EQ(JudgeJournalHead(block, kSeed, 0x8000, &seq), JournalHead::kDamaged);
  EXPECT_EQ(seq, 1u);
}

// Mutated and then sealed again: whatever is accepted lies inside array, block and ring.
TEST(JournalScanTest, WhateverIsAcceptedIsInsideTheArray) {
  Prng prng(TestSeed("JournalScanTest.WhateverIsAcceptedIsInsideTheArray"));
  const ArrayGeometry geometry = SixDisks();
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    Record record;
    for (uint64_t n = prng.Between(1, 3); n > 0; --n) {
      const size_t bytes = size_t{1} << prng.Below(4);
      const size_t offset = prng.Between(8, kMetaBytes + 16);
      record.Put(offset, prng.OneIn(2) ? prng.Below(64) : prng.Next() >> prng.Below(64), bytes);
    }
    const auto entry = record.Parse();
    if (!entry.has_value()) continue;
    ++accepted;
    uint32_t pages = 0;
    for (const JournalPayload& p : entry->payloads) {
      ASSERT_EQ(p.first_page, pages);
      pages += p.kind == Kind::kData ? 1 : p.kind == Kind::kParity ? 2 : 0;
      const uint64_t end =
          p.kind == Kind::kData ? geometry.volume_bytes() : geometry.component_bytes();
      ASSERT_LT(p.location_bytes, end);
      ASSERT_EQ(p.location_bytes % kJournalBlockBytes, 0u);
      for (const uint64_t lane : p.flushed_bytes) ASSERT_LT(lane, geometry.component_bytes());
    }
    ASSERT_EQ(entry->pages, pages);
    ASSERT_LE(pages, 7u + 2u);
    JournalPagesMatch(*entry, std::vector<std::byte>(pages * kJournalBlockBytes), kSeed);
  }
  EXPECT_GT(accepted, 500);
}

}  // namespace
}  // namespace mdvol
