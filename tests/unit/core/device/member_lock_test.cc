// Who may hold an image beside whom, from two processes, and images behind loop devices: in a sysfs
// of our own, and for real where loop devices can be made.

#include "core/device/member_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "core/base/status.h"
#include "core/base/unique_fd.h"
#include "core/base/units.h"
#include "core/device/file_device.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/core/base/failing_syscall.h"
#include "tests/unit/core/device/test_files.h"

namespace mdvol {
namespace {

using testing::LoopDevice;
using testing::MakeFileWith;
using testing::MakeSparseFile;
using testing::RunWithFailingSyscall;
using testing::TemporaryFolder;

constexpr char kHeld[] =
    ": held by another process (is the array mounted already?): unmount it or pass a copy";

class MemberLockTest : public ::testing::Test {
 protected:
  MemberLockTest() : path_(temp_.Path("d0.img")) { MakeSparseFile(path_, kMiB); }

  TemporaryFolder temp_{"/dev/shm"};
  std::string path_;
};

// The errno of opening `path` in another process.
int OpenElsewhere(const std::string& path, const FileDeviceOptions& options) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(ErrnoOf(OpenFileDevice(path, options).status()));
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

TEST_F(MemberLockTest, AWriterExcludesEverybody) {
  const auto holder = OpenFileDevice(path_, {});
  ASSERT_TRUE(holder.ok());
  EXPECT_EQ(OpenElsewhere(path_, {}), EBUSY);
  EXPECT_EQ(OpenElsewhere(path_, {.read_only = true}), EBUSY);
  EXPECT_EQ(OpenElsewhere(path_, {.lock = false}), 0);
  // Also within one process: the same member given twice.
  const absl::Status status = OpenFileDevice(path_, {}).status();
  EXPECT_EQ(ErrnoOf(status), EBUSY);
  EXPECT_EQ(MessageOf(status), path_ + kHeld);
}

TEST_F(MemberLockTest, ReadersShareButExcludeWriters) {
  const auto holder = OpenFileDevice(path_, {.read_only = true});
  ASSERT_TRUE(holder.ok());
  EXPECT_EQ(OpenElsewhere(path_, {.read_only = true}), 0);
  EXPECT_EQ(OpenElsewhere(path_, {}), EBUSY);
}

TEST_F(MemberLockTest, TheLockGoesWithTheDevice) {
  {
    const auto holder = OpenFileDevice(path_, {});
    ASSERT_TRUE(holder.ok());
  }
  EXPECT_EQ(OpenElsewhere(path_, {}), 0);
}

TEST_F(MemberLockTest, OtherNamesOfTheFileAreTheSameFile) {
  const std::string hard = temp_.Path("hard");
  const std::string soft = temp_.Path("soft");
  std::filesystem::create_hard_link(path_, hard);
  std::filesystem::create_symlink(path_, soft);
  const auto holder = OpenFileDevice(path_, {});
  ASSERT_TRUE(holder.ok());
  EXPECT_EQ(OpenElsewhere(hard, {}), EBUSY);
  EXPECT_EQ(OpenElsewhere(soft, {}), EBUSY);
}

TEST_F(MemberLockTest, AFileThatHasJustBeenReplacedIsNotTheOneHeld) {
  const auto holder = OpenFileDevice(path_, {});
  ASSERT_TRUE(holder.ok());
  std::filesystem::rename(path_, temp_.Path("moved.img"));
  MakeSparseFile(path_, kMiB);
  EXPECT_EQ(OpenElsewhere(path_, {}), 0);
  EXPECT_EQ(OpenElsewhere(temp_.Path("moved.img"), {}), EBUSY);
}

TEST_F(MemberLockTest, AFileReplacedWhileItIsBeingOpenedIsRefused) {
  const FileIdentity before = {1, 2, false};
  EXPECT_TRUE(CheckNotReplaced(before, before, "d0.img").ok());
  for (const FileIdentity& opened :
       {FileIdentity{3, 2, false}, FileIdentity{1, 3, false}, FileIdentity{1, 2, true}}) {
    const absl::Status status = CheckNotReplaced(before, opened, "d0.img");
    EXPECT_EQ(ErrnoOf(status), EBUSY);
    EXPECT_EQ(MessageOf(status), "d0.img: replaced while it was being opened: try again");
  }
}

TEST_F(MemberLockTest, ErrorsOfLockingAreNamed) {
  const UniqueFd fd(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
  RunWithFailingSyscall({SYS_flock, ENOLCK}, [&] {
    const absl::Status status = LockImage(fd.get(), path_, false);
    EXPECT_EQ(ErrnoOf(status), ENOLCK);
    EXPECT_EQ(MessageOf(status), path_ + ": cannot be locked: No locks available");
  });
}

// Loop devices as sysfs shows them, in a folder of our own; none can be asked itself.
class LoopSearchTest : public MemberLockTest {
 protected:
  LoopSearchTest() : roots_{temp_.Path("sys"), temp_.Path("dev")}, file_(*IdentifyFile(path_)) {
    std::filesystem::create_directories(roots_.sys_block + "/sda");
    std::filesystem::create_directories(roots_.dev);
    std::filesystem::create_directories(roots_.sys_block + "/loop0");  // not in use
  }

  void ShowLoop(const std::string& name, const std::string& backing_file) {
    std::filesystem::create_directories(roots_.sys_block + "/" + name + "/loop");
    MakeFileWith(roots_.sys_block + "/" + name + "/loop/backing_file", backing_file + "\n");
  }

  std::string Find() const { return FindLoopDeviceOver(file_, roots_); }

  LoopRoots roots_;
  FileIdentity file_;
};

TEST_F(LoopSearchTest, FindsNothingWhereThereIsNothing) {
  EXPECT_EQ(Find(), "");
  MakeSparseFile(temp_.Path("other"), 1);
  ShowLoop("loop1", temp_.Path("other"));
  ShowLoop("loop2", temp_.Path("gone"));
  ShowLoop("loop3", "");
  EXPECT_EQ(Find(), "");
  EXPECT_TRUE(RefuseIfBehindLoopDevice(file_, path_, roots_).ok());
  roots_.sys_block = temp_.Path("nowhere");
  EXPECT_EQ(Find(), "");
}

TEST_F(LoopSearchTest, FindsTheFileAmongOthers) {
  MakeSparseFile(temp_.Path("other"), 1);
  ShowLoop("loop1", temp_.Path("other"));
  ShowLoop("loop12", path_);
  EXPECT_EQ(Find(), "loop12");
  const absl::Status status = RefuseIfBehindLoopDevice(file_, "./d0.img", roots_);
  EXPECT_EQ(ErrnoOf(status), EBUSY);
  EXPECT_EQ(MessageOf(status),
            "./d0.img: backs the loop device /dev/loop12: detach it (losetup -d /dev/loop12) or "
            "pass a copy");
}

TEST_F(LoopSearchTest, LooksAtLoopDevicesOnly) {
  ShowLoop("sdb", path_);
  EXPECT_EQ(Find(), "");
}

TEST_F(LoopSearchTest, AnotherNameOfTheFileIsTheFile) {
  std::filesystem::create_hard_link(path_, temp_.Path("hard"));
  ShowLoop("loop1", temp_.Path("hard"));
  EXPECT_EQ(Find(), "loop1");
  std::filesystem::create_symlink(path_, temp_.Path("soft"));
  ShowLoop("loop1", temp_.Path("soft"));
  EXPECT_EQ(Find(), "loop1");
}

TEST_F(LoopSearchTest, NamesMayHoldAnyCharacter) {
  for (const char* name : {"two words", "new\nline", "ends with newline\n", "\xc3\xa4\xff\x01",
                           "really (deleted)", "back\\slash"}) {
    const std::string path = temp_.Path(name);
    MakeSparseFile(path, 1);
    ShowLoop("loop1", path);
    EXPECT_EQ(FindLoopDeviceOver(*IdentifyFile(path), roots_), "loop1") << name;
    EXPECT_EQ(Find(), "") << name;
  }
}

TEST_F(LoopSearchTest, ADeletedBackingFileMayBeTheOneThatIsThereAgain) {
  ShowLoop("loop1", path_ + " (deleted)");
  EXPECT_EQ(Find(), "loop1");
  ShowLoop("loop1", " (deleted)");
  EXPECT_EQ(Find(), "");
}

TEST_F(LoopSearchTest, WhatCannotAnswerIsJudgedByItsPath) {
  MakeSparseFile(roots_.dev + "/loop1", 0);  // not a loop device
  ShowLoop("loop1", path_);
  EXPECT_EQ(Find(), "loop1");
}

// Real loop devices, asked themselves.
TEST_F(MemberLockTest, AnImageBehindALoopDeviceIsRefused) {
  if (!testing::CanMakeLoopDevices()) {
    return;  // said so already
  }
  const std::string hard = temp_.Path("hard");
  const std::string soft = temp_.Path("soft");
  std::filesystem::create_hard_link(path_, hard);
  std::filesystem::create_symlink(path_, soft);
  const auto loop = LoopDevice::Attach(path_);
  ASSERT_NE(loop, nullptr);
  for (const std::string& path : {path_, hard, soft}) {
    for (const bool read_only : {false, true}) {
      const absl::Status status = OpenFileDevice(path, {.read_only = read_only}).status();
      EXPECT_EQ(ErrnoOf(status), EBUSY);
      EXPECT_EQ(MessageOf(status), path + ": backs the loop device " + loop->path() +
                                       ": detach it (losetup -d " + loop->path() +
                                       ") or pass a copy");
    }
  }
  EXPECT_TRUE(OpenFileDevice(path_, {.read_only = true, .lock = false}).ok());
  // The name under which it was attached goes, the file stays: only the loop device itself knows.
  std::filesystem::remove(path_);
  EXPECT_EQ(ErrnoOf(OpenFileDevice(hard, {}).status()), EBUSY);
  // Another file of that name is another file.
  MakeSparseFile(path_, kMiB);
  EXPECT_TRUE(OpenFileDevice(path_, {}).ok());
  loop->Detach();
  EXPECT_TRUE(OpenFileDevice(hard, {}).ok());
}

TEST_F(MemberLockTest, ABlockDeviceBehindALoopDeviceIsRefused) {
  if (!testing::CanMakeLoopDevices()) {
    return;  // said so already
  }
  const auto lower = LoopDevice::Attach(path_);
  ASSERT_NE(lower, nullptr);
  EXPECT_TRUE(OpenFileDevice(lower->path(), {}).ok());
  const auto upper = LoopDevice::Attach(lower->path());
  ASSERT_NE(upper, nullptr);
  const absl::Status status = OpenFileDevice(lower->path(), {}).status();
  EXPECT_EQ(ErrnoOf(status), EBUSY);
  EXPECT_NE(MessageOf(status).find("backs the loop device " + upper->path()), std::string::npos)
      << status;
  // By its path alone, too.
  LoopRoots roots;
  roots.dev = temp_.Path("no-dev");
  EXPECT_EQ(FindLoopDeviceOver(*IdentifyFile(lower->path()), roots), upper->name());
}

}  // namespace
}  // namespace mdvol
