// Plans of arrays with a write journal, and what mdadm says of them.

#include <cerrno>
#include <string>

#include "core/base/status.h"
#include "core/base/units.h"
#include "core/metadata/create_plan.h"
#include "core/metadata/journal_ring.h"
#include "core/metadata/journal_scan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/core/metadata/create_request_sample.h"
#include "tests/unit/core/metadata/planned_images.h"

namespace mdvol {
namespace {

using ::mdvol::testing::CommandResult;
using ::mdvol::testing::Field;
using ::mdvol::testing::Mdadm;
using ::mdvol::testing::NewImages;
using ::mdvol::testing::TemporaryFolder;
using ::mdvol::testing::WriteImage;
using ::testing::HasSubstr;

CreateRequest WithJournal(uint32_t raid_disks, uint32_t spares = 0, int minor = 2) {
  CreateRequest request = NewImages(raid_disks, 8 * kMiB, spares);
  request.minor = minor;
  request.bitmap = false;
  request.journal = CreateMember{.path = "journal.img"};
  request.journal_seq = 0x89abcdef;
  request.device_uuids.emplace_back().bytes.fill(0x77);
  return request;
}

CreatePlan Plan(const CreateRequest& request) {
  auto plan = PlanCreate(request);
  EXPECT_TRUE(plan.ok()) << MessageOf(plan.status());
  return plan.ok() ? *std::move(plan) : CreatePlan();
}

std::string UsageErrorOf(const CreateRequest& request) {
  const auto plan = PlanCreate(request);
  EXPECT_TRUE(IsUsageError(plan.status())) << MessageOf(plan.status());
  return std::string(MessageOf(plan.status()));
}

class CreateJournalTest : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Minors, CreateJournalTest, ::testing::Values(0, 1, 2));

TEST_P(CreateJournalTest, TheJournalComesLastAndItsDataAreaIsTheRing) {
  const CreatePlan plan = Plan(WithJournal(5, 2, GetParam()));
  ASSERT_EQ(plan.members.size(), 8u);
  for (uint32_t i = 0; i < 8; ++i) {
    const PlannedMember& member = plan.members[i];
    EXPECT_EQ(member.journal, i == 7);
    EXPECT_EQ(member.super.feature_map, kFeatureJournal);
    EXPECT_EQ(member.super.dev_roles[7], kRoleJournal);
    EXPECT_EQ(member.super.dev_roles[6], kRoleSpare);
    EXPECT_EQ(member.super.resync_offset, kResyncDone);
    EXPECT_GE(member.super.max_dev, 8u);
  }
  const PlannedMember& journal = plan.members[7];
  EXPECT_TRUE(journal.present);
  EXPECT_EQ(journal.super.dev_number, 7u);
  EXPECT_EQ(OwnRole(journal.super), kRoleJournal);
  EXPECT_EQ(journal.super.device_uuid.bytes[0], 0x77);
  EXPECT_EQ(journal.super.recovery_offset, 0u) << "the tail";
  EXPECT_EQ(journal.areas.data.size(), 64 * kMiB);
  EXPECT_EQ(journal.super.data_size, 64 * kMiB / kSectorBytes);
  EXPECT_LE(journal.areas.data.end, journal.device_bytes);
}

TEST_P(CreateJournalTest, MdadmSeesAJournal) {
  const CreateRequest request = WithJournal(4, 1, GetParam());
  const CreatePlan plan = Plan(request);
  const TemporaryFolder folder;
  for (const uint32_t number : {0u, 4u, 5u}) {
    WriteImage(plan, plan.members[number], folder.Path("member"));
    const CommandResult result = Mdadm("--examine " + folder.Path("member"));
    const std::string& said = result.output;
    EXPECT_EQ(result.exit_status, 0) << said;
    EXPECT_EQ(Field(said, "Feature Map"), "0x200") << said;
    EXPECT_EQ(Field(said, "Device Role"), number == 0   ? "Active device 0"
                                          : number == 4 ? "spare"
                                                        : "Journal");
    EXPECT_EQ(Field(said, "State"), "clean");
    EXPECT_EQ(Field(said, "Array UUID"), FormatUuidColons(request.array_uuid));
    EXPECT_THAT(Field(said, "Checksum"), HasSubstr(" - correct"));
    EXPECT_THAT(Field(said, "Array State"), ::testing::StartsWith("AAAA "));
  }
}

TEST_P(CreateJournalTest, AnExistingOneIsUsedWhole) {
  CreateRequest request = WithJournal(4, 0, GetParam());
  request.journal->exists = true;
  request.journal->device_bytes = 100 * kMiB + 512;
  const CreatePlan plan = Plan(request);
  const uint64_t ring_bytes = plan.members[4].areas.data.size();
  EXPECT_EQ(ring_bytes % kJournalBlockBytes, 0u);
  EXPECT_GE(ring_bytes, 99 * kMiB - 64 * kKiB);
  EXPECT_TRUE(plan.clean) << "an existing journal asks for no resync";
}

TEST_P(CreateJournalTest, ATooSmallOneIsRefused) {
  CreateRequest request = WithJournal(4, 0, GetParam());
  request.journal->exists = true;
  for (const uint64_t bytes : {uint64_t{0}, 4 * kKiB, kMiB, 4 * kMiB}) {
    request.journal->device_bytes = bytes;
    const auto plan = PlanCreate(request);
    EXPECT_EQ(ErrnoOf(plan.status()), ENOSPC) << bytes;
    EXPECT_THAT(MessageOf(plan.status()), HasSubstr("journal.img: too small for a write journal"));
  }
  request.journal->device_bytes = 5 * kMiB;
  EXPECT_TRUE(PlanCreate(request).ok());
}

TEST(CreateJournalPlanTest, TheLogStartsEmptyWithTheNumberThatWasDrawn) {
  const CreateRequest request = WithJournal(4);
  const CreatePlan plan = Plan(request);
  ASSERT_TRUE(plan.journal_head.has_value());
  uint64_t seq = 0;
  EXPECT_EQ(JudgeJournalHead(*plan.journal_head, JournalSeed(request.array_uuid), 0, &seq),
            JournalHead::kUsable);
  EXPECT_EQ(seq, 0x89abcdefu);
  EXPECT_FALSE(Plan(NewImages(4, kMiB)).journal_head.has_value());
}

TEST(CreateJournalPlanTest, LargeArraysGetALargerRing) {
  const CreatePlan plan = Plan(WithJournal(kMaxJournalRaidDisks));
  EXPECT_GE(plan.members.back().areas.data.size(),
            JournalRing::LeastNewBytes(kMaxJournalRaidDisks));
  EXPECT_THAT(UsageErrorOf(WithJournal(kMaxJournalRaidDisks + 1)),
              HasSubstr("--write-journal: an array with a journal has at most 203 members"));
}

TEST(CreateJournalPlanTest, WhatCannotGoWithAJournalIsRefused) {
  CreateRequest request = WithJournal(4);
  request.bitmap = true;
  EXPECT_THAT(UsageErrorOf(request), HasSubstr("a journal or a bitmap, not both"));
  request = WithJournal(4);
  request.journal->missing = true;
  EXPECT_THAT(UsageErrorOf(request), HasSubstr("a journal cannot be missing"));
}

TEST(CreateJournalPlanTest, TheJournalTakesOneOfTheRoles) {
  const uint32_t most = kMaxDevices - 4 - 1;
  const CreatePlan plan = Plan(WithJournal(4, most));
  EXPECT_EQ(plan.members.back().super.dev_number, kMaxDevices - 1);
  EXPECT_THAT(UsageErrorOf(WithJournal(4, most + 1)), HasSubstr("--spare-devices"));
}

}  // namespace
}  // namespace mdvol
