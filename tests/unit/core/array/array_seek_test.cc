// SEEK_DATA and SEEK_HOLE over the volume: whatever holds anything but zeroes is data, however many
// members are lost, and what was never written, or given back, is a hole.

#include <gtest/gtest.h>

#include <vector>

#include "core/base/units.h"
#include "tests/support/full.h"
#include "tests/support/test_array/test_array.h"

namespace mdvol {
namespace {

using testing::ArraySpec;
using testing::FullRun;
using testing::Prng;
using testing::TestArray;
using testing::TestSeed;

// Chunks of 64 KiB: as fine as MemoryDevice can tell holes from data. Data begin at 64 KiB, so that
// chunks and the device's blocks coincide.
constexpr uint64_t kChunk = 64 * kKiB;

ArraySpec Spec(Layout layout, uint32_t raid_disks) {
  return {.layout = layout,
          .raid_disks = raid_disks,
          .chunk_bytes = kChunk,
          .stripes = 16,
          .bitmap_chunk_bytes = 4 * kChunk};
}

bool IsZero(const std::vector<std::byte>& bytes, uint64_t begin, uint64_t end) {
  for (uint64_t at = begin; at < end; ++at) {
    if (bytes[at] != std::byte{0}) {
      return false;
    }
  }
  return true;
}

// Walks the volume as `cp --sparse` does; true for every chunk that is data. Everything that is not
// data must be zero.
std::vector<bool> Walk(TestArray& array) {
  const uint64_t end = array.geometry().volume_bytes();
  const std::vector<std::byte>& bytes = array.model().bytes();
  std::vector<bool> is_data(end / kChunk);
  uint64_t at = 0;
  while (at < end) {
    const uint64_t data = *array->NextData(at);
    EXPECT_GE(data, at);
    EXPECT_TRUE(IsZero(bytes, at, data)) << at << " to " << data;
    if (data == end) {
      break;
    }
    EXPECT_EQ(*array->NextData(data), data);
    const uint64_t hole = *array->NextHole(data);
    EXPECT_GT(hole, data);
    for (uint64_t chunk = data / kChunk; chunk * kChunk < hole; ++chunk) {
      is_data[chunk] = true;
    }
    if (hole < end) {
      EXPECT_EQ(*array->NextHole(hole), hole);
    }
    at = hole;
  }
  return is_data;
}

TEST(ArraySeekTest, AFreshVolumeIsOneHole) {
  TestArray array(Spec(Layout::kLeftSymmetric, 5));
  MDVOL_ASSERT_OK(array.Open());
  EXPECT_EQ(*array->NextData(0), array.geometry().volume_bytes());
  EXPECT_EQ(*array->NextHole(0), 0U);
  EXPECT_EQ(*array->NextHole(12345), 12345U);
  EXPECT_EQ(*array->NextData(12345), array.geometry().volume_bytes());
}

TEST(ArraySeekTest, OneByteMakesItsChunkData) {
  TestArray array(Spec(Layout::kLeftSymmetric, 5));
  MDVOL_ASSERT_OK(array.Open());
  const uint64_t at = 7 * kChunk + 1000;
  MDVOL_ASSERT_OK(array.Write(at, 1));
  EXPECT_EQ(*array->NextData(0), 7 * kChunk);
  EXPECT_EQ(*array->NextData(at), at);
  EXPECT_EQ(*array->NextHole(at), 8 * kChunk);
  EXPECT_EQ(*array->NextData(8 * kChunk), array.geometry().volume_bytes());
}

TEST(ArraySeekTest, AStripeThatIsDiscardedIsAHoleAgain) {
  TestArray array(Spec(Layout::kLeftSymmetric, 5));
  MDVOL_ASSERT_OK(array.Open());
  MDVOL_ASSERT_OK(array.Fill());
  EXPECT_EQ(*array->NextHole(0), array.geometry().volume_bytes());
  const uint64_t stripe = array.geometry().stripe_bytes();
  MDVOL_ASSERT_OK(array.Zero(2 * stripe, 3 * stripe));
  EXPECT_EQ(*array->NextHole(0), 2 * stripe);
  EXPECT_EQ(*array->NextData(2 * stripe), 5 * stripe);
  EXPECT_EQ(array.CheckVolume(), "");
  EXPECT_TRUE(array.InconsistentStripes().empty());
}

// Against the model, with every number of losses.
TEST(ArraySeekTest, AgreesWithTheContentsWholeAndDegraded) {
  Prng prng(TestSeed("SeekModel"));
  for (int round = 0; round < (FullRun() ? 200 : 12); ++round) {
    const auto layouts = AllLayouts();
    TestArray array(
        Spec(layouts[prng.Below(layouts.size())], static_cast<uint32_t>(prng.Between(4, 7))));
    MDVOL_ASSERT_OK(array.Open());
    const uint64_t volume = array.geometry().volume_bytes();
    for (int i = 0; i < 6; ++i) {
      const uint64_t length = prng.Between(1, 3 * kChunk);
      const uint64_t offset = prng.Below(volume - length);
      MDVOL_ASSERT_OK(array.Write(offset, length));
      if (prng.OneIn(3)) {
        const uint64_t stripe = array.geometry().stripe_bytes();
        MDVOL_ASSERT_OK(array.Zero(prng.Below(15) * stripe, stripe));
      }
    }
    const std::vector<bool> whole = Walk(array);
    for (uint64_t chunk = 0; chunk < whole.size(); ++chunk) {
      // Written and not given back: a chunk of zeroes may be data, but nothing may be more holes
      // than there are.
      if (!IsZero(array.model().bytes(), chunk * kChunk, (chunk + 1) * kChunk)) {
        ASSERT_TRUE(whole[chunk]) << chunk;
      }
    }
    for (int lost = 0; lost < 2; ++lost) {
      size_t disk = prng.Below(array.spec().raid_disks);
      while (array->Snapshot().members[disk].faulty) {
        disk = prng.Below(array.spec().raid_disks);
      }
      MDVOL_ASSERT_OK(array->FailMember(disk, "by hand"));
      const std::vector<bool> degraded = Walk(array);
      for (uint64_t chunk = 0; chunk < whole.size(); ++chunk) {
        ASSERT_TRUE(degraded[chunk] || !whole[chunk]) << chunk;
      }
      // A stripe without anything stays a hole.
      const uint64_t chunks = array.geometry().data_disks();
      for (uint64_t stripe = 0; stripe < 16; ++stripe) {
        bool was_data = false;
        bool is_data = false;
        for (uint64_t chunk = stripe * chunks; chunk < (stripe + 1) * chunks; ++chunk) {
          was_data |= whole[chunk];
          is_data |= degraded[chunk];
        }
        ASSERT_EQ(is_data, was_data) << stripe;
      }
    }
  }
}

}  // namespace
}  // namespace mdvol
