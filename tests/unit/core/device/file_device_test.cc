// Opening, creating and the errors of files; what all devices do is in conformance_test.cc, locks
// are in member_lock_test.cc.

#include "core/device/file_device.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/base/aligned_buffer.h"
#include "core/base/status.h"
#include "core/base/unique_fd.h"
#include "core/base/units.h"
#include "core/device/file_io.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/core/base/failing_syscall.h"
#include "tests/unit/core/device/test_devices.h"
#include "tests/unit/core/device/test_files.h"

namespace mdvol {
namespace {

using testing::FailingSyscall;
using testing::FileSizeOf;
using testing::Flush;
using testing::LoopDevice;
using testing::MakeFileWith;
using testing::MakeSparseFile;
using testing::Read;
using testing::RunWithFailingSyscall;
using testing::TemporaryFolder;
using testing::Write;
using testing::Zero;

constexpr uint64_t kSizeBytes = kMiB;

class FileDeviceTest : public ::testing::Test {
 protected:
  FileDeviceTest() : path_(temp_.Path("d0.img")) { MakeSparseFile(path_, kSizeBytes); }

  std::unique_ptr<MemberDevice> Open(const FileDeviceOptions& options = {}) {
    auto device = OpenFileDevice(path_, options);
    EXPECT_TRUE(device.ok()) << device.status();
    return device.ok() ? *std::move(device) : nullptr;
  }

  TemporaryFolder temp_{"/dev/shm"};
  std::string path_;
};

void ExpectError(const absl::Status& status, int error_number, const std::string& message) {
  EXPECT_EQ(ErrnoOf(status), error_number) << status;
  EXPECT_EQ(MessageOf(status), message);
}

TEST_F(FileDeviceTest, KnowsTheFileItIsOn) {
  const auto device = Open();
  EXPECT_EQ(device->path(), path_);
  EXPECT_EQ(device->size_bytes(), kSizeBytes);
  EXPECT_EQ(device->alignment_bytes(), 1u);
}

TEST_F(FileDeviceTest, MissingFilesAreNamed) {
  const std::string missing = temp_.Path("none.img");
  ExpectError(OpenFileDevice(missing, {}).status(), ENOENT,
              missing + ": no such file: check the path");
  ExpectError(IdentifyFile(missing).status(), ENOENT, missing + ": no such file: check the path");
  ExpectError(AllocateRange(missing, 0, 1), ENOENT, missing + ": no such file: check the path");
  const std::string below_a_file = path_ + "/x";
  ExpectError(OpenFileDevice(below_a_file, {}).status(), ENOTDIR,
              below_a_file + ": cannot be opened: Not a directory");
}

TEST_F(FileDeviceTest, FoldersPipesAndTerminalsAreNoMembers) {
  const std::string pipe = temp_.Path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {temp_.Path("."), pipe, std::string("/dev/null")}) {
    ExpectError(OpenFileDevice(path, {.read_only = true}).status(), EINVAL,
                path + ": neither a file nor a block device: pass an image or a block device");
  }
}

TEST_F(FileDeviceTest, SaysWhenItMayNotWrite) {
  for (const int error_number : {EACCES, EPERM, EROFS}) {
    RunWithFailingSyscall({SYS_openat, error_number}, [&] {
      ExpectError(OpenFileDevice(path_, {}).status(), error_number,
                  path_ + ": cannot be opened for writing (read-only may do): " +
                      std::strerror(error_number));
      ExpectError(OpenFileDevice(path_, {.read_only = true}).status(), error_number,
                  path_ + ": cannot be opened for reading: " + std::strerror(error_number));
      ExpectError(AllocateRange(path_, 0, 1), error_number,
                  path_ + ": cannot be opened for writing (read-only may do): " +
                      std::strerror(error_number));
    });
  }
}

TEST_F(FileDeviceTest, SaysWhenDirectIoIsRefused) {
  RunWithFailingSyscall({SYS_openat, EINVAL}, [&] {
    ExpectError(OpenFileDevice(path_, {.direct = true}).status(), EINVAL,
                path_ + ": its file system refuses O_DIRECT: open it without direct I/O");
    ExpectError(OpenFileDevice(path_, {}).status(), EINVAL,
                path_ + ": cannot be opened: Invalid argument");
  });
}

TEST_F(FileDeviceTest, SaysWhenItIsInUse) {
  RunWithFailingSyscall({SYS_openat, EBUSY}, [&] {
    ExpectError(OpenFileDevice(path_, {}).status(), EBUSY,
                path_ +
                    ": in use (mounted, a member of a running array, or held by another "
                    "process): release it first");
  });
}

TEST_F(FileDeviceTest, OtherErrorsOfOpeningComeThrough) {
  RunWithFailingSyscall({SYS_openat, EMFILE}, [&] {
    ExpectError(OpenFileDevice(path_, {}).status(), EMFILE,
                path_ + ": cannot be opened: Too many open files");
  });
  RunWithFailingSyscall({SYS_flock, ENOLCK}, [&] {
    ExpectError(OpenFileDevice(path_, {}).status(), ENOLCK,
                path_ + ": cannot be locked: No locks available");
  });
}

TEST_F(FileDeviceTest, AFileThatCannotBeLookedAtOnceOpenIsRefused) {
  const int next_fd = UniqueFd(::dup(0)).get();
  // C libraries look at a descriptor with either of the two.
  RunWithFailingSyscall({SYS_fstat, EOVERFLOW}, [&] {
    RunWithFailingSyscall({SYS_newfstatat, EOVERFLOW, 0, static_cast<uint32_t>(next_fd)}, [&] {
      ExpectError(OpenFileDevice(path_, {}).status(), EOVERFLOW,
                  path_ + ": cannot be opened: Value too large for defined data type");
    });
  });
  EXPECT_TRUE(OpenFileDevice(path_, {}).ok());
}

TEST_F(FileDeviceTest, DirectAlignmentIsTheKernelsWordOrAPage) {
  const TemporaryFolder temp(testing::FolderForDirectIo());
  const std::string path = temp.Path("d0.img");
  MakeSparseFile(path, kSizeBytes);
  const auto device = OpenFileDevice(path, {.direct = true});
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_GE((*device)->alignment_bytes(), 512u);
  RunWithFailingSyscall({SYS_statx, ENOSYS}, [&] {
    const auto other = OpenFileDevice(path, {.direct = true, .lock = false});
    ASSERT_TRUE(other.ok()) << other.status();
    EXPECT_EQ((*other)->alignment_bytes(), 4096u);
  });
}

// The descriptor of this process that is open on `path`.
int DescriptorOf(const std::string& path) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    if (std::filesystem::read_symlink(entry.path(), ignored) == path) {
      return std::stoi(entry.path().filename());
    }
  }
  return -1;
}

TEST_F(FileDeviceTest, OpensAsItWasTold) {
  const TemporaryFolder temp(testing::FolderForDirectIo());
  const std::string path = temp.Path("d0.img");
  MakeSparseFile(path, kSizeBytes);
  const std::string full_path = std::filesystem::canonical(path);
  for (const bool read_only : {false, true}) {
    for (const bool direct : {false, true}) {
      const auto device = OpenFileDevice(path, {.read_only = read_only, .direct = direct});
      ASSERT_TRUE(device.ok()) << device.status();
      const int flags = ::fcntl(DescriptorOf(full_path), F_GETFL);
      EXPECT_EQ(flags & O_ACCMODE, read_only ? O_RDONLY : O_RDWR);
      EXPECT_EQ((flags & O_DIRECT) != 0, direct);
      EXPECT_EQ(::fcntl(DescriptorOf(full_path), F_GETFD), FD_CLOEXEC);
    }
  }
}

// Waits until the device looks at the length by itself.
void LetLengthGrowOld() {
  std::this_thread::sleep_for(std::chrono::milliseconds(3 * FileIoDevice::kLengthTrustedMs));
}

void ExpectLost(MemberDevice& device) {
  std::array<std::byte, 4096> data = {};
  EXPECT_EQ(Read(device, 0, data), EIO);
  EXPECT_EQ(Write(device, 0, data), EIO);
  EXPECT_EQ(Zero(device, 0, 4096), EIO);
  EXPECT_EQ(Flush(device), EIO);
  EXPECT_EQ(*device.NextData(8192), 8192u);
  EXPECT_EQ(*device.NextHole(8192), kSizeBytes);
  EXPECT_EQ(device.size_bytes(), kSizeBytes);
}

TEST_F(FileDeviceTest, AFileThatWasCutShortIsLostThoughItIsGivenItsLengthBack) {
  const auto device = Open();
  std::array<std::byte, 4096> data = {};
  ASSERT_EQ(Read(*device, 0, data), 0);
  ASSERT_EQ(::truncate(path_.c_str(), 5000), 0);
  EXPECT_EQ(Read(*device, 8192, data), EIO);
  ASSERT_EQ(::truncate(path_.c_str(), kSizeBytes), 0);
  ExpectLost(*device);
}

TEST_F(FileDeviceTest, AReadAcrossTheNewEndFindsThatTheFileWasCut) {
  const auto device = Open();
  std::array<std::byte, 4096> data = {};
  ASSERT_EQ(Read(*device, 0, data), 0);
  ASSERT_EQ(::truncate(path_.c_str(), 5000), 0);
  EXPECT_EQ(Read(*device, 4096, data), EIO);
  ExpectLost(*device);
}

TEST_F(FileDeviceTest, WritesDoNotLetACutFileGrowAgain) {
  const auto device = Open();
  std::array<std::byte, 4096> data = {};
  ASSERT_EQ(Write(*device, 0, data), 0);
  ASSERT_EQ(::truncate(path_.c_str(), 5000), 0);
  LetLengthGrowOld();
  EXPECT_EQ(Write(*device, 65536, data), EIO);
  EXPECT_EQ(FileSizeOf(path_), 5000u);
  ExpectLost(*device);
}

// Within the time that a look at the length is believed.
TEST_F(FileDeviceTest, AWriteThatReachesTheEndDoesNotHideACut) {
  for (const bool is_zeroing : {false, true}) {
    ASSERT_EQ(::truncate(path_.c_str(), kSizeBytes), 0);
    const auto device = Open();
    std::array<std::byte, 4096> data = {};
    ASSERT_EQ(Write(*device, 0, data), 0);
    ASSERT_EQ(::truncate(path_.c_str(), 5000), 0);
    EXPECT_EQ(is_zeroing ? Zero(*device, kSizeBytes - 4096, 4096)
                         : Write(*device, kSizeBytes - 4096, data),
              EIO);
    EXPECT_EQ(FileSizeOf(path_), 5000u);
    ExpectLost(*device);
  }
}

TEST_F(FileDeviceTest, NoFlushOfACutFileIsAcknowledged) {
  const auto device = Open();
  std::array<std::byte, 4096> data = {};
  ASSERT_EQ(Write(*device, 0, data), 0);
  ASSERT_EQ(::truncate(path_.c_str(), 5000), 0);
  static_cast<void>(Write(*device, 65536, data));  // the file may grow, though not to its end
  EXPECT_EQ(Flush(*device), EIO);
  ExpectLost(*device);
}

TEST_F(FileDeviceTest, WhatWasCutOffIsNoHole) {
  const auto device = Open();
  ASSERT_EQ(::truncate(path_.c_str(), 5000), 0);
  EXPECT_EQ(*device->NextData(8192), 8192u);
  ExpectLost(*device);
}

TEST_F(FileDeviceTest, ADirectFileThatWasCutShortReadsAsEio) {
  const TemporaryFolder temp(testing::FolderForDirectIo());
  const std::string path = temp.Path("d0.img");
  MakeSparseFile(path, kSizeBytes);
  const auto device = OpenFileDevice(path, {.direct = true});
  ASSERT_TRUE(device.ok()) << device.status();
  ASSERT_EQ(::truncate(path.c_str(), 5000), 0);
  AlignedBuffer data(8192);
  EXPECT_EQ(Read(**device, 0, data.span()), EIO);
  EXPECT_EQ(Read(**device, 4096, data.span()), EIO);
}

TEST_F(FileDeviceTest, AFileThatGrewKeepsItsRecordedSize) {
  const auto device = Open();
  std::array<std::byte, 4096> data = {};
  ASSERT_EQ(::truncate(path_.c_str(), 2 * kSizeBytes), 0);
  EXPECT_EQ(device->size_bytes(), kSizeBytes);
  EXPECT_EQ(Read(*device, kSizeBytes, data), EIO);
  EXPECT_EQ(*device->NextData(0), kSizeBytes);
  EXPECT_EQ(*device->NextHole(4096), 4096u);
}

TEST_F(FileDeviceTest, AWritePastTheEndDoesNotGrowTheImage) {
  const auto device = Open();
  std::array<std::byte, 4096> data = {};
  EXPECT_EQ(Write(*device, kSizeBytes - 2048, data), EIO);
  EXPECT_EQ(Write(*device, kSizeBytes, data), EIO);
  EXPECT_EQ(FileSizeOf(path_), kSizeBytes);
}

// The limit on file sizes cuts the first write short and refuses the rest.
TEST_F(FileDeviceTest, AWriteThatStopsHalfWayReportsWhy) {
  const auto device = Open();
  std::vector<std::byte> data(8192, std::byte{1});
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit tight = {4096, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  EXPECT_EQ(Write(*device, 0, data), EFBIG);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old_handler);
  std::vector<std::byte> back(8192);
  EXPECT_EQ(Read(*device, 0, back), 0);
  EXPECT_EQ(std::count(back.begin(), back.end(), std::byte{1}), 4096);
}

TEST_F(FileDeviceTest, ReportsWhatTheSystemCallsReport) {
  const auto device = Open();
  std::array<std::byte, 4096> data = {};
  const auto expect = [&](const FailingSyscall& failing, auto run) {
    RunWithFailingSyscall(failing,
                          [&] { EXPECT_EQ(run(), failing.error_number) << failing.number; });
  };
  expect({SYS_pread64, EILSEQ}, [&] { return Read(*device, 0, data); });
  expect({SYS_pwrite64, EDQUOT}, [&] { return Write(*device, 0, data); });
  expect({SYS_fdatasync, ENOSPC}, [&] { return Flush(*device); });
  expect({SYS_fallocate, EPERM}, [&] { return Zero(*device, 0, 4096); });
  IoRequest vectored = testing::RequestFor(IoKind::kRead, 0, data);
  vectored.buffers.assign({{data.data(), 1000}, {data.data() + 1000, 3096}});
  expect({SYS_preadv, ENOMEM}, [&] { return testing::RunRequest(*device, vectored); });
  vectored.kind = IoKind::kWrite;
  expect({SYS_pwritev, ENOMEM}, [&] { return testing::RunRequest(*device, vectored); });
}

TEST_F(FileDeviceTest, AFlushThatCannotStartEarlyStillHappens) {
  const auto device = Open();
  RunWithFailingSyscall({SYS_sync_file_range, EIO}, [&] { EXPECT_EQ(Flush(*device), 0); });
}

TEST_F(FileDeviceTest, ZeroingMakesHoles) {
  const auto device = Open();
  std::vector<std::byte> data(kSizeBytes, std::byte{1});
  ASSERT_EQ(Write(*device, 0, data), 0);
  ASSERT_EQ(*device->NextHole(0), kSizeBytes);
  ASSERT_EQ(Zero(*device, 65536, 131072), 0);
  EXPECT_EQ(*device->NextHole(0), 65536u);
  EXPECT_EQ(*device->NextData(65536), 65536u + 131072);
  EXPECT_EQ(FileSizeOf(path_), kSizeBytes);
}

TEST_F(FileDeviceTest, ZeroingWritesZeroesWhereHolesAreUnknown) {
  MakeSparseFile(path_, 4 * kMiB);
  const auto device = Open();
  for (const int error_number : {EOPNOTSUPP, ENOSYS}) {
    std::vector<std::byte> data(4 * kMiB, std::byte{1});
    ASSERT_EQ(Write(*device, 0, data), 0);
    RunWithFailingSyscall({SYS_fallocate, error_number},
                          [&] { EXPECT_EQ(Zero(*device, 1000, 3 * kMiB + 5), 0); });
    ASSERT_EQ(Read(*device, 0, data), 0);
    EXPECT_EQ(data[999], std::byte{1});
    EXPECT_EQ(data[3 * kMiB + 1005], std::byte{1});
    EXPECT_EQ(static_cast<uint64_t>(std::count(data.begin(), data.end(), std::byte{0})),
              3 * kMiB + 5);
  }
  ASSERT_EQ(::truncate(path_.c_str(), 0), 0);
}

TEST_F(FileDeviceTest, ZeroesThatCannotBeWrittenAreAnError) {
  const auto device = Open();
  const rlimit tight = {4096, RLIM_INFINITY};
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::prlimit(0, RLIMIT_FSIZE, &tight, nullptr), 0);
  RunWithFailingSyscall({SYS_fallocate, EOPNOTSUPP},
                        [&] { EXPECT_EQ(Zero(*device, 0, 8192), EFBIG); });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old_handler);
}

TEST_F(FileDeviceTest, FileSystemsWithoutHolesAreAllData) {
  const auto device = Open();
  RunWithFailingSyscall({SYS_lseek, EINVAL}, [&] {
    EXPECT_EQ(*device->NextData(4096), 4096u);
    EXPECT_EQ(*device->NextHole(4096), kSizeBytes);
  });
  RunWithFailingSyscall({SYS_lseek, EIO}, [&] {
    ExpectError(device->NextData(4096).status(), EIO,
                path_ + ": looking for data behind 4096: Input/output error");
    ExpectError(device->NextHole(4096).status(), EIO,
                path_ + ": looking for a hole behind 4096: Input/output error");
  });
}

TEST_F(FileDeviceTest, CreatesASparseImage) {
  const std::string path = temp_.Path("new.img");
  const mode_t old_umask = ::umask(027);
  const auto device = CreateImage(path, 3 * kMiB);
  ::umask(old_umask);
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_EQ((*device)->size_bytes(), 3 * kMiB);
  EXPECT_EQ(*(*device)->NextData(0), 3 * kMiB);
  struct stat facts = {};
  ASSERT_EQ(::stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0640u);
  EXPECT_EQ(facts.st_size, static_cast<off_t>(3 * kMiB));
  EXPECT_EQ(ErrnoOf(OpenFileDevice(path, {}).status()), EBUSY);  // it is locked
}

TEST_F(FileDeviceTest, CreatesNothingOverAnExistingFile) {
  ExpectError(CreateImage(path_, 4096).status(), EEXIST,
              path_ + ": exists already: give another name");
  EXPECT_EQ(FileSizeOf(path_), kSizeBytes);
  const std::string nowhere = temp_.Path("no/such.img");
  ExpectError(CreateImage(nowhere, 4096).status(), ENOENT,
              nowhere + ": cannot be created: No such file or directory");
}

TEST_F(FileDeviceTest, AnImageThatCannotBeFinishedIsRemoved) {
  const std::string path = temp_.Path("new.img");
  const auto expect_no_file = [&](const absl::Status& status, int error_number,
                                  const std::string& message) {
    ExpectError(status, error_number, path + message);
    EXPECT_FALSE(std::filesystem::exists(path));
  };
  expect_no_file(CreateImage(path, std::numeric_limits<uint64_t>::max()).status(), EFBIG,
                 ": cannot be made 18446744073709551615 bytes long: File too large");
  RunWithFailingSyscall({SYS_ftruncate, ENOSPC}, [&] {
    expect_no_file(CreateImage(path, 4096).status(), ENOSPC,
                   ": cannot be made 4096 bytes long: No space left on device");
  });
  RunWithFailingSyscall({SYS_flock, ENOLCK}, [&] {
    expect_no_file(CreateImage(path, 4096).status(), ENOLCK,
                   ": cannot be locked: No locks available");
  });
}

TEST_F(FileDeviceTest, AllocatesWithoutChangingWhatIsThere) {
  const std::string path = temp_.Path("d1.img");
  MakeFileWith(path, std::string(10000, 'x'));
  MakeSparseFile(path, kSizeBytes);
  struct stat before = {};
  ASSERT_EQ(::stat(path.c_str(), &before), 0);
  ASSERT_TRUE(AllocateRange(path, 4096, 256 * kKiB).ok());
  ASSERT_TRUE(AllocateRange(path, 0, 0).ok());
  ASSERT_TRUE(AllocateRange(path, kSizeBytes - 4096, 8192).ok());
  struct stat after = {};
  ASSERT_EQ(::stat(path.c_str(), &after), 0);
  EXPECT_EQ(after.st_size, before.st_size);
  EXPECT_GE((after.st_blocks - before.st_blocks) * 512, static_cast<blkcnt_t>(200 * kKiB));
  const auto device = OpenFileDevice(path, {});
  std::vector<std::byte> data(20000);
  ASSERT_EQ(Read(**device, 0, data), 0);
  EXPECT_EQ(std::count(data.begin(), data.end(), std::byte{'x'}), 10000);
  EXPECT_EQ(std::count(data.begin(), data.end(), std::byte{0}), 10000);
}

TEST_F(FileDeviceTest, SpaceThatIsNotThereCannotBeAllocated) {
  const uint64_t too_much = uint64_t{1} << 50;
  const absl::Status status = AllocateRange(path_, 4096, too_much);
  ExpectError(status, ENOSPC,
              path_ + ": cannot allocate 1125899906842624 bytes at 4096: No space left on device");
  for (const int error_number : {EOPNOTSUPP, ENOSYS}) {
    RunWithFailingSyscall({SYS_fallocate, error_number},
                          [&] { EXPECT_TRUE(AllocateRange(path_, 0, 4096).ok()); });
  }
}

TEST_F(FileDeviceTest, IdentifiesAFileUnderAllItsNames) {
  const std::string hard = temp_.Path("hard");
  const std::string soft = temp_.Path("soft");
  const std::string other = temp_.Path("other");
  std::filesystem::create_hard_link(path_, hard);
  std::filesystem::create_symlink(path_, soft);
  MakeSparseFile(other, 1);
  const auto identity = IdentifyFile(path_);
  ASSERT_TRUE(identity.ok());
  EXPECT_FALSE(identity->is_block_device);
  EXPECT_EQ(*IdentifyFile(hard), *identity);
  EXPECT_EQ(*IdentifyFile(soft), *identity);
  EXPECT_FALSE(*IdentifyFile(other) == *identity);
}

TEST_F(FileDeviceTest, BlockDevicesAreMembersToo) {
  if (!testing::CanMakeLoopDevices()) {
    return;  // said so already
  }
  MakeSparseFile(path_, kSizeBytes);
  const auto loop = LoopDevice::Attach(path_);
  ASSERT_NE(loop, nullptr);
  const auto identity = IdentifyFile(loop->path());
  ASSERT_TRUE(identity.ok());
  EXPECT_TRUE(identity->is_block_device);
  EXPECT_EQ(identity->inode, 0u);
  EXPECT_TRUE(AllocateRange(loop->path(), 0, uint64_t{1} << 50).ok());
  {
    const auto device = OpenFileDevice(loop->path(), {.direct = true});
    ASSERT_TRUE(device.ok()) << device.status();
    EXPECT_EQ((*device)->size_bytes(), kSizeBytes);
    EXPECT_EQ((*device)->alignment_bytes(), 512u);
    ExpectError(OpenFileDevice(loop->path(), {.read_only = true}).status(), EBUSY,
                loop->path() +
                    ": in use (mounted, a member of a running array, or held by "
                    "another process): release it first");
    EXPECT_TRUE(OpenFileDevice(loop->path(), {.read_only = true, .lock = false}).ok());
  }
  for (const uint32_t request : {static_cast<uint32_t>(BLKGETSIZE64), uint32_t{BLKSSZGET}}) {
    RunWithFailingSyscall({SYS_ioctl, ENOMEDIUM, 1, request}, [&] {
      ExpectError(OpenFileDevice(loop->path(), {}).status(), ENOMEDIUM,
                  loop->path() + ": its size cannot be read: No medium found");
    });
  }
}

}  // namespace
}  // namespace mdvol
