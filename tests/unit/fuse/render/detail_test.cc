// The expected texts have the form that mdadm 4.2 printed for such arrays.

#include "fuse/render/detail.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>

#include "core/base/status.h"
#include "fuse/render/status_json.h"
#include "tests/support/fake_array.h"

namespace mdvol {
namespace {

class DetailTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }

  std::string Render() {
    const absl::StatusOr<std::string> text =
        RenderDetail("/mnt/a", RenderStatusJson(array_, {1, "1", nullptr}), [](const std::string&) {
          return DeviceNumber{98, 16};
        });
    EXPECT_TRUE(text.ok());
    return text.value_or("");
  }

  void ExpectLine(const std::string& line) {
    const std::string text = Render();
    EXPECT_NE(text.find("\n" + line + "\n"), std::string::npos) << text;
  }

  ArraySnapshot array_ = testing::FakeSnapshot();
};

TEST_F(DetailTest, AWholeArrayReadsAsFromMdadm) {
  EXPECT_EQ(Render(),
            "/mnt/a:\n"
            "           Version : 1.2\n"
            "     Creation Time : Tue Nov 14 22:13:20 2023\n"
            "        Raid Level : raid6\n"
            "        Array Size : 4096\n"
            "     Used Dev Size : 1024\n"
            "      Raid Devices : 6\n"
            "     Total Devices : 6\n"
            "       Persistence : Superblock is persistent\n"
            "\n"
            "     Intent Bitmap : Internal\n"
            "\n"
            "       Update Time : Tue Nov 14 22:15:00 2023\n"
            "             State : clean \n"
            "    Active Devices : 6\n"
            "   Working Devices : 6\n"
            "    Failed Devices : 0\n"
            "     Spare Devices : 0\n"
            "\n"
            "            Layout : left-symmetric\n"
            "        Chunk Size : 64K\n"
            "\n"
            "Consistency Policy : bitmap\n"
            "\n"
            "              Name : host:big\n"
            "              UUID : 10111213:14151617:18191a1b:1c1d1e1f\n"
            "            Events : 17\n"
            "\n"
            "    Number   Major   Minor   RaidDevice State\n"
            "       0      98       16        0      active sync   /images/d0.img\n"
            "       1      98       16        1      active sync   /images/d1.img\n"
            "       2      98       16        2      active sync   /images/d2.img\n"
            "       3      98       16        3      active sync   /images/d3.img\n"
            "       4      98       16        4      active sync   /images/d4.img\n"
            "       5      98       16        5      active sync   /images/d5.img\n");
}

TEST_F(DetailTest, ControlCharactersOfNamesMoveNoCursor) {
  array_.name = "a\x1b[2Jb";
  array_.members[2].path = "/images/d\n2";
  ExpectLine("              Name : a?[2Jb");
  ExpectLine("       2      98       16        2      active sync   /images/d?2");
}

TEST_F(DetailTest, AFaultyMemberStandsBelowItsEmptySlot) {
  array_.degraded = 1;
  array_.members[2].faulty = true;
  array_.members[2].in_sync = false;
  array_.members[2].slot.reset();
  ExpectLine("             State : clean, degraded ");
  ExpectLine("    Active Devices : 5");
  ExpectLine("   Working Devices : 5");
  ExpectLine("    Failed Devices : 1");
  ExpectLine("       -       0        0        2      removed");
  ExpectLine("\n       2      98       16        -      faulty   /images/d2.img");
}

TEST_F(DetailTest, SparesWorkWithoutBeingActive) {
  MemberSnapshot& spare = array_.members.emplace_back();
  spare.index = 6;
  spare.path = "/images/s";
  spare.dev_number = 9;
  spare.spare = true;
  ExpectLine("     Total Devices : 7");
  ExpectLine("    Active Devices : 6");
  ExpectLine("   Working Devices : 7");
  ExpectLine("     Spare Devices : 1");
  ExpectLine("\n       9      98       16        -      spare   /images/s");
}

TEST_F(DetailTest, ARecoveringMemberIsASpareThatIsRebuilt) {
  array_.degraded = 1;
  array_.members[1].in_sync = false;
  array_.members[1].recovering = true;
  ExpectLine("       1      98       16        1      spare rebuilding   /images/d1.img");
}

TEST_F(DetailTest, WhatWasLocatedIsListed) {
  SyncStatus sync;
  sync.located = {{.stripe = 3,
                   .columns = {8192, 16384},
                   .kind = WrongKind::kData,
                   .slot = 1,
                   .data_index = 0,
                   .repaired = true},
                  {.stripe = 5, .columns = {0, 4096}, .kind = WrongKind::kSeveral}};
  sync.located_count = 7;
  sync.mismatch_sectors = 24;
  const auto text = RenderDetail("mnt", RenderStatusJson(array_, {1, "1", nullptr}, sync),
                                 [](const std::string&) { return DeviceNumber(); });
  ASSERT_TRUE(text.ok());
  EXPECT_NE(text->find("           Located : 7, 24 sectors do not agree\n"), std::string::npos);
  EXPECT_NE(text->find("   3   2..3   data   d1.img   794624+8192   repaired\n"), std::string::npos)
      << *text;
  EXPECT_NE(text->find("   5   0..0   several   -   1310720+262144   not repaired\n"),
            std::string::npos)
      << *text;
}

TEST_F(DetailTest, ThreeLossesAreAFailure) {
  array_.degraded = 3;
  array_.state = ArrayState::kFailed;
  ExpectLine("             State : clean, FAILED ");
}

// The loss that breaks an array is not recorded: its members stay in their slots.
TEST_F(DetailTest, AnArrayThatIsBrokenIsAFailureHoweverManyAreLeft) {
  array_.degraded = 2;
  array_.dirty = true;
  array_.state = ArrayState::kFailed;
  ExpectLine("             State : active, FAILED ");
  array_.degraded = 0;
  ExpectLine("             State : active, FAILED ");
}

TEST_F(DetailTest, AnArrayThatIsBeingWrittenIsActive) {
  array_.dirty = true;
  ExpectLine("             State : active ");
}

TEST_F(DetailTest, WithoutABitmapThePolicyIsResync) {
  array_.bitmap.reset();
  ExpectLine("Consistency Policy : resync");
  EXPECT_EQ(Render().find("Intent Bitmap"), std::string::npos);
}

TEST_F(DetailTest, ProgressIsShownInPercent) {
  const auto render = [](const std::string& sync) {
    ArraySnapshot array = testing::FakeSnapshot();
    std::string json = RenderStatusJson(array, {1, "1", nullptr});
    const size_t action = json.find("\"idle\"");
    json.replace(action, 6, "\"" + sync + "\"");
    const size_t done = json.find("\"done_bytes\": 0");
    json.replace(done, 15, "\"done_bytes\": 279000");
    const size_t total = json.find("\"total_bytes\": 0");
    json.replace(total, 16, "\"total_bytes\": 1000000");
    return RenderDetail("/mnt/a", json, [](const std::string&) { return DeviceNumber{}; }).value();
  };
  EXPECT_NE(render("resync").find("State : clean, resyncing \n"), std::string::npos);
  EXPECT_NE(render("resync").find("\n     Resync Status : 27% complete\n\n"), std::string::npos);
  EXPECT_NE(render("recover").find("\n    Rebuild Status : 27% complete\n\n"), std::string::npos);
  EXPECT_NE(render("check").find("\n      Check Status : 27% complete\n\n"), std::string::npos);
}

TEST_F(DetailTest, LargeSizesAreToldInBothUnits) {
  EXPECT_EQ(HumanSize(5000 * 1024 - 1), "");
  EXPECT_EQ(HumanSize(253952 * kKiB), " (248.00 MiB 260.05 MB)");
  EXPECT_EQ(HumanSize(63488 * kKiB), " (62.00 MiB 65.01 MB)");
  EXPECT_EQ(HumanSize(2 * kGiB), " (2.00 GiB 2.15 GB)");
  EXPECT_EQ(HumanSize(3 * kTiB), " (3.00 TiB 3.30 TB)");
}

TEST_F(DetailTest, WhatIsNoStatusIsRefused) {
  for (const char* text : {"", "{", "[]", "{\"name\": 3}"}) {
    const auto result =
        RenderDetail("/mnt/a", text, [](const std::string&) { return DeviceNumber{}; });
    EXPECT_EQ(ErrnoOf(result.status()), EINVAL) << text;
  }
}

}  // namespace
}  // namespace mdvol
