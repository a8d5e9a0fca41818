// Tests of finding and checking what a member says of itself.

#include "core/array/member_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "core/array/create.h"
#include "core/base/status.h"
#include "core/device/fault_device.h"
#include "tests/support/fake_clock.h"
#include "tests/unit/core/array/members.h"

namespace mdvol {
namespace {

using testing::BasicRequest;
using testing::Devices;
using ::testing::ElementsAre;
using testing::FakeClock;
using ::testing::HasSubstr;
using testing::MakeDevices;
using testing::MustPlan;
using testing::Put;
using testing::PutSuperblock;
using ::testing::StartsWith;
using testing::SuperblockAt;
using std::string_view_literals::operator""sv;

// Member 1 of a fresh array.
std::unique_ptr<MemberDevice> FreshMember(int minor, const MemoryDeviceOptions& options = {}) {
  const CreatePlan plan = MustPlan(BasicRequest(minor));
  Devices devices = MakeDevices(plan, options);
  EXPECT_TRUE(WriteCreatePlan(plan, devices).ok());
  return std::move(devices[1]);
}

ByteRange BitmapArea(int minor) { return MustPlan(BasicRequest(minor)).members[1].areas.bitmap; }
ByteRange LogArea(int minor) { return MustPlan(BasicRequest(minor)).members[1].areas.bad_blocks; }

std::string LoadError(std::unique_ptr<MemberDevice> device) {
  const auto member = LoadMember(std::move(device));
  EXPECT_FALSE(member.ok());
  EXPECT_NE(ErrnoOf(member.status()), 0);
  EXPECT_FALSE(IsUsageError(member.status()));
  const std::string message = MessageOf(member.status());
  EXPECT_EQ(message.find('\n'), std::string::npos);
  EXPECT_THAT(message, StartsWith("m1: "));
  return message;
}

class MemberLoaderTest : public ::testing::TestWithParam<int> {
 protected:
  int minor() const { return GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(Minors, MemberLoaderTest, ::testing::Values(0, 1, 2));

TEST_P(MemberLoaderTest, ReadsEverything) {
  const CreatePlan plan = MustPlan(BasicRequest(minor()));
  const auto member = LoadMember(FreshMember(minor()));
  ASSERT_TRUE(member.ok()) << member.status();
  const PlannedMember& planned = plan.members[1];
  EXPECT_EQ(member->device->path(), "m1");
  EXPECT_EQ(member->report.path, "m1");
  EXPECT_EQ(member->report.minor, minor());
  EXPECT_EQ(member->report.device_sectors, planned.device_bytes / kSectorBytes);
  EXPECT_EQ(std::memcmp(&member->report.super, &planned.super, sizeof(Superblock)), 0);
  EXPECT_EQ(member->areas.super, planned.areas.super);
  EXPECT_EQ(member->areas.bitmap, planned.areas.bitmap);
  EXPECT_EQ(member->areas.bad_blocks, planned.areas.bad_blocks);
  EXPECT_EQ(member->areas.data, planned.areas.data);
  ASSERT_TRUE(member->report.bitmap.has_value());
  EXPECT_EQ(std::memcmp(&*member->report.bitmap, &*plan.bitmap, kBitmapSuperBytes), 0);
  EXPECT_EQ(member->bitmap_file,
            SerializeBitmap(*plan.bitmap, plan.bitmap_bits, planned.areas.bitmap.size()));
}

TEST_P(MemberLoaderTest, ReadsUnderDirectIo) {
  MemoryDeviceOptions options;
  options.alignment_bytes = 4096;
  const auto member = LoadMember(FreshMember(minor(), options));
  EXPECT_TRUE(member.ok()) << member.status();
}

TEST_P(MemberLoaderTest, TheLatestOfSeveralSuperblocksCounts) {
  for (int other = 0; other <= 2; ++other) {
    if (other == minor()) {
      continue;
    }
    auto device = FreshMember(minor());
    Superblock super = SuperblockAt(*device, minor());
    super.super_offset = *SuperblockSector(other, device->size_bytes() / kSectorBytes);
    // So that it is whole in every place; the data area alone decides where it may be.
    super.data_offset = 2048;
    super.data_size = 8192;
    super.size = 8192;
    const auto load_with_ctime = [&](uint64_t wall_us) {
      super.ctime = PackMdTime(wall_us);
      PutSuperblock(*device, other, super);
      const auto found = FindSuperblock(*device);
      EXPECT_TRUE(found.ok()) << found.status();
      return found.ok() ? found->minor : -1;
    };
    const uint64_t created_us = BasicRequest(minor()).wall_us;
    EXPECT_EQ(load_with_ctime(created_us + 1), other);  // a microsecond newer
    EXPECT_EQ(load_with_ctime(created_us - 1), minor());
    EXPECT_EQ(load_with_ctime(created_us), std::min(minor(), other));  // as in mdadm
    EXPECT_EQ(load_with_ctime(created_us + 1'000'000), other);
    EXPECT_EQ(load_with_ctime(created_us - 999'999), minor());  // older, in the second before
  }
}

TEST_P(MemberLoaderTest, ADamagedSuperblockNextToAWholeOneDoesNotMatter) {
  auto device = FreshMember(minor());
  const int other = minor() == 1 ? 2 : 1;
  Put(*device, other == 1 ? 0 : 4096, "\xfc\x4e\x2b\xa9\1\0\0\0"sv);
  if (minor() != 0) {
    const auto found = FindSuperblock(*device);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(found->minor, minor());
  }
}

TEST_P(MemberLoaderTest, NamesTheCheckThatADamagedSuperblockFails) {
  auto device = FreshMember(minor());
  const uint64_t sector = *SuperblockSector(minor(), device->size_bytes() / kSectorBytes);
  Put(*device, sector * kSectorBytes + 40, "x");  // in the name
  const std::string message = LoadError(std::move(device));
  EXPECT_THAT(message, HasSubstr("sb_csum"));
  EXPECT_THAT(message, HasSubstr("(1." + std::to_string(minor()) + ")"));
}

TEST_P(MemberLoaderTest, AnotherLevelIsNamed) {
  auto device = FreshMember(minor());
  Superblock super = SuperblockAt(*device, minor());
  super.level = 5;
  PutSuperblock(*device, minor(), super);
  EXPECT_TRUE(FindSuperblock(*device).ok());  // examine can still show it
  EXPECT_THAT(LoadError(std::move(device)), HasSubstr("level 5"));
}

TEST_P(MemberLoaderTest, OverlappingAreasAreNamed) {
  auto device = FreshMember(minor());
  Superblock super = SuperblockAt(*device, minor());
  super.bblog_offset = super.bitmap_offset.get();
  PutSuperblock(*device, minor(), super);
  const std::string message = LoadError(std::move(device));
  EXPECT_THAT(message, HasSubstr("bitmap"));
  EXPECT_THAT(message, HasSubstr("bad-block log"));
}

TEST_P(MemberLoaderTest, ADamagedBitmapOfAMemberInASlotIsAnError) {
  struct Damage {
    uint64_t offset;
    std::string_view bytes;
    const char* says;
  };
  for (const Damage& damage :
       {Damage{0, "X", "magic"}, Damage{4, "\x09", "version 9"}, Damage{8, "X", "belongs to array"},
        Damage{42, "\0"sv, "sync_size"}, Damage{52, "\0\0\0\0"sv, "chunksize 0"},
        Damage{52, "\1\0\0\0"sv, "chunksize 1"}, Damage{52, "\0\2\0\0"sv, "room"}}) {
    CreateRequest request = BasicRequest(minor());
    request.size_bytes = 64 * kMiB;  // so large that a bitmap of 512-byte chunks has no room
    const CreatePlan plan = MustPlan(request);
    Devices devices = MakeDevices(plan);
    ASSERT_TRUE(WriteCreatePlan(plan, devices).ok());
    Put(*devices[1], plan.members[1].areas.bitmap.begin + damage.offset, damage.bytes);
    EXPECT_THAT(LoadError(std::move(devices[1])), HasSubstr(damage.says));
  }
}

TEST_P(MemberLoaderTest, ADamagedBitmapOfASpareCountsAsNone) {
  for (const uint16_t role : {kRoleSpare, kRoleFaulty}) {
    auto device = FreshMember(minor());
    Superblock super = SuperblockAt(*device, minor());
    super.dev_roles[super.dev_number.get()] = role;
    PutSuperblock(*device, minor(), super);
    Put(*device, BitmapArea(minor()).begin, "X");
    const auto member = LoadMember(std::move(device));
    ASSERT_TRUE(member.ok()) << member.status();
    EXPECT_FALSE(member->report.bitmap.has_value());
    EXPECT_TRUE(member->bitmap_file.empty());
  }
}

TEST_P(MemberLoaderTest, ReadsTheBadBlockLogWhereTheSuperblockPointsToIt) {
  auto device = FreshMember(minor());
  const uint64_t sector = 4096;
  le64 entry = sector << 10 | 8;
  Put(*device, LogArea(minor()).begin, {reinterpret_cast<const char*>(&entry), sizeof(entry)});
  Superblock super = SuperblockAt(*device, minor());
  {
    // Without the feature bit md does not look at the log.
    const auto areas = LoadAreas(*device, super);
    ASSERT_TRUE(areas.ok()) << areas.status();
    EXPECT_TRUE(areas->bad_blocks.empty());
  }
  super.feature_map = super.feature_map.get() | kFeatureBadBlocks;
  PutSuperblock(*device, minor(), super);
  const auto member = LoadMember(std::move(device));
  ASSERT_TRUE(member.ok()) << member.status();
  EXPECT_THAT(member->bad_blocks.ranges(),
              ElementsAre(ByteRange{sector * kSectorBytes, (sector + 8) * kSectorBytes}));
}

TEST_P(MemberLoaderTest, ADamagedBadBlockLogIsAnError) {
  auto device = FreshMember(minor());
  Superblock super = SuperblockAt(*device, minor());
  super.feature_map = super.feature_map.get() | kFeatureBadBlocks;
  PutSuperblock(*device, minor(), super);
  le64 entry = uint64_t{1} << 62 | 8;
  Put(*device, LogArea(minor()).begin, {reinterpret_cast<const char*>(&entry), sizeof(entry)});
  EXPECT_THAT(LoadError(std::move(device)), HasSubstr("bad-block log"));
}

TEST_P(MemberLoaderTest, EveryReadErrorIsSurvivedOrReported) {
  FakeClock clock;
  for (uint64_t nth = 1;; ++nth) {
    auto device = NewFaultDevice(FreshMember(minor()), 1, clock);
    const FaultDevice* const fault = device.get();
    device->AddRule({.op = FaultOp::kRead, .nth = nth});
    const auto member = LoadMember(std::move(device));
    if (!member.ok()) {
      EXPECT_THAT(MessageOf(member.status()), HasSubstr("m1")) << nth;
      EXPECT_EQ(ErrnoOf(member.status()), EIO) << nth;
      continue;
    }
    if (fault->FiredCount() == 0) {
      EXPECT_GT(nth, 4U);
      break;
    }
    EXPECT_LE(nth, 3U);  // the place of another version could not be read
  }
}

TEST(MemberLoaderErrorTest, ACutMemberIsNamed) {
  for (int minor = 0; minor <= 2; ++minor) {
    auto whole = FreshMember(minor);
    const uint64_t cut_bytes = whole->size_bytes() - kMiB;
    auto cut = NewMemoryDevice("m1", cut_bytes);
    const auto bytes = testing::Bytes(*whole, 0, cut_bytes);
    ASSERT_TRUE(WriteMember(*cut, 0, bytes.data(), bytes.size()).ok());
    EXPECT_THAT(LoadError(std::move(cut)), HasSubstr("cut")) << minor;
  }
}

TEST(MemberLoaderErrorTest, NoMetadataIsNamedAtAnySize) {
  for (const uint64_t size :
       {uint64_t{0}, uint64_t{1}, 24 * kSectorBytes - 1, 24 * kSectorBytes, kMiB, kMiB + 511}) {
    const std::string message = LoadError(NewMemoryDevice("m1", size));
    EXPECT_THAT(message, HasSubstr("no md superblock")) << size;
    EXPECT_THAT(message, HasSubstr(std::to_string(size))) << size;
  }
}

TEST(MemberLoaderErrorTest, OldMetadataIsNamed) {
  auto device = NewMemoryDevice("m1", kMiB);
  Put(*device, kMiB - 64 * kKiB, "\xfc\x4e\x2b\xa9\0\0\0\0"sv);
  EXPECT_THAT(LoadError(std::move(device)), HasSubstr("0.90"));
}

}  // namespace
}  // namespace mdvol
