// Tests of the map between a volume and its members as it is printed.

#include "fuse/cli/array_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/base/units.h"
#include "tests/support/seed.h"

namespace mdvol {
namespace {

using ::testing::HasSubstr;

// Chunks of 4 KiB, 8 stripes; member i's data begins at (i + 1) MiB.
ArrayMap SmallMap(Layout layout = Layout::kLeftSymmetric, uint32_t raid_disks = 4) {
  ArrayMap map{*ArrayGeometry::Make(layout, raid_disks, 4 * kKiB, 32 * kKiB), {}};
  for (uint32_t slot = 0; slot < raid_disks; ++slot) {
    const std::string text = std::to_string(slot);
    map.members.push_back({"d" + text, "dir/d" + text, slot, (slot + 1) * kMiB, std::nullopt});
  }
  return map;
}

std::string VolumeLines(const ArrayMap& map, const ByteRange& range) {
  std::ostringstream out;
  const absl::Status status = MapVolumeRange(map, range, out);
  EXPECT_TRUE(status.ok()) << status;
  return out.str();
}

std::string MemberLines(const ArrayMap& map, const std::string& member, const ByteRange& range) {
  std::ostringstream out;
  const absl::Status status = MapMemberRange(map, member, range, out);
  EXPECT_TRUE(status.ok()) << status;
  return out.str();
}

TEST(ArrayMapTest, AFailedMemberHasTheSlotOfItsNumberUntilSomebodyTakesIt) {
  ArrayMap map = SmallMap();
  map.members[1].slot.reset();
  map.members[1].number = 1;
  const ByteRange range{2 * kMiB, 2 * kMiB + 1};
  const std::string line = "volume 0 1 stripe 0 member d1 slot 1 offset 2097152 role data\n";
  EXPECT_EQ(MemberLines(map, "1", range), line);
  EXPECT_EQ(MemberLines(map, "d1", range), line);
  map.members.push_back({"new", "new", 1, 2 * kMiB, std::nullopt});
  std::ostringstream out;
  EXPECT_THAT(MessageOf(MapMemberRange(map, "d1", range, out)), HasSubstr("holds no slot"));
}

TEST(ArrayMapTest, AByteHasItsPlaceAndItsParity) {
  // Left-symmetric, stripe 1 of four members: D0 on 0, D1 on 1, P on 2, Q on 3.
  EXPECT_EQ(VolumeLines(SmallMap(), {8192 + 5, 8192 + 6}),
            "volume 8197 1 stripe 1 member d0 slot 0 offset 1052677 role data\n"
            "volume 8197 1 stripe 1 member d2 slot 2 offset 3149829 role P\n"
            "volume 8197 1 stripe 1 member d3 slot 3 offset 4198405 role Q\n");
}

TEST(ArrayMapTest, ARangeIsSplitAtChunksAndParityFollowsItsStripe) {
  EXPECT_EQ(VolumeLines(SmallMap(), {4000, 8200}),
            "volume 4000 96 stripe 0 member d1 slot 1 offset 2101152 role data\n"
            "volume 4096 4096 stripe 0 member d2 slot 2 offset 3145728 role data\n"
            "volume 4000 4192 stripe 0 member d3 slot 3 offset 4194304 role P\n"
            "volume 4000 4192 stripe 0 member d0 slot 0 offset 1048576 role Q\n"
            "volume 8192 8 stripe 1 member d0 slot 0 offset 1052672 role data\n"
            "volume 8192 8 stripe 1 member d2 slot 2 offset 3149824 role P\n"
            "volume 8192 8 stripe 1 member d3 slot 3 offset 4198400 role Q\n");
}

TEST(ArrayMapTest, AMissingMemberHasNoOffset) {
  ArrayMap map = SmallMap();
  map.members.erase(map.members.begin());
  EXPECT_THAT(VolumeLines(map, {8192, 8193}),
              HasSubstr("volume 8192 1 stripe 1 member missing slot 0 offset - role data\n"));
}

TEST(ArrayMapTest, AMembersByteIsDataOrParityOfAStripe) {
  const ArrayMap map = SmallMap();
  EXPECT_EQ(MemberLines(map, "d0", {kMiB + 4096, kMiB + 4097}),
            "volume 8192 1 stripe 1 member d0 slot 0 offset 1052672 role data\n");
  EXPECT_EQ(MemberLines(map, "d2", {3 * kMiB + 4096, 3 * kMiB + 4097}),
            "volume 8192 8192 stripe 1 member d2 slot 2 offset 3149824 role P\n");
  EXPECT_EQ(MemberLines(map, "d0", {kMiB, kMiB + 4100}),
            "volume 0 8192 stripe 0 member d0 slot 0 offset 1048576 role Q\n"
            "volume 8192 4 stripe 1 member d0 slot 0 offset 1052672 role data\n");
}

TEST(ArrayMapTest, AMemberIsAPathANameOrASlot) {
  const ArrayMap map = SmallMap();
  const ByteRange range{2 * kMiB, 2 * kMiB + 1};
  const std::string lines = MemberLines(map, "d1", range);
  EXPECT_EQ(MemberLines(map, "dir/d1", range), lines);
  EXPECT_EQ(MemberLines(map, "1", range), lines);
  std::ostringstream out;
  for (const char* const unknown : {"d9", "4", "", "dir", "18446744073709551616"}) {
    const absl::Status status = MapMemberRange(map, unknown, range, out);
    EXPECT_TRUE(IsUsageError(status)) << unknown;
    EXPECT_THAT(MessageOf(status), HasSubstr("no such member"));
  }
  EXPECT_EQ(out.str(), "");
}

TEST(ArrayMapTest, WhatLiesOutsideIsRefusedAndNamed) {
  ArrayMap map = SmallMap();
  map.members[0].areas = MemberAreas{{4096, 8192}, {8192, 12288}, {12288, 16384}, {kMiB, 2 * kMiB}};
  const auto error = [&map](const std::string& member, const ByteRange& range) {
    std::ostringstream out;
    const absl::Status status = MapMemberRange(map, member, range, out);
    EXPECT_EQ(out.str(), "");
    return MessageOf(status);
  };
  EXPECT_THAT(error("d0", {5000, 5001}), HasSubstr("dir/d0 is in its superblock"));
  EXPECT_THAT(error("d0", {8192, 8193}), HasSubstr("in its bitmap"));
  EXPECT_THAT(error("d0", {16383, 16384}), HasSubstr("in its bad-block log"));
  EXPECT_THAT(error("d0", {0, 1}), HasSubstr("outside of its data area"));
  EXPECT_THAT(error("d1", {0, 1}), HasSubstr("outside of its data area"));
  EXPECT_THAT(error("d0", {kMiB + 32 * kKiB, kMiB + 32 * kKiB + 1}), HasSubstr("outside"));
  EXPECT_THAT(error("d0", {kMiB + 32 * kKiB - 1, kMiB + 32 * kKiB + 1}),
              HasSubstr("partly outside of its data area"));
  map.members[3].slot.reset();
  EXPECT_THAT(error("d3", {5 * kMiB, 5 * kMiB + 1}), HasSubstr("holds no slot"));
  std::ostringstream out;
  for (const ByteRange& range :
       {ByteRange{64 * kKiB, 64 * kKiB + 1}, ByteRange{64 * kKiB - 1, 64 * kKiB + 1},
        ByteRange{~uint64_t{0}, 0}}) {
    EXPECT_THAT(MessageOf(MapVolumeRange(map, range, out)), HasSubstr("has 65536 bytes"));
  }
  EXPECT_EQ(out.str(), "");
}

// Forth and back is where one began: for all layouts, every chunk of the volume.
TEST(ArrayMapTest, BothDirectionsAgree) {
  testing::Prng prng(testing::TestSeed("ArrayMapBothDirections"));
  for (const Layout layout : AllLayouts()) {
    for (uint32_t raid_disks = 4; raid_disks <= 7; ++raid_disks) {
      const ArrayMap map = SmallMap(layout, raid_disks);
      for (uint64_t at = 0; at < map.geometry.volume_bytes(); at += 4096) {
        const uint64_t byte = at + prng.Below(4096);
        std::istringstream line(VolumeLines(map, {byte, byte + 1}));
        std::string word;
        std::string member;
        uint64_t number = 0;
        uint64_t member_offset = 0;
        line >> word >> number >> number >> word >> number >> word >> member >> word >> number >>
            word >> member_offset;
        const std::string back = MemberLines(map, member, {member_offset, member_offset + 1});
        EXPECT_THAT(back, ::testing::StartsWith("volume " + std::to_string(byte) + " 1 stripe "));
        EXPECT_THAT(back, ::testing::EndsWith("role data\n"));
      }
    }
  }
}

constexpr char kStatus[] = R"({
  "layout": "left-symmetric", "raid_disks": 4, "chunk_bytes": 4096, "component_bytes": 32768,
  "name": "vol", "members": [
    {"name": "d0", "path": "dir/d0", "slot": 0, "role": "active", "data_offset_bytes": 1048576},
    {"name": "d1", "path": "dir/d1", "slot": 1, "role": "faulty", "data_offset_bytes": 2097152},
    {"name": "d2", "path": "dir/d2", "slot": 2, "role": "active", "data_offset_bytes": 3145728},
    {"name": "s", "path": "dir/s", "slot": null, "role": "spare", "data_offset_bytes": 1048576},
    {"name": "d3", "path": "dir/d3", "slot": 3, "role": "rebuilding",
     "data_offset_bytes": 4194304}]})";

TEST(ArrayMapTest, IsReadFromTheStatusOfAMount) {
  const auto map = MapOfStatusJson(kStatus);
  ASSERT_TRUE(map.ok()) << map.status();
  EXPECT_EQ(map->members.size(), 5U);
  ArrayMap expected = SmallMap();
  expected.members.erase(expected.members.begin() + 1);
  EXPECT_EQ(VolumeLines(*map, {0, 64 * kKiB}), VolumeLines(expected, {0, 64 * kKiB}));
}

TEST(ArrayMapTest, AStatusThatIsNoneIsRefused) {
  for (const std::string text :
       {"", "{", "[]", "null", "{}", R"({"layout": 7})",
        R"({"layout": "left-symmetric", "raid_disks": -4, "chunk_bytes": 4096,
            "component_bytes": 1})",
        R"({"layout": "left-symmetric", "raid_disks": 4, "chunk_bytes": 4096,
            "component_bytes": 32768, "members": [{"name": "d0"}]})"}) {
    EXPECT_FALSE(MapOfStatusJson(text).ok()) << text;
  }
  const auto broken = MapOfStatusJson("{");
  EXPECT_THAT(MessageOf(broken.status()), HasSubstr("name a mountpoint of mdvol"));
  EXPECT_FALSE(IsUsageError(broken.status()));
}

}  // namespace
}  // namespace mdvol
