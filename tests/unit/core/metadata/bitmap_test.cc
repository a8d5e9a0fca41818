// The bitmap codec.

#include "core/metadata/bitmap.h"

#include <cerrno>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/base/units.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/seed.h"

namespace mdvol {
namespace {

using ::mdvol::testing::Prng;
using ::mdvol::testing::TestSeed;
using ::testing::Each;
using ::testing::HasSubstr;

constexpr uint64_t kSyncBytes = 10 * kGiB;
constexpr uint64_t kRoomBytes = 4096;

Uuid SomeUuid() {
  Uuid uuid;
  uuid.bytes.fill(0x5a);
  return uuid;
}

BitmapSuperblock Fresh() { return NewBitmapSuperblock(SomeUuid(), kSyncBytes, 64 * kMiB); }

absl::Status Check(const BitmapSuperblock& super) {
  return CheckBitmap(super, SomeUuid(), kSyncBytes, kRoomBytes);
}

TEST(BitmapTest, CountsBitsAndBytes) {
  EXPECT_EQ(BitmapBits(0, 4096), 0u);
  EXPECT_EQ(BitmapBits(1, 4096), 1u);
  EXPECT_EQ(BitmapBits(4096, 4096), 1u);
  EXPECT_EQ(BitmapBits(4097, 4096), 2u);
  EXPECT_EQ(BitmapBytes(8 * 4096, 4096), 257u);
  EXPECT_EQ(BitmapBytes(8 * 4096 + 1, 4096), 258u);
  EXPECT_EQ(BitmapBits(~uint64_t{0}, 512), uint64_t{1} << 55);
}

TEST(BitmapTest, ChoosesTheRoomThatMdadmSetsAside) {
  EXPECT_EQ(DefaultBitmapRoom(64 * kMiB), 4 * kKiB);
  EXPECT_EQ(DefaultBitmapRoom(8 * kGiB + 4 * kKiB), 4 * kKiB);
  EXPECT_EQ(DefaultBitmapRoom(8 * kGiB + 4 * kKiB + 512), 64 * kKiB);
  EXPECT_EQ(DefaultBitmapRoom(200 * kGiB + 64 * kKiB - 512), 64 * kKiB);
  EXPECT_EQ(DefaultBitmapRoom(200 * kGiB + 64 * kKiB), 128 * kKiB);
}

TEST(BitmapTest, DefaultChunkIs64MiBOrWhatFits) {
  EXPECT_EQ(DefaultBitmapChunk(64 * kMiB, 4 * kKiB), 64 * kMiB);
  EXPECT_EQ(DefaultBitmapChunk(8 * kGiB, 4 * kKiB), 64 * kMiB);
  EXPECT_EQ(DefaultBitmapChunk(4 * kTiB, 4 * kKiB), 256 * kMiB);  // 65536 bits do not fit
  EXPECT_EQ(DefaultBitmapChunk(4 * kTiB, 128 * kKiB), 64 * kMiB);
  EXPECT_EQ(DefaultBitmapChunk(kGiB, 257), 128 * kMiB);  // eight bits
  EXPECT_EQ(DefaultBitmapChunk(kGiB, 256), 0u);
  EXPECT_EQ(DefaultBitmapChunk(uint64_t{1} << 62, 4 * kKiB), 0u);
}

TEST(BitmapTest, DefaultChunkIsTheSmallestThatFits) {
  Prng prng(TestSeed("BitmapTest.DefaultChunkIsTheSmallestThatFits"));
  for (int round = 0; round < 10'000; ++round) {
    const uint64_t sync_bytes = (1 + prng.Below(uint64_t{1} << prng.Between(1, 40))) * 512;
    const uint64_t room_bytes = prng.Between(300, 200'000);
    const uint64_t chunk = DefaultBitmapChunk(sync_bytes, room_bytes);
    if (chunk == 0) {
      EXPECT_GT(BitmapBytes(sync_bytes, uint64_t{1} << 31), room_bytes);
      continue;
    }
    ASSERT_TRUE(IsPowerOfTwo(chunk));
    ASSERT_LE(BitmapBytes(sync_bytes, chunk), room_bytes);
    ASSERT_TRUE(
        chunk == kBitmapDefaultChunkBytes ||
        (chunk > kBitmapDefaultChunkBytes && BitmapBytes(sync_bytes, chunk / 2) > room_bytes));
  }
}

TEST(BitmapTest, FreshOneIsAsMdadmWritesIt) {
  const BitmapSuperblock super = Fresh();
  EXPECT_EQ(super.magic, 0x6d746962u);
  EXPECT_EQ(super.version, 4u);
  EXPECT_EQ(super.uuid, SomeUuid());
  EXPECT_EQ(super.events, 0u);
  EXPECT_EQ(super.events_cleared, 0u);
  EXPECT_EQ(super.sync_size, kSyncBytes / 512);
  EXPECT_EQ(super.state, 0u);
  EXPECT_EQ(super.chunksize, 64 * kMiB);
  EXPECT_EQ(super.daemon_sleep, 5u);
  EXPECT_EQ(super.write_behind, 0u);
  EXPECT_EQ(super.sectors_reserved, 0u);
  EXPECT_EQ(super.nodes, 0u);
  EXPECT_THAT(super.pad, Each(0));
  EXPECT_TRUE(Check(super).ok());
}

TEST(BitmapTest, RefusesWhatItCannotTrust) {
  const struct {
    std::function<void(BitmapSuperblock&)> change;
    const char* words;
  } refusals[] = {
      {[](BitmapSuperblock& s) { s.magic = 0; }, "no bitmap: magic 0x0"},
      {[](BitmapSuperblock& s) { s.version = 2; }, "bitmap version 2"},
      {[](BitmapSuperblock& s) { s.version = 5; }, "version 5 is a cluster's"},
      {[](BitmapSuperblock& s) { s.version = 6; }, "lockless"},
      {[](BitmapSuperblock& s) { s.version = 0xffffffff; }, "bitmap version 4294967295"},
      {[](BitmapSuperblock& s) { s.uuid.bytes[15] = 0; }, "belongs to array 5a5a5a5a"},
      {[](BitmapSuperblock& s) { s.chunksize = 0; }, "chunksize 0"},
      {[](BitmapSuperblock& s) { s.chunksize = 256; }, "chunksize 256"},
      {[](BitmapSuperblock& s) { s.chunksize = 0xffffffff; }, "chunksize 4294967295"},
      {[](BitmapSuperblock& s) { s.chunksize = 96 << 20; }, "power of two"},
      {[](BitmapSuperblock& s) { s.chunksize = 4096; }, "takes 327936 bytes, but there is room"},
      {[](BitmapSuperblock& s) { s.daemon_sleep = 0; }, "daemon_sleep"},
      {[](BitmapSuperblock& s) { s.sync_size = kSyncBytes / 512 - 1; }, "sync_size"},
      {[](BitmapSuperblock& s) { s.sync_size = 0; }, "sync_size 0"},
  };
  for (const auto& refusal : refusals) {
    BitmapSuperblock super = Fresh();
    refusal.change(super);
    EXPECT_EQ(ErrnoOf(Check(super)), EINVAL) << refusal.words;
    EXPECT_THAT(MessageOf(Check(super)), HasSubstr(refusal.words));
  }
}

TEST(BitmapTest, AcceptsOlderAndLongerOnes) {
  BitmapSuperblock super = Fresh();
  super.version = 3;
  EXPECT_TRUE(Check(super).ok());
  super.sync_size = ~uint64_t{0};
  EXPECT_TRUE(Check(super).ok());
  super.chunksize = uint32_t{1} << 31;
  EXPECT_TRUE(Check(super).ok());
}

TEST(BitmapTest, FitsExactlyOrNot) {
  BitmapSuperblock super = Fresh();
  super.chunksize = 512;
  EXPECT_TRUE(CheckBitmap(super, SomeUuid(), 512 * 80, 266).ok());
  EXPECT_FALSE(CheckBitmap(super, SomeUuid(), 512 * 80, 265).ok());
  EXPECT_FALSE(CheckBitmap(super, SomeUuid(), 512 * 80 + 1, 266).ok());
}

TEST(BitmapTest, IsNoLongerThanMemoryAllows) {
  BitmapSuperblock super = Fresh();
  super.chunksize = 4096;
  super.sync_size = ~uint64_t{0};
  const uint64_t most = (kMaxBitmapBytes - 256) * 8 * 4096;
  EXPECT_TRUE(CheckBitmap(super, SomeUuid(), most, ~uint64_t{0}).ok());
  EXPECT_FALSE(CheckBitmap(super, SomeUuid(), most + 1, ~uint64_t{0}).ok());
}

TEST(BitmapTest, VouchesOnlyWhenAsNewAsTheArray) {
  BitmapSuperblock super = Fresh();
  super.events = 7;
  EXPECT_TRUE(BitmapVouchesFor(super, 7));
  EXPECT_TRUE(BitmapVouchesFor(super, 6));
  EXPECT_FALSE(BitmapVouchesFor(super, 8));
  super.state = kBitmapStale;
  EXPECT_FALSE(BitmapVouchesFor(super, 7));
  super.state = kBitmapWriteError;
  EXPECT_FALSE(BitmapVouchesFor(super, 7));
  super.state = 1u << 3;  // first use: of no meaning to versions 3 and 4
  EXPECT_TRUE(BitmapVouchesFor(super, 7));
}

TEST(BitmapBitsImageTest, StoresTheLowestBitFirst) {
  BitmapBitsImage bits(19);
  EXPECT_EQ(bits.bytes().size(), 3u);
  bits.Set(0, true);
  bits.Set(9, true);
  bits.Set(18, true);
  EXPECT_EQ(bits.bytes()[0], 0x01);
  EXPECT_EQ(bits.bytes()[1], 0x02);
  EXPECT_EQ(bits.bytes()[2], 0x04);
  EXPECT_TRUE(bits.Get(9));
  EXPECT_FALSE(bits.Get(8));
  bits.Set(9, false);
  EXPECT_FALSE(bits.Get(9));
  EXPECT_EQ(bits.CountSet(), 2u);
}

TEST(BitmapBitsImageTest, SettingAllFillsTheLastByteButIsCountedRight) {
  BitmapBitsImage bits(19);
  bits.SetAll(true);
  EXPECT_EQ(bits.bytes()[2], 0xff);
  EXPECT_EQ(bits.CountSet(), 19u);
  bits.SetAll(false);
  EXPECT_EQ(bits.CountSet(), 0u);
  BitmapBitsImage whole(16);
  whole.SetAll(true);
  EXPECT_EQ(whole.CountSet(), 16u);
  EXPECT_EQ(BitmapBitsImage().CountSet(), 0u);
}

TEST(BitmapTest, SerializesSuperblockBitsAndZeroes) {
  BitmapBitsImage bits(160);
  bits.SetAll(true);
  const std::vector<uint8_t> area = SerializeBitmap(Fresh(), bits, 4096);
  ASSERT_EQ(area.size(), 4096u);
  EXPECT_EQ(std::string(area.begin(), area.begin() + 4), "bitm");
  EXPECT_EQ(area[8], 0x5a);
  EXPECT_EQ(area[255], 0);
  EXPECT_EQ(area[256], 0xff);
  EXPECT_EQ(area[275], 0xff);
  EXPECT_EQ(area[276], 0);
  EXPECT_EQ(area[4095], 0);
}

}  // namespace
}  // namespace mdvol
