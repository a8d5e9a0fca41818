// The bad-block list against a model of single sectors, and its log on disk.

#include "core/metadata/bad_blocks.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "core/base/little_endian.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/seed.h"

namespace mdvol {
namespace {

using ::mdvol::testing::Prng;
using ::mdvol::testing::TestSeed;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint64_t kDeviceBytes = 64 * kMiB;

std::vector<uint8_t> Log(const std::vector<uint64_t>& entries, size_t log_bytes = 4096) {
  std::vector<uint8_t> log(log_bytes, 0xff);
  for (size_t i = 0; i < entries.size(); ++i) {
    const le64 entry = entries[i];
    std::memcpy(log.data() + i * 8, &entry, 8);
  }
  return log;
}

constexpr uint64_t Entry(uint64_t sector, uint64_t length) { return sector << 10 | length; }

BadBlockList Parse(const std::vector<uint64_t>& entries, uint32_t shift = 0) {
  const auto list = ParseBadBlockLog(Log(entries), shift, kDeviceBytes);
  EXPECT_TRUE(list.ok()) << MessageOf(list.status());
  return list.value_or(BadBlockList());
}

constexpr ByteRange Sectors(uint64_t begin, uint64_t end) { return {begin * 512, end * 512}; }

TEST(BadBlockListTest, AddingJoinsWhatTouches) {
  BadBlockList list;
  list.Add({100, 200});
  list.Add({300, 400});
  EXPECT_THAT(list.ranges(), ElementsAre(ByteRange{100, 200}, ByteRange{300, 400}));
  list.Add({200, 300});
  EXPECT_THAT(list.ranges(), ElementsAre(ByteRange{100, 400}));
  list.Add({150, 160});
  EXPECT_THAT(list.ranges(), ElementsAre(ByteRange{100, 400}));
  list.Add({50, 500});
  EXPECT_THAT(list.ranges(), ElementsAre(ByteRange{50, 500}));
  list.Add({7, 7});
  EXPECT_THAT(list.ranges(), ElementsAre(ByteRange{50, 500}));
}

TEST(BadBlockListTest, RemovingSplits) {
  BadBlockList list;
  list.Add({100, 200});
  list.Remove({140, 160});
  EXPECT_THAT(list.ranges(), ElementsAre(ByteRange{100, 140}, ByteRange{160, 200}));
  list.Remove({130, 170});
  EXPECT_THAT(list.ranges(), ElementsAre(ByteRange{100, 130}, ByteRange{170, 200}));
  list.Remove({130, 170});
  list.Remove({5, 5});
  EXPECT_EQ(list.ranges().size(), 2u);
  list.Remove({0, 1000});
  EXPECT_TRUE(list.empty());
}

TEST(BadBlockListTest, TouchesHalfOpenRanges) {
  BadBlockList list;
  list.Add({100, 200});
  EXPECT_FALSE(list.Touches(0, 100));
  EXPECT_TRUE(list.Touches(0, 101));
  EXPECT_TRUE(list.Touches(150, 160));
  EXPECT_TRUE(list.Touches(199, 200));
  EXPECT_FALSE(list.Touches(200, 300));
  EXPECT_FALSE(list.Touches(150, 150));
}

TEST(BadBlockListTest, BehavesAsAListOfSingleSectors) {
  Prng prng(TestSeed("BadBlockListTest.BehavesAsAListOfSingleSectors"));
  for (int round = 0; round < 200; ++round) {
    BadBlockList list;
    std::vector<bool> model(64);
    for (int step = 0; step < 60; ++step) {
      const uint64_t begin = prng.Below(64);
      const uint64_t end = begin + prng.Below(65 - begin);
      const bool add = prng.OneIn(2);
      for (uint64_t i = begin; i < end; ++i) model[i] = add;
      add ? list.Add({begin, end}) : list.Remove({begin, end});
      for (uint64_t i = 0; i < 64; ++i) {
        ASSERT_EQ(list.Touches(i, i + 1), model[i]);
      }
      for (size_t i = 0; i < list.ranges().size(); ++i) {
        ASSERT_LT(list.ranges()[i].begin, list.ranges()[i].end);
        ASSERT_TRUE(i == 0 || list.ranges()[i - 1].end < list.ranges()[i].begin);
      }
    }
  }
}

TEST(BadBlockLogTest, ReadsEntriesUpToTheEndMark) {
  const BadBlockList list = Parse({Entry(2048, 8), Entry(4000, 512), ~uint64_t{0}, Entry(9000, 8)});
  EXPECT_THAT(list.ranges(), ElementsAre(Sectors(2048, 2056), Sectors(4000, 4512)));
  EXPECT_TRUE(Parse({}).empty());
}

TEST(BadBlockLogTest, PassesOverEmptyEntries) {
  const BadBlockList list = Parse({0, Entry(2048, 8), Entry(5000, 0), 0, Entry(3000, 1)});
  EXPECT_THAT(list.ranges(), ElementsAre(Sectors(2048, 2056), Sectors(3000, 3001)));
}

TEST(BadBlockLogTest, JoinsAndSortsEntries) {
  const BadBlockList list = Parse({Entry(3000, 512), Entry(2000, 8), Entry(3512, 100)});
  EXPECT_THAT(list.ranges(), ElementsAre(Sectors(2000, 2008), Sectors(3000, 3612)));
}

TEST(BadBlockLogTest, ShiftCountsLargerSectors) {
  EXPECT_THAT(Parse({Entry(10, 2)}, 3).ranges(), ElementsAre(Sectors(80, 96)));
}

TEST(BadBlockLogTest, LastLargeSectorEndsWithTheMember) {
  const auto list = ParseBadBlockLog(Log({Entry(1, 1)}), 3, 4096 + 512);
  ASSERT_TRUE(list.ok());
  EXPECT_THAT(list->ranges(), ElementsAre(ByteRange{4096, 4096 + 512}));
}

TEST(BadBlockLogTest, RefusesEntriesBeyondTheMember) {
  for (const uint64_t entry :
       {Entry(131072, 1), Entry(131071, 2), Entry((uint64_t{1} << 54) - 1, 8), ~uint64_t{0} - 1}) {
    const auto list = ParseBadBlockLog(Log({entry}), 0, kDeviceBytes);
    EXPECT_EQ(ErrnoOf(list.status()), EINVAL);
    EXPECT_THAT(MessageOf(list.status()), HasSubstr("beyond the member"));
  }
  EXPECT_TRUE(ParseBadBlockLog(Log({Entry(131071, 1)}), 0, kDeviceBytes).ok());
  EXPECT_FALSE(ParseBadBlockLog(Log({Entry(0, 1)}), 0, 0).ok());
  EXPECT_FALSE(ParseBadBlockLog(Log({Entry(1, 1)}), 31, kDeviceBytes).ok());
}

TEST(BadBlockLogTest, RefusesImpossibleShifts) {
  EXPECT_EQ(ErrnoOf(ParseBadBlockLog(Log({}), 32, kDeviceBytes).status()), EINVAL);
  EXPECT_THAT(MessageOf(ParseBadBlockLog(Log({}), 255, kDeviceBytes).status()),
              HasSubstr("bblog_shift 255"));
  EXPECT_EQ(ErrnoOf(SerializeBadBlockLog(BadBlockList(), 32, 4096).status()), EINVAL);
}

TEST(BadBlockLogTest, IgnoresAnOddTail) {
  std::vector<uint8_t> log = Log({Entry(5, 1)}, 8);
  log.push_back(0);
  const auto list = ParseBadBlockLog(log, 0, kDeviceBytes);
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->ranges().size(), 1u);
}

TEST(BadBlockLogTest, WritesEntriesOfAtMost512Sectors) {
  BadBlockList list;
  list.Add(Sectors(2048, 2048 + 1030));
  list.Add({10 * 512 + 1, 11 * 512 + 1});  // parts of two sectors
  const auto log = SerializeBadBlockLog(list, 0, 4096);
  ASSERT_TRUE(log.ok());
  EXPECT_EQ(*log, Log({Entry(10, 2), Entry(2048, 512), Entry(2560, 512), Entry(3072, 6)}));
}

TEST(BadBlockLogTest, AnEmptyListIsAllOnes) {
  EXPECT_EQ(*SerializeBadBlockLog(BadBlockList(), 0, 4096), std::vector<uint8_t>(4096, 0xff));
}

TEST(BadBlockLogTest, RefusesMoreThanFit) {
  BadBlockList list;
  for (uint64_t i = 0; i < 512; ++i) list.Add(Sectors(i * 10, i * 10 + 1));
  EXPECT_TRUE(SerializeBadBlockLog(list, 0, 4096).ok());
  list.Add(Sectors(9000, 9001));
  const auto log = SerializeBadBlockLog(list, 0, 4096);
  EXPECT_EQ(ErrnoOf(log.status()), ENOSPC);
  EXPECT_THAT(MessageOf(log.status()), HasSubstr("full"));
}

TEST(BadBlockLogTest, ComesBackAsItWas) {
  Prng prng(TestSeed("BadBlockLogTest.ComesBackAsItWas"));
  for (int round = 0; round < 500; ++round) {
    const auto shift = static_cast<uint32_t>(prng.Below(4));
    const uint64_t unit = uint64_t{512} << shift;
    BadBlockList list;
    for (uint64_t i = prng.Below(20); i > 0; --i) {
      const uint64_t begin = prng.Below(kDeviceBytes / unit);
      const uint64_t end =
          begin + prng.Below(std::min<uint64_t>(2000, kDeviceBytes / unit - begin));
      list.Add({begin * unit, end * unit});
    }
    const auto log = SerializeBadBlockLog(list, shift, 4096);
    ASSERT_TRUE(log.ok());
    const auto again = ParseBadBlockLog(*log, shift, kDeviceBytes);
    ASSERT_TRUE(again.ok());
    ASSERT_TRUE(std::equal(list.ranges().begin(), list.ranges().end(), again->ranges().begin(),
                           again->ranges().end()));
  }
}

TEST(BadBlockLogTest, AnyBytesAreReadOrRefused) {
  Prng prng(TestSeed("BadBlockLogTest.AnyBytesAreReadOrRefused"));
  for (int round = 0; round < 20'000; ++round) {
    std::vector<uint8_t> log(prng.Below(64));
    prng.Fill(std::as_writable_bytes(std::span(log)));
    const uint64_t device_bytes = prng.Next() >> prng.Below(64);
    const auto list = ParseBadBlockLog(log, static_cast<uint32_t>(prng.Below(34)), device_bytes);
    if (list.ok() && !list->empty()) {
      ASSERT_LE(list->ranges().back().end, device_bytes);
    }
  }
}

}  // namespace
}  // namespace mdvol
