// What the documents promise of the volume file, on a real mount.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "core/base/aligned_buffer.h"
#include "tests/unit/fuse/mount/mounted.h"

namespace mdvol {
namespace {

using testing::kFakeVolumeBytes;

constexpr auto kSize = static_cast<off_t>(kFakeVolumeBytes);
constexpr int kPunch = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;

class MountedVolumeTest : public testing::MountedTest {
 protected:
  void SetUp() override {
    Mount();
    std::iota(pattern_.begin(), pattern_.end(), uint8_t{1});
  }

  ssize_t Write(const UniqueFd& file, off_t offset, size_t size) {
    return ::pwrite(file.get(), pattern_.data(), size, offset);
  }
  // What the array holds.
  bool ArrayHas(off_t offset, const void* data, size_t size) {
    return std::memcmp(array().bytes.data() + offset, data, size) == 0;
  }

  std::vector<uint8_t> pattern_ = std::vector<uint8_t>(2 * kMiB);
};

TEST_F(MountedVolumeTest, LooksLikeAFileOfFixedSizeThatIsItsOwnersAlone) {
  struct stat attributes {};
  ASSERT_EQ(::stat(volume().c_str(), &attributes), 0);
  EXPECT_EQ(attributes.st_size, kSize);
  EXPECT_EQ(attributes.st_mode, static_cast<mode_t>(S_IFREG | 0600));
  EXPECT_EQ(attributes.st_uid, ::geteuid());
  struct statvfs file_system {};
  ASSERT_EQ(::statvfs(volume().c_str(), &file_system), 0);
  EXPECT_EQ(file_system.f_blocks * file_system.f_frsize, kFakeVolumeBytes);
}

TEST_F(MountedVolumeTest, WritesGoThroughAtOnceAndReadsSeeThem) {
  const UniqueFd file = Open(O_RDWR);
  for (const size_t size : {1UL, 511UL, 4096UL, 65537UL, 1048576UL, 1500000UL}) {
    ASSERT_EQ(Write(file, 12345, size), static_cast<ssize_t>(size));
    EXPECT_TRUE(ArrayHas(12345, pattern_.data(), size)) << size;
    std::vector<uint8_t> read(size);
    ASSERT_EQ(::pread(file.get(), read.data(), size, 12345), static_cast<ssize_t>(size));
    EXPECT_EQ(std::memcmp(read.data(), pattern_.data(), size), 0) << size;
  }
  EXPECT_EQ(array().unaligned_write_count, 0U);
}

TEST_F(MountedVolumeTest, DirectAccessWorksAtAnySizeAndOffset) {
  const UniqueFd file = Open(O_RDWR | O_DIRECT);
  ASSERT_TRUE(file.valid());
  AlignedBuffer buffer(kMiB);
  for (const size_t size : {512UL, 1UL, 4096UL, 4097UL, 1000UL, 65536UL, 1048576UL}) {
    for (const off_t offset : {0, 512, 4096, 777}) {
      std::memcpy(buffer.data(), pattern_.data() + 7, size);
      ASSERT_EQ(::pwrite(file.get(), buffer.data(), size, offset), static_cast<ssize_t>(size));
      EXPECT_TRUE(ArrayHas(offset, pattern_.data() + 7, size));
      std::memset(buffer.data(), 0, size);
      ASSERT_EQ(::pread(file.get(), buffer.data(), size, offset), static_cast<ssize_t>(size));
      EXPECT_EQ(std::memcmp(buffer.data(), pattern_.data() + 7, size), 0);
    }
  }
  EXPECT_EQ(array().unaligned_write_count, 0U);
}

// O_DSYNC, O_SYNC and RWF_DSYNC ask for it; the kernel does it itself for some handles only.
TEST_F(MountedVolumeTest, SynchronousWritesAreFlushedBeforeTheyReturn) {
  AlignedBuffer buffer(4096);
  const iovec data{buffer.data(), 4096};
  struct Case {
    int open_flags;
    int write_flags;
    bool is_flushed;
  };
  for (const int direct : {0, O_DIRECT}) {
    for (const Case& c : {Case{O_DSYNC, 0, true}, Case{O_SYNC, 0, true}, Case{0, RWF_DSYNC, true},
                          Case{0, RWF_SYNC, true}, Case{0, 0, false}}) {
      const UniqueFd file = Open(O_RDWR | direct | c.open_flags);
      const uint64_t before = array().flush_count;
      ASSERT_EQ(::pwritev2(file.get(), &data, 1, 8192, c.write_flags), 4096);
      EXPECT_EQ(array().flush_count > before, c.is_flushed)
          << direct << ' ' << c.open_flags << ' ' << c.write_flags;
      array().flush_error = EIO;
      const ssize_t written = ::pwritev2(file.get(), &data, 1, 8192, c.write_flags);
      EXPECT_EQ(written, c.is_flushed ? -1 : 4096)
          << direct << ' ' << c.open_flags << ' ' << c.write_flags;
      array().flush_error = 0;
    }
  }
}

TEST_F(MountedVolumeTest, AHandleThatLosesItsDirectFlagIsStillFlushed) {
  const UniqueFd file = Open(O_RDWR | O_DIRECT | O_DSYNC);
  ASSERT_EQ(::fcntl(file.get(), F_SETFL, 0), 0);  // O_DSYNC cannot be taken away.
  const uint64_t before = array().flush_count;
  ASSERT_EQ(Write(file, 0, 4096), 4096);
  EXPECT_GT(array().flush_count, before);
}

TEST_F(MountedVolumeTest, DirectAndBufferedOpenersSeeTheSameBytes) {
  const UniqueFd buffered = Open(O_RDWR);
  std::vector<uint8_t> read(8192);
  ASSERT_EQ(::pread(buffered.get(), read.data(), read.size(), 0), 8192);
  const UniqueFd direct = Open(O_RDWR | O_DIRECT);
  ASSERT_EQ(Write(direct, 100, 5000), 5000);
  ASSERT_EQ(::pread(buffered.get(), read.data(), 5000, 100), 5000);
  EXPECT_EQ(std::memcmp(read.data(), pattern_.data(), 5000), 0);
  ASSERT_EQ(Write(buffered, 3, 5000), 5000);
  ASSERT_EQ(::pread(direct.get(), read.data(), 5000, 3), 5000);
  EXPECT_EQ(std::memcmp(read.data(), pattern_.data(), 5000), 0);
}

TEST_F(MountedVolumeTest, WhatWasReadStaysInThePageCacheAcrossOpens) {
  std::vector<uint8_t> read(65536);
  ASSERT_EQ(::pread(Open(O_RDONLY).get(), read.data(), read.size(), 0), 65536);
  const uint64_t before = array().read_count;
  EXPECT_TRUE(Open(O_RDWR | O_DIRECT).valid());
  ASSERT_EQ(::pread(Open(O_RDONLY).get(), read.data(), read.size(), 0), 65536);
  EXPECT_EQ(array().read_count, before);
}

TEST_F(MountedVolumeTest, AChangeElsewhereLeavesThePageCacheAlone) {
  const UniqueFd file = Open(O_RDONLY);
  std::vector<uint8_t> read(65536);
  ASSERT_EQ(::pread(file.get(), read.data(), read.size(), 0), 65536);
  const uint64_t before = array().read_count;
  ASSERT_EQ(Write(Open(O_RDWR | O_DIRECT), 1'000'000, 4096), 4096);  // A new time of modification,
  struct stat attributes {};
  ASSERT_EQ(::fstat(file.get(), &attributes), 0);  // of which the kernel hears here.
  ASSERT_EQ(::pread(file.get(), read.data(), read.size(), 0), 65536);
  EXPECT_EQ(array().read_count, before);
}

TEST_F(MountedVolumeTest, AReadAtTheEndIsEmptyAndAcrossItShort) {
  for (const int flags : {O_RDONLY, O_RDONLY | O_DIRECT}) {
    const UniqueFd file = Open(flags);
    std::vector<uint8_t> read(4096);
    EXPECT_EQ(::pread(file.get(), read.data(), read.size(), kSize), 0);
    EXPECT_EQ(::pread(file.get(), read.data(), read.size(), kSize + 4096), 0);
    EXPECT_EQ(::pread(file.get(), read.data(), read.size(), kSize - 100), 100);
  }
}

TEST_F(MountedVolumeTest, AWriteAtTheEndFindsNoSpaceAndAcrossItIsShort) {
  for (const int flags : {O_RDWR, O_RDWR | O_DIRECT, O_RDWR | O_SYNC}) {
    const UniqueFd file = Open(flags);
    for (const off_t offset : {kSize, kSize + 1, kSize + 8192}) {
      EXPECT_EQ(Write(file, offset, 4096), -1);
      EXPECT_EQ(errno, ENOSPC);
    }
    EXPECT_EQ(Write(file, kSize - 100, 4096), 100);
    EXPECT_TRUE(ArrayHas(kSize - 100, pattern_.data(), 100));
    struct stat attributes {};
    ASSERT_EQ(::fstat(file.get(), &attributes), 0);
    EXPECT_EQ(attributes.st_size, kSize);
  }
  const UniqueFd appending = Open(O_WRONLY | O_APPEND);
  EXPECT_EQ(::write(appending.get(), "x", 1), -1);
  EXPECT_EQ(errno, ENOSPC);
}

TEST_F(MountedVolumeTest, TruncationIsAcceptedWhereItWouldChangeNothing) {
  const UniqueFd file = Open(O_RDWR);
  ASSERT_EQ(Write(file, 0, 4096), 4096);
  for (const off_t size : {off_t{1}, off_t{4096}, kSize - 1, kSize + 1, 2 * kSize}) {
    EXPECT_EQ(::ftruncate(file.get(), size), -1);
    EXPECT_EQ(errno, EPERM);
    EXPECT_EQ(::truncate(volume().c_str(), size), -1);
    EXPECT_EQ(errno, EPERM);
  }
  EXPECT_EQ(::ftruncate(file.get(), kSize), 0);
  EXPECT_EQ(::ftruncate(file.get(), 0), 0);
  EXPECT_TRUE(Open(O_RDWR | O_TRUNC).valid());
  struct stat attributes {};
  ASSERT_EQ(::stat(volume().c_str(), &attributes), 0);
  EXPECT_EQ(attributes.st_size, kSize);
  EXPECT_TRUE(ArrayHas(0, pattern_.data(), 4096));
  std::vector<uint8_t> read(4096);
  ASSERT_EQ(::pread(file.get(), read.data(), read.size(), 0), 4096);
  EXPECT_EQ(std::memcmp(read.data(), pattern_.data(), read.size()), 0);
}

TEST_F(MountedVolumeTest, SharedMappingsAreSeenByOthersAfterMsync) {
  const UniqueFd file = Open(O_RDWR);
  auto* const mapped = static_cast<uint8_t*>(
      ::mmap(nullptr, kFakeVolumeBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0));
  ASSERT_NE(mapped, MAP_FAILED);
  std::memcpy(mapped + 4090, pattern_.data(), 100);
  mapped[kFakeVolumeBytes - 1] = 77;
  ASSERT_EQ(::msync(mapped, kFakeVolumeBytes, MS_SYNC), 0);
  EXPECT_TRUE(ArrayHas(4090, pattern_.data(), 100));
  EXPECT_EQ(array().bytes.back(), std::byte{77});
  std::vector<uint8_t> read(100);
  ASSERT_EQ(::pread(Open(O_RDONLY | O_DIRECT).get(), read.data(), 100, 4090), 100);
  EXPECT_EQ(std::memcmp(read.data(), pattern_.data(), 100), 0);
  // And the other way: a write is seen in the mapping.
  ASSERT_EQ(Write(file, 100'000, 5000), 5000);
  EXPECT_EQ(std::memcmp(mapped + 100'000, pattern_.data(), 5000), 0);
  ASSERT_EQ(Write(Open(O_RDWR | O_DIRECT), 200'000, 5000), 5000);
  EXPECT_EQ(std::memcmp(mapped + 200'000, pattern_.data(), 5000), 0);
  ::munmap(mapped, kFakeVolumeBytes);
}

TEST_F(MountedVolumeTest, AHandleForDirectAccessCanBeMappedToo) {
  const UniqueFd file = Open(O_RDWR | O_DIRECT);
  auto* const mapped = static_cast<uint8_t*>(
      ::mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0));
  ASSERT_NE(mapped, MAP_FAILED) << errno;
  std::memcpy(mapped + 5, pattern_.data(), 10'000);
  ASSERT_EQ(::msync(mapped, 65536, MS_SYNC), 0);
  EXPECT_TRUE(ArrayHas(5, pattern_.data(), 10'000));
  ASSERT_EQ(Write(file, 20'000, 5000), 5000);
  EXPECT_EQ(std::memcmp(mapped + 20'000, pattern_.data(), 5000), 0);
  ::munmap(mapped, 65536);
}

// As on a block device; kernels before 6.9 let them in one by one.
TEST_F(MountedVolumeTest, DirectWritesOfSeveralThreadsRunSideBySide) {
  array().write_sleep_us = 20'000;
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 8; ++t) {
    threads.emplace_back([this, t] {
      const UniqueFd file = Open(O_RDWR | O_DIRECT);
      for (size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(Write(file, static_cast<off_t>((5 * t + i) * 4096), 4096), 4096);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(array().write_count, 40U);
  int major_version = 0;
  int minor_version = 0;
  utsname system{};
  ASSERT_EQ(::uname(&system), 0);
  ASSERT_EQ(std::sscanf(system.release, "%d.%d", &major_version, &minor_version), 2);
  const bool is_recent = major_version > 6 || (major_version == 6 && minor_version >= 9);
  EXPECT_GE(array().most_writers_inside, is_recent ? 4 : 1);
}

TEST_F(MountedVolumeTest, AnotherOpenersTruncationKeepsMappedPages) {
  const UniqueFd file = Open(O_RDWR);
  auto* const mapped = static_cast<uint8_t*>(
      ::mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0));
  ASSERT_NE(mapped, MAP_FAILED);
  std::memcpy(mapped, pattern_.data(), 10'000);
  ASSERT_TRUE(Open(O_RDWR | O_TRUNC).valid());
  EXPECT_EQ(std::memcmp(mapped, pattern_.data(), 10'000), 0);
  ASSERT_EQ(::msync(mapped, 65536, MS_SYNC), 0);
  EXPECT_TRUE(ArrayHas(0, pattern_.data(), 10'000));
  ::munmap(mapped, 65536);
}

TEST_F(MountedVolumeTest, MappedPagesArriveBeforeTheMountGoes) {
  {
    const UniqueFd file = Open(O_RDWR);
    auto* const mapped = static_cast<uint8_t*>(
        ::mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0));
    ASSERT_NE(mapped, MAP_FAILED);
    std::memcpy(mapped, pattern_.data(), 65536);
    ::munmap(mapped, 65536);
  }
  EXPECT_TRUE(UnmountCleanly());
  EXPECT_TRUE(ArrayHas(0, pattern_.data(), 65536));
}

TEST_F(MountedVolumeTest, SyncReachesTheArrayAndReportsItsError) {
  const UniqueFd file = Open(O_RDWR);
  const uint64_t before = array().flush_count;
  EXPECT_EQ(::fsync(file.get()), 0);
  EXPECT_EQ(array().flush_count, before + 1);
  EXPECT_EQ(::fdatasync(file.get()), 0);
  EXPECT_EQ(array().flush_count, before + 2);
  array().flush_error = EIO;
  EXPECT_EQ(::fsync(file.get()), -1);
  EXPECT_EQ(errno, EIO);
}

TEST_F(MountedVolumeTest, ErrorsOfTheArrayReachTheCaller) {
  const UniqueFd file = Open(O_RDWR | O_DIRECT);
  array().write_error = ENOSPC;
  EXPECT_EQ(Write(file, 0, 4096), -1);
  EXPECT_EQ(errno, ENOSPC);
  array().write_error = EIO;
  EXPECT_EQ(Write(Open(O_RDWR), 0, 4096), -1);
  EXPECT_EQ(errno, EIO);
  array().read_error = EIO;
  EXPECT_EQ(::pread(file.get(), pattern_.data(), 4096, 0), -1);
  EXPECT_EQ(errno, EIO);
}

TEST_F(MountedVolumeTest, HolesArePunchedAndRangesZeroed) {
  const UniqueFd file = Open(O_RDWR);
  for (const int mode :
       {kPunch, FALLOC_FL_ZERO_RANGE, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE}) {
    ASSERT_EQ(Write(file, 0, 65536), 65536);
    ASSERT_EQ(::fallocate(file.get(), mode, 1000, 5001), 0);
    EXPECT_EQ(array().zero_offset_bytes, 1000U);
    EXPECT_EQ(array().zero_length_bytes, 5001U);
    std::vector<uint8_t> read(65536);
    ASSERT_EQ(::pread(file.get(), read.data(), read.size(), 0), 65536);
    EXPECT_EQ(std::memcmp(read.data(), pattern_.data(), 1000), 0);
    EXPECT_EQ(std::count(read.begin() + 1000, read.begin() + 6001, 0), 5001);
    EXPECT_EQ(std::memcmp(read.data() + 6001, pattern_.data() + 6001, 65536 - 6001), 0);
  }
}

TEST_F(MountedVolumeTest, OtherAllocationsAreRefusedAsOnABlockDevice) {
  const UniqueFd file = Open(O_RDWR);
  const auto error_of = [&file](int mode, off_t offset, off_t length) {
    return ::fallocate(file.get(), mode, offset, length) == 0 ? 0 : errno;
  };
  EXPECT_EQ(error_of(0, 0, 4096), EOPNOTSUPP);
  EXPECT_EQ(error_of(FALLOC_FL_KEEP_SIZE, 0, 4096), EOPNOTSUPP);
  EXPECT_EQ(error_of(FALLOC_FL_COLLAPSE_RANGE, 0, 4096), EOPNOTSUPP);
  EXPECT_EQ(error_of(FALLOC_FL_INSERT_RANGE, 0, 4096), EOPNOTSUPP);
  EXPECT_EQ(error_of(0, kSize, 4096), EOPNOTSUPP);
  EXPECT_EQ(error_of(kPunch, kSize, 4096), EINVAL);
  EXPECT_EQ(error_of(FALLOC_FL_ZERO_RANGE, kSize - 4096, 8192), EINVAL);
  EXPECT_EQ(error_of(kPunch, kSize - 4096, 8192), 0);
  struct stat attributes {};
  ASSERT_EQ(::fstat(file.get(), &attributes), 0);
  EXPECT_EQ(attributes.st_size, kSize);
}

TEST_F(MountedVolumeTest, HolesAndDataCanBeSought) {
  const UniqueFd file = Open(O_RDWR);
  ASSERT_EQ(Write(file, 65536, 8192), 8192);
  EXPECT_EQ(::lseek(file.get(), 0, SEEK_DATA), 65536);
  EXPECT_EQ(::lseek(file.get(), 65536, SEEK_HOLE), 65536 + 8192);
  EXPECT_EQ(::lseek(file.get(), 5, SEEK_HOLE), 5);
  EXPECT_EQ(::lseek(file.get(), 100'000, SEEK_DATA), -1);
  EXPECT_EQ(errno, ENXIO);
  EXPECT_EQ(::lseek(file.get(), kSize, SEEK_HOLE), -1);
  EXPECT_EQ(errno, ENXIO);
  EXPECT_EQ(::lseek(file.get(), 0, SEEK_END), kSize);
}

TEST_F(MountedVolumeTest, ManyOpenersWriteSideBySide) {
  constexpr size_t kThreads = 8;
  constexpr size_t kPieces = 64;
  for (const int flags : {O_RDWR, O_RDWR | O_DIRECT}) {
    std::vector<std::thread> threads;
    for (size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([this, t, flags] {
        const UniqueFd file = Open(flags);
        std::vector<uint8_t> data(4096, static_cast<uint8_t>(t + 1));
        for (size_t i = 0; i < kPieces; ++i) {
          const auto offset = static_cast<off_t>((i * kThreads + t) * 4096);
          EXPECT_EQ(::pwrite(file.get(), data.data(), data.size(), offset), 4096);
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    for (size_t i = 0; i < kThreads * kPieces; ++i) {
      EXPECT_EQ(array().bytes[i * 4096 + 17], static_cast<std::byte>(i % kThreads + 1));
    }
    array().bytes.fill(std::byte{0});
  }
}

TEST_F(MountedVolumeTest, ModeAndTimesAreKeptForTheLifeOfTheMount) {
  ASSERT_EQ(::chmod(volume().c_str(), 0640), 0);
  const timespec times[2] = {{1000, 0}, {2000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, volume().c_str(), times, 0), 0);
  struct stat attributes {};
  ASSERT_EQ(::stat(volume().c_str(), &attributes), 0);
  EXPECT_EQ(attributes.st_mode & 0777U, 0640U);
  EXPECT_EQ(attributes.st_mtim.tv_sec, 2000);
  ASSERT_EQ(Write(Open(O_WRONLY), 0, 10), 10);
  ASSERT_EQ(::stat(volume().c_str(), &attributes), 0);
  EXPECT_GT(attributes.st_mtim.tv_sec, 1'000'000'000);
}

TEST_F(MountedVolumeTest, AReadOnlyArrayOpensForReadingOnly) {
  array().read_only = true;
  EXPECT_TRUE(Open(O_RDONLY).valid());
  for (const int flags : {O_WRONLY, O_RDWR}) {
    EXPECT_FALSE(Open(flags).valid());
    EXPECT_EQ(errno, EROFS);
  }
}

TEST_F(MountedVolumeTest, NothingCanBeMadeOrRemoved) {
  const std::string other = Path("other");
  EXPECT_EQ(::open(other.c_str(), O_CREAT | O_RDWR, 0600), -1);
  EXPECT_TRUE(errno == EPERM || errno == EACCES);
  EXPECT_EQ(::mkdir(other.c_str(), 0700), -1);
  EXPECT_TRUE(errno == EPERM || errno == EACCES);
  EXPECT_EQ(::symlink("x", other.c_str()), -1);
  EXPECT_TRUE(errno == EPERM || errno == EACCES);
  EXPECT_EQ(::link(volume().c_str(), other.c_str()), -1);
  EXPECT_TRUE(errno == EPERM || errno == EACCES);
  EXPECT_EQ(::rename(volume().c_str(), other.c_str()), -1);
  EXPECT_TRUE(errno == EPERM || errno == EACCES);
  EXPECT_EQ(::unlink(volume().c_str()), -1);
  EXPECT_TRUE(errno == EPERM || errno == EACCES);
  EXPECT_EQ(::rmdir(Path("md").c_str()), -1);
  EXPECT_TRUE(errno == EPERM || errno == EACCES);
}

}  // namespace
}  // namespace mdvol
