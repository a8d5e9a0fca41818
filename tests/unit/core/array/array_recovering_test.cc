// I5: what lies beyond a recovering member's checkpoint is never read from it, and never taken for
// part of the volume. (Nobody rebuilds it here: that is core/sync's. An array may be stopped in the
// middle of a rebuild, by mdvol or by the kernel, and go on without.)

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "core/base/units.h"
#include "core/sync/start_array.h"
#include "tests/support/test_array/log_checks.h"
#include "tests/support/test_array/test_array.h"

namespace mdvol {
namespace {

using testing::ArraySpec;
using testing::Disks;
using testing::Opening;
using testing::Prng;
using testing::RecordedRequest;
using testing::TestArray;
using testing::TestSeed;

constexpr size_t kRecovering = 2;
const std::vector<size_t> kOthers = {0, 1, 3, 4, 5};

class ArrayRecoveringTest : public ::testing::TestWithParam<uint64_t> {
 protected:
  // The member is valid up to the checkpoint; beyond lies noise.
  void SetUp() override {
    MDVOL_ASSERT_OK(array_.Open());
    MDVOL_ASSERT_OK(array_.Fill());
    MDVOL_ASSERT_OK(array_.Stop());
    Superblock super = array_.super(kRecovering);
    super.feature_map = super.feature_map | kFeatureRecoveryOffset;
    super.recovery_offset = checkpoint() / kSectorBytes;
    array_.PutSuper(kRecovering, super);
    poison_.resize(array_.areas(kRecovering).data.size() - checkpoint());
    array_.prng().Fill(poison_);
    array_.disks().Put(kRecovering, edge(), poison_);
  }

  void OpenArray(const AssemblyOptions& assembly = {}) {
    MDVOL_ASSERT_OK(array_.Open({}, assembly));
    // Not of interest: the loader looks for a superblock in every place.
    array_.recording().Clear();
  }

  uint64_t checkpoint() const { return GetParam(); }
  uint64_t edge() const { return array_.areas(kRecovering).data.begin + checkpoint(); }

  // Nothing beyond the checkpoint was read or written.
  void ExpectKeptOff() {
    for (const RecordedRequest& request : array_.recording().requests()) {
      const bool is_beyond = request.Touches(edge(), array_.areas(kRecovering).data.end);
      EXPECT_FALSE(request.member == kRecovering && request.kind != IoKind::kFlush && is_beyond)
          << request.offset_bytes << "+" << request.length_bytes;
    }
    EXPECT_EQ(array_.disks().Bytes(kRecovering, edge(), poison_.size()), poison_);
  }
  TestArray array_;
  std::vector<std::byte> poison_;
};

// None, in the middle of a chunk, at a chunk, and all but a sector.
INSTANTIATE_TEST_SUITE_P(Checkpoints, ArrayRecoveringTest,
                         ::testing::Values(0, 512, 10 * 4096, 13 * 4096 + 1024, 32 * 4096 - 512));

TEST_P(ArrayRecoveringTest, ReadsAndWritesKeepOffWhatIsNotRecovered) {
  OpenArray();
  const ArraySnapshot snapshot = array_->Snapshot();
  EXPECT_EQ(snapshot.degraded, 1U);
  EXPECT_TRUE(snapshot.members[kRecovering].recovering);
  EXPECT_FALSE(snapshot.members[kRecovering].in_sync);
  EXPECT_EQ(snapshot.members[kRecovering].recovery_bytes, checkpoint());
  EXPECT_EQ(array_.CheckVolume(), "");
  MDVOL_ASSERT_OK(array_.Write(1000, 300000));
  MDVOL_ASSERT_OK(array_.Zero(40000, 100000));
  for (int i = 0; i < 30; ++i) {
    const uint64_t offset = array_.prng().Below(array_.geometry().volume_bytes() - 3000);
    MDVOL_ASSERT_OK(array_.Write(offset, array_.prng().Between(1, 3000)));
  }
  EXPECT_EQ(array_.CheckVolume(), "");
  EXPECT_EQ(array_.CheckDisks(kOthers), "");
  EXPECT_EQ(array_.CheckDisk(kRecovering, checkpoint()), "");  // kept up to date
  MDVOL_ASSERT_OK(array_.Stop());
  ExpectKeptOff();
  const Superblock super = array_.super(kRecovering);
  EXPECT_TRUE(super.has_feature(kFeatureRecoveryOffset));
  EXPECT_EQ(super.recovery_offset, checkpoint() / kSectorBytes);
  EXPECT_FALSE(array_.super(0).has_feature(kFeatureRecoveryOffset));
  EXPECT_EQ(RoleOfDevice(array_.super(0), kRecovering), kRecovering);
}

// I5, I6: two more may go; what the recovering member has counts as far as it goes.
TEST_P(ArrayRecoveringTest, ASecondAndAThirdLossCostOnlyWhatIsNotRecovered) {
  OpenArray();
  MDVOL_ASSERT_OK(array_->FailMember(0, "by hand"));
  MDVOL_EXPECT_ERRNO(array_->FailMember(5, "by hand"), EBUSY);
  EXPECT_EQ(array_.CheckVolume(), "");
  MDVOL_ASSERT_OK(array_.Write(0, 100000));
  EXPECT_EQ(array_.CheckVolume(), "");
  MDVOL_ASSERT_OK(array_->FailMember(kRecovering, "by hand"));  // the array lives without it
  EXPECT_EQ(array_.CheckVolume(), "");
  EXPECT_EQ(array_->Snapshot().degraded, 2U);
  ExpectKeptOff();
}

// I5 at the same time as everything else.
TEST_P(ArrayRecoveringTest, ManyThreadsKeepOffWhatIsNotRecovered) {
  OpenArray();
  const uint64_t seed = TestSeed("RecoveringThreads");
  const uint64_t part = array_.geometry().volume_bytes() / 4;
  std::vector<std::thread> threads;
  for (uint64_t id = 0; id < 4; ++id) {
    threads.emplace_back([&, id] {
      Prng prng(seed + id);
      for (int round = 0; round < 40; ++round) {
        std::vector<std::byte> data(prng.Between(1, 9000));
        prng.Fill(data);
        const uint64_t offset = id * part + prng.Below(part - data.size());
        MDVOL_EXPECT_OK(array_->Write(offset, data));
        std::vector<std::byte> read(data.size());
        MDVOL_EXPECT_OK(array_->Read(offset, read));
        EXPECT_EQ(read, data);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  MDVOL_ASSERT_OK(array_.Stop());
  ExpectKeptOff();
}

// I12: a dirty array is resynced as far as its data can be told.
TEST_P(ArrayRecoveringTest, AResyncKeepsOffToo) {
  for (size_t disk = 0; disk < 6; ++disk) {
    Superblock super = array_.super(disk);
    super.resync_offset = 0;
    array_.PutSuper(disk, super);
    array_.PutBit(disk, 0, true);
    array_.PutBit(disk, 3, true);
  }
  OpenArray({.force = true});
  uint64_t skipped = 0;
  (void)array_->RecomputeParity({0, array_.geometry().stripe_count()}, &skipped);
  EXPECT_EQ(array_.CheckVolume(), "");
  MDVOL_ASSERT_OK(array_.Stop());
  ExpectKeptOff();
}

// What is a hole beyond the checkpoint is not a hole in the volume.
TEST(ArrayRecoveringSeekTest, NextDataAndNextHoleDoNotBelieveWhatIsNotRecovered) {
  // Stripes of 64 KiB chunks: what MemoryDevice can tell apart.
  TestArray array({.raid_disks = 4, .chunk_bytes = 64 * kKiB, .stripes = 8});
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Fill());
  MDVOL_ASSERT_OK(array.Stop());
  Superblock super = array.super(1);
  super.feature_map = super.feature_map | kFeatureRecoveryOffset;
  super.recovery_offset = 0;
  array.PutSuper(1, super);
  const ByteRange& data = array.areas(1).data;
  MDVOL_ASSERT_OK(ZeroMember(array.disks()[1], data.begin, data.size()));
  MDVOL_ASSERT_OK(array.Open());
  for (uint64_t at = 0; at < array.geometry().volume_bytes(); at += 64 * kKiB) {
    EXPECT_EQ(*array->NextData(at), at);
    EXPECT_EQ(*array->NextHole(at), array.geometry().volume_bytes());
  }
}

}  // namespace
}  // namespace mdvol
