// Which paths rest on an mdvol mount, on a machine made of files: mounts as listed, devices as a
// sysfs shows them.

#include "fuse/member_place.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/status.h"
#include "tests/support/temporary_folder.h"

namespace mdvol {
namespace {

class MemberPlaceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* folder : {"mnt", "fs", "plain/sub", "sys/dev/block"}) {
      std::filesystem::create_directories(root_ / folder);
    }
    std::ofstream(Path("plain/d0.img")) << "member";
    facts_.sys = Path("sys");
    facts_.mounts = {Mount("/", "ext4", "/dev/root", makedev(250, 1)),
                     Mount(Path("mnt"), "fuse.mdvol", "host:demo", makedev(0, 9999))};
  }

  static MountInfo Mount(const std::string& mountpoint, const std::string& type,
                         const std::string& source, dev_t device) {
    MountInfo info;
    info.device = device;
    info.mountpoint = mountpoint;
    info.type = type;
    info.source = source;
    return info;
  }

  std::string Path(const std::string& name) const { return (root_ / name).string(); }

  // A block device as sysfs shows it, a loop device if it has a backing file.
  void AddDevice(const std::string& numbers, const std::string& backing_file) {
    const std::filesystem::path folder = root_ / "sys/dev/block" / numbers;
    std::filesystem::create_directories(folder / "slaves");
    std::ofstream(folder / "dev") << numbers << '\n';
    if (!backing_file.empty()) {
      std::filesystem::create_directories(folder / "loop");
      std::ofstream(folder / "loop" / "backing_file") << backing_file << '\n';
    }
  }
  void AddSlave(const std::string& numbers, const std::string& slave) {
    const std::filesystem::path folder = root_ / "sys/dev/block" / numbers / "slaves" / slave;
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "dev") << slave << '\n';
  }

  std::string Find(const std::string& path) const { return FindMountUnder(path, facts_); }

  const testing::TemporaryFolder temporary_;
  const std::filesystem::path root_ = temporary_.path();
  PlaceFacts facts_;
};

TEST_F(MemberPlaceTest, OtherPlacesAreFine) {
  EXPECT_EQ(Find(Path("plain/d0.img")), "");
  EXPECT_EQ(Find(Path("plain/not-yet.img")), "");
  EXPECT_EQ(Find(Path("mnt2/d0.img")), "");
  EXPECT_EQ(Find("/dev/null"), "");
  EXPECT_EQ(Find(""), "");
}

TEST_F(MemberPlaceTest, WhatLiesInTheMountIsFoundByEveryWayThere) {
  std::filesystem::create_symlink(Path("mnt/volume"), Path("plain/absolute"));
  std::filesystem::create_symlink("../mnt", Path("plain/relative"));
  std::filesystem::create_symlink("absolute", Path("plain/twice"));
  std::filesystem::create_directory_symlink(Path("plain/sub"), Path("link"));
  for (const char* name : {"mnt/volume", "mnt/md/new_dev", "mnt", "plain/../mnt/volume",
                           "plain/absolute", "plain/relative/volume", "plain/twice",
                           "link/../../mnt/volume", "link/../relative/./volume"}) {
    EXPECT_EQ(Find(Path(name)), Path("mnt")) << name;
  }
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(root_ / "plain");
  EXPECT_EQ(Find("../mnt/volume"), Path("mnt"));
  EXPECT_EQ(Find("d0.img"), "");
  std::filesystem::current_path(before);
}

TEST_F(MemberPlaceTest, ALoopOfLinksEnds) {
  std::filesystem::create_symlink("b", Path("a"));
  std::filesystem::create_symlink("a", Path("b"));
  EXPECT_EQ(Find(Path("a")), "");
}

TEST_F(MemberPlaceTest, ABindMountOfTheVolumeIsTheVolume) {
  std::ofstream(Path("bound")) << "";
  facts_.mounts.push_back(Mount(Path("bound"), "fuse.mdvol", "host:demo", makedev(0, 9999)));
  EXPECT_EQ(Find(Path("bound")), Path("bound"));
}

TEST_F(MemberPlaceTest, AFileOfTheMountsDeviceIsInIt) {
  struct stat attributes {};
  ASSERT_EQ(::stat(Path("plain/d0.img").c_str(), &attributes), 0);
  facts_.mounts[1].device = attributes.st_dev;
  EXPECT_EQ(Find(Path("plain/d0.img")), Path("mnt"));
}

TEST_F(MemberPlaceTest, AFileSystemOnALoopDeviceOnTheVolumeRestsOnIt) {
  AddDevice("7:0", Path("mnt/volume"));
  facts_.mounts.push_back(Mount(Path("fs"), "ext4", "/dev/none", makedev(7, 0)));
  EXPECT_EQ(Find(Path("fs/d0.img")), Path("mnt"));
  EXPECT_EQ(Find(Path("fs/../fs/sub/d0.img")), Path("mnt"));
  // btrfs gives its files other numbers: there the source tells.
  facts_.mounts.back() = Mount(Path("fs"), "btrfs", "/dev/none", makedev(0, 77));
  EXPECT_EQ(Find(Path("fs/d0.img")), "");
  facts_.mounts.back() = Mount(Path("fs"), "fuse.fuse2fs", Path("mnt/volume"), makedev(0, 78));
  EXPECT_EQ(Find(Path("fs/d0.img")), Path("mnt"));
}

TEST_F(MemberPlaceTest, DevicesAreFollowedThroughTheirLayers) {
  AddDevice("7:0", Path("mnt/volume"));
  AddDevice("7:1", Path("plain/d0.img"));
  // A partition lies in the folder of its disk.
  std::filesystem::create_directories(root_ / "sys/dev/block/7:0/loop0p1");
  std::ofstream(root_ / "sys/dev/block/7:0/loop0p1/partition") << "1\n";
  std::filesystem::create_directory_symlink("7:0/loop0p1", root_ / "sys/dev/block/259:0");
  AddDevice("253:0", "");
  AddSlave("253:0", "7:1");
  facts_.mounts.push_back(Mount(Path("fs"), "xfs", "/dev/none", makedev(253, 0)));
  EXPECT_EQ(Find(Path("fs/d0.img")), "");
  AddSlave("253:0", "259:0");
  EXPECT_EQ(Find(Path("fs/d0.img")), Path("mnt"));
  // A loop device on a file of that file system.
  AddDevice("7:2", Path("fs/image"));
  facts_.mounts.push_back(Mount(Path("plain/sub"), "ext4", "/dev/none", makedev(7, 2)));
  EXPECT_EQ(Find(Path("plain/sub/d0.img")), Path("mnt"));
}

TEST_F(MemberPlaceTest, WhatNamesItselfAsItsSourceEndsTheSearch) {
  facts_.mounts.push_back(Mount(Path("fs"), "fuse.bindfs", Path("fs"), makedev(0, 80)));
  EXPECT_EQ(Find(Path("fs/d0.img")), "");
  AddDevice("7:0", Path("fs/image"));
  facts_.mounts.push_back(Mount(Path("plain/sub"), "ext4", "/dev/none", makedev(7, 0)));
  AddSlave("7:0", "7:0");
  EXPECT_EQ(Find(Path("plain/sub/d0.img")), "");
}

}  // namespace
}  // namespace mdvol
