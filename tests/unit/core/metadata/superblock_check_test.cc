// CheckSuperblock: what is accepted, what is refused, and with which words.

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/metadata/superblock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/full.h"
#include "tests/support/seed.h"
#include "tests/unit/core/metadata/sample_super.h"

namespace mdvol {
namespace {

using ::mdvol::testing::CheckSealed;
using ::mdvol::testing::FullRun;
using ::mdvol::testing::kSampleDeviceSectors;
using ::mdvol::testing::Prng;
using ::mdvol::testing::SampleSuper;
using ::mdvol::testing::TestSeed;
using ::testing::HasSubstr;

constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();

TEST(SuperblockCheckTest, AcceptsTheThreePlaces) {
  for (const int minor : {0, 1, 2}) {
    const absl::Status status = CheckSuperblock(SampleSuper(minor), minor, kSampleDeviceSectors);
    EXPECT_TRUE(status.ok()) << minor << ": " << MessageOf(status);
  }
}

struct Refusal {
  const char* what;
  std::function<void(Superblock&)> change;
  const char* words;  // in the message
};

void ExpectRefused(const std::vector<Refusal>& refusals, int minor) {
  for (const Refusal& refusal : refusals) {
    Superblock super = SampleSuper(minor);
    refusal.change(super);
    const absl::Status status = CheckSealed(super, minor);
    EXPECT_EQ(ErrnoOf(status), EINVAL) << refusal.what;
    EXPECT_FALSE(IsUsageError(status)) << refusal.what;
    EXPECT_THAT(MessageOf(status), HasSubstr(refusal.words)) << refusal.what;
    EXPECT_EQ(MessageOf(status).find('\n'), std::string::npos) << refusal.what;
  }
}

TEST(SuperblockCheckTest, RefusesWhatTheKernelWouldNotLoad) {
  ExpectRefused(
      {
          {"magic", [](Superblock& s) { s.magic = 0x12345678; }, "magic 0x12345678"},
          {"major 0", [](Superblock& s) { s.major_version = 0; }, "major_version 0"},
          {"major 2", [](Superblock& s) { s.major_version = 2; }, "major_version 2"},
          {"max_dev", [](Superblock& s) { s.max_dev = 1921; }, "max_dev 1921"},
          {"max_dev 65535", [](Superblock& s) { s.max_dev = 65535; }, "max_dev 65535"},
          {"max_dev all", [](Superblock& s) { s.max_dev = 0xffffffff; }, "max_dev 4294967295"},
          {"place", [](Superblock& s) { s.super_offset = 0; }, "super_offset 0"},
          {"place all", [](Superblock& s) { s.super_offset = kHuge; }, "super_offset"},
          {"feature", [](Superblock& s) { s.feature_map = 8192; }, "bits 0x2000 are unknown"},
          {"feature top", [](Superblock& s) { s.feature_map = 0x80000001; }, "0x80000000"},
          {"raid0 layout", [](Superblock& s) { s.feature_map = 4096; }, "RAID0 layout on level 6"},
          {"pad0", [](Superblock& s) { s.pad0 = 1; }, "padding"},
          {"pad3 first", [](Superblock& s) { s.pad3[0] = 1; }, "padding"},
          {"pad3 last", [](Superblock& s) { s.pad3[27] = 0x80; }, "padding"},
          {"data_size", [](Superblock& s) { s.data_size = 9; }, "data_size 9"},
          {"data_size past the end", [](Superblock& s) { s.data_size = 129025; }, "129025"},
          {"data_size all", [](Superblock& s) { s.data_size = kHuge; }, "data_size"},
          {"data in superblock", [](Superblock& s) { s.data_offset = 8; }, "data_offset 8"},
          {"data_offset all", [](Superblock& s) { s.data_offset = kHuge; }, "data_offset"},
          {"sums wrap",
           [](Superblock& s) {
             s.data_offset = kHuge - 100;
             s.data_size = 200;
           },
           "data_offset"},
          {"size over data_size", [](Superblock& s) { s.size = 129024 + 1024; }, "size 130048"},
          {"size all", [](Superblock& s) { s.size = kHuge; }, "size"},
          {"bad blocks without log",
           [](Superblock& s) {
             s.feature_map = kFeatureBitmapOffset | kFeatureBadBlocks;
             s.bblog_offset = 0;
           },
           "no bad-block log"},
          {"bad blocks in a log of nothing",
           [](Superblock& s) {
             s.feature_map = kFeatureBitmapOffset | kFeatureBadBlocks;
             s.bblog_size = 0;
           },
           "no bad-block log"},
          {"long log", [](Superblock& s) { s.bblog_size = 9; }, "bblog_size 9"},
      },
      2);
}

TEST(SuperblockCheckTest, RefusesWhatMdvolDoesNotRun) {
  ExpectRefused(
      {
          {"level 5", [](Superblock& s) { s.level = 5; }, "level 5: mdvol handles RAID6"},
          {"level -4", [](Superblock& s) { s.level = -4; }, "level -4"},
          {"layout 6", [](Superblock& s) { s.layout = 6; }, "layout 6"},
          {"layout 21", [](Superblock& s) { s.layout = 21; }, "layout 21"},
          {"layout -1", [](Superblock& s) { s.layout = -1; }, "layout -1"},
          {"chunk 0", [](Superblock& s) { s.chunksize = 0; }, "chunk size 0"},
          {"chunk 4", [](Superblock& s) { s.chunksize = 4; }, "chunk size 2048"},
          {"chunk 1000", [](Superblock& s) { s.chunksize = 1000; }, "chunk size 512000"},
          {"chunk all", [](Superblock& s) { s.chunksize = 0xffffffff; }, "chunk size"},
          {"no disks", [](Superblock& s) { s.raid_disks = 0; }, "raid_disks 0"},
          {"3 disks", [](Superblock& s) { s.raid_disks = 3; }, "raid_disks 3"},
          {"256 disks", [](Superblock& s) { s.raid_disks = 256; }, "raid_disks 256"},
          {"65535 disks", [](Superblock& s) { s.raid_disks = 65535; }, "raid_disks 65535"},
          {"all disks", [](Superblock& s) { s.raid_disks = 0xffffffff; }, "raid_disks 4294967295"},
          {"size 0", [](Superblock& s) { s.size = 0; }, "component size 0"},
          {"size below a chunk", [](Superblock& s) { s.size = 1023; }, "at least one chunk"},
          {"reshape",
           [](Superblock& s) { s.feature_map = kFeatureReshapeActive | kFeatureBitmapOffset; },
           "a reshape is in progress: finish it with mdadm first"},
          {"clustered",
           [](Superblock& s) { s.feature_map = kFeatureClustered | kFeatureBitmapOffset; },
           "cluster"},
          {"ppl", [](Superblock& s) { s.feature_map = kFeaturePpl; }, "partial parity log"},
          {"ppls", [](Superblock& s) { s.feature_map = kFeatureMultiplePpls; },
           "partial parity log"},
          {"journal and bitmap",
           [](Superblock& s) { s.feature_map = kFeatureJournal | kFeatureBitmapOffset; },
           "a write journal and a bitmap at once"},
      },
      2);
}

TEST(SuperblockCheckTest, RefusesAreasThatCollideOrLieOffTheMember) {
  ExpectRefused(
      {
          {"bitmap on superblock", [](Superblock& s) { s.bitmap_offset = 0; },
           "superblock (bytes 4096 to 4608) overlaps the bitmap"},
          {"bitmap before the member", [](Superblock& s) { s.bitmap_offset = -9; },
           "bitmap (256 bytes at sector -1) lies off the member"},
          {"bitmap far before",
           [](Superblock& s) { s.bitmap_offset = std::numeric_limits<int32_t>::min(); },
           "lies off the member"},
          {"bitmap far behind",
           [](Superblock& s) { s.bitmap_offset = std::numeric_limits<int32_t>::max(); },
           "lies off the member"},
          {"bitmap in the data", [](Superblock& s) { s.bitmap_offset = 2040; },
           "bitmap (bytes 1048576 to 1048832) overlaps the data area"},
          {"log on the bitmap", [](Superblock& s) { s.bblog_offset = 1; },
           "bitmap (bytes 8192 to 8448) overlaps the bad-block log"},
          {"log on the superblock", [](Superblock& s) { s.bblog_offset = -3; },
           "overlaps the bad-block log"},
          {"log before the member", [](Superblock& s) { s.bblog_offset = -16; }, "bad-block log"},
          {"log in the data", [](Superblock& s) { s.bblog_offset = 2033; },
           "bad-block log (bytes 1044992 to 1049088) overlaps the data area"},
      },
      2);
  ExpectRefused(
      {
          {"log behind", [](Superblock& s) { s.bblog_offset = 9; }, "lies off the member"},
          {"bitmap in the data", [](Superblock& s) { s.bitmap_offset = -131000; },
           "overlaps the data area"},
          {"data on the bitmap",
           [](Superblock& s) {
             s.size = 131044;
             s.chunksize = 8;
             s.data_size = 131044;
             s.bitmap_offset = -20;
           },
           "overlaps the data area"},
      },
      0);
}

TEST(SuperblockCheckTest, AcceptsWhatIsUnusualButClear) {
  const std::vector<Refusal> changes = {
      {"block size of a newer kernel", [](Superblock& s) { s.logical_block_size = 4096; }, ""},
      {"no log", [](Superblock& s) { s.bblog_size = 0, s.bblog_offset = 0; }, ""},
      {"no bitmap", [](Superblock& s) { s.feature_map = 0, s.bitmap_offset = 0; }, ""},
      {"old bitmap 1 KiB behind", [](Superblock& s) { s.bitmap_offset = 2; }, ""},
      {"bad blocks", [](Superblock& s) { s.feature_map = kFeatureBadBlocks; }, ""},
      {"odd max_dev", [](Superblock& s) { s.max_dev = 7; }, ""},
      {"number beyond the table", [](Superblock& s) { s.dev_number = 0xffffffff; }, ""},
      {"odd unused role", [](Superblock& s) { s.dev_roles[100] = 0xfe00; }, ""},
      {"leftovers of a reshape", [](Superblock& s) { s.new_level = 5, s.delta_disks = -1; }, ""},
      {"size between chunks", [](Superblock& s) { s.size = 126976 + 7; }, ""},
      {"dirty", [](Superblock& s) { s.resync_offset = 0; }, ""},
  };
  for (const Refusal& change : changes) {
    Superblock super = SampleSuper();
    change.change(super);
    const absl::Status status = CheckSealed(super);
    EXPECT_TRUE(status.ok()) << change.what << ": " << MessageOf(status);
  }
}

TEST(SuperblockCheckTest, JournalsNeedNoRoomForTheComponent) {
  Superblock super = SampleSuper();
  super.feature_map = kFeatureJournal;
  super.dev_roles[3] = kRoleJournal;
  super.size = 1 << 30;
  EXPECT_TRUE(CheckSealed(super).ok()) << MessageOf(CheckSealed(super));
  super.dev_roles[3] = kRoleSpare;
  EXPECT_FALSE(CheckSealed(super).ok());
}

TEST(SuperblockCheckTest, DamageIsFoundBeforeMeaning) {
  Superblock super = SampleSuper();
  super.level = 5;  // not sealed again
  const absl::Status status = CheckSuperblock(super, 2, kSampleDeviceSectors);
  EXPECT_THAT(MessageOf(status), HasSubstr("sb_csum"));
  EXPECT_THAT(MessageOf(status), HasSubstr("damaged"));
}

TEST(SuperblockCheckTest, OtherLevelsHaveAGoodFormatAllTheSame) {
  Superblock super = SampleSuper();
  super.level = 1;
  super.chunksize = 0;
  SealSuperblock(super);
  EXPECT_TRUE(CheckSuperblockFormat(super, 2, kSampleDeviceSectors).ok());
  EXPECT_FALSE(CheckSuperblockSupported(super).ok());
}

TEST(SuperblockCheckTest, RefusesAMemberThatWasCutShort) {
  EXPECT_TRUE(CheckSuperblock(SampleSuper(), 2, kSampleDeviceSectors).ok());
  const absl::Status status = CheckSuperblock(SampleSuper(), 2, kSampleDeviceSectors - 1);
  EXPECT_THAT(MessageOf(status), HasSubstr("cut short"));
  EXPECT_FALSE(CheckSuperblock(SampleSuper(), 2, 23).ok());
  EXPECT_FALSE(CheckSuperblock(SampleSuper(), 3, kSampleDeviceSectors).ok());
}

// Whatever the bytes: no undefined behaviour (the sanitizers watch), and what is accepted has areas
// on the member.
TEST(SuperblockCheckTest, AnyBytesAreAcceptedOrRefused) {
  Prng prng(TestSeed("SuperblockCheckTest.AnyBytesAreAcceptedOrRefused"));
  const int rounds = FullRun() ? 2'000'000 : 50'000;
  int accepted = 0;
  for (int round = 0; round < rounds; ++round) {
    const int minor = static_cast<int>(prng.Below(3));
    Superblock super = SampleSuper(minor);
    uint8_t bytes[kSuperBytes];
    std::memcpy(bytes, &super, sizeof(super));
    const uint64_t changes = 1 + prng.Below(3);
    for (uint64_t i = 0; i < changes; ++i) {
      const uint64_t at = prng.Below(272);
      const uint64_t length = 1 + prng.Below(8);
      const auto value = static_cast<uint8_t>(prng.OneIn(3) ? 0xff : prng.Below(256));
      std::memset(bytes + at, value, length);
    }
    std::memcpy(&super, bytes, sizeof(super));
    if (super.max_dev.get() <= kMaxDevices) {
      SealSuperblock(super);
    }
    const uint64_t device_sectors =
        prng.OneIn(8) ? prng.Next() : kSampleDeviceSectors - (prng.OneIn(2) ? 0 : prng.Below(16));
    const absl::Status status = CheckSuperblock(super, minor, device_sectors);
    accepted += status.ok() ? 1 : 0;
    if (status.ok()) {
      EXPECT_GE(super.raid_disks.get(), 4u);
      EXPECT_LE(super.data_offset.get() + super.size.get(), device_sectors);
    } else {
      EXPECT_EQ(ErrnoOf(status), EINVAL);
      EXPECT_FALSE(MessageOf(status).empty());
    }
  }
  EXPECT_GT(accepted, rounds / 100);
}

}  // namespace
}  // namespace mdvol
