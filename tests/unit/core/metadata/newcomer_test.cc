// What a new spare is given, and who may have a slot back.

#include "core/metadata/newcomer.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "core/metadata/create_plan.h"

namespace mdvol {
namespace {

// Members as `create` makes them, of any minor version, with and without a bitmap.
CreatePlan Plan(int minor, bool bitmap) {
  CreateRequest request;
  request.raid_disks = 4;
  request.minor = minor;
  request.chunk_bytes = 64 * kKiB;
  request.size_bytes = 8 * kMiB;
  request.array_uuid.bytes.fill(0xaa);
  request.bitmap = bitmap;
  for (uint8_t i = 0; i < 4; ++i) {
    request.members.push_back({.path = absl::StrCat("m", i)});
    request.device_uuids.emplace_back().bytes.fill(i);
  }
  auto plan = PlanCreate(request);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return *std::move(plan);
}

SpareRequest RequestFor(const CreatePlan& plan, int minor) {
  SpareRequest request;
  request.path.assign(1, 's');
  request.device_bytes = plan.members[1].device_bytes;
  request.minor = minor;
  request.bitmap_bytes =
      plan.bitmap.has_value() ? BitmapBytes(plan.component_bytes, plan.bitmap->chunksize) : 0;
  request.dev_number = 9;
  request.device_uuid.bytes.fill(0x55);
  return request;
}

TEST(PlanSpareTest, ASpareOfTheSameSizeLooksLikeTheOthers) {
  for (const int minor : {0, 1, 2}) {
    for (const bool bitmap : {true, false}) {
      const CreatePlan plan = Plan(minor, bitmap);
      const auto spare = PlanSpare(plan.members[1].super, RequestFor(plan, minor));
      ASSERT_TRUE(spare.ok()) << spare.status();
      EXPECT_EQ(spare->areas.data, plan.members[1].areas.data);
      EXPECT_EQ(spare->areas.super, plan.members[1].areas.super);
      EXPECT_EQ(spare->areas.bitmap, plan.members[1].areas.bitmap);
      EXPECT_EQ(spare->areas.bad_blocks, plan.members[1].areas.bad_blocks);
      EXPECT_EQ(OwnRole(spare->super), kRoleSpare);
      EXPECT_EQ(spare->super.dev_number, 9U);
      EXPECT_NE(spare->super.device_uuid, plan.members[1].super.device_uuid);
    }
  }
}

TEST(PlanSpareTest, ALargerDeviceHasItsMetadataWhereItsVersionWantsThem) {
  for (const int minor : {0, 1, 2}) {
    const CreatePlan plan = Plan(minor, true);
    SpareRequest request = RequestFor(plan, minor);
    request.device_bytes += 3 * kMiB;
    const auto spare = PlanSpare(plan.members[1].super, request);
    ASSERT_TRUE(spare.ok()) << spare.status();
    EXPECT_EQ(spare->areas.data, plan.members[1].areas.data);
  }
}

TEST(PlanSpareTest, ASmallerDeviceHasItsDataCloserToTheMetadataOrNotAtAll) {
  const CreatePlan plan = Plan(2, true);
  SpareRequest request = RequestFor(plan, 2);
  request.device_bytes -= 512 * kKiB;
  const auto spare = PlanSpare(plan.members[1].super, request);
  ASSERT_TRUE(spare.ok()) << spare.status();
  EXPECT_EQ(spare->areas.data.size(), plan.component_bytes);
  EXPECT_EQ(spare->areas.data.end, request.device_bytes);
  for (const uint64_t bytes : {8 * kMiB + 8 * kKiB, 8 * kMiB, 4 * kKiB, uint64_t{0}}) {
    request.device_bytes = bytes;
    const auto refused = PlanSpare(plan.members[1].super, request);
    EXPECT_EQ(ErrnoOf(refused.status()), ENOSPC) << bytes;
    EXPECT_EQ(MessageOf(refused.status()).find("s: too small"), 0U);
  }
}

// What its example was being rebuilt with, or reading badly, is not a spare's.
TEST(PlanSpareTest, ASpareStartsAfresh) {
  const CreatePlan plan = Plan(2, true);
  Superblock like = plan.members[1].super;
  like.feature_map = like.feature_map | kFeatureRecoveryOffset | kFeatureBadBlocks;
  like.recovery_offset = 128;
  like.cnt_corrected_read = 3;
  like.devflags = 1;
  const auto spare = PlanSpare(like, RequestFor(plan, 2));
  ASSERT_TRUE(spare.ok());
  EXPECT_EQ(spare->super.feature_map, kFeatureBitmapOffset);
  EXPECT_EQ(spare->super.recovery_offset, 0U);
  EXPECT_EQ(spare->super.cnt_corrected_read, 0U);
  EXPECT_EQ(spare->super.devflags, 0);
}

TEST(WhyNoReAddTest, OnlyWhoTheBitmapVouchesForComesBackAtOnce) {
  const CreatePlan plan = Plan(2, true);
  const ReAddFacts facts{
      .reference = plan.members[0].super, .minor = 2, .events = 20, .events_cleared = 10};
  const auto why = [&](const std::function<void(Superblock&)>& change) {
    Superblock member = plan.members[1].super;
    member.events = 15;
    change(member);
    return WhyNoReAdd(member, 2, facts);
  };
  EXPECT_EQ(why([](Superblock&) {}), "");
  EXPECT_EQ(why([](Superblock& s) { s.events = 10; }), "");
  EXPECT_EQ(why([](Superblock& s) { s.events = 20; }), "");
  EXPECT_NE(why([](Superblock& s) { s.events = 9; }), "");
  EXPECT_NE(why([](Superblock& s) { s.events = 21; }), "");
  EXPECT_NE(why([](Superblock& s) { s.dev_roles[1] = kRoleSpare; }), "");
  EXPECT_NE(why([](Superblock& s) { s.dev_roles[1] = kRoleFaulty; }), "");
  EXPECT_NE(why([](Superblock& s) { s.size = s.size - 128; }), "");
  EXPECT_NE(why([](Superblock& s) { s.raid_disks = 5; }), "");
  EXPECT_NE(why([](Superblock& s) { s.chunksize = 8; }), "");
  EXPECT_NE(why([](Superblock& s) { s.layout = 3; }), "");
  EXPECT_NE(why([](Superblock& s) { s.feature_map = s.feature_map | kFeatureReplacement; }), "");
  EXPECT_NE(why([](Superblock& s) { s.feature_map = s.feature_map | kFeatureRecoveryOffset; }), "");
  EXPECT_EQ(why([](Superblock& s) {
              s.feature_map = s.feature_map | kFeatureRecoveryOffset | kFeatureRecoveryBitmap;
            }),
            "");
  Superblock member = plan.members[1].super;
  member.events = 15;
  EXPECT_NE(WhyNoReAdd(member, 1, facts), "");
  ReAddFacts no_bitmap = facts;
  no_bitmap.events_cleared.reset();
  EXPECT_NE(WhyNoReAdd(member, 2, no_bitmap), "");
}

}  // namespace
}  // namespace mdvol
