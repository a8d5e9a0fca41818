// The rules of the volume file, one by one, without a mount: a block device's where it differs from
// a file.

#include "fuse/volume_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/falloc.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <string>
#include <vector>

#include "core/base/aligned_buffer.h"
#include "core/base/status.h"
#include "tests/support/fake_array.h"
#include "tests/support/fake_clock.h"

namespace mdvol {
namespace {

using testing::FakeArray;
using testing::FakeClock;
using testing::kFakeVolumeBytes;

constexpr int kPunch = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;

class VolumeFileTest : public ::testing::Test {
 protected:
  VolumeFileTest() : file_(array_, {1000, 100, 0640, false}, clock_) {}

  int Allocate(int mode, uint64_t offset_bytes, uint64_t length_bytes) {
    return ErrnoOf(file_.Allocate(mode, offset_bytes, length_bytes));
  }

  int Truncate(uint64_t size_bytes) {
    AttributeChange change;
    change.size_bytes = size_bytes;
    return ErrnoOf(file_.SetAttributes(change));
  }

  FakeClock clock_;
  FakeArray array_;
  VolumeFile file_;
};

TEST_F(VolumeFileTest, ShowsAFixedSizeAndItsOwner) {
  const struct stat attributes = file_.Attributes();
  EXPECT_EQ(attributes.st_size, static_cast<off_t>(kFakeVolumeBytes));
  EXPECT_EQ(attributes.st_blocks, static_cast<blkcnt_t>(kFakeVolumeBytes / 512));
  EXPECT_EQ(attributes.st_mode, static_cast<mode_t>(S_IFREG | 0640));
  EXPECT_EQ(attributes.st_uid, 1000U);
  EXPECT_EQ(attributes.st_gid, 100U);
  EXPECT_EQ(attributes.st_nlink, 1U);
}

TEST_F(VolumeFileTest, TheFileSystemIsAsLargeAsTheVolumeAndFull) {
  const struct statvfs attributes = file_.FileSystemAttributes();
  EXPECT_EQ(attributes.f_blocks * attributes.f_frsize, kFakeVolumeBytes);
  EXPECT_EQ(attributes.f_bfree, 0U);
  EXPECT_EQ(attributes.f_bavail, 0U);
}

TEST_F(VolumeFileTest, ReadsUpToTheEndAndNothingBehindIt) {
  std::vector<std::byte> buffer(8192);
  EXPECT_EQ(*file_.Read(0, buffer), 8192U);
  EXPECT_EQ(*file_.Read(kFakeVolumeBytes - 100, buffer), 100U);
  EXPECT_EQ(*file_.Read(kFakeVolumeBytes, buffer), 0U);
  EXPECT_EQ(*file_.Read(std::numeric_limits<uint64_t>::max(), buffer), 0U);
  EXPECT_EQ(*file_.Read(5, {}), 0U);
}

TEST_F(VolumeFileTest, WritesUpToTheEndAndIsFullThere) {
  const std::vector<std::byte> data(8192, std::byte{7});
  EXPECT_EQ(*file_.Write(0, data), 8192U);
  EXPECT_EQ(*file_.Write(kFakeVolumeBytes - 100, data), 100U);
  EXPECT_EQ(array_.state().bytes.back(), std::byte{7});
  EXPECT_EQ(ErrnoOf(file_.Write(kFakeVolumeBytes, data).status()), ENOSPC);
  EXPECT_EQ(ErrnoOf(file_.Write(std::numeric_limits<uint64_t>::max(), data).status()), ENOSPC);
  EXPECT_EQ(*file_.Write(kFakeVolumeBytes, {}), 0U);
}

TEST_F(VolumeFileTest, TheVolumeSeesAlignedDataOnly) {
  AlignedBuffer buffer(8192);
  std::memset(buffer.data(), 1, buffer.size());
  for (const size_t shift : {0UL, 1UL, 80UL, 4095UL}) {
    const auto data = buffer.span().subspan(shift, 4096);
    data[0] = static_cast<std::byte>(shift);
    ASSERT_EQ(*file_.Write(shift, data), 4096U);
    EXPECT_EQ(array_.state().bytes[shift], static_cast<std::byte>(shift));
  }
  EXPECT_EQ(array_.state().unaligned_write_count, 0U);
}

TEST_F(VolumeFileTest, ErrorsOfTheVolumeArePassedOn) {
  std::vector<std::byte> buffer(512);
  array_.state().read_error = EIO;
  array_.state().write_error = ENOSPC;
  array_.state().flush_error = EDQUOT;
  EXPECT_EQ(ErrnoOf(file_.Read(0, buffer).status()), EIO);
  EXPECT_EQ(ErrnoOf(file_.Write(0, buffer).status()), ENOSPC);
  EXPECT_EQ(Allocate(kPunch, 0, 512), ENOSPC);
  EXPECT_EQ(ErrnoOf(file_.Sync()), EDQUOT);
}

TEST_F(VolumeFileTest, SyncFlushesTheVolume) {
  EXPECT_TRUE(file_.Sync().ok());
  EXPECT_EQ(array_.state().flush_count, 1U);
}

TEST_F(VolumeFileTest, PunchAndZeroRangeZeroTheVolume) {
  for (const int mode :
       {kPunch, FALLOC_FL_ZERO_RANGE, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE}) {
    array_.state().bytes.fill(std::byte{9});
    EXPECT_EQ(Allocate(mode, 1000, 5001), 0) << mode;
    EXPECT_EQ(array_.state().bytes[999], std::byte{9});
    EXPECT_EQ(array_.state().bytes[1000], std::byte{0});
    EXPECT_EQ(array_.state().bytes[6000], std::byte{0});
    EXPECT_EQ(array_.state().bytes[6001], std::byte{9});
  }
}

TEST_F(VolumeFileTest, OtherWaysToAllocateAreNotSupported) {
  for (const int mode : {0, FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE, FALLOC_FL_COLLAPSE_RANGE,
                         FALLOC_FL_INSERT_RANGE, FALLOC_FL_UNSHARE_RANGE, FALLOC_FL_NO_HIDE_STALE,
                         kPunch | FALLOC_FL_ZERO_RANGE, kPunch | FALLOC_FL_NO_HIDE_STALE}) {
    EXPECT_EQ(Allocate(mode, 0, 4096), EOPNOTSUPP) << mode;
  }
  EXPECT_EQ(array_.state().zero_count, 0U);
}

// As blkdev_fallocate of the kernel.
TEST_F(VolumeFileTest, AllocationEndsAtTheEndOrIsInvalid) {
  const uint64_t end = kFakeVolumeBytes;
  EXPECT_EQ(Allocate(kPunch, end - 4096, 8192), 0);
  EXPECT_EQ(array_.state().zero_length_bytes, 4096U);
  EXPECT_EQ(Allocate(FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, end - 512, 513), 0);
  EXPECT_EQ(array_.state().zero_length_bytes, 512U);
  EXPECT_EQ(Allocate(FALLOC_FL_ZERO_RANGE, end - 4096, 4096), 0);
  EXPECT_EQ(Allocate(FALLOC_FL_ZERO_RANGE, end - 4096, 4097), EINVAL);
  for (const int mode : {kPunch, FALLOC_FL_ZERO_RANGE}) {
    EXPECT_EQ(Allocate(mode, end, 1), EINVAL);
    EXPECT_EQ(Allocate(mode, 0, 0), EINVAL);
    EXPECT_EQ(Allocate(mode, 1, std::numeric_limits<uint64_t>::max()), EINVAL);
  }
}

TEST_F(VolumeFileTest, TheSizeStaysWhatItIs) {
  EXPECT_EQ(Truncate(kFakeVolumeBytes), 0);
  EXPECT_EQ(Truncate(0), 0);
  EXPECT_EQ(Truncate(1), EPERM);
  EXPECT_EQ(Truncate(kFakeVolumeBytes + 1), EPERM);
  EXPECT_EQ(file_.Attributes().st_size, static_cast<off_t>(kFakeVolumeBytes));
}

TEST_F(VolumeFileTest, ARefusedChangeOfSizeChangesNothingElse) {
  AttributeChange change;
  change.size_bytes = 1;
  change.permissions = 0777;
  EXPECT_EQ(ErrnoOf(file_.SetAttributes(change)), EPERM);
  EXPECT_EQ(file_.Attributes().st_mode & 0777U, 0640U);
}

TEST_F(VolumeFileTest, ModeOwnerAndTimesCanBeSet) {
  AttributeChange change;
  change.permissions = S_IFREG | 0600;
  change.uid = 5;
  change.gid = 6;
  change.accessed = timespec{10, 11};
  change.modified = timespec{20, 21};
  clock_.Advance(2'000'000'000);
  ASSERT_TRUE(file_.SetAttributes(change).ok());
  const struct stat attributes = file_.Attributes();
  EXPECT_EQ(attributes.st_mode, static_cast<mode_t>(S_IFREG | 0600));
  EXPECT_EQ(attributes.st_uid, 5U);
  EXPECT_EQ(attributes.st_gid, 6U);
  EXPECT_EQ(attributes.st_atim.tv_sec, 10);
  EXPECT_EQ(attributes.st_mtim.tv_sec, 20);
  EXPECT_EQ(attributes.st_mtim.tv_nsec, 21);
  EXPECT_EQ(attributes.st_ctim.tv_sec,
            static_cast<time_t>(FakeClock::kStartWallUs / 1'000'000 + 2));
}

TEST_F(VolumeFileTest, AWriteMovesTheTimeOfModification) {
  const std::vector<std::byte> data(512);
  const time_t start = file_.Attributes().st_mtim.tv_sec;
  clock_.Advance(3'000'000'000);
  EXPECT_EQ(file_.Attributes().st_mtim.tv_sec, start);
  ASSERT_TRUE(file_.Write(0, data).ok());
  EXPECT_EQ(file_.Attributes().st_mtim.tv_sec, start + 3);
  EXPECT_EQ(file_.Attributes().st_ctim.tv_sec, start + 3);
  clock_.Advance(1'000'000'000);
  AttributeChange change;
  change.modified = timespec{20, 0};
  ASSERT_TRUE(file_.SetAttributes(change).ok());
  EXPECT_EQ(file_.Attributes().st_mtim.tv_sec, 20);
  EXPECT_EQ(file_.Attributes().st_ctim.tv_sec, start + 4);
}

TEST_F(VolumeFileTest, AReadOnlyVolumeOpensForReadingOnly) {
  array_.state().read_only = true;
  EXPECT_EQ(ErrnoOf(file_.Open(O_RDONLY)), 0);
  EXPECT_EQ(ErrnoOf(file_.Open(O_WRONLY)), EROFS);
  EXPECT_EQ(ErrnoOf(file_.Open(O_RDWR)), EROFS);
  EXPECT_EQ(file_.opener_count(), 1U);
}

TEST_F(VolumeFileTest, OpenersAreCounted) {
  EXPECT_TRUE(file_.Open(O_RDWR).ok());
  EXPECT_TRUE(file_.Open(O_RDONLY).ok());
  EXPECT_EQ(file_.opener_count(), 2U);
  file_.Release();
  file_.Release();
  EXPECT_EQ(file_.opener_count(), 0U);
}

TEST_F(VolumeFileTest, WithWritebackAllIsData) {
  VolumeFile file(array_, {1000, 100, 0640, true}, clock_);
  EXPECT_EQ(*file.Seek(0, SEEK_DATA), 0U);
  EXPECT_EQ(*file.Seek(12345, SEEK_DATA), 12345U);
  EXPECT_EQ(*file.Seek(0, SEEK_HOLE), kFakeVolumeBytes);
  EXPECT_EQ(ErrnoOf(file.Seek(kFakeVolumeBytes, SEEK_DATA).status()), ENXIO);
}

TEST_F(VolumeFileTest, SeeksDataAndHoles) {
  array_.state().bytes[65536] = std::byte{1};
  EXPECT_EQ(*file_.Seek(0, SEEK_DATA), 65536U);
  EXPECT_EQ(*file_.Seek(65537, SEEK_DATA), 65537U);
  EXPECT_EQ(*file_.Seek(65536, SEEK_HOLE), 65536U + 4096U);
  EXPECT_EQ(*file_.Seek(7, SEEK_HOLE), 7U);
  EXPECT_EQ(ErrnoOf(file_.Seek(65536 + 4096, SEEK_DATA).status()), ENXIO);
}

TEST_F(VolumeFileTest, AtTheEndIsAHoleThatCannotBeSoughtFrom) {
  array_.state().bytes.back() = std::byte{1};
  EXPECT_EQ(*file_.Seek(kFakeVolumeBytes - 1, SEEK_DATA), kFakeVolumeBytes - 1);
  EXPECT_EQ(*file_.Seek(kFakeVolumeBytes - 1, SEEK_HOLE), kFakeVolumeBytes);
  for (const int whence : {SEEK_DATA, SEEK_HOLE}) {
    EXPECT_EQ(ErrnoOf(file_.Seek(kFakeVolumeBytes, whence).status()), ENXIO);
    EXPECT_EQ(ErrnoOf(file_.Seek(-1, whence).status()), ENXIO);
  }
  EXPECT_EQ(ErrnoOf(file_.Seek(0, SEEK_END).status()), EINVAL);
}

}  // namespace
}  // namespace mdvol
