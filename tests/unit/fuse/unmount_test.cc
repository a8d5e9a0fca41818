// Reading /proc/self/mountinfo.

#include "fuse/unmount.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "core/base/status.h"

namespace mdvol {
namespace {

TEST(UnmountTest, ReadsALineOfMountinfo) {
  const auto info = ParseMountInfoLine(
      "36 35 98:0 / /mnt/a rw,noatime shared:1 master:2 - fuse.mdvol host:big rw,user_id=0");
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->mountpoint, "/mnt/a");
  EXPECT_EQ(info->type, "fuse.mdvol");
  EXPECT_EQ(info->source, "host:big");
}

TEST(UnmountTest, ReadsALineWithoutOptionalFields) {
  const auto info = ParseMountInfoLine("36 35 98:0 / /mnt rw - ext4 /dev/x rw");
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->mountpoint, "/mnt");
  EXPECT_EQ(info->type, "ext4");
}

TEST(UnmountTest, ResolvesEscapedCharacters) {
  const auto info =
      ParseMountInfoLine(R"(36 35 98:0 / /a\040b\011c\134d rw - fuse.mdvol x\040y rw)");
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->mountpoint, "/a b\tc\\d");
  EXPECT_EQ(info->source, "x y");
}

TEST(UnmountTest, WhatIsNoLineIsNone) {
  for (const char* line : {"", "36", "36 35 98:0 / /mnt rw", "36 35 98:0 / /mnt rw -",
                           "36 35 98:0 / /mnt rw - ext4"}) {
    EXPECT_FALSE(ParseMountInfoLine(line).has_value()) << line;
  }
}

TEST(UnmountTest, FindsWhatIsMountedAndOnlyThat) {
  EXPECT_TRUE(FindMount("/proc")->has_value());
  EXPECT_EQ((*FindMount("/proc"))->type, "proc");
  EXPECT_FALSE(FindMount("/proc/self")->has_value());
  EXPECT_FALSE(FindMount("/no/such/folder")->has_value());
}

TEST(UnmountTest, AFolderThatIsNoMountCannotBeUnmounted) {
  EXPECT_FALSE(Unmount("/proc/self", UnmountKind::kIfUnused).ok());
}

}  // namespace
}  // namespace mdvol
