// Reading /proc/self/mountinfo.

#include "fuse/unmount.h"

#include <gtest/gtest.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "core/base/status.h"

namespace mdvol {
namespace {

TEST(UnmountTest, ReadsALineOfMountinfo) {
  const auto info = ParseMountInfoLine(
      "36 35 98:0 / /mnt/a rw,noatime shared:1 master:2 - fuse.mdvol host:big rw,user_id=0");
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->device, makedev(98, 0));
  EXPECT_EQ(info->mountpoint, "/mnt/a");
  EXPECT_EQ(info->type, "fuse.mdvol");
  EXPECT_EQ(info->source, "host:big");
  EXPECT_EQ(info->user_id, 0U);
}

TEST(UnmountTest, EscapesAreOctalAndOthersStay) {
  EXPECT_EQ(UnescapeOctal("/a\\040b\\134\\377"), "/a b\\\xff");
  EXPECT_EQ(UnescapeOctal("\\04 \\x \\"), "\\04 \\x \\");
}

TEST(UnmountTest, ReadsALineWithoutOptionalFields) {
  const auto info = ParseMountInfoLine("36 35 98:0 / /mnt rw - ext4 /dev/x rw");
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->mountpoint, "/mnt");
  EXPECT_EQ(info->type, "ext4");
  EXPECT_FALSE(info->user_id.has_value());
}

TEST(UnmountTest, ReadsWhoMountedIt) {
  const auto user_id_of = [](const std::string& options) {
    return ParseMountInfoLine("36 35 98:0 / /mnt rw - fuse.mdvol x " + options)->user_id;
  };
  EXPECT_EQ(user_id_of("rw,user_id=1000,group_id=7,allow_other"), 1000U);
  EXPECT_EQ(user_id_of("user_id=4294967294"), 4294967294U);
  for (const char* options : {"", "rw", "user_id=", "user_id=x", "user_id=-1", "xuser_id=1"}) {
    EXPECT_FALSE(user_id_of(options).has_value()) << options;
  }
}

TEST(UnmountTest, WithoutFusermountThatIsSaid) {
  const pid_t child = ::fork();
  if (child == 0) {
    // Not as root, who needs none.
    ::setenv("PATH", "/nonexistent", 1);
    if (::geteuid() == 0 && ::seteuid(65534) != 0) {
      ::_exit(1);
    }
    const absl::Status status = Unmount("/proc", UnmountKind::kIfUnused);
    ::_exit(ErrnoOf(status) == ENOENT &&
                    MessageOf(status).find("package fuse3") != std::string::npos
                ? 0
                : 2);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
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
