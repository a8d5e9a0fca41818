// What can be mounted on, with which options, and what is said of the rest.

#include "fuse/mountpoint.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/status.h"
#include "tests/support/temporary_folder.h"

namespace mdvol {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class MountpointTest : public ::testing::Test {
 protected:
  const testing::TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
};

TEST_F(MountpointTest, AFolderIsResolvedToItsAbsolutePath) {
  std::filesystem::create_directory(folder_ / "real");
  std::filesystem::create_symlink("real", folder_ / "link");
  EXPECT_EQ(*PrepareMountpoint(folder_ / "link"), folder_ / "real");
  EXPECT_EQ(*PrepareMountpoint((folder_ / "real").string() + "/../real/"), folder_ / "real");
}

TEST_F(MountpointTest, AFolderWithFilesIsAccepted) {
  std::ofstream(folder_ / "file") << "x";
  EXPECT_TRUE(PrepareMountpoint(folder_).ok());
}

TEST_F(MountpointTest, AMissingFolderSaysHowToMakeIt) {
  const absl::Status status = PrepareMountpoint(folder_ / "none").status();
  EXPECT_EQ(ErrnoOf(status), ENOENT);
  EXPECT_THAT(MessageOf(status), HasSubstr("mkdir"));
}

TEST_F(MountpointTest, AFileIsRefused) {
  std::ofstream(folder_ / "file") << "x";
  const absl::Status status = PrepareMountpoint(folder_ / "file").status();
  EXPECT_EQ(ErrnoOf(status), ENOTDIR);
  EXPECT_THAT(MessageOf(status), HasSubstr((folder_ / "file").string() + ": not a folder"));
}

TEST_F(MountpointTest, WhatIsAMountAlreadyIsRefused) {
  const absl::Status status = PrepareMountpoint("/proc").status();
  EXPECT_EQ(ErrnoOf(status), EBUSY);
  EXPECT_THAT(MessageOf(status), HasSubstr("/proc: something is mounted here already (proc)"));
}

TEST_F(MountpointTest, OneAtATimeReservesAFolder) {
  absl::StatusOr<UniqueFd> first = ReserveMountpoint(folder_);
  ASSERT_TRUE(first.ok());
  const UniqueFd other(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_NE(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
  first->reset();
  EXPECT_EQ(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
}

TEST_F(MountpointTest, AFolderThatWasMountedOnMeanwhileIsNotReserved) {
  EXPECT_EQ(ErrnoOf(ReserveMountpoint("/proc").status()), EBUSY);
}

TEST(MountOptionsTest, KnownOptionsPassInTheirOrder) {
  EXPECT_THAT(*CheckMountOptions({"nodev,noexec", "noatime"}, false, false),
              ElementsAre("nodev", "noexec", "noatime"));
  EXPECT_TRUE(CheckMountOptions({}, false, false)->empty());
}

TEST(MountOptionsTest, UnknownOptionsAreUsageErrors) {
  for (const char* option : {"x", "fsname=y", "subtype=y", "default_permissions", "max_read=1",
                             "ro", "nodev,x", "allow_other=1"}) {
    EXPECT_TRUE(IsUsageError(CheckMountOptions({option}, true, true).status())) << option;
  }
  EXPECT_THAT(MessageOf(CheckMountOptions({"ro"}, true, true).status()), HasSubstr("--read-only"));
}

TEST(MountOptionsTest, AllowOtherIsForRootOrWhereRootAllowsIt) {
  EXPECT_TRUE(CheckMountOptions({"allow_other"}, true, false).ok());
  EXPECT_TRUE(CheckMountOptions({"allow_other"}, false, true).ok());
  const absl::Status status = CheckMountOptions({"allow_other"}, false, false).status();
  EXPECT_EQ(ErrnoOf(status), EPERM);
  EXPECT_THAT(MessageOf(status), HasSubstr("user_allow_other in /etc/fuse.conf"));
}

TEST(MountOptionsTest, FuseConfAllowsItByALineOfItsOwn) {
  EXPECT_TRUE(HasUserAllowOther("user_allow_other"));
  EXPECT_TRUE(HasUserAllowOther("# x\n  user_allow_other \nmount_max = 5\n"));
  EXPECT_FALSE(HasUserAllowOther(""));
  EXPECT_FALSE(HasUserAllowOther("#user_allow_other\n"));
  EXPECT_FALSE(HasUserAllowOther("user_allow_others\n"));
}

}  // namespace
}  // namespace mdvol
