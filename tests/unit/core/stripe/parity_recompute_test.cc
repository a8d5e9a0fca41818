// StripeEngine::RecomputeParity: puts right exactly what is wrong, says what it cannot tell, reads
// what it may and nothing twice; for tiny and huge chunks, many members, and members in trouble.

#include <algorithm>
#include <cerrno>
#include <vector>

#include "core/base/units.h"
#include "core/device/memory_device.h"
#include "gtest/gtest.h"
#include "tests/support/full.h"
#include "tests/support/seed.h"
#include "tests/support/stripes/stripe_rig.h"

namespace mdvol {
namespace {

using testing::FullRun;
using testing::Prng;
using testing::RigOptions;
using testing::StripeRig;
using testing::TestSeed;

struct Recomputed : EngineResult {
  uint64_t rewritten_bytes = 0;
  uint64_t read_bytes = 0;
};

Recomputed Recompute(StripeRig& rig, uint64_t first_stripe, uint64_t count) {
  rig.TakeTraffic();
  Recomputed recomputed;
  static_cast<EngineResult&>(recomputed) =
      rig.engine().RecomputeParity(rig.view(), first_stripe, count);
  const StripeRig::Traffic traffic = rig.TakeTraffic();
  recomputed.rewritten_bytes = traffic.written_bytes;
  recomputed.read_bytes = traffic.read_bytes;
  return recomputed;
}

Recomputed RecomputeAll(StripeRig& rig) { return Recompute(rig, 0, rig.geometry().stripe_count()); }

// Where P and Q of a stripe lie in the data areas of their slots.
struct ParityPlace {
  uint32_t slot;
  uint64_t data_offset_bytes;
};

ParityPlace RandomParity(StripeRig& rig, Prng& prng) {
  const uint64_t stripe = prng.Below(rig.geometry().stripe_count());
  const StripeRoles roles = rig.geometry().RolesOf(stripe);
  return {prng.OneIn(2) ? roles.p_slot() : roles.q_slot(),
          stripe * rig.geometry().chunk_bytes() + prng.Below(rig.geometry().chunk_bytes())};
}

class ParityRecomputeTest : public ::testing::TestWithParam<Layout> {};

TEST_P(ParityRecomputeTest, RewritesTheLanesThatAreWrongAndNoOthers) {
  Prng prng(TestSeed("ParityRecompute") + static_cast<uint64_t>(GetParam()));
  const uint64_t chunks[] = {4 * kKiB, 8 * kKiB, 64 * kKiB, 256 * kKiB};
  for (int round = 0; round < (FullRun() ? 300 : 12); ++round) {
    const uint64_t chunk = chunks[prng.Below(std::size(chunks))];
    const RigOptions options{.layout = GetParam(),
                             .members = static_cast<uint32_t>(prng.Between(4, 9)),
                             .chunk_bytes = chunk,
                             .stripes = chunk > 64 * kKiB ? 2u : 9u,
                             .alignment_bytes = prng.OneIn(2) ? 1u : 4096u,
                             .seed = prng.Next()};
    SCOPED_TRACE(::testing::Message() << options);
    StripeRig rig(options);
    std::vector<std::pair<uint32_t, uint64_t>> lanes;
    for (uint64_t i = prng.Below(12); i > 0; --i) {
      const ParityPlace place = RandomParity(rig, prng);
      lanes.emplace_back(place.slot, place.data_offset_bytes / kLaneBytes);
      rig.FlipBit(place.slot, place.data_offset_bytes);
    }
    std::sort(lanes.begin(), lanes.end());
    // A bit that is flipped twice is right again; then the lane may be right as a whole.
    const bool is_unique = std::adjacent_find(lanes.begin(), lanes.end()) == lanes.end();
    const Recomputed result = RecomputeAll(rig);
    EXPECT_EQ(result.error, 0);
    EXPECT_EQ(result.skipped_stripes, 0u);
    EXPECT_TRUE(result.member_errors.empty() && result.owed_stripes.empty());
    if (is_unique) {
      EXPECT_EQ(result.rewritten_bytes, lanes.size() * kLaneBytes);
    }
    EXPECT_EQ(result.read_bytes, options.members * rig.geometry().component_bytes());
    ASSERT_TRUE(rig.MembersAgree());
    EXPECT_EQ(RecomputeAll(rig).rewritten_bytes, 0u);
  }
}

std::string TestName(const ::testing::TestParamInfo<Layout>& layout) {
  std::string name(LayoutName(layout.param));
  name.erase(std::remove(name.begin(), name.end(), '-'), name.end());
  return name;
}

INSTANTIATE_TEST_SUITE_P(Layouts, ParityRecomputeTest, ::testing::ValuesIn(AllLayouts()), TestName);

RigOptions SmallRig() {
  return {.layout = Layout::kLeftSymmetric,
          .members = 6,
          .chunk_bytes = 16 * kKiB,
          .stripes = 8,
          .seed = 21};
}

TEST(ParityRecomputeRangeTest, TouchesOnlyTheStripesInQuestion) {
  StripeRig rig(SmallRig());
  for (uint64_t stripe = 0; stripe < 8; ++stripe) {
    rig.FlipBit(rig.geometry().RolesOf(stripe).p_slot(), stripe * 16 * kKiB);
  }
  EXPECT_EQ(Recompute(rig, 2, 3).rewritten_bytes, 3 * kLaneBytes);
  EXPECT_EQ(Recompute(rig, 7, 1).rewritten_bytes, kLaneBytes);
  EXPECT_EQ(Recompute(rig, 3, 0).rewritten_bytes, 0u);
  EXPECT_EQ(RecomputeAll(rig).rewritten_bytes, 4 * kLaneBytes);
  EXPECT_TRUE(rig.MembersAgree());
}

// A stripe that has lost data cannot be recomputed; one that has lost parity can.
TEST(ParityRecomputeTroubleTest, SkipsAndCountsStripesWithoutAllTheirData) {
  StripeRig rig(SmallRig());
  rig.Lose(2);
  uint64_t without_data = 0;
  uint64_t rewritten = 0;
  for (uint64_t stripe = 0; stripe < 8; ++stripe) {
    const StripeRoles roles = rig.geometry().RolesOf(stripe);
    const bool has_data = roles.RoleOf(2).kind != ChunkKind::kData;
    without_data += has_data ? 0u : 1u;
    rewritten += roles.q_slot() == 2 || !has_data ? 0u : kLaneBytes;
    rig.FlipBit(roles.q_slot(), stripe * 16 * kKiB + 77);
  }
  const Recomputed result = RecomputeAll(rig);
  EXPECT_EQ(result.skipped_stripes, without_data);
  EXPECT_EQ(result.rewritten_bytes, rewritten);
}

TEST(ParityRecomputeTroubleTest, WithoutPAndQThereIsNothingToDoAndNothingSkipped) {
  RigOptions options = SmallRig();
  options.layout = Layout::kParityLast;
  StripeRig rig(options);
  rig.Lose(4);
  rig.Lose(5);
  EXPECT_EQ(RecomputeAll(rig).skipped_stripes, 0u);
  EXPECT_EQ(rig.TakeTraffic().writes, 0u);
}

// One bad lane of data costs that lane alone, in its own stripe alone.
TEST(ParityRecomputeTroubleTest, ABadLaneOfDataLeavesTheRestToBeRecomputed) {
  StripeRig rig(SmallRig());
  const StripeRoles roles = rig.geometry().RolesOf(3);
  const uint64_t at = 3 * 16 * kKiB;
  rig.fault(roles.DataSlot(1))
      .AddRule({.op = FaultOp::kRead,
                .kind = FaultKind::kError,
                .offset_bytes = rig.DataOffset(roles.DataSlot(1)) + at + 4096,
                .length_bytes = 512});
  for (uint64_t stripe = 0; stripe < 8; ++stripe) {
    for (uint64_t lane = 0; lane < 4; ++lane) {
      rig.FlipBit(rig.geometry().RolesOf(stripe).p_slot(), stripe * 16 * kKiB + lane * kLaneBytes);
    }
  }
  const Recomputed result = RecomputeAll(rig);
  EXPECT_EQ(result.skipped_stripes, 1u);
  EXPECT_EQ(result.rewritten_bytes, (8 * 4 - 1) * kLaneBytes);
  EXPECT_TRUE(result.member_errors.empty()) << "a read error fails nobody";
  // It was left as it was: nothing is known of it.
  rig.FlipBit(roles.p_slot(), at + kLaneBytes);
  EXPECT_TRUE(rig.MembersAgree());
}

TEST(ParityRecomputeTroubleTest, ABadLaneOfParityIsMended) {
  StripeRig rig(SmallRig());
  const uint32_t slot = rig.geometry().RolesOf(3).q_slot();
  rig.Scribble(slot, 3 * 16 * kKiB + 4096, 3 * 16 * kKiB + 8192);
  rig.fault(slot).AddRule({.op = FaultOp::kRead,
                           .kind = FaultKind::kError,
                           .offset_bytes = rig.DataOffset(slot) + 3 * 16 * kKiB + 4608,
                           .length_bytes = 512,
                           .until = FaultUntil::kWrite});
  const Recomputed result = RecomputeAll(rig);
  EXPECT_EQ(result.skipped_stripes, 0u);
  EXPECT_EQ(result.rewritten_bytes, kLaneBytes);
  ASSERT_EQ(result.mended_slots.size(), 1u);
  EXPECT_EQ(result.mended_slots[0], slot);
  EXPECT_TRUE(rig.fault(slot).Rules().empty());
  EXPECT_TRUE(rig.MembersAgree());
}

// I5: beyond a checkpoint nothing is read, in front of it all is recomputed.
TEST(ParityRecomputeTroubleTest, DoesNotReadBeyondACheckpointOrInBadBlocks) {
  Prng prng(TestSeed("ParityRecomputeTrouble"));
  for (int round = 0; round < (FullRun() ? 500 : 30); ++round) {
    RigOptions options = SmallRig();
    options.layout = AllLayouts()[prng.Below(AllLayouts().size())];
    options.seed = prng.Next();
    StripeRig rig(options);
    SCOPED_TRACE(::testing::Message() << options);
    const uint64_t component = rig.geometry().component_bytes();
    const uint64_t checkpoint = RoundDown(prng.Below(component), kSectorBytes);
    const auto recovering = static_cast<uint32_t>(prng.Below(6));
    rig.BeginRecovery(recovering, checkpoint);
    const auto bad = static_cast<uint32_t>((recovering + prng.Between(1, 5)) % 6);
    const uint64_t bad_begin = RoundDown(prng.Below(component - 8192), kSectorBytes);
    rig.AddBadBlocks(bad, bad_begin, bad_begin + 8192);
    bool read_what_it_may_not = false;
    const auto forbid = [&](uint32_t slot, uint64_t begin, uint64_t end) {
      rig.hook(slot).set_hook(
          [&rig, &read_what_it_may_not, slot, begin, end](const IoRequest& request) {
            const uint64_t at = request.offset_bytes - rig.DataOffset(slot);
            read_what_it_may_not |=
                request.kind == IoKind::kRead && at < end && at + request.length_bytes > begin;
          });
    };
    forbid(recovering, checkpoint, component);
    forbid(bad, bad_begin, bad_begin + 8192);
    for (int i = 0; i < 8; ++i) {
      const ParityPlace place = RandomParity(rig, prng);
      if (place.slot != recovering || place.data_offset_bytes < checkpoint) {
        rig.FlipBit(place.slot, place.data_offset_bytes);
      }
    }
    const Recomputed result = RecomputeAll(rig);
    EXPECT_EQ(result.error, 0);
    EXPECT_FALSE(read_what_it_may_not);
    // What was not skipped is right: where P or Q lies beyond the checkpoint or is bad is not
    // asked.
    if (result.skipped_stripes == 0) {
      ASSERT_TRUE(rig.MembersAgree());
    }
  }
}

TEST(ParityRecomputeTroubleTest, AFullFileSystemLeavesTheParityOwed) {
  StripeRig rig(SmallRig());
  const uint32_t slot = rig.geometry().RolesOf(3).p_slot();
  rig.FlipBit(slot, 3 * 16 * kKiB);
  rig.fault(slot).AddRule(
      {.op = FaultOp::kWrite, .kind = FaultKind::kError, .error_number = ENOSPC});
  const Recomputed result = RecomputeAll(rig);
  EXPECT_EQ(result.error, ENOSPC);
  ASSERT_EQ(result.owed_stripes.size(), 1u);
  EXPECT_EQ(result.owed_stripes[0], 3u);
  EXPECT_TRUE(result.member_errors.empty());
  rig.fault(slot).ClearRules();
  EXPECT_EQ(RecomputeAll(rig).error, 0);
  EXPECT_TRUE(rig.MembersAgree());
}

TEST(ParityRecomputeTroubleTest, AMemberThatRefusesItsParityIsReported) {
  StripeRig rig(SmallRig());
  const uint32_t slot = rig.geometry().RolesOf(3).p_slot();
  rig.FlipBit(slot, 3 * 16 * kKiB);
  rig.fault(slot).AddRule({.op = FaultOp::kWrite, .kind = FaultKind::kError});
  const Recomputed result = RecomputeAll(rig);
  EXPECT_EQ(result.error, 0);
  ASSERT_FALSE(result.member_errors.empty());
  EXPECT_EQ(result.member_errors[0].slot, slot);
  rig.Lose(slot);
  EXPECT_TRUE(rig.MembersAgree());
}

// ---- Sizes ----

// Chunks larger than a window's share of a member go by columns, and each stripe counts once.
TEST(ParityRecomputeSizeTest, HugeChunksAndManyMembers) {
  struct Size {
    uint32_t members;
    uint64_t chunk_bytes;
  };
  for (const Size& size : {Size{4, 16 * kMiB}, Size{40, 1 * kMiB}, Size{255, 128 * kKiB}}) {
    const ArrayGeometry geometry = *ArrayGeometry::Make(Layout::kLeftSymmetric, size.members,
                                                        size.chunk_bytes, 2 * size.chunk_bytes);
    std::vector<std::unique_ptr<MemberDevice>> devices;
    MemberView view{.slots = {}, .writable = true};
    for (uint32_t slot = 0; slot < size.members; ++slot) {
      devices.push_back(NewMemoryDevice("m", 2 * size.chunk_bytes));
      view.slots.push_back({.device = devices.back().get(),
                            .data_offset_bytes = 0,
                            .valid_bytes = 2 * size.chunk_bytes});
    }
    // All zero but for one byte of data near the end of the chunk, and one of Q near its beginning.
    const StripeRoles roles = geometry.RolesOf(1);
    const std::byte one{1};
    const uint64_t last = 2 * size.chunk_bytes - 5;
    ASSERT_TRUE(WriteMember(*devices[roles.DataSlot(1)], last, &one, 1).ok());
    ASSERT_TRUE(WriteMember(*devices[roles.q_slot()], size.chunk_bytes + 3, &one, 1).ok());
    StripeEngine engine(geometry, testing::NoDoubt);
    SyncFindings findings;
    EngineResult result = engine.CheckStripes(view, 0, 2, &findings);
    EXPECT_EQ(findings.mismatch_sectors, 2 * 8u);
    result = engine.RecomputeParity(view, 0, 2);
    std::byte p{};
    ASSERT_TRUE(ReadMember(*devices[roles.p_slot()], last, &p, 1).ok());
    EXPECT_EQ(p, one);
    view.slots[roles.DataSlot(0)].device = nullptr;
    result = engine.RecomputeParity(view, 1, 1);
    EXPECT_EQ(result.skipped_stripes, 1u) << "a stripe counts once";
  }
}

}  // namespace
}  // namespace mdvol
