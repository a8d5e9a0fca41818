// Tests of what examine prints, from values. That it agrees with the stock tool is tested in
// tests/interop/examine.

#include "fuse/cli/examine_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/status.h"
#include "core/base/units.h"
#include "core/metadata/create_plan.h"

namespace mdvol {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ExamineTextTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }

  // Member 2 of a fresh array of four new images.
  static ExaminedMember FreshMember(int minor) {
    CreateRequest request;
    request.raid_disks = 4;
    request.minor = minor;
    request.chunk_bytes = 64 * kKiB;
    request.size_bytes = 8 * kMiB;
    request.name = "host:vol";
    request.array_uuid.bytes.fill(0xaa);
    request.wall_us = 1'700'000'000'000'000;
    for (uint8_t i = 0; i < 4; ++i) {
      request.members.push_back({.path = "m"});
      request.device_uuids.emplace_back().bytes.fill(i);
    }
    const auto plan = PlanCreate(request);
    EXPECT_TRUE(plan.ok()) << plan.status();
    const PlannedMember& planned = plan->members[2];
    LoadedAreas areas;
    areas.areas = planned.areas;
    areas.bitmap = plan->bitmap;
    areas.bitmap_file =
        SerializeBitmap(*plan->bitmap, plan->bitmap_bits, planned.areas.bitmap.size());
    return {"x/d2.img", planned.device_bytes / kSectorBytes, {minor, planned.super}, areas};
  }
};

TEST_F(ExamineTextTest, LooksLikeMdadmsExamine) {
  ExaminedMember member = FreshMember(2);
  SealSuperblock(member.found.super);
  EXPECT_EQ(
      RenderExamine(member),
      "x/d2.img:\n"
      "          Magic : a92b4efc\n"
      "        Version : 1.2\n"
      "    Feature Map : 0x1\n"
      "     Array UUID : aaaaaaaa:aaaaaaaa:aaaaaaaa:aaaaaaaa\n"
      "           Name : host:vol\n"
      "  Creation Time : Tue Nov 14 22:13:20 2023\n"
      "     Raid Level : raid6\n"
      "   Raid Devices : 4\n"
      "\n"
      " Avail Dev Size : 16384 sectors (8.00 MiB 8.39 MB)\n"
      "     Array Size : 16384 KiB (16.00 MiB 16.78 MB)\n"
      "    Data Offset : 2048 sectors\n"
      "   Super Offset : 8 sectors\n"
      "   Unused Space : before=1968 sectors, after=0 sectors\n"
      "          State : clean\n"
      "    Device UUID : 02020202:02020202:02020202:02020202\n"
      "\n"
      "Internal Bitmap : 8 sectors from superblock\n"
      "    Update Time : Tue Nov 14 22:13:20 2023\n"
      "  Bad Block Log : 512 entries available at offset 16 sectors\n"
      "       Checksum : " +
          [&] {
            char sum[16];
            std::snprintf(sum, sizeof(sum), "%x", member.found.super.sb_csum.get());
            return std::string(sum);
          }() +
          " - correct\n"
          "         Events : 0\n"
          "\n"
          "         Layout : left-symmetric\n"
          "     Chunk Size : 64K\n"
          "\n"
          "   Device Role : Active device 2\n"
          "   Array State : AAAA ('A' == active, '.' == missing, 'R' == replacing)\n");
}

TEST_F(ExamineTextTest, ShowsWhatIsOutOfTheOrdinary) {
  ExaminedMember member = FreshMember(0);
  Superblock& super = member.found.super;
  super.resync_offset = 0;
  super.feature_map = super.feature_map.get() | kFeatureRecoveryOffset | kFeatureBadBlocks;
  super.recovery_offset = 1234;
  super.size = 8192;
  super.devflags = 3;
  super.dev_roles[0] = kRoleFaulty;
  super.events = 77;
  const std::string text = RenderExamine(member);
  EXPECT_THAT(text, HasSubstr("        Version : 1.0\n"));
  EXPECT_THAT(text, HasSubstr("  Used Dev Size : 8192 sectors"));
  EXPECT_THAT(text, Not(HasSubstr("Data Offset")));
  EXPECT_THAT(text, HasSubstr("Recovery Offset : 1234 sectors\n"));
  EXPECT_THAT(text, HasSubstr("   Unused Space : before=0 sectors, after=8192 sectors\n"));
  EXPECT_THAT(text, HasSubstr("          State : active\n"));
  EXPECT_THAT(text, HasSubstr("Internal Bitmap : -16 sectors from superblock\n"));
  EXPECT_THAT(text, HasSubstr("          Flags : write-mostly failfast\n"));
  EXPECT_THAT(text, HasSubstr(" at offset -8 sectors - bad blocks present.\n"));
  EXPECT_THAT(text, HasSubstr("         Events : 77\n"));
  EXPECT_THAT(text, HasSubstr("   Array State : .AAA "));
}

TEST_F(ExamineTextTest, SpaceThatOverlapsIsNoUnusedSpace) {
  ExaminedMember member = FreshMember(0);
  member.found.super.size = member.found.super.super_offset.get();  // over bitmap and log
  EXPECT_EQ(FindUnusedSpace(member).after_sectors, 0U);
  member = FreshMember(2);
  member.found.super.data_offset = 16;
  member.found.super.size = member.device_sectors;
  EXPECT_EQ(FindUnusedSpace(member).before_sectors, 0U);
  EXPECT_EQ(FindUnusedSpace(member).after_sectors, 0U);
}

TEST_F(ExamineTextTest, NamesEveryRole) {
  Superblock super = FreshMember(2).found.super;
  EXPECT_EQ(DeviceRoleWords(super), "Active device 2");
  super.feature_map = kFeatureReplacement;
  EXPECT_EQ(DeviceRoleWords(super), "Replacement device 2");
  super.dev_roles[2] = kRoleSpare;
  EXPECT_EQ(DeviceRoleWords(super), "spare");
  super.dev_roles[2] = kRoleFaulty;
  EXPECT_EQ(DeviceRoleWords(super), "spare");
  super.dev_roles[2] = kRoleJournal;
  EXPECT_EQ(DeviceRoleWords(super), "Journal");
}

TEST_F(ExamineTextTest, ArrayStateHasALetterPerSlot) {
  Superblock super = FreshMember(2).found.super;
  EXPECT_EQ(ArrayStateLetters(super), "AAAA");
  super.dev_roles[1] = kRoleSpare;
  super.dev_roles[5] = 3;
  EXPECT_EQ(ArrayStateLetters(super), "A.AR");
  super.dev_roles[6] = 3;
  EXPECT_EQ(ArrayStateLetters(super), "A.A?");
}

TEST_F(ExamineTextTest, OtherLevelsAreShownAsFarAsTheyGo) {
  ExaminedMember member = FreshMember(2);
  member.areas.reset();
  member.found.super.level = 5;
  EXPECT_THAT(RenderExamine(member), HasSubstr("     Raid Level : raid5\n"));
  EXPECT_THAT(RenderExamine(member), HasSubstr("     Array Size : 24576 KiB"));
  member.found.super.level = 1;
  EXPECT_THAT(RenderExamine(member), HasSubstr("     Array Size : 8192 KiB"));
  member.found.super.level = 0;
  EXPECT_THAT(RenderExamine(member), Not(HasSubstr("Array Size")));
  EXPECT_EQ(LevelWord(10), "raid10");
  EXPECT_EQ(LevelWord(-1), "linear");
  EXPECT_EQ(LevelWord(77), "-unknown-");
}

TEST_F(ExamineTextTest, ControlCharactersInNamesAreNotShown) {
  ExaminedMember member = FreshMember(2);
  member.path = "a\nb";
  member.found.super.set_name[0] = '\x1b';
  EXPECT_THAT(RenderExamine(member), HasSubstr("a?b:\n"));
  EXPECT_THAT(RenderExamine(member), HasSubstr("           Name : ?ost:vol\n"));
}

TEST_F(ExamineTextTest, TimesBeyondAnyCalendarAreShownAsSeconds) {
  ExaminedMember member = FreshMember(2);
  member.found.super.utime = (uint64_t{1} << 40) - 1;
  EXPECT_THAT(RenderExamine(member), HasSubstr("    Update Time : "));
}

TEST_F(ExamineTextTest, JsonHasTheSameFacts) {
  const ExaminedMember member = FreshMember(2);
  const auto json = ExamineJson(member);
  EXPECT_EQ(json["path"], "x/d2.img");
  EXPECT_EQ(json["metadata"], "1.2");
  EXPECT_EQ(json["array_uuid"], "aaaaaaaa:aaaaaaaa:aaaaaaaa:aaaaaaaa");
  EXPECT_EQ(json["creation_time_s"], 1'700'000'000);
  EXPECT_EQ(json["level"], "raid6");
  EXPECT_EQ(json["layout"], "left-symmetric");
  EXPECT_EQ(json["chunk_bytes"], 65536);
  EXPECT_EQ(json["state"], "clean");
  EXPECT_TRUE(json["recovery_offset_sectors"].is_null());
  EXPECT_TRUE(json["resync_offset_sectors"].is_null());
  EXPECT_EQ(json["slot"], 2);
  EXPECT_EQ(json["bitmap"]["chunk_bytes"], 64 * kMiB);
  EXPECT_EQ(json["bitmap"]["bits"], 1);
  EXPECT_EQ(json["bitmap"]["bits_set"], 0);
  EXPECT_EQ(json["bad_block_log"]["entries_available"], 512);
  EXPECT_TRUE(json["bad_block_log"]["ranges"].empty());
}

TEST_F(ExamineTextTest, JsonLeavesNoKeyOut) {
  ExaminedMember member = FreshMember(2);
  const auto all = ExamineJson(member);
  member.areas.reset();
  member.found.super.bblog_size = 0;
  member.found.super.dev_roles[2] = kRoleSpare;
  member.found.super.feature_map = 0;
  const auto bare = ExamineJson(member);
  for (const auto& [key, value] : all.items()) {
    EXPECT_TRUE(bare.contains(key)) << key;
  }
  EXPECT_TRUE(bare["bitmap"].is_null());
  EXPECT_TRUE(bare["bad_block_log"].is_null());
  EXPECT_TRUE(bare["slot"].is_null());
}

TEST_F(ExamineTextTest, ADecisionIsALinePerMemberAndOneForTheArray) {
  const ExaminedMember member = FreshMember(2);
  const std::vector<MemberReport> reports(2, {"a", 0, 2, member.found.super, std::nullopt});
  AssemblyDecision decision;
  decision.members.resize(2);
  decision.members[0].reason = "a: in sync in slot 0";
  decision.members[0].standing = MemberStanding::kInSync;
  decision.members[0].slot = 0;
  decision.members[1].reason = "b: left out";
  decision.missing = 1;
  EXPECT_EQ(RenderDecision(reports, decision),
            "a: in sync in slot 0\n"
            "b: left out\n"
            "array aaaaaaaa:aaaaaaaa:aaaaaaaa:aaaaaaaa: starts with 3 of 4 members, clean\n");
  decision.dirty = true;
  decision.resync_bytes = 4096;
  decision.bitmap_usable = true;
  decision.warnings = {"w"};
  EXPECT_THAT(RenderDecision(reports, decision),
              HasSubstr("starts with 3 of 4 members, dirty from byte 4096 of each member on, "
                        "narrowed by the bitmap\nwarning: w\n"));
  const auto json = DecisionJson(reports, decision);
  EXPECT_EQ(json["starts"], true);
  EXPECT_TRUE(json["reason"].is_null());
  EXPECT_EQ(json["members"][0]["standing"], "in_sync");
  EXPECT_EQ(json["members"][0]["slot"], 0);
  EXPECT_TRUE(json["members"][1]["slot"].is_null());
  EXPECT_EQ(json["members"][1]["reason"], "b: left out");
  EXPECT_EQ(json["warnings"][0], "w");
  decision.status = ErrnoStatus(EIO, "too few");
  EXPECT_THAT(RenderDecision(reports, decision), HasSubstr(": does not start: too few\n"));
  EXPECT_EQ(DecisionJson(reports, decision)["reason"], "too few");
}

}  // namespace
}  // namespace mdvol
