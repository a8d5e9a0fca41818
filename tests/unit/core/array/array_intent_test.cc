// I1 on a whole array: a write-intent bit is durable on every member before the first write that it
// covers, and is cleared only after every member was flushed since the last of them.

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "core/base/units.h"
#include "tests/support/full.h"
#include "tests/support/test_array/log_checks.h"
#include "tests/support/test_array/test_array.h"

namespace mdvol {
namespace {

using testing::ArraySpec;
using testing::CheckIntentOrder;
using testing::CheckOrder;
using testing::Disks;
using testing::FullRun;
using testing::Prng;
using testing::TestArray;
using testing::TestSeed;

constexpr uint64_t kSecondNs = 1000000000;
const std::vector<size_t> kAllSix = {0, 1, 2, 3, 4, 5};

// Lets the daemon run until all that is idle has been cleared.
void LetBitsAge(TestArray& array) {
  for (int i = 0; i < 4; ++i) {
    array.clock().Advance(5 * kSecondNs);
    array->RunMaintenance();
  }
}

// I1
TEST(ArrayIntentTest, ABitIsDurableOnEveryMemberBeforeItsData) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  const Disks before = array.disks().Copy();
  array.recording().Clear();
  MDVOL_ASSERT_OK(array.Write(0, 4096));
  MDVOL_ASSERT_OK(array.Write(100, 5));                                  // the same bit
  MDVOL_ASSERT_OK(array.Write(array.geometry().volume_bytes() - 1, 1));  // the last
  MDVOL_ASSERT_OK(array.Write(3 * 16384, 5 * 16384));                    // several
  MDVOL_ASSERT_OK(array.Zero(64 * 4096, 30 * 4096));
  EXPECT_EQ(CheckIntentOrder({array, before, array.recording().requests(), kAllSix}), "");
  for (const size_t disk : kAllSix) {
    EXPECT_TRUE(array.Bit(disk, 0));
    EXPECT_TRUE(array.Bit(disk, array.bits() - 1));
  }
  EXPECT_EQ(array->Snapshot().bitmap->bits_set, array.CountBits(0));
  EXPECT_LT(array.CountBits(0), array.bits());
}

// I1: the bits of a write go by whole stripes, wherever in them it starts and ends.
TEST(ArrayIntentTest, EveryWriteSetsTheBitsOfItsStripesAndNoOthers) {
  for (const uint64_t bitmap_chunk_bytes : {4 * kKiB, 16 * kKiB, 64 * kKiB}) {
    Prng prng(TestSeed("IntentRanges"));
    for (int round = 0; round < 20; ++round) {
      TestArray array({.bitmap_chunk_bytes = bitmap_chunk_bytes});
      MDVOL_ASSERT_OK(array.Open());
      const uint64_t offset = prng.Below(array.geometry().volume_bytes());
      const uint64_t length =
          prng.Between(1, std::min<uint64_t>(array.geometry().volume_bytes() - offset, 100000));
      MDVOL_ASSERT_OK(array.Write(offset, length));
      for (uint64_t bit = 0; bit < array.bits(); ++bit) {
        const bool covered = array.BitOf(offset) <= bit && bit <= array.BitOf(offset + length - 1);
        ASSERT_EQ(array.Bit(5, bit), covered) << bit << " " << offset << "+" << length;
      }
    }
  }
}

// I1: a stripe larger than what a bit covers has several.
TEST(ArrayIntentTest, AStripeMayHaveSeveralBits) {
  TestArray array({.chunk_bytes = 16 * kKiB, .stripes = 8, .bitmap_chunk_bytes = 4 * kKiB});
  MDVOL_ASSERT_OK(array.Open());
  const Disks before = array.disks().Copy();
  array.recording().Clear();
  MDVOL_ASSERT_OK(array.Write(array.geometry().stripe_bytes() + 5, 1));
  for (uint64_t bit = 0; bit < array.bits(); ++bit) {
    EXPECT_EQ(array.Bit(0, bit), bit >= 4 && bit < 8) << bit;
  }
  EXPECT_EQ(CheckIntentOrder({array, before, array.recording().requests(), kAllSix}), "");
}

// I1
TEST(ArrayIntentTest, BitsAreClearedLazilyAndSetAgainDurably) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  const Disks before = array.disks().Copy();
  array.recording().Clear();
  MDVOL_ASSERT_OK(array.Write(0, 4096));
  array->RunMaintenance();
  array.clock().Advance(5 * kSecondNs);
  array->RunMaintenance();
  EXPECT_TRUE(array.Bit(3, 0));  // not before the second step after the write
  LetBitsAge(array);
  for (const size_t disk : kAllSix) {
    EXPECT_FALSE(array.Bit(disk, 0));
  }
  EXPECT_EQ(array->Snapshot().bitmap->bits_set, 0U);
  MDVOL_ASSERT_OK(array.Write(0, 4096));
  for (const size_t disk : kAllSix) {
    EXPECT_TRUE(array.Bit(disk, 0));
  }
  EXPECT_EQ(CheckOrder({array, before, array.recording().requests(), kAllSix}), "");
}

// I1: also when nothing else (a clean mark) flushes the members before.
TEST(ArrayIntentTest, ClearingBitsFlushesTheMembersFirst) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  array->SetSafeModeDelay(0);
  const Disks before = array.disks().Copy();
  array.recording().Clear();
  MDVOL_ASSERT_OK(array.Write(0, 200000));
  LetBitsAge(array);
  EXPECT_EQ(array.CountBits(0), 0U);
  EXPECT_EQ(CheckIntentOrder({array, before, array.recording().requests(), kAllSix}), "");
}

TEST(ArrayIntentTest, BitsThatAreWrittenUnderStay) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  for (int i = 0; i < 6; ++i) {
    MDVOL_ASSERT_OK(array.Write(0, 512));
    array.clock().Advance(5 * kSecondNs);
    array->RunMaintenance();
    EXPECT_TRUE(array.Bit(0, 0));
  }
}

TEST(ArrayIntentTest, ADegradedArrayKeepsItsBits) {
  TestArray array;
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Write(0, 4096));
  MDVOL_ASSERT_OK(array->FailMember(2, "by hand"));
  LetBitsAge(array);
  EXPECT_TRUE(array.Bit(0, 0));
  EXPECT_FALSE(array->Snapshot().bitmap->can_clear);
  MDVOL_ASSERT_OK(array.Stop());
  EXPECT_TRUE(array.Bit(0, 0));
}

// A spare's bitmap is not kept, as in md: it has missed everything anyway.
TEST(ArrayIntentTest, ASparesBitmapIsLeftAlone) {
  TestArray array({.spares = 1});
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Write(0, 4096));
  EXPECT_TRUE(array.Bit(0, 0));
  EXPECT_FALSE(array.Bit(6, 0));
}

// ---- What memory takes for durable at the start ----

// Two pages of bits, so that the page that every generation stores is not the only one.
ArraySpec LargeBitmap() {
  return {.raid_disks = 4, .stripes = 40000, .bitmap_chunk_bytes = 4 * kKiB};
}

// I1: a bitmap that cannot vouch for its bits counts as all set; it must be so on the members too
// before anyone relies on it, also when the array is clean.
TEST(ArrayIntentTest, AStaleBitmapIsSetEverywhereBeforeTheFirstWrite) {
  for (const bool flagged : {false, true}) {
    TestArray array(LargeBitmap());
    for (size_t disk = 0; disk < 4; ++disk) {
      BitmapSuperblock bitmap = array.bitmap_super(disk);
      Superblock super = array.super(disk);
      super.events = uint64_t{10};
      bitmap.events = uint64_t{flagged ? 10U : 3U};
      bitmap.state = flagged ? kBitmapStale : 0;
      array.PutSuper(disk, super);
      array.PutBitmapSuper(disk, bitmap);
    }
    const Disks before = array.disks().Copy();
    MDVOL_ASSERT_OK(array.Open());
    const uint64_t far = array.geometry().volume_bytes() - 4096;  // its bit is on the second page
    MDVOL_ASSERT_OK(array.Write(far, 4096));
    EXPECT_EQ(CheckIntentOrder({array, before, array.recording().requests(), {0, 1, 2, 3}}), "");
    for (size_t disk = 0; disk < 4; ++disk) {
      EXPECT_TRUE(array.Bit(disk, array.bits() - 1));
      EXPECT_EQ(array.bitmap_super(disk).state, 0U);  // it vouches again
      EXPECT_GE(array.bitmap_super(disk).events, array.super(disk).events);
    }
    array.Crash();
    MDVOL_ASSERT_OK(array.Open());
    LetBitsAge(array);
    EXPECT_EQ(array.CountBits(0), 0U);
    MDVOL_ASSERT_OK(array.Stop());
  }
}

// I1: a crash may come between two members' pages. What only some of them hold is not durable.
TEST(ArrayIntentTest, BitsThatOnlySomeMembersHaveAreStoredOnAll) {
  for (const size_t with : {size_t{0}, size_t{3}}) {
    for (const bool dirty : {false, true}) {
      TestArray array(LargeBitmap());
      const uint64_t bit = array.bits() - 1;
      array.PutBit(with, bit, true);
      for (size_t disk = 0; dirty && disk < 4; ++disk) {
        Superblock super = array.super(disk);
        super.resync_offset = 0;
        array.PutSuper(disk, super);
      }
      const Disks before = array.disks().Copy();
      MDVOL_ASSERT_OK(array.Open());
      MDVOL_ASSERT_OK(array.Write(array.geometry().volume_bytes() - 4096, 4096));
      EXPECT_EQ(CheckOrder({array, before, array.recording().requests(), {0, 1, 2, 3}}), "");
      for (size_t disk = 0; disk < 4; ++disk) {
        EXPECT_TRUE(array.Bit(disk, bit));
      }
    }
  }
}

// ---- Everybody at once ----

// I1, I2, I7: writers on the same and on other bits, while bits are cleared and the array goes
// clean and dirty under them.
TEST(ArrayIntentTest, TheOrderHoldsUnderLoad) {
  const uint64_t seed = TestSeed("IntentOrderUnderLoad");
  TestArray array({.stripes = 16});
  MDVOL_ASSERT_OK(array.Open());
  const Disks before = array.disks().Copy();
  array.recording().Clear();
  std::atomic<int> writing = 3;
  std::vector<std::thread> threads;
  for (uint64_t id = 0; id < 3; ++id) {
    threads.emplace_back([&, id] {
      Prng prng(seed + id);
      for (int round = 0; round < (FullRun() ? 400 : 80); ++round) {
        std::vector<std::byte> data(prng.Between(1, 6000));
        const uint64_t offset = prng.Below(array.geometry().volume_bytes() - data.size());
        prng.Fill(data);
        MDVOL_EXPECT_OK(array->Write(offset, data));
        if (prng.OneIn(10)) {
          MDVOL_EXPECT_OK(array->Flush());
        }
      }
      --writing;
    });
  }
  while (writing > 0) {
    array.clock().Advance(2 * kSecondNs);
    array->RunMaintenance();
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  LetBitsAge(array);
  EXPECT_EQ(CheckOrder({array, before, array.recording().requests(), kAllSix}), "");
  EXPECT_EQ(array.CountBits(0), 0U);
  EXPECT_TRUE(array.InconsistentStripes().empty());
}

}  // namespace
}  // namespace mdvol
