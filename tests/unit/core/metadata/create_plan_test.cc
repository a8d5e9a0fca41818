// What create will write: sizes, places, roles, refusals. That mdadm agrees is create_mdadm_test's.

#include "core/metadata/create_plan.h"

#include <cerrno>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/base/units.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/full.h"
#include "tests/support/seed.h"
#include "tests/unit/core/metadata/create_request_sample.h"

namespace mdvol {
namespace {

using ::mdvol::testing::FullRun;
using ::mdvol::testing::MakeExisting;
using ::mdvol::testing::NewImages;
using ::mdvol::testing::Prng;
using ::mdvol::testing::TestSeed;
using ::testing::HasSubstr;

CreatePlan Plan(const CreateRequest& request) {
  auto plan = PlanCreate(request);
  EXPECT_TRUE(plan.ok()) << MessageOf(plan.status());
  return plan.ok() ? *std::move(plan) : CreatePlan();
}

void ExpectUsageError(const CreateRequest& request, const std::string& words) {
  const auto plan = PlanCreate(request);
  EXPECT_TRUE(IsUsageError(plan.status())) << words << ": " << MessageOf(plan.status());
  EXPECT_THAT(MessageOf(plan.status()), HasSubstr(words));
}

void ExpectNoSpace(const CreateRequest& request, const std::string& words) {
  const auto plan = PlanCreate(request);
  EXPECT_EQ(ErrnoOf(plan.status()), ENOSPC) << words << ": " << MessageOf(plan.status());
  EXPECT_THAT(MessageOf(plan.status()), HasSubstr(words));
}

TEST(CreatePlanTest, NewImagesOf12StartCleanWithDataAtOneMiB) {
  const CreatePlan plan = Plan(NewImages(6, 64 * kMiB));
  EXPECT_EQ(plan.component_bytes, 64 * kMiB);
  EXPECT_EQ(plan.volume_bytes, 256 * kMiB);
  EXPECT_TRUE(plan.clean);
  ASSERT_EQ(plan.members.size(), 6u);
  for (uint32_t i = 0; i < 6; ++i) {
    const PlannedMember& member = plan.members[i];
    EXPECT_TRUE(member.present);
    EXPECT_EQ(member.device_bytes, 65 * kMiB);
    EXPECT_EQ(member.super.dev_number, i);
    EXPECT_EQ(OwnSlot(member.super), i);
    EXPECT_EQ(member.super.device_uuid.bytes[0], i + 1);
    EXPECT_EQ(member.super.resync_offset, kResyncDone);
    EXPECT_EQ(member.super.events, 0u);
    EXPECT_EQ(member.super.max_dev, 128u);
    EXPECT_EQ(member.super.feature_map, kFeatureBitmapOffset);
    EXPECT_EQ(member.super.data_size, 64 * kMiB / 512);
    EXPECT_EQ(SetName(member.super), "host:vol");
    EXPECT_EQ(MdTimeSeconds(member.super.ctime), 1'700'000'000u);
    EXPECT_EQ(member.areas.super, (ByteRange{4096, 8192}));
    EXPECT_EQ(member.areas.bitmap, (ByteRange{8192, 12288}));
    EXPECT_EQ(member.areas.bad_blocks, (ByteRange{12288, 16384}));
    EXPECT_EQ(member.areas.data, (ByteRange{kMiB, 65 * kMiB}));
    EXPECT_TRUE(CheckSuperblock(member.super, 2, member.device_bytes / 512).ok());
  }
  ASSERT_TRUE(plan.bitmap.has_value());
  EXPECT_EQ(plan.bitmap->chunksize, 64 * kMiB);
  EXPECT_EQ(plan.bitmap_bits.size(), 1u);
  EXPECT_EQ(plan.bitmap_bits.CountSet(), 0u);
}

TEST(CreatePlanTest, Metadata11LiesAtTheStart) {
  CreateRequest request = NewImages(4, 8 * kMiB);
  request.minor = 1;
  const PlannedMember member = Plan(request).members[3];
  EXPECT_EQ(member.device_bytes, 9 * kMiB);
  EXPECT_EQ(member.areas.super, (ByteRange{0, 4096}));
  EXPECT_EQ(member.areas.bitmap, (ByteRange{4096, 8192}));
  EXPECT_EQ(member.areas.bad_blocks, (ByteRange{8192, 12288}));
  EXPECT_EQ(member.areas.data, (ByteRange{kMiB, 9 * kMiB}));
}

TEST(CreatePlanTest, Metadata10LiesAtTheEnd) {
  CreateRequest request = NewImages(4, 8 * kMiB);
  request.minor = 0;
  const PlannedMember member = Plan(request).members[0];
  EXPECT_EQ(member.areas.data, (ByteRange{0, 8 * kMiB}));
  EXPECT_EQ(member.areas.bitmap, (ByteRange{8 * kMiB, 8 * kMiB + 4096}));
  EXPECT_EQ(member.areas.bad_blocks, (ByteRange{8 * kMiB + 4096, 8 * kMiB + 8192}));
  EXPECT_EQ(member.areas.super, (ByteRange{8 * kMiB + 8192, 8 * kMiB + 12288}));
  EXPECT_EQ(member.device_bytes, 8 * kMiB + 16384);
  EXPECT_EQ(member.super.bblog_offset, -8);
  EXPECT_EQ(member.super.bitmap_offset, -16);
  EXPECT_EQ(member.super.data_size, 8 * kMiB / 512);
}

TEST(CreatePlanTest, ComponentIsWholeChunksButTheFileIsAsLongAsAskedFor) {
  CreateRequest request = NewImages(5, 10 * kMiB + 300 * kKiB);
  const CreatePlan plan = Plan(request);
  EXPECT_EQ(plan.component_bytes, 10 * kMiB);
  EXPECT_EQ(plan.volume_bytes, 30 * kMiB);
  EXPECT_EQ(plan.members[0].device_bytes, 11 * kMiB + 300 * kKiB);
  EXPECT_EQ(plan.members[0].super.size, 10 * kMiB / 512);
  EXPECT_EQ(plan.members[0].super.data_size, (10 * kMiB + 300 * kKiB) / 512);
  EXPECT_EQ(plan.bitmap->sync_size, 10 * kMiB / 512);
}

TEST(CreatePlanTest, ExistingMembersGiveTheSizeAndNeedAResync) {
  CreateRequest request = NewImages(4, 0);
  request.size_bytes.reset();
  MakeExisting(request, 0, 100 * kMiB);
  MakeExisting(request, 1, 80 * kMiB + 700 * kKiB + 100);
  MakeExisting(request, 2, 90 * kMiB);
  const CreatePlan plan = Plan(request);
  EXPECT_EQ(plan.component_bytes, 79 * kMiB + 512 * kKiB);
  EXPECT_FALSE(plan.clean);
  EXPECT_EQ(plan.members[0].device_bytes, 100 * kMiB);
  EXPECT_EQ(plan.members[0].super.data_size, 99 * kMiB / 512);
  EXPECT_EQ(plan.members[1].device_bytes, 80 * kMiB + 700 * kKiB + 100);
  EXPECT_EQ(plan.members[3].device_bytes, 80 * kMiB + 700 * kKiB);  // the one that is made
  EXPECT_EQ(plan.members[0].super.resync_offset, 0u);
  EXPECT_EQ(plan.bitmap_bits.CountSet(), plan.bitmap_bits.size());
  request.assume_clean = true;
  const CreatePlan clean = Plan(request);
  EXPECT_TRUE(clean.clean);
  EXPECT_EQ(clean.members[0].super.resync_offset, kResyncDone);
  EXPECT_EQ(clean.bitmap_bits.CountSet(), 0u);
}

TEST(CreatePlanTest, ExistingMembersOf10KeepRoomForABitmap) {
  for (const bool bitmap : {true, false}) {
    CreateRequest request = NewImages(4, 0);
    request.size_bytes.reset();
    request.minor = 0;
    request.bitmap = bitmap;
    for (uint32_t i = 0; i < 4; ++i) MakeExisting(request, i, 64 * kMiB + 8192 + 8192 + i * 512);
    const CreatePlan plan = Plan(request);
    EXPECT_EQ(plan.component_bytes, 64 * kMiB);
    EXPECT_EQ(plan.members[0].super.super_offset, (64 * kMiB + 8192) / 512);
    EXPECT_EQ(plan.members[3].super.super_offset, (64 * kMiB + 8192) / 512);
    EXPECT_EQ(plan.members[0].areas.bitmap.empty(), !bitmap);
  }
}

TEST(CreatePlanTest, AnExistingSpareNeedsNoResync) {
  CreateRequest request = NewImages(4, 8 * kMiB, 1);
  MakeExisting(request, 4, 20 * kMiB);
  const CreatePlan plan = Plan(request);
  EXPECT_TRUE(plan.clean);
  EXPECT_EQ(OwnRole(plan.members[4].super), kRoleSpare);
  EXPECT_EQ(plan.members[4].super.dev_number, 4u);
}

TEST(CreatePlanTest, MissingMembersLeaveTheirSlotOpen) {
  CreateRequest request = NewImages(6, 8 * kMiB);
  request.members[1].missing = true;
  request.members[4].missing = true;
  const CreatePlan plan = Plan(request);
  EXPECT_TRUE(plan.clean);
  EXPECT_FALSE(plan.members[1].present);
  EXPECT_EQ(plan.members[1].device_bytes, 0u);
  EXPECT_EQ(RoleOfDevice(plan.members[0].super, 1), kRoleSpare);
  EXPECT_EQ(RoleOfDevice(plan.members[0].super, 4), kRoleSpare);
  EXPECT_EQ(RoleOfDevice(plan.members[0].super, 5), 5u);
  EXPECT_EQ(plan.members[5].super.dev_number, 5u);
}

TEST(CreatePlanTest, LogStaysClearOfALargeBitmap) {
  CreateRequest request = NewImages(4, 2 * kGiB);
  request.bitmap_chunk_bytes = 4096;  // 524288 bits
  const PlannedMember member = Plan(request).members[0];
  EXPECT_EQ(member.areas.bitmap, (ByteRange{8192, 8192 + 68 * kKiB}));
  EXPECT_EQ(member.areas.bad_blocks, (ByteRange{8192 + 68 * kKiB, 8192 + 72 * kKiB}));
}

TEST(CreatePlanTest, WithoutABitmapItsRoomIsKept) {
  CreateRequest request = NewImages(4, 8 * kMiB);
  request.bitmap = false;
  const CreatePlan plan = Plan(request);
  EXPECT_FALSE(plan.bitmap.has_value());
  EXPECT_EQ(plan.members[0].super.feature_map, 0u);
  EXPECT_EQ(plan.members[0].super.bitmap_offset, 0);
  EXPECT_EQ(plan.members[0].super.bblog_offset, 16);
  request.data_offset_bytes = 12288;  // no room for one
  EXPECT_EQ(Plan(request).members[0].super.bblog_offset, 8);
  EXPECT_EQ(Plan(request).members[0].device_bytes, 8 * kMiB + 12288);
}

TEST(CreatePlanTest, RolesAreProvidedForAllDevices) {
  CreateRequest request = NewImages(100, kMiB, 100);
  const CreatePlan plan = Plan(request);
  EXPECT_EQ(plan.members[0].super.max_dev, 384u);
  EXPECT_EQ(RoleOfDevice(plan.members[199].super, 99), 99u);
  EXPECT_EQ(OwnRole(plan.members[199].super), kRoleSpare);
}

TEST(CreatePlanTest, RefusesWrongCounts) {
  ExpectUsageError(NewImages(3, kMiB), "--raid-devices 3");
  ExpectUsageError(NewImages(0, kMiB), "--raid-devices 0");
  ExpectUsageError(NewImages(256, kMiB), "--raid-devices 256");
  CreateRequest request = NewImages(6, kMiB);
  request.raid_disks = 5;
  ExpectUsageError(request, "6 members are named, but 5 members and 0 spares are wanted");
  request.spares = 2;
  ExpectUsageError(request, "name 7");
  request.spares = 0xffffffff;
  ExpectUsageError(request, "--spare-devices 4294967295");
}

TEST(CreatePlanTest, RefusesTooManyMissing) {
  CreateRequest request = NewImages(6, kMiB, 1);
  for (const uint32_t i : {0u, 2u, 3u}) request.members[i].missing = true;
  ExpectUsageError(request, "3 members are missing");
  request = NewImages(6, kMiB, 1);
  request.members[6].missing = true;
  ExpectUsageError(request, "missing stands for a spare");
}

TEST(CreatePlanTest, RefusesMissingAmongExistingUnlessTheyAreClean) {
  CreateRequest request = NewImages(4, kMiB);
  request.members[2].missing = true;
  MakeExisting(request, 0, 10 * kMiB);
  ExpectUsageError(request, "--assume-clean");
  request.assume_clean = true;
  EXPECT_TRUE(Plan(request).clean);
}

TEST(CreatePlanTest, RefusesWrongShapesAndSizes) {
  const struct {
    std::function<void(CreateRequest&)> change;
    const char* words;
  } refusals[] = {
      {[](CreateRequest& r) { r.minor = 3; }, "--metadata 1.3"},
      {[](CreateRequest& r) { r.minor = -1; }, "--metadata 1.-1"},
      {[](CreateRequest& r) { r.layout = static_cast<Layout>(7); }, "--layout 7"},
      {[](CreateRequest& r) { r.chunk_bytes = 0; }, "--chunk 0"},
      {[](CreateRequest& r) { r.chunk_bytes = 2048; }, "--chunk 2K"},
      {[](CreateRequest& r) { r.chunk_bytes = 96 * kKiB; }, "--chunk 96K"},
      {[](CreateRequest& r) { r.chunk_bytes = 32 * kMiB; }, "--chunk 32M"},
      {[](CreateRequest& r) { r.name = std::string(33, 'n'); }, "at most 32 bytes"},
      {[](CreateRequest& r) { r.size_bytes = 0; }, "--size 0"},
      {[](CreateRequest& r) { r.size_bytes = 511 * kKiB; }, "at least one chunk of 512K"},
      {[](CreateRequest& r) { r.size_bytes = kMiB + 1; }, "whole sectors"},
      {[](CreateRequest& r) { r.size_bytes.reset(); }, "--size is needed"},
      {[](CreateRequest& r) { r.size_bytes = uint64_t{1} << 62; }, "2^63 - 1"},
      {[](CreateRequest& r) { r.size_bytes = ~uint64_t{511}; }, "2^63 - 1"},
      {[](CreateRequest& r) { r.data_offset_bytes = 8192; }, "need 12K"},
      {[](CreateRequest& r) { r.data_offset_bytes = 0; }, "need 12K"},
      {[](CreateRequest& r) { r.data_offset_bytes = kMiB + 512; }, "multiple of 4K"},
      {[](CreateRequest& r) { r.data_offset_bytes = 2 * kTiB; }, "at most 1T"},
      {[](CreateRequest& r) { r.data_offset_bytes = 12288; }, "no bitmap fits"},
      {[](CreateRequest& r) { r.minor = 0, r.data_offset_bytes = kMiB; }, "1.0 has its data at"},
      {[](CreateRequest& r) { r.bitmap_chunk_bytes = 0; }, "--bitmap-chunk 0"},
      {[](CreateRequest& r) { r.bitmap_chunk_bytes = 2048; }, "--bitmap-chunk 2K"},
      {[](CreateRequest& r) { r.bitmap_chunk_bytes = 4 * kGiB; }, "--bitmap-chunk 4G"},
      {[](CreateRequest& r) { r.bitmap_chunk_bytes = 5000; }, "--bitmap-chunk 5000"},
      {[](CreateRequest& r) { r.bitmap_chunk_bytes = kMiB, r.bitmap = false; },
       "there is no bitmap"},
      {[](CreateRequest& r) { r.bitmap_chunk_bytes = 4096, r.size_bytes = 32 * kGiB; },
       "can have 1012K: give a larger chunk or --data-offset"},
      {[](CreateRequest& r) {
         r.bitmap_chunk_bytes = 4096, r.size_bytes = 100 * kGiB, r.minor = 0;
       },
       "takes 3204K, but it can have 1M: give a larger chunk"},
  };
  for (const auto& refusal : refusals) {
    CreateRequest request = NewImages(6, 64 * kMiB);
    refusal.change(request);
    ExpectUsageError(request, refusal.words);
  }
}

TEST(CreatePlanTest, RefusesMembersThatAreTooSmall) {
  for (const int minor : {0, 1, 2}) {
    CreateRequest request = NewImages(4, 64 * kMiB);
    request.minor = minor;
    MakeExisting(request, 2, 64 * kMiB);
    ExpectNoSpace(request, "d2.img: too small: it has room for");
    for (const uint64_t device_bytes : {uint64_t{0}, uint64_t{4096}, 23 * 512 + 511ul}) {
      request.members[2].device_bytes = device_bytes;
      ExpectNoSpace(request, "d2.img: a member of");
    }
    request.members[2].device_bytes = 500 * kKiB;
    ExpectNoSpace(request, "d2.img: too small: metadata and a chunk of 512K do not fit into 500K");
  }
}

TEST(CreatePlanTest, AMemberWithExactlyEnoughRoomWillDo) {
  for (const int minor : {0, 1, 2}) {
    CreateRequest request = NewImages(4, 64 * kMiB);
    request.minor = minor;
    const uint64_t device_bytes = Plan(request).members[0].device_bytes;
    MakeExisting(request, 1, device_bytes);
    EXPECT_EQ(Plan(request).component_bytes, 64 * kMiB);
    request.members[1].device_bytes = device_bytes - 4096;
    EXPECT_FALSE(PlanCreate(request).ok());
  }
}

TEST(CreatePlanTest, HugeMembersGetAHugeBitmapChunk) {
  CreateRequest request = NewImages(4, 0);
  request.size_bytes.reset();
  for (uint32_t i = 0; i < 4; ++i) MakeExisting(request, i, uint64_t{1} << 50);
  const CreatePlan plan = Plan(request);
  EXPECT_EQ(plan.bitmap->chunksize, uint64_t{1} << 31);
  EXPECT_LE(plan.members[0].areas.bitmap.size(), 132 * kKiB);
  for (CreateMember& member : request.members) member.device_bytes = ~uint64_t{0};
  EXPECT_FALSE(PlanCreate(request).ok());
}

// Whatever is asked for: refused in one line, or every superblock passes the checks that a reader
// makes, areas are as large as they must be, and new images are no longer than they must be.
TEST(CreatePlanTest, EveryPlanCanBeReadBack) {
  Prng prng(TestSeed("CreatePlanTest.EveryPlanCanBeReadBack"));
  const int rounds = FullRun() ? 50'000 : 2'000;
  int planned = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto raid_disks = static_cast<uint32_t>(prng.Between(3, prng.OneIn(10) ? 256 : 8));
    CreateRequest request = NewImages(raid_disks, 512 * prng.Below(uint64_t{1} << prng.Below(45)),
                                      static_cast<uint32_t>(prng.Below(3)));
    request.minor = static_cast<int>(prng.Below(3));
    request.chunk_bytes = uint64_t{1} << prng.Between(11, 25);
    request.bitmap = !prng.OneIn(3);
    request.assume_clean = prng.OneIn(2);
    if (request.bitmap && prng.OneIn(2)) request.bitmap_chunk_bytes = 1 << prng.Between(11, 30);
    if (prng.OneIn(3)) request.data_offset_bytes = 4096 * prng.Below(1000);
    if (prng.OneIn(4)) request.size_bytes.reset();
    for (uint32_t i = 0; i < request.members.size(); ++i) {
      if (prng.OneIn(3)) MakeExisting(request, i, prng.Next() >> prng.Between(20, 50));
      request.members[i].missing = prng.OneIn(12);
    }
    const auto plan = PlanCreate(request);
    if (!plan.ok()) {
      ASSERT_FALSE(MessageOf(plan.status()).empty());
      ASSERT_TRUE(IsUsageError(plan.status()) || ErrnoOf(plan.status()) == ENOSPC ||
                  ErrnoOf(plan.status()) == EINVAL)
          << MessageOf(plan.status());
      continue;
    }
    ++planned;
    ASSERT_EQ(plan->component_bytes % request.chunk_bytes, 0u);
    ASSERT_EQ(plan->volume_bytes, plan->component_bytes * (raid_disks - 2));
    for (const PlannedMember& member : plan->members) {
      if (!member.present) continue;
      const absl::Status status =
          CheckSuperblock(member.super, request.minor, member.device_bytes / 512);
      ASSERT_TRUE(status.ok()) << MessageOf(status);
      ASSERT_EQ(member.areas.data.size(), plan->component_bytes);
      ASSERT_EQ(member.areas.bad_blocks.size(), 4096u);
      ASSERT_EQ(member.areas.super.size(), 4096u);
      ASSERT_EQ(member.areas.bitmap.size() % 4096, 0u);
      if (plan->bitmap.has_value()) {
        ASSERT_TRUE(CheckBitmap(*plan->bitmap, request.array_uuid, plan->component_bytes,
                                member.areas.bitmap.size())
                        .ok());
        ASSERT_LE(256 + plan->bitmap_bits.bytes().size(), member.areas.bitmap.size());
      }
    }
  }
  EXPECT_GT(planned, rounds / 40);
}

}  // namespace
}  // namespace mdvol
