// The map between volume and members, both ways, at both ends of what is legal; and what is
// refused.

#include "core/geometry/geometry.h"

#include <cerrno>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/base/units.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/oracle/array.h"
#include "tests/support/oracle/layout.h"
#include "tests/support/seed.h"

namespace mdvol {
namespace {

using ::testing::HasSubstr;
using testing::Prng;

constexpr uint64_t kTwoTo63 = uint64_t{1} << 63;

ArrayGeometry MustMake(Layout layout, uint32_t raid_disks, uint64_t chunk_bytes,
                       uint64_t component_bytes) {
  const auto geometry = ArrayGeometry::Make(layout, raid_disks, chunk_bytes, component_bytes);
  EXPECT_TRUE(geometry.ok()) << geometry.status();
  return *geometry;
}

TEST(ArrayGeometryTest, TellsItsShape) {
  const ArrayGeometry geometry =
      MustMake(Layout::kLeftSymmetric6, 10, 512 * kKiB, 10 * kMiB + 4095);
  EXPECT_EQ(geometry.layout(), Layout::kLeftSymmetric6);
  EXPECT_EQ(geometry.raid_disks(), 10u);
  EXPECT_EQ(geometry.data_disks(), 8u);
  EXPECT_EQ(geometry.chunk_bytes(), 512 * kKiB);
  EXPECT_EQ(geometry.chunk_shift(), 19u);
  EXPECT_EQ(geometry.component_bytes(), 10 * kMiB);
  EXPECT_EQ(geometry.stripe_count(), 20u);
  EXPECT_EQ(geometry.stripe_bytes(), 4 * kMiB);
  EXPECT_EQ(geometry.volume_bytes(), 80 * kMiB);
}

TEST(ArrayGeometryTest, IsAValue) {
  const ArrayGeometry geometry = MustMake(Layout::kLeftSymmetric, 6, 64 * kKiB, kMiB);
  EXPECT_EQ(geometry, MustMake(Layout::kLeftSymmetric, 6, 64 * kKiB, kMiB + 1));
  EXPECT_NE(geometry, MustMake(Layout::kRightSymmetric, 6, 64 * kKiB, kMiB));
  EXPECT_NE(geometry, MustMake(Layout::kLeftSymmetric, 7, 64 * kKiB, kMiB));
  EXPECT_NE(geometry, MustMake(Layout::kLeftSymmetric, 6, 32 * kKiB, kMiB));
  EXPECT_NE(geometry, MustMake(Layout::kLeftSymmetric, 6, 64 * kKiB, 2 * kMiB));
}

TEST(ArrayGeometryTest, RoundsTheComponentDownToChunks) {
  for (const uint64_t chunk_bytes : {kMinChunkBytes, 64 * kKiB, kMaxChunkBytes}) {
    for (const uint64_t extra_bytes : {uint64_t{0}, uint64_t{1}, chunk_bytes - 1}) {
      const auto geometry =
          MustMake(Layout::kLeftSymmetric, 4, chunk_bytes, 3 * chunk_bytes + extra_bytes);
      EXPECT_EQ(geometry.component_bytes(), 3 * chunk_bytes);
      EXPECT_EQ(geometry.stripe_count(), 3u);
    }
  }
}

TEST(ArrayGeometryTest, TakesEveryLegalChunkAndMemberCount) {
  for (uint64_t chunk_bytes = kMinChunkBytes; chunk_bytes <= kMaxChunkBytes; chunk_bytes *= 2) {
    for (uint32_t raid_disks = kMinRaidDisks; raid_disks <= kMaxRaidDisks; ++raid_disks) {
      const auto geometry = MustMake(Layout::kLeftSymmetric, raid_disks, chunk_bytes, chunk_bytes);
      EXPECT_EQ(geometry.volume_bytes(), chunk_bytes * (raid_disks - 2));
    }
  }
}

using Row = std::vector<testing::oracle::Cell>;

Row OracleRow(const ArrayGeometry& geometry, uint64_t stripe) {
  return testing::oracle::RowOf(static_cast<int>(geometry.layout()), geometry.raid_disks(), stripe);
}

// Checks one byte of the volume both ways against the oracle's `row` of that stripe.
void ExpectMapped(const ArrayGeometry& geometry, const Row& row, uint64_t stripe,
                  uint32_t data_index, uint64_t chunk_offset_bytes, uint64_t volume_offset_bytes) {
  const uint64_t data_offset_bytes = stripe * geometry.chunk_bytes() + chunk_offset_bytes;
  const VolumeLocation location = geometry.Locate(volume_offset_bytes);
  ASSERT_EQ(location.stripe, stripe);
  ASSERT_EQ(location.data_index, data_index);
  ASSERT_EQ(location.chunk_offset_bytes, chunk_offset_bytes);
  ASSERT_EQ(location.data_offset_bytes, data_offset_bytes);
  ASSERT_EQ(row[location.slot].kind, 'D');
  ASSERT_EQ(row[location.slot].data_index, data_index);

  const MemberLocation member = geometry.LocateOnMember(location.slot, data_offset_bytes);
  ASSERT_EQ(member.stripe, stripe);
  ASSERT_EQ(member.chunk_offset_bytes, chunk_offset_bytes);
  ASSERT_EQ(member.volume_offset_bytes, volume_offset_bytes);
  ASSERT_EQ(member.role.kind, ChunkKind::kData);
  ASSERT_EQ(member.role.data_index, data_index);
  ASSERT_EQ(member.role.exponent, row[location.slot].exponent);
}

void ExpectParityMapped(const ArrayGeometry& geometry, uint64_t stripe) {
  const StripeRoles roles = geometry.RolesOf(stripe);
  const uint64_t last_byte = stripe * geometry.chunk_bytes() + geometry.chunk_bytes() - 1;
  for (const ChunkKind kind : {ChunkKind::kP, ChunkKind::kQ}) {
    const uint32_t slot = kind == ChunkKind::kP ? roles.p_slot() : roles.q_slot();
    const MemberLocation member = geometry.LocateOnMember(slot, last_byte);
    ASSERT_EQ(member.stripe, stripe);
    ASSERT_EQ(member.role.kind, kind);
    ASSERT_EQ(member.chunk_offset_bytes, geometry.chunk_bytes() - 1);
    ASSERT_EQ(member.volume_offset_bytes, 0u);
  }
}

TEST(ArrayGeometryTest, MapsEveryChunkBothWaysInAllLayouts) {
  constexpr uint64_t kChunk = kMinChunkBytes;
  for (const Layout layout : AllLayouts()) {
    for (const uint32_t raid_disks : {4u, 5u, 6u, 7u, 8u, 9u, 10u, 11u, 12u, 16u, 36u}) {
      const uint64_t stripes = uint64_t{3} * raid_disks;
      const auto geometry = MustMake(layout, raid_disks, kChunk, stripes * kChunk);
      uint64_t volume_offset_bytes = 0;  // counted, not computed
      for (uint64_t stripe = 0; stripe < stripes; ++stripe) {
        SCOPED_TRACE(::testing::Message()
                     << LayoutName(layout) << ", " << raid_disks << ", stripe " << stripe);
        const Row row = OracleRow(geometry, stripe);
        ASSERT_NO_FATAL_FAILURE(ExpectParityMapped(geometry, stripe));
        for (uint32_t k = 0; k < raid_disks - 2; ++k) {
          for (const uint64_t within : {uint64_t{0}, uint64_t{1}, kChunk / 2, kChunk - 1}) {
            ASSERT_NO_FATAL_FAILURE(
                ExpectMapped(geometry, row, stripe, k, within, volume_offset_bytes + within));
          }
          volume_offset_bytes += kChunk;
        }
      }
      ASSERT_EQ(volume_offset_bytes, geometry.volume_bytes());
    }
  }
}

TEST(ArrayGeometryTest, PutsTheVolumesBytesWhereTheOracleDoes) {
  constexpr size_t kChunk = kMinChunkBytes;
  Prng prng(testing::TestSeed("GeometryVolumeBytes"));
  for (const Layout layout : AllLayouts()) {
    const uint32_t raid_disks = 6;
    const auto geometry = MustMake(layout, raid_disks, kChunk, 6 * kChunk);
    std::vector<std::byte> volume(geometry.volume_bytes());
    prng.Fill(volume);
    const auto members =
        testing::oracle::MembersOf({static_cast<int>(layout), raid_disks, kChunk}, volume);
    for (uint64_t at = 0; at < volume.size(); ++at) {
      const VolumeLocation location = geometry.Locate(at);
      ASSERT_EQ(members[location.slot][location.data_offset_bytes], volume[at])
          << LayoutName(layout) << ", volume offset " << at;
    }
  }
}

// The largest legal array with these members and chunks.
ArrayGeometry Largest(Layout layout, uint32_t raid_disks, uint64_t chunk_bytes) {
  const uint64_t stripes = (kTwoTo63 - 1) / (chunk_bytes * (raid_disks - 2));
  return MustMake(layout, raid_disks, chunk_bytes, stripes * chunk_bytes);
}

TEST(ArrayGeometryTest, MapsBothWaysUpToTheEndOfTheLargestVolumes) {
  Prng prng(testing::TestSeed("GeometryLargest"));
  for (const Layout layout : AllLayouts()) {
    for (const uint32_t raid_disks : {4u, 5u, 6u, 10u, 128u, 255u}) {
      for (const uint64_t chunk_bytes : {kMinChunkBytes, 512 * kKiB, kMaxChunkBytes}) {
        const auto geometry = Largest(layout, raid_disks, chunk_bytes);
        ASSERT_LT(geometry.volume_bytes(), kTwoTo63);
        ASSERT_GE(geometry.volume_bytes(), kTwoTo63 - geometry.stripe_bytes());
        for (int round = 0; round < 20; ++round) {
          const uint64_t back = prng.Next() >> (2 + prng.Below(62));
          const uint64_t stripe = geometry.stripe_count() - 1 - back % geometry.stripe_count();
          const auto k = static_cast<uint32_t>(prng.Below(raid_disks - 2));
          const uint64_t within = prng.OneIn(4) ? chunk_bytes - 1 : prng.Below(chunk_bytes);
          const uint64_t chunk = stripe * (raid_disks - 2) + k;
          SCOPED_TRACE(::testing::Message() << LayoutName(layout) << ", " << raid_disks
                                            << ", chunk " << chunk_bytes << ", stripe " << stripe);
          ASSERT_NO_FATAL_FAILURE(ExpectMapped(geometry, OracleRow(geometry, stripe), stripe, k,
                                               within, chunk * chunk_bytes + within));
          ASSERT_NO_FATAL_FAILURE(ExpectParityMapped(geometry, stripe));
        }
        const uint64_t last_stripe = geometry.stripe_count() - 1;
        ASSERT_NO_FATAL_FAILURE(ExpectMapped(geometry, OracleRow(geometry, last_stripe),
                                             last_stripe, raid_disks - 3, chunk_bytes - 1,
                                             geometry.volume_bytes() - 1));
      }
    }
  }
}

TEST(ArrayGeometryTest, MapsAroundTwoTo32Sectors) {
  constexpr uint64_t kBoundary = uint64_t{512} << 32;
  const auto geometry = MustMake(Layout::kLeftSymmetric, 6, 64 * kKiB, 4 * kBoundary);
  for (const uint64_t around : {kBoundary - kMiB, kBoundary, kBoundary + kMiB}) {
    const uint64_t stripe = around / geometry.chunk_bytes();
    for (uint32_t k = 0; k < 4; ++k) {
      ASSERT_NO_FATAL_FAILURE(ExpectMapped(geometry, OracleRow(geometry, stripe), stripe, k, 7,
                                           (stripe * 4 + k) * geometry.chunk_bytes() + 7));
    }
  }
}

TEST(ArrayGeometryTest, StopsJustBelowTwoTo63Bytes) {
  // Two data members of 4 KiB chunks: the volume grows in steps of 8 KiB, and 2^63 is such a step.
  constexpr uint64_t kLimit = kTwoTo63 / 2;
  const auto largest = MustMake(Layout::kLeftSymmetric, 4, 4096, kLimit - 1);
  EXPECT_EQ(largest.volume_bytes(), kTwoTo63 - 8192);
  EXPECT_EQ(largest.Locate(kTwoTo63 - 8193).data_offset_bytes, kLimit - 4097);
  EXPECT_FALSE(ArrayGeometry::Make(Layout::kLeftSymmetric, 4, 4096, kLimit).ok());
}

struct Refused {
  int32_t layout_id;
  uint32_t raid_disks;
  uint64_t chunk_bytes;
  uint64_t component_bytes;
  const char* says;
};

TEST(ArrayGeometryTest, RefusesEachBadParameterAndNamesIt) {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  const std::vector<Refused> cases = {
      {-1, 6, 4096, kMiB, "layout -1"},
      {6, 6, 4096, kMiB, "layout 6"},
      {7, 6, 4096, kMiB, "layout 7"},
      {11, 6, 4096, kMiB, "layout 11"},
      {15, 6, 4096, kMiB, "layout 15"},
      {21, 6, 4096, kMiB, "layout 21"},
      {258, 6, 4096, kMiB, "layout 258"},
      {2, 0, 4096, kMiB, "raid_disks 0"},
      {2, 1, 4096, kMiB, "raid_disks 1"},
      {2, 2, 4096, kMiB, "raid_disks 2"},
      {2, 3, 4096, kMiB, "raid_disks 3"},
      {2, 256, 4096, kMiB, "raid_disks 256"},
      {2, 65535, 4096, kMiB, "raid_disks 65535"},
      {2, 0xffffffff, 4096, kMiB, "raid_disks 4294967295"},
      {2, 6, 0, kMiB, "chunk size 0 bytes"},
      {2, 6, 1, kMiB, "chunk size 1 bytes"},
      {2, 6, 2048, kMiB, "chunk size 2048 bytes"},
      {2, 6, 4095, kMiB, "chunk size 4095 bytes"},
      {2, 6, 12288, kMiB, "chunk size 12288 bytes"},
      {2, 6, 32 * kMiB, kGiB, "chunk size 33554432 bytes"},
      {2, 6, kTwoTo63, kMax, "chunk size 9223372036854775808 bytes"},
      {2, 6, kMax, kMax, "chunk size 18446744073709551615 bytes"},
      {2, 6, 65536, 0, "component size 0 bytes"},
      {2, 6, 65536, 65535, "component size 65535 bytes"},
      {2, 4, 4096, kTwoTo63 / 2, "component size 4611686018427387904 bytes"},
      {2, 6, 4096, kTwoTo63 / 4, "component size 2305843009213693952 bytes"},
      {2, 255, 4096, kMax, "component size 18446744073709551615 bytes"},
      {2, 18, 4096, uint64_t{1} << 60, "component size 1152921504606846976 bytes"},  // 16 * 2^60
  };
  for (const Refused& bad : cases) {
    const auto geometry = ArrayGeometry::Make(static_cast<Layout>(bad.layout_id), bad.raid_disks,
                                              bad.chunk_bytes, bad.component_bytes);
    ASSERT_FALSE(geometry.ok()) << bad.says;
    EXPECT_EQ(ErrnoOf(geometry.status()), EINVAL);
    EXPECT_THAT(MessageOf(geometry.status()), HasSubstr(bad.says));
  }
}

TEST(ArrayGeometryTest, SaysHowLargeAComponentMayBe) {
  for (const uint32_t raid_disks : {4u, 7u, 255u}) {
    const uint64_t limit_bytes =
        Largest(Layout::kLeftSymmetric, raid_disks, 65536).component_bytes();
    const auto refused =
        ArrayGeometry::Make(Layout::kLeftSymmetric, raid_disks, 65536, limit_bytes + 65536);
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(MessageOf(refused.status()), HasSubstr("at most " + FormatSize(limit_bytes)));
  }
}

TEST(ArrayGeometryDeathTest, PlacesBeyondTheEndAreOurBugs) {
  const auto geometry = MustMake(Layout::kLeftSymmetric, 4, 4096, 8192);
  EXPECT_DEATH(geometry.Locate(geometry.volume_bytes()), "check failed");
  EXPECT_DEATH(geometry.LocateOnMember(0, geometry.component_bytes()), "check failed");
  EXPECT_DEATH(geometry.LocateOnMember(4, 0), "check failed");
}

}  // namespace
}  // namespace mdvol
