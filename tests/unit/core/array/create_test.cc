// Tests of carrying a create plan out.

#include "core/array/create.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <string>
#include <vector>

#include "core/array/member_loader.h"
#include "core/array/signatures.h"
#include "core/base/status.h"
#include "core/device/fault_device.h"
#include "tests/support/fake_clock.h"
#include "tests/unit/core/array/members.h"

namespace mdvol {
namespace {

using testing::BasicRequest;
using testing::Bytes;
using testing::Devices;
using testing::FakeClock;
using ::testing::HasSubstr;
using testing::MakeDevices;
using testing::MustPlan;
using testing::Put;
using testing::SuperblockAt;

bool IsAll(uint8_t value, const std::vector<uint8_t>& bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [value](uint8_t byte) { return byte == value; });
}

class CreateTest : public ::testing::TestWithParam<int> {
 protected:
  int minor() const { return GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(Minors, CreateTest, ::testing::Values(0, 1, 2));

TEST_P(CreateTest, WritesExactlyWhatWasPlanned) {
  const CreatePlan plan = MustPlan(BasicRequest(minor()));
  const Devices devices = MakeDevices(plan);
  ASSERT_TRUE(WriteCreatePlan(plan, devices).ok());
  for (size_t i = 0; i < devices.size(); ++i) {
    const PlannedMember& planned = plan.members[i];
    const Superblock written = SuperblockAt(*devices[i], minor());
    EXPECT_EQ(std::memcmp(&written, &planned.super, sizeof(written)), 0);
    const ByteRange& log = planned.areas.bad_blocks;
    EXPECT_TRUE(IsAll(0xff, Bytes(*devices[i], log.begin, log.size())));
    const ByteRange& bitmap = planned.areas.bitmap;
    EXPECT_EQ(Bytes(*devices[i], bitmap.begin, bitmap.size()),
              SerializeBitmap(*plan.bitmap, plan.bitmap_bits, bitmap.size()));
    const ByteRange& data = planned.areas.data;
    EXPECT_TRUE(IsAll(0, Bytes(*devices[i], data.begin, data.size())));
  }
}

TEST_P(CreateTest, WhatWasWrittenCanBeLoaded) {
  const CreatePlan plan = MustPlan(BasicRequest(minor()));
  Devices devices = MakeDevices(plan);
  ASSERT_TRUE(WriteCreatePlan(plan, devices).ok());
  for (size_t i = 0; i < devices.size(); ++i) {
    const auto member = LoadMember(std::move(devices[i]));
    ASSERT_TRUE(member.ok()) << member.status();
    EXPECT_EQ(member->report.minor, minor());
    EXPECT_EQ(OwnSlot(member->report.super), i);
    EXPECT_TRUE(member->report.bitmap.has_value());
    EXPECT_TRUE(member->bad_blocks.empty());
  }
}

TEST_P(CreateTest, AJournalGetsAnEmptyLog) {
  CreateRequest request = BasicRequest(minor());
  request.bitmap = false;
  request.journal = CreateMember{.path = "journal"};
  request.device_uuids.emplace_back().bytes.fill(0x77);
  const CreatePlan plan = MustPlan(request);
  Devices devices = MakeDevices(plan);
  const PlannedMember& planned = plan.members.back();
  const uint64_t begin = planned.areas.data.begin;
  ASSERT_TRUE(WriteCreatePlan(plan, devices).ok());
  const auto head = std::as_bytes(std::span(*plan.journal_head));
  const std::vector<uint8_t> written = Bytes(*devices.back(), begin, head.size());
  EXPECT_TRUE(std::equal(head.begin(), head.end(), std::as_bytes(std::span(written)).begin()));
  EXPECT_TRUE(IsAll(0, Bytes(*devices.back(), begin + head.size(), 16 * head.size())));
  const uint64_t data = plan.members[0].areas.data.begin;
  EXPECT_TRUE(IsAll(0, Bytes(*devices[0], data, head.size()))) << "nobody else's";
  const auto member = LoadMember(std::move(devices.back()));
  ASSERT_TRUE(member.ok()) << member.status();
  EXPECT_EQ(OwnRole(member->report.super), kRoleJournal);
}

TEST_P(CreateTest, WorksWithoutBitmapAndWithMissingMembers) {
  CreateRequest request = BasicRequest(minor());
  request.bitmap = false;
  request.members[1].missing = true;
  const CreatePlan plan = MustPlan(request);
  Devices devices = MakeDevices(plan);
  ASSERT_EQ(devices[1], nullptr);
  ASSERT_TRUE(WriteCreatePlan(plan, devices).ok());
  const auto member = LoadMember(std::move(devices[2]));
  ASSERT_TRUE(member.ok()) << member.status();
  EXPECT_FALSE(member->report.bitmap.has_value());
  EXPECT_TRUE(member->bitmap_file.empty());
}

TEST_P(CreateTest, WorksUnderDirectIo) {
  const CreatePlan plan = MustPlan(BasicRequest(minor()));
  MemoryDeviceOptions options;
  options.alignment_bytes = 4096;
  Devices devices = MakeDevices(plan, options);
  ASSERT_TRUE(WriteCreatePlan(plan, devices).ok());
  for (auto& device : devices) {
    const auto member = LoadMember(std::move(device));
    EXPECT_TRUE(member.ok()) << member.status();
  }
}

// All existing, so that the sizes fit any metadata.
CreateRequest OverRequest(int minor, const Devices& devices) {
  CreateRequest request = BasicRequest(minor);
  for (size_t i = 0; i < devices.size(); ++i) {
    request.members[i].exists = true;
    request.members[i].device_bytes = devices[i]->size_bytes();
    request.device_uuids[i].bytes.fill(static_cast<uint8_t>(0x40 + i));
  }
  request.array_uuid.bytes.fill(0xbb);
  request.wall_us += 1'000'000;
  return request;
}

TEST_P(CreateTest, WipesOldSuperblocksInTheOtherPlaces) {
  for (int old_minor = 0; old_minor <= 2; ++old_minor) {
    CreateRequest old_request = BasicRequest(old_minor);
    old_request.size_bytes = 16 * kMiB;
    const CreatePlan old_plan = MustPlan(old_request);
    Devices devices = MakeDevices(old_plan);
    ASSERT_TRUE(WriteCreatePlan(old_plan, devices).ok());
    const CreatePlan plan = MustPlan(OverRequest(minor(), devices));
    ASSERT_FALSE(plan.clean);
    ASSERT_TRUE(WriteCreatePlan(plan, devices).ok());
    for (int other = 0; other <= 2; ++other) {
      EXPECT_EQ(HasSuperMagic(SuperblockAt(*devices[0], other)), other == minor())
          << old_minor << " " << other;
    }
    EXPECT_EQ(*FindSignature(*devices[0]), "md metadata 1." + std::to_string(minor()) +
                                               " of array bbbbbbbb:bbbbbbbb:bbbbbbbb:bbbbbbbb");
  }
}

TEST_P(CreateTest, WipesSignaturesOutsideTheDataAreaAndNoneInside) {
  const CreatePlan old_plan = MustPlan(BasicRequest(2));
  Devices devices = MakeDevices(old_plan);
  const uint64_t last_sector = devices[0]->size_bytes() - 512;
  Put(*devices[0], 1080, "\x53\xef");
  Put(*devices[0], last_sector, "EFI PART");
  const CreatePlan plan = MustPlan(OverRequest(minor(), devices));
  const ByteRange& data = plan.members[0].areas.data;
  ASSERT_TRUE(WriteCreatePlan(plan, devices).ok());
  const bool is_ext_in_data = data.begin <= 1080;
  EXPECT_EQ(Bytes(*devices[0], 1080, 1)[0], is_ext_in_data ? 0x53 : minor() == 1 ? 0xff : 0);
  EXPECT_EQ(Bytes(*devices[0], last_sector, 1)[0], data.end > last_sector ? 'E' : 0);
}

// --assume-clean: parity covers the data area as it is, an old superblock in it included.
TEST(CreateCleanTest, LeavesTheDataAreaAloneWhenTheArrayStartsClean) {
  const CreatePlan old_plan = MustPlan(BasicRequest(2));
  Devices devices = MakeDevices(old_plan);
  ASSERT_TRUE(WriteCreatePlan(old_plan, devices).ok());
  CreateRequest request = OverRequest(0, devices);  // data from 0: 1.2's superblock is data now
  request.assume_clean = true;
  const CreatePlan plan = MustPlan(request);
  ASSERT_TRUE(plan.clean);
  const auto before = Bytes(*devices[0], 0, plan.members[0].areas.data.end);
  ASSERT_TRUE(WriteCreatePlan(plan, devices).ok());
  EXPECT_TRUE(Bytes(*devices[0], 0, plan.members[0].areas.data.end) == before);
  const auto found = FindSuperblock(*devices[0]);  // the newer one counts
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->minor, 0);
}

// Whatever write or flush fails: an error with the path, and no member that has a superblock but
// not what the superblock speaks of.
TEST_P(CreateTest, AfterAnyErrorNoMemberIsHalfMade) {
  const CreatePlan plan = MustPlan(BasicRequest(minor()));
  FakeClock clock;
  for (const FaultOp op : {FaultOp::kRead, FaultOp::kWrite, FaultOp::kFlush}) {
    for (uint64_t nth = 1;; ++nth) {
      Devices devices = MakeDevices(plan);
      auto faulty = NewFaultDevice(std::move(devices[2]), 1, clock);
      FaultDevice* const fault = faulty.get();
      fault->AddRule({.op = op, .error_number = ENOSPC, .nth = nth});
      devices[2] = std::move(faulty);
      const absl::Status status = WriteCreatePlan(plan, devices);
      if (fault->FiredCount() == 0) {
        EXPECT_TRUE(status.ok());
        EXPECT_GT(nth, op == FaultOp::kFlush ? 2U : 3U);
        break;
      }
      EXPECT_EQ(ErrnoOf(status), ENOSPC);
      EXPECT_THAT(MessageOf(status), HasSubstr("m2"));
      fault->ClearRules();
      for (auto& device : devices) {
        if (HasSuperMagic(SuperblockAt(*device, minor()))) {
          const auto member = LoadMember(std::move(device));
          EXPECT_TRUE(member.ok()) << member.status();
        }
      }
    }
  }
}

}  // namespace
}  // namespace mdvol
