// The life of a mount.

#include "fuse/session.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/status.h"
#include "fuse/mountpoint.h"
#include "fuse/unmount.h"
#include "tests/unit/fuse/mount/mounted.h"

namespace mdvol {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class MountedSessionTest : public testing::MountedTest {};

TEST_F(MountedSessionTest, IsListedAsOursUnderTheArraysName) {
  Mount();
  const auto mount = FindMount(folder_.path());
  ASSERT_TRUE(mount.ok() && mount->has_value());
  EXPECT_EQ((*mount)->type, kMountType);
  EXPECT_EQ((*mount)->source, "host:big");
}

TEST_F(MountedSessionTest, TheKernelChecksModesItself) {
  Mount();
  std::ifstream file("/proc/self/mountinfo");
  std::string line;
  while (std::getline(file, line) && line.find(" " + folder_.path() + " ") == std::string::npos) {
  }
  EXPECT_THAT(line, HasSubstr(",default_permissions"));
  EXPECT_THAT(line, Not(HasSubstr("allow_other")));
}

TEST_F(MountedSessionTest, EndsWithAnUnmount) {
  Mount();
  EXPECT_TRUE(UnmountCleanly());
}

TEST_F(MountedSessionTest, EndsWithASignal) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    Mount();
    ASSERT_EQ(::kill(server(), signal), 0);
    EXPECT_EQ(WaitForServer(), 0) << signal;
    EXPECT_FALSE(is_mounted());
    EXPECT_TRUE(array().stopped);
    array().stopped = false;
  }
}

TEST_F(MountedSessionTest, AnUnmountWhileInUseIsBusyAndAllGoesOn) {
  Mount();
  const UniqueFd file = Open(O_RDWR);
  EXPECT_EQ(ErrnoOf(Unmount(folder_.path(), UnmountKind::kIfUnused)), EBUSY);
  EXPECT_TRUE(is_mounted());
  EXPECT_EQ(::pwrite(file.get(), "still", 5, 0), 5);
}

TEST_F(MountedSessionTest, ASignalWhileInUseEndsItAllTheSame) {
  Mount();
  const UniqueFd file = Open(O_RDWR);
  ASSERT_EQ(::pwrite(file.get(), "before", 6, 0), 6);
  ASSERT_EQ(::kill(server(), SIGTERM), 0);
  EXPECT_EQ(WaitForServer(), 0);
  EXPECT_FALSE(is_mounted());
  EXPECT_TRUE(array().stopped);
  char byte = 0;
  EXPECT_EQ(::pread(file.get(), &byte, 1, 1'000'000), -1);
  EXPECT_EQ(errno, ENOTCONN);
}

TEST_F(MountedSessionTest, ADeadMountIsTakenAwayBeforeTheNext) {
  Mount();
  ASSERT_EQ(::kill(server(), SIGKILL), 0);
  WaitForServer();
  struct stat attributes {};
  ASSERT_EQ(::stat(volume().c_str(), &attributes), -1);
  ASSERT_EQ(errno, ENOTCONN);
  EXPECT_EQ(*ResolveMountpoint(folder_.path() + "/"), folder_.path());
  const absl::StatusOr<std::string> prepared = PrepareMountpoint(folder_.path());
  ASSERT_TRUE(prepared.ok()) << MessageOf(prepared.status());
  EXPECT_FALSE(is_mounted());
  Mount();
  EXPECT_EQ(ReadFile("md/level"), "raid6\n");
}

TEST_F(MountedSessionTest, ALivingMountIsNotMountedOver) {
  Mount();
  const absl::Status status = PrepareMountpoint(folder_.path()).status();
  EXPECT_EQ(ErrnoOf(status), EBUSY);
  EXPECT_THAT(MessageOf(status), HasSubstr("fuse.mdvol"));
}

TEST_F(MountedSessionTest, WorkersAreAddedWhileAllAreBusyUpToTheLimit) {
  SessionOptions options;
  options.max_threads = 3;
  Mount(options);
  const auto workers = [this] {
    int count = 0;
    for (const auto& task :
         std::filesystem::directory_iterator("/proc/" + std::to_string(server()) + "/task")) {
      std::ifstream name(task.path() / "comm");
      std::string text;
      count += std::getline(name, text) && text == "mdvol-worker" ? 1 : 0;
    }
    return count;
  };
  array().read_sleep_us = 50'000;
  constexpr int kReaders = 8;
  for (int i = 0; i < kReaders; ++i) {
    if (::fork() == 0) {
      char byte = 0;
      const UniqueFd file = Open(O_RDONLY | O_DIRECT);
      ::_exit(::pread(file.get(), &byte, 1, i * 100'000) == 1 ? 0 : 1);
    }
  }
  int status = 0;
  for (int i = 0; i < kReaders; ++i) {
    EXPECT_GT(::wait(&status), 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(workers(), 3);
}

TEST_F(MountedSessionTest, AMountThatGoesBeforeItIsServedIsAnError) {
  const char* words[] = {"mdvol", "-o", "default_permissions"};
  fuse_args arguments = FUSE_ARGS_INIT(3, const_cast<char**>(words));
  fuse_session* const session =
      fuse_session_new(&arguments, &Operations(), sizeof(fuse_lowlevel_ops), nullptr);
  fuse_opt_free_args(&arguments);
  ASSERT_NE(session, nullptr);
  ASSERT_EQ(fuse_session_mount(session, folder_.path().c_str()), 0);
  ASSERT_TRUE(Unmount(folder_.path(), UnmountKind::kLazy).ok());
  {
    WorkerPool workers(session, 1, [] {});
    const absl::Status status = workers.ServeOne();
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(MessageOf(status), HasSubstr("the kernel's FUSE device"));
  }
  fuse_session_unmount(session);  // lets go of what it remembers of the mount
  fuse_session_destroy(session);
}

TEST_F(MountedSessionTest, WithAutoUnmountAServerThatIsKilledLeavesNoMount) {
  SessionOptions options;
  options.options = {"auto_unmount"};
  Mount(options);
  EXPECT_EQ(ReadFile("md/level"), "raid6\n");
  ASSERT_EQ(::kill(server(), SIGKILL), 0);
  WaitForServer();
  // For ordinary users some versions of fusermount3 do not look behind a dead mount, and leave it.
  for (int i = 0; i < 500 && is_mounted() && ::geteuid() == 0; ++i) {
    ::usleep(10'000);
  }
  EXPECT_TRUE(!is_mounted() || ::geteuid() != 0);
}

TEST_F(MountedSessionTest, AMountThatIsRefusedSaysWhy) {
  testing::FakeArray array;
  VolumeFile volume(array, {}, SystemClock());
  Tree tree({}, volume, nullptr, SystemClock());
  SessionOptions options;
  options.mountpoint = "/no/such/folder";
  options.name = "x";
  const absl::Status missing = Session::Mount(options, tree).status();
  EXPECT_THAT(MessageOf(missing), HasSubstr("/no/such/folder: could not be mounted: "));
  EXPECT_EQ(MessageOf(missing).find('\n'), std::string::npos);
  options.mountpoint = folder_.path();
  options.options = {"no_such_option"};
  const absl::Status unknown = Session::Mount(options, tree).status();
  EXPECT_THAT(MessageOf(unknown), HasSubstr("no_such_option"));
}

TEST_F(MountedSessionTest, WithWritebackTheKernelGathersSmallWrites) {
  SessionOptions options;
  options.writeback = true;
  Mount(options);
  {
    const UniqueFd file = Open(O_RDWR);
    for (int i = 0; i < 4096; ++i) {
      ASSERT_EQ(::pwrite(file.get(), "x", 1, i), 1);
    }
    ASSERT_EQ(::fsync(file.get()), 0);
    EXPECT_EQ(array().bytes[4095], std::byte{'x'});
    EXPECT_LT(array().write_count, 100U);
  }
  EXPECT_TRUE(UnmountCleanly());
}

// What is still with the kernel is no hole; and a write beyond the end, refused later, leaves a
// size that truncating to the right one mends.
TEST_F(MountedSessionTest, WithWritebackAllIsDataAndAWrongSizeCanBeMended) {
  SessionOptions options;
  options.writeback = true;
  Mount(options);
  const auto size = static_cast<off_t>(testing::kFakeVolumeBytes);
  const auto size_of = [this] {
    struct stat attributes {};
    EXPECT_EQ(::stat(volume().c_str(), &attributes), 0);
    return attributes.st_size;
  };
  {
    const UniqueFd file = Open(O_RDWR);
    ASSERT_EQ(::pwrite(file.get(), "x", 1, 1'000'000), 1);
    EXPECT_EQ(::lseek(file.get(), 0, SEEK_HOLE), size);
    EXPECT_EQ(::lseek(file.get(), 999'999, SEEK_DATA), 999'999);
    ASSERT_EQ(::pwrite(file.get(), "beyond", 6, size), 6);
    EXPECT_EQ(::fsync(file.get()), -1);
    EXPECT_EQ(errno, ENOSPC);
    EXPECT_GT(size_of(), size);
    EXPECT_EQ(::ftruncate(file.get(), size), 0);
    EXPECT_EQ(size_of(), size);
    EXPECT_EQ(::fsync(file.get()), 0);
  }
  EXPECT_TRUE(UnmountCleanly());
}

}  // namespace
}  // namespace mdvol
