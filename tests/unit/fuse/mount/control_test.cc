// The control files on a real mount: what the kernel makes of the tree.

#include <dirent.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <set>
#include <string>

#include "tests/unit/fuse/mount/mounted.h"

namespace mdvol {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class MountedControlTest : public testing::MountedTest {
 protected:
  void SetUp() override { Mount(); }

  std::set<std::string> Names(std::string_view folder) const {
    std::set<std::string> names;
    DIR* const open = ::opendir(Path(folder).c_str());
    EXPECT_NE(open, nullptr) << folder;
    while (const dirent* const entry = open != nullptr ? ::readdir(open) : nullptr) {
      names.insert(entry->d_name);
    }
    if (open != nullptr) {
      ::closedir(open);
    }
    return names;
  }

  std::string Link(std::string_view name) const {
    std::array<char, 256> target{};
    const ssize_t size = ::readlink(Path(name).c_str(), target.data(), target.size());
    return size < 0 ? "errno " + std::to_string(errno)
                    : std::string(target.data(), static_cast<size_t>(size));
  }
};

TEST_F(MountedControlTest, TheTreeCanBeListed) {
  EXPECT_EQ(Names(""), (std::set<std::string>{".", "..", "volume", "mdstat", "status.json",
                                              "events", "iostat", "md"}));
  EXPECT_THAT(Names("md"), Contains("rd5"));
  EXPECT_THAT(Names("md"), Contains("dev-d0.img"));
  EXPECT_THAT(Names("md/dev-d0.img"), Contains("state"));
  EXPECT_THAT(Names("md/rd0"), Contains("state"));
  EXPECT_THAT(Names("md/bitmap"), Contains("location"));
  EXPECT_THAT(Names("md/policy"), Contains("degraded_read"));
}

TEST_F(MountedControlTest, FilesAreReadToTheirEndWhateverTheBuffer) {
  const std::string whole = ReadFile("status.json");
  EXPECT_THAT(whole, HasSubstr("\"version\": \"test\""));
  const UniqueFd file = Open(Path("status.json"), O_RDONLY);
  std::string pieces;
  std::array<char, 7> buffer;
  ssize_t count = 0;
  while ((count = ::read(file.get(), buffer.data(), buffer.size())) > 0) {
    pieces.append(buffer.data(), static_cast<size_t>(count));
  }
  EXPECT_EQ(pieces, whole);
  EXPECT_EQ(ReadFile("md/level"), "raid6\n");
  EXPECT_EQ(ReadFile("md/rd2/slot"), "2\n");
}

TEST_F(MountedControlTest, AHandleThatStartsAgainSeesTheNews) {
  const UniqueFd file = Open(Path("md/rmw_level"), O_RDWR);
  std::array<char, 10> buffer{};
  ASSERT_EQ(::pread(file.get(), buffer.data(), buffer.size(), 0), 2);
  EXPECT_EQ(buffer[0], '1');
  ASSERT_EQ(::pwrite(file.get(), "2\n", 2, 0), 2);
  ASSERT_EQ(::pread(file.get(), buffer.data(), buffer.size(), 0), 2);
  EXPECT_EQ(buffer[0], '2');
}

TEST_F(MountedControlTest, StoresReachTheArrayAndReportTheKernelsErrors) {
  EXPECT_EQ(WriteFile("md/rmw_level", "0\n"), 0);
  EXPECT_EQ(ReadFile("md/rmw_level"), "0\n");
  EXPECT_EQ(WriteFile("md/rmw_level", "7\n"), EINVAL);
  EXPECT_EQ(WriteFile("md/level", "raid5\n"), EACCES);
  EXPECT_EQ(WriteFile("md/no_such", "1\n"), ENOENT);
  EXPECT_EQ(WriteFile("md/rmw_level", std::string(5000, '1')), EINVAL);
  EXPECT_EQ(ReadFile("md/rmw_level"), "0\n");
}

TEST_F(MountedControlTest, AppendingIsAStoreToo) {
  const UniqueFd file = Open(Path("md/rmw_level"), O_WRONLY | O_APPEND);
  ASSERT_EQ(::write(file.get(), "2\n", 2), 2);
  EXPECT_EQ(ReadFile("md/rmw_level"), "2\n");
}

TEST_F(MountedControlTest, AFailedMemberLosesItsLinkAtOnce) {
  EXPECT_EQ(Link("md/rd3"), "dev-d3.img");
  EXPECT_EQ(WriteFile("md/dev-d3.img/state", "faulty\n"), 0);
  EXPECT_EQ(Link("md/rd3"), "errno 2");
  EXPECT_THAT(Names("md"), Not(Contains("rd3")));
  EXPECT_THAT(Names("md"), Contains("dev-d3.img"));
  EXPECT_EQ(ReadFile("md/dev-d3.img/state"), "faulty\n");
  EXPECT_THAT(ReadFile("mdstat"), HasSubstr("d3.img[3](F)"));
  EXPECT_EQ(WriteFile("md/rd4/state", "faulty\n"), 0);
  EXPECT_EQ(WriteFile("md/rd5/state", "faulty\n"), EBUSY);
}

TEST_F(MountedControlTest, OnlyTheOwnerMayWrite) {
  struct stat attributes {};
  ASSERT_EQ(::stat(Path("md/rmw_level").c_str(), &attributes), 0);
  EXPECT_EQ(attributes.st_mode & 0777U, 0644U);
  EXPECT_EQ(attributes.st_uid, ::geteuid());
  ASSERT_EQ(::stat(Path("md/level").c_str(), &attributes), 0);
  EXPECT_EQ(attributes.st_mode & 0777U, 0444U);
  EXPECT_EQ(::chmod(Path("md/rmw_level").c_str(), 0666), -1);
  EXPECT_EQ(errno, EPERM);
}

TEST_F(MountedControlTest, AnArrayWhoseVolumeIsOpenDoesNotBecomeReadOnly) {
  {
    const UniqueFd file = Open(O_RDONLY);
    EXPECT_EQ(WriteFile("md/array_state", "readonly\n"), EBUSY);
  }
  // The kernel tells us of the close a moment later.
  int error_number = EBUSY;
  for (int i = 0; i < 500 && error_number == EBUSY; ++i) {
    ::usleep(10'000);
    error_number = WriteFile("md/array_state", "readonly\n");
  }
  EXPECT_EQ(error_number, 0);
  EXPECT_EQ(ReadFile("md/array_state"), "readonly\n");
  EXPECT_FALSE(Open(O_RDWR).valid());
  EXPECT_EQ(errno, EROFS);
}

TEST_F(MountedControlTest, ReadsStartedTogetherAreEachOfOneMoment) {
  const std::string first = ReadFile("md/dev-d0.img/state");
  const UniqueFd file = Open(Path("mdstat"), O_RDONLY);
  std::array<char, 40> head{};
  ASSERT_EQ(::read(file.get(), head.data(), head.size()), 40);
  ASSERT_EQ(WriteFile("md/dev-d0.img/state", "faulty\n"), 0);
  std::array<char, 4096> rest{};
  const ssize_t size = ::read(file.get(), rest.data(), rest.size());
  ASSERT_GT(size, 0);
  EXPECT_THAT(std::string(rest.data(), static_cast<size_t>(size)), HasSubstr("[6/6] [UUUUUU]"));
}

}  // namespace
}  // namespace mdvol
