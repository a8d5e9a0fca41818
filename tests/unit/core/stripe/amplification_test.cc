// How much member I/O the engine makes of a request: counted in requests and bytes as they reach
// the members. What is promised of speed rests on these numbers.

#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "gtest/gtest.h"
#include "tests/support/stripes/stripe_rig.h"

namespace mdvol {
namespace {

using testing::RigOptions;
using testing::StripeRig;

constexpr uint64_t kChunk = 64 * kKiB;

class AmplificationTest : public ::testing::Test {
 protected:
  // Parity in fixed places, so that neighbouring stripes are neighbours on every member.
  static constexpr RigOptions kFixedParity = {
      .layout = Layout::kParityLast, .members = 8, .chunk_bytes = kChunk, .stripes = 4, .seed = 11};
  static constexpr RigOptions kRotating = {.layout = Layout::kLeftSymmetric,
                                           .members = 8,
                                           .chunk_bytes = kChunk,
                                           .stripes = 8,
                                           .seed = 12};

  static void ExpectTraffic(StripeRig& rig, uint64_t reads, uint64_t read_bytes, uint64_t writes,
                            uint64_t written_bytes) {
    const StripeRig::Traffic traffic = rig.TakeTraffic();
    EXPECT_EQ(traffic.reads, reads);
    EXPECT_EQ(traffic.read_bytes, read_bytes);
    EXPECT_EQ(traffic.writes, writes);
    EXPECT_EQ(traffic.written_bytes, written_bytes);
  }
};

TEST_F(AmplificationTest, AHealthyReadIsOneRequest) {
  StripeRig rig(kRotating);
  EXPECT_EQ(rig.Read(5 * kChunk + 8192, 4096).error, 0);
  ExpectTraffic(rig, 1, 4096, 0, 0);
  EXPECT_EQ(rig.Read(5 * kChunk + 8191, 1).error, 0);
  ExpectTraffic(rig, 1, 1, 0, 0);
}

TEST_F(AmplificationTest, AHealthyReadUnderDirectIoIsOneRequestAtAnyAddress) {
  RigOptions options = kRotating;
  options.alignment_bytes = 4096;
  StripeRig rig(options);
  EXPECT_EQ(rig.Read(5 * kChunk + 8000, 4096).error, 0);
  ExpectTraffic(rig, 1, 8192, 0, 0);
}

TEST_F(AmplificationTest, AHealthySequentialReadIsOneRequestForEachMember) {
  StripeRig rig(kFixedParity);
  EXPECT_EQ(rig.Read(0, rig.geometry().volume_bytes()).error, 0);
  ExpectTraffic(rig, 6, 6 * 4 * kChunk, 0, 0);
}

TEST_F(AmplificationTest, AReadOfAMissingChunkReadsOneBlockOfEachOfNMinusTwoMembers) {
  for (const bool two_missing : {false, true}) {
    StripeRig rig(kRotating);
    const StripeRoles roles = rig.geometry().RolesOf(0);
    rig.Lose(roles.DataSlot(2));
    if (two_missing) {
      rig.Lose(roles.DataSlot(4));
    }
    EXPECT_EQ(rig.Read(2 * kChunk + 4096, 4096).error, 0);
    ExpectTraffic(rig, 6, 6 * 4096, 0, 0);
    EXPECT_EQ(rig.Read(1 * kChunk, 4096).error, 0) << "a chunk that is there";
    ExpectTraffic(rig, 1, 4096, 0, 0);
  }
}

TEST_F(AmplificationTest, ADegradedSequentialReadReadsNothingTwice) {
  for (const Layout layout : AllLayouts()) {
    RigOptions options = kRotating;
    options.layout = layout;
    StripeRig rig(options);
    const StripeRoles roles = rig.geometry().RolesOf(0);
    rig.Lose(roles.DataSlot(1));
    EXPECT_EQ(rig.Read(0, rig.geometry().stripe_bytes()).error, 0);
    ExpectTraffic(rig, 6, 6 * kChunk, 0, 0);
    rig.Lose(roles.DataSlot(3));
    EXPECT_EQ(rig.Read(0, rig.geometry().stripe_bytes()).error, 0);
    ExpectTraffic(rig, 6, 6 * kChunk, 0, 0);
    // Requests that are no whole stripes: the chunks that are there are read once, wholly or not.
    EXPECT_EQ(rig.Read(kChunk / 2, rig.geometry().stripe_bytes() - kChunk).error, 0);
    for (uint32_t slot = 0; slot < options.members; ++slot) {
      EXPECT_LE(rig.TrafficOf(slot).read_bytes, kChunk);
    }
  }
}

TEST_F(AmplificationTest, DegradedReadsMergeAcrossStripes) {
  StripeRig rig(kFixedParity);
  rig.Lose(0);
  EXPECT_EQ(rig.Read(0, rig.geometry().volume_bytes()).error, 0);
  ExpectTraffic(rig, 6, 6 * 4 * kChunk, 0, 0);
}

TEST_F(AmplificationTest, AFullStripeWriteReadsNothing) {
  for (const Layout layout : AllLayouts()) {
    RigOptions options = kRotating;
    options.layout = layout;
    StripeRig rig(options);
    EXPECT_EQ(rig.Write(rig.geometry().stripe_bytes(), rig.geometry().stripe_bytes()).error, 0);
    ExpectTraffic(rig, 0, 0, 8, 8 * kChunk);
  }
}

TEST_F(AmplificationTest, FullStripeWritesMergeAcrossStripes) {
  StripeRig rig(kRotating);
  EXPECT_EQ(rig.Write(0, rig.geometry().stripe_bytes() * 4).error, 0);
  ExpectTraffic(rig, 0, 0, 8, 8 * 4 * kChunk);
}

TEST_F(AmplificationTest, ASmallWriteReadsThreeBlocksAndWritesThree) {
  StripeRig rig(kRotating);
  EXPECT_EQ(rig.Write(3 * kChunk + 4096, 4096).error, 0);
  ExpectTraffic(rig, 3, 3 * 4096, 3, 3 * 4096);
  EXPECT_EQ(rig.Write(3 * kChunk + 4099, 1).error, 0) << "a single byte: whole sectors";
  ExpectTraffic(rig, 3, 3 * 512, 3, 3 * 512);
  EXPECT_EQ(rig.Write(3 * kChunk + 4000, 200).error, 0) << "two sectors";
  ExpectTraffic(rig, 3, 3 * 1024, 3, 3 * 1024);
}

TEST_F(AmplificationTest, AnUnalignedWriteReadsNoMoreThanItsSectors) {
  StripeRig rig(kRotating);
  EXPECT_EQ(rig.Write(3 * kChunk + 100, 32 * kKiB).error, 0);
  ExpectTraffic(rig, 3, 3 * (32 * kKiB + 512), 3, 3 * (32 * kKiB + 512));
}

TEST_F(AmplificationTest, AWriteOfMostOfAStripeReadsTheRest) {
  StripeRig rig(kRotating);
  EXPECT_EQ(rig.Write(0, 5 * kChunk).error, 0);  // of 6
  ExpectTraffic(rig, 1, kChunk, 7, 7 * kChunk);
}

TEST_F(AmplificationTest, AWriteToAMissingChunkReadsTheOthersAndWritesParity) {
  StripeRig rig(kRotating);
  rig.Lose(rig.geometry().RolesOf(0).DataSlot(2));
  EXPECT_EQ(rig.Write(2 * kChunk, 4096).error, 0);
  ExpectTraffic(rig, 5, 5 * 4096, 2, 2 * 4096);
}

TEST_F(AmplificationTest, AWriteBesideAMissingChunkReadsThreeBlocks) {
  StripeRig rig(kRotating);
  rig.Lose(rig.geometry().RolesOf(0).DataSlot(2));
  EXPECT_EQ(rig.Write(3 * kChunk, 4096).error, 0);
  ExpectTraffic(rig, 3, 3 * 4096, 3, 3 * 4096);
}

TEST_F(AmplificationTest, WithoutParityOnlyDataIsWritten) {
  StripeRig rig(kRotating);
  rig.Lose(rig.geometry().RolesOf(0).p_slot());
  rig.Lose(rig.geometry().RolesOf(0).q_slot());
  EXPECT_EQ(rig.Write(3 * kChunk, 4096).error, 0);
  ExpectTraffic(rig, 0, 0, 1, 4096);
  EXPECT_EQ(rig.Write(3 * kChunk + 1, 1).error, 0);
  ExpectTraffic(rig, 1, 512, 1, 512);
}

TEST_F(AmplificationTest, ZeroedStripesAreOneRequestForEachMember) {
  StripeRig rig(kRotating);
  EXPECT_EQ(rig.Zero(0, rig.geometry().stripe_bytes() * 3).error, 0);
  ExpectTraffic(rig, 0, 0, 8, 8 * 3 * kChunk);
  for (uint32_t slot = 0; slot < 8; ++slot) {
    // Memory devices give back blocks of 64 KiB that lie in the range.
    const auto hole = rig.memory(slot).NextHole(rig.DataOffset(slot) + kChunk);
    ASSERT_TRUE(hole.ok());
    EXPECT_LT(*hole, rig.DataOffset(slot) + 3 * kChunk);
  }
  EXPECT_TRUE(rig.MembersAgree());
}

TEST_F(AmplificationTest, RecomputingParityThatIsRightReadsOnceAndWritesNothing) {
  StripeRig rig(kRotating);
  rig.engine().RecomputeParity(rig.view(), 0, 8);
  ExpectTraffic(rig, 8, 8 * 8 * kChunk, 0, 0);
}

}  // namespace
}  // namespace mdvol
