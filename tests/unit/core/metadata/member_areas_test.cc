// Where areas begin and end, and that they never meet.

#include "core/metadata/member_areas.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

#include "core/base/status.h"
#include "core/base/units.h"
#include "core/metadata/bitmap.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/seed.h"
#include "tests/unit/core/metadata/sample_super.h"

namespace mdvol {
namespace {

using ::mdvol::testing::kSampleDeviceSectors;
using ::mdvol::testing::Prng;
using ::mdvol::testing::SampleSuper;
using ::mdvol::testing::TestSeed;
using ::testing::HasSubstr;

MemberAreas Areas(const Superblock& super, uint64_t bitmap_bytes = 0) {
  const auto areas = LayOutMember(super, kSampleDeviceSectors, bitmap_bytes);
  EXPECT_TRUE(areas.ok()) << MessageOf(areas.status());
  return areas.value_or(MemberAreas{});
}

TEST(MemberAreasTest, LiesAsTheSuperblockSays) {
  const MemberAreas areas = Areas(SampleSuper(), 300);
  EXPECT_EQ(areas.super, (ByteRange{4096, 8192}));
  EXPECT_EQ(areas.bitmap, (ByteRange{8192, 12288}));
  EXPECT_EQ(areas.bad_blocks, (ByteRange{4096 + 72 * 512, 4096 + 80 * 512}));
  EXPECT_EQ(areas.data, (ByteRange{2048 * 512, (2048 + uint64_t{126976}) * 512}));
}

TEST(MemberAreasTest, OffsetsMayPointBackwards) {
  const MemberAreas areas = Areas(SampleSuper(0));
  const uint64_t super_begin = uint64_t{131056} * 512;
  EXPECT_EQ(areas.super, (ByteRange{super_begin, super_begin + 4096}));
  EXPECT_EQ(areas.bitmap, (ByteRange{super_begin - 8192, super_begin - 4096}));
  EXPECT_EQ(areas.bad_blocks, (ByteRange{super_begin - 4096, super_begin}));
  EXPECT_EQ(areas.data, (ByteRange{0, uint64_t{126976} * 512}));
}

TEST(MemberAreasTest, SuperblockGivesWayToAnAreaCloseBehind) {
  Superblock super = SampleSuper();
  super.bitmap_offset = 2;  // as old mdadm put it
  super.bblog_offset = 8;
  const MemberAreas areas = Areas(super, 3000);
  EXPECT_EQ(areas.super, (ByteRange{4096, 4096 + 1024}));
  EXPECT_EQ(areas.bitmap, (ByteRange{4096 + 1024, 8192}));  // up to the log, not a whole 4 KiB
  EXPECT_EQ(areas.bad_blocks, (ByteRange{8192, 12288}));
}

TEST(MemberAreasTest, SuperblockNeverGivesWayToLessThanItsRoles) {
  Superblock super = SampleSuper();
  super.bitmap_offset = 2;
  super.max_dev = 384;  // ends at 1024
  EXPECT_EQ(Areas(super, 0).super.size(), 1024u);
  super.max_dev = 385;
  const auto areas = LayOutMember(super, kSampleDeviceSectors, 0);
  EXPECT_THAT(MessageOf(areas.status()), HasSubstr("superblock (bytes 4096 to 5632) overlaps"));
  EXPECT_EQ(ErrnoOf(areas.status()), EINVAL);
}

TEST(MemberAreasTest, SuperblockStopsAtTheEndOfTheMember) {
  Superblock super = SampleSuper(0);
  super.super_offset = kSampleDeviceSectors - 2;  // no kernel puts it there
  EXPECT_EQ(Areas(super).super.size(), 1024u);
}

TEST(MemberAreasTest, BitmapsLengthCounts) {
  const Superblock super = SampleSuper();  // 64 sectors up to the log
  EXPECT_EQ(Areas(super, 64 * 512).bitmap, (ByteRange{8192, 8192 + 64 * 512}));
  const auto areas = LayOutMember(super, kSampleDeviceSectors, 64 * 512 + 1);
  EXPECT_THAT(MessageOf(areas.status()),
              HasSubstr("bitmap (bytes 8192 to 40961) overlaps the bad-block log"));
  EXPECT_FALSE(LayOutMember(super, kSampleDeviceSectors, ~uint64_t{0}).ok());
  EXPECT_EQ(*BitmapRoomBytes(super, kSampleDeviceSectors), 64u * 512);
}

TEST(MemberAreasTest, AbsentAreasAreEmpty) {
  Superblock super = SampleSuper();
  super.feature_map = 0;
  super.bblog_offset = 0;
  const MemberAreas areas = Areas(super, 0);
  EXPECT_TRUE(areas.bitmap.empty());
  EXPECT_TRUE(areas.bad_blocks.empty());
  EXPECT_EQ(*BitmapRoomBytes(super, kSampleDeviceSectors), 0u);
}

TEST(MemberAreasTest, DataEndsWithAWholeChunk) {
  Superblock super = SampleSuper();
  super.size = 126976 + 1000;
  EXPECT_EQ(Areas(super).data.size(), uint64_t{126976} * 512);
  super.chunksize = 0;  // another level
  EXPECT_EQ(Areas(super).data.size(), (uint64_t{126976} + 1000) * 512);
}

TEST(MemberAreasTest, AllOfAJournalIsData) {
  Superblock super = SampleSuper();
  super.feature_map = kFeatureJournal;
  super.dev_roles[3] = kRoleJournal;
  super.size = ~uint64_t{0};
  EXPECT_EQ(Areas(super).data.size(), uint64_t{129024} * 512);
}

TEST(MemberAreasTest, RefusesHostileNumbers) {
  Superblock super = SampleSuper();
  EXPECT_FALSE(LayOutMember(super, ~uint64_t{0}, 0).ok());
  EXPECT_FALSE(BitmapRoomBytes(super, ~uint64_t{0}).ok());
  super.max_dev = 65535;
  EXPECT_THAT(MessageOf(LayOutMember(super, kSampleDeviceSectors, 0).status()),
              HasSubstr("max_dev 65535"));
  super = SampleSuper();
  super.size = ~uint64_t{0};
  EXPECT_THAT(MessageOf(LayOutMember(super, kSampleDeviceSectors, 0).status()),
              HasSubstr("data area"));
  super = SampleSuper();
  super.data_offset = ~uint64_t{0};
  EXPECT_THAT(MessageOf(LayOutMember(super, kSampleDeviceSectors, 0).status()),
              HasSubstr("data_offset"));
}

TEST(MemberAreasTest, WhateverIsAcceptedIsDisjointAndOnTheMember) {
  Prng prng(TestSeed("MemberAreasTest.WhateverIsAcceptedIsDisjointAndOnTheMember"));
  int accepted = 0;
  for (int round = 0; round < 100'000; ++round) {
    Superblock super = SampleSuper();
    const uint64_t device_sectors = 24 + prng.Below(200);
    const auto near = [&] { return static_cast<int32_t>(prng.Below(80)) - 40; };
    super.super_offset = prng.Below(60);
    super.bitmap_offset = near();
    super.bblog_offset = near();
    super.bblog_size = static_cast<uint16_t>(prng.Below(9));
    super.data_offset = prng.Below(100);
    super.size = prng.Below(100);
    super.chunksize = 8;
    super.max_dev = static_cast<uint32_t>(prng.Below(kMaxDevices + 1));
    const uint64_t bitmap_bytes = prng.Below(10'000);
    const auto areas = LayOutMember(super, device_sectors, bitmap_bytes);
    if (!areas.ok()) {
      continue;
    }
    ++accepted;
    const std::array<ByteRange, 4> ranges{areas->super, areas->bitmap, areas->bad_blocks,
                                          areas->data};
    for (size_t i = 0; i < ranges.size(); ++i) {
      ASSERT_LE(ranges[i].begin, ranges[i].end);
      ASSERT_LE(ranges[i].end, device_sectors * kSectorBytes);
      for (size_t j = 0; j < i; ++j) {
        ASSERT_TRUE(ranges[i].empty() || ranges[j].empty() || ranges[i].end <= ranges[j].begin ||
                    ranges[j].end <= ranges[i].begin);
      }
    }
    ASSERT_GE(areas->super.size(), SuperblockWriteBytes(super));
    ASSERT_GE(areas->bitmap.size(), std::max<uint64_t>(bitmap_bytes, kBitmapSuperBytes));
    ASSERT_EQ(areas->bad_blocks.size(),
              super.bblog_offset.get() == 0 ? 0u : super.bblog_size * 512u);
  }
  EXPECT_GT(accepted, 1000);
}

}  // namespace
}  // namespace mdvol
