// mdadm as the judge: what it says of planned members is what was asked for.

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "core/base/uuid.h"
#include "core/metadata/create_plan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/core/metadata/create_request_sample.h"
#include "tests/unit/core/metadata/planned_images.h"

namespace mdvol {
namespace {

using ::mdvol::testing::CommandResult;
using ::mdvol::testing::Field;
using ::mdvol::testing::MakeExisting;
using ::mdvol::testing::Mdadm;
using ::mdvol::testing::NewImages;
using ::mdvol::testing::TemporaryFolder;
using ::mdvol::testing::WriteBitmapFile;
using ::mdvol::testing::WriteImage;
using ::testing::HasSubstr;
using ::testing::StartsWith;

CreatePlan Plan(const CreateRequest& request) {
  auto plan = PlanCreate(request);
  EXPECT_TRUE(plan.ok()) << MessageOf(plan.status());
  return plan.ok() ? *std::move(plan) : CreatePlan();
}

// What `mdadm --examine` says of one planned member.
std::string Examine(const CreatePlan& plan, uint32_t number) {
  const TemporaryFolder folder;
  WriteImage(plan, plan.members[number], folder.Path("member"));
  const CommandResult result = Mdadm("--examine " + folder.Path("member"));
  EXPECT_EQ(result.exit_status, 0) << result.output;
  return result.output;
}

void ExpectWhole(const std::string& said, const CreateRequest& request, const CreatePlan& plan,
                 const PlannedMember& member) {
  EXPECT_EQ(Field(said, "Magic"), "a92b4efc") << said;
  EXPECT_EQ(Field(said, "Version"), absl::StrCat("1.", request.minor));
  EXPECT_EQ(Field(said, "Array UUID"), FormatUuidColons(request.array_uuid));
  EXPECT_EQ(Field(said, "Device UUID"), FormatUuidColons(member.super.device_uuid));
  EXPECT_EQ(Field(said, "Name"), request.name);
  EXPECT_EQ(Field(said, "Raid Level"), "raid6");
  EXPECT_EQ(Field(said, "Raid Devices"), absl::StrCat(request.raid_disks));
  EXPECT_EQ(Field(said, "Layout"), std::string(LayoutName(request.layout)));
  EXPECT_EQ(Field(said, "Chunk Size"), absl::StrCat(request.chunk_bytes / kKiB, "K"));
  EXPECT_THAT(Field(said, "Array Size"),
              StartsWith(absl::StrCat(plan.volume_bytes / 1024, " KiB")));
  const uint64_t used_sectors = plan.component_bytes / 512;
  const uint64_t data_sectors = member.super.data_size;
  EXPECT_THAT(Field(said, "Avail Dev Size"), StartsWith(absl::StrCat(data_sectors, " sectors")));
  if (used_sectors != data_sectors) {
    EXPECT_THAT(Field(said, "Used Dev Size"), StartsWith(absl::StrCat(used_sectors, " sectors")));
  }
  EXPECT_EQ(Field(said, "State"), plan.clean ? "clean" : "active");
  EXPECT_THAT(Field(said, "Checksum"), HasSubstr(" - correct"));
  EXPECT_EQ(Field(said, "Events"), "0");
  EXPECT_EQ(Field(said, "Internal Bitmap"),
            request.bitmap
                ? absl::StrCat(member.super.bitmap_offset.get(), " sectors from superblock")
                : "");
  EXPECT_EQ(Field(said, "Bad Block Log"),
            absl::StrCat("512 entries available at offset ", member.super.bblog_offset.get(),
                         " sectors"));
}

using Kind = std::tuple<int, bool, uint64_t>;  // metadata version, bitmap, size

class CreateMdadmKindsTest : public ::testing::TestWithParam<Kind> {};

TEST_P(CreateMdadmKindsTest, ExamineSaysWhatWasPlanned) {
  CreateRequest request = NewImages(5, std::get<2>(GetParam()), 1);
  request.minor = std::get<0>(GetParam());
  request.bitmap = std::get<1>(GetParam());
  const CreatePlan plan = Plan(request);
  for (const uint32_t number : {0u, 4u, 5u}) {
    const std::string said = Examine(plan, number);
    ExpectWhole(said, request, plan, plan.members[number]);
    EXPECT_EQ(Field(said, "Device Role"),
              number < 5 ? absl::StrCat("Active device ", number) : "spare");
    EXPECT_THAT(Field(said, "Array State"), StartsWith("AAAAA "));
  }
}

INSTANTIATE_TEST_SUITE_P(All, CreateMdadmKindsTest,
                         ::testing::Combine(::testing::Values(0, 1, 2), ::testing::Bool(),
                                            ::testing::Values(512 * kKiB, 63 * kMiB + 516 * kKiB,
                                                              10 * kGiB, 3 * kTiB)));

TEST(CreateMdadmTest, ExamineKnowsAllLayoutsAndChunks) {
  CreateRequest request = NewImages(6, 48 * kMiB);
  const std::vector<uint64_t> chunks = {4 * kKiB, 64 * kKiB, kMiB, 16 * kMiB};
  size_t i = 0;
  for (const Layout layout : AllLayouts()) {
    request.layout = layout;
    request.chunk_bytes = chunks[i++ % chunks.size()];
    const CreatePlan plan = Plan(request);
    ExpectWhole(Examine(plan, 1), request, plan, plan.members[1]);
  }
}

TEST(CreateMdadmTest, ExamineSeesMissingMembers) {
  CreateRequest request = NewImages(6, 8 * kMiB);
  request.members[1].missing = true;
  request.members[5].missing = true;
  EXPECT_THAT(Field(Examine(Plan(request), 0), "Array State"), StartsWith("A.AAA. "));
}

TEST(CreateMdadmTest, ExamineSeesThatAResyncIsDue) {
  CreateRequest request = NewImages(4, 8 * kMiB);
  MakeExisting(request, 0, 100 * kMiB + 512);
  const CreatePlan plan = Plan(request);
  ASSERT_FALSE(plan.clean);
  for (const uint32_t number : {0u, 1u}) {
    ExpectWhole(Examine(plan, number), request, plan, plan.members[number]);
  }
}

TEST(CreateMdadmTest, ExamineKnowsManyMembersAndOtherOffsets) {
  CreateRequest request = NewImages(200, kMiB, 60);
  request.data_offset_bytes = 16 * kMiB;
  request.name = "exactly-thirty-two-bytes-of-name";
  const CreatePlan plan = Plan(request);
  const std::string said = Examine(plan, 199);
  ExpectWhole(said, request, plan, plan.members[199]);
  EXPECT_EQ(Field(said, "Device Role"), "Active device 199");
  EXPECT_EQ(Field(said, "Data Offset"), "32768 sectors");
}

TEST(CreateMdadmTest, ExamineBitmapSaysWhatWasPlanned) {
  const TemporaryFolder folder;
  for (const bool clean : {true, false}) {
    for (const uint64_t chunk_bytes : {uint64_t{0}, 4 * kKiB, 16 * kMiB}) {
      CreateRequest request = NewImages(4, 100 * kMiB);
      if (chunk_bytes != 0) request.bitmap_chunk_bytes = chunk_bytes;
      MakeExisting(request, 0, 200 * kMiB);
      request.assume_clean = clean;
      const CreatePlan plan = Plan(request);
      WriteBitmapFile(plan, plan.members[0], folder.Path("bitmap"));
      const CommandResult result = Mdadm("--examine-bitmap " + folder.Path("bitmap"));
      const std::string& said = result.output;
      EXPECT_EQ(result.exit_status, 0) << said;
      EXPECT_EQ(Field(said, "Magic"), "6d746962");
      EXPECT_EQ(Field(said, "Version"), "4");
      EXPECT_EQ(Field(said, "UUID"), FormatUuidColons(request.array_uuid));
      EXPECT_EQ(Field(said, "Events"), "0");
      EXPECT_EQ(Field(said, "State"), "OK");
      EXPECT_EQ(Field(said, "Daemon"), "5s flush period");
      EXPECT_THAT(Field(said, "Sync Size"), StartsWith("102400 "));
      const uint64_t bits = CeilDiv(100 * kMiB, chunk_bytes == 0 ? 64 * kMiB : chunk_bytes);
      EXPECT_THAT(Field(said, "Bitmap"),
                  StartsWith(absl::StrCat(bits, " bits (chunks), ", clean ? 0 : bits, " dirty")));
    }
  }
}

}  // namespace
}  // namespace mdvol
