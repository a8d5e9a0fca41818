// The expected texts have the form that Linux 6.1 printed for such arrays.

#include "fuse/render/mdstat.h"

#include <gtest/gtest.h>

#include "tests/support/fake_array.h"

namespace mdvol {
namespace {

using testing::FakeSnapshot;

TEST(MdstatTest, AWholeArrayReadsAsInProcMdstat) {
  EXPECT_EQ(RenderMdstat(FakeSnapshot()),
            "Personalities : [raid6] [raid5] [raid4] \n"
            "md_big : active raid6 d5.img[5] d4.img[4] d3.img[3] d2.img[2] d1.img[1] d0.img[0]\n"
            "      4096 blocks super 1.2 level 6, 64k chunk, algorithm 2 [6/6] [UUUUUU]\n"
            "      bitmap: 0/1 pages [0KB], 65536KB chunk\n"
            "\n"
            "unused devices: <none>\n");
}

TEST(MdstatTest, AnArrayThatLostTooManyIsBroken) {
  ArraySnapshot array = FakeSnapshot();
  array.state = ArrayState::kFailed;
  EXPECT_NE(RenderMdstat(array).find("\nmd_big : broken raid6 d5.img[5] "), std::string::npos)
      << RenderMdstat(array);
}

TEST(MdstatTest, WithoutABitmapALineOfBlanksIsLeft) {
  ArraySnapshot array = FakeSnapshot();
  array.bitmap.reset();
  EXPECT_EQ(RenderMdstat(array),
            "Personalities : [raid6] [raid5] [raid4] \n"
            "md_big : active raid6 d5.img[5] d4.img[4] d3.img[3] d2.img[2] d1.img[1] d0.img[0]\n"
            "      4096 blocks super 1.2 level 6, 64k chunk, algorithm 2 [6/6] [UUUUUU]\n"
            "      \n"
            "unused devices: <none>\n");
}

TEST(MdstatTest, MarksFaultySpareAndWriteMostlyMembers) {
  ArraySnapshot array = FakeSnapshot();
  array.degraded = 1;
  array.members[2].faulty = true;
  array.members[2].in_sync = false;
  array.members[2].slot.reset();
  array.members[3].write_mostly = true;
  MemberSnapshot& spare = array.members.emplace_back();
  spare.index = 6;
  spare.name = "spare";
  spare.dev_number = 7;
  spare.spare = true;
  const std::string text = RenderMdstat(array);
  EXPECT_NE(text.find(" raid6 spare[7](S) d5.img[5] d4.img[4] d3.img[3](W) d2.img[2](F) d1.img[1] "
                      "d0.img[0]\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(" [6/5] [UU_UUU]\n"), std::string::npos) << text;
}

TEST(MdstatTest, ARecoveringMemberIsNotUpYet) {
  ArraySnapshot array = FakeSnapshot();
  array.degraded = 1;
  array.members[5].in_sync = false;
  array.members[5].recovering = true;
  const std::string text = RenderMdstat(array);
  EXPECT_NE(text.find(" d5.img[5] "), std::string::npos) << text;
  EXPECT_NE(text.find(" [6/5] [UUUUU_]\n"), std::string::npos) << text;
}

TEST(MdstatTest, AReadOnlyArrayThatNeedsAResyncSaysSo) {
  ArraySnapshot array = FakeSnapshot();
  array.read_only = true;
  array.resync_bytes = 0;
  const std::string text = RenderMdstat(array);
  EXPECT_NE(text.find("md_big : active (read-only) raid6 d5.img[5]"), std::string::npos) << text;
  EXPECT_NE(text.find("[UUUUUU]\n      \tresync=PENDING\n      bitmap: "), std::string::npos)
      << text;
}

TEST(MdstatTest, OtherLayoutsMetadataAndBitmapsAreNamedByTheirNumbers) {
  ArraySnapshot array = FakeSnapshot();
  array.layout = Layout::kDdfNContinue;
  array.minor = 0;
  array.bitmap->chunk_bytes = 512;
  array.bitmap->pages = 40;
  array.bitmap->pages_set = 3;
  const std::string text = RenderMdstat(array);
  EXPECT_NE(text.find(" super 1.0 level 6, 64k chunk, algorithm 10 "), std::string::npos) << text;
  EXPECT_NE(text.find("bitmap: 3/40 pages [12KB], 512B chunk\n"), std::string::npos) << text;
}

// As status_resync of the kernel draws it: 20 places, per mille, KiB of each member.
TEST(MdstatProgressTest, ShowsTheKernelsBar) {
  const ArraySnapshot array = testing::FakeSnapshot();
  SyncStatus sync;
  sync.action = SyncAction::kRecover;
  sync.total_bytes = 1048576;
  sync.done_bytes = 131072;
  sync.speed_bytes = 2048;
  EXPECT_NE(RenderMdstat(array, sync)
                .find("      [==>..................]  recovery = 12.5% "
                      "(128/1024) finish=7.4min speed=2K/sec\n"),
            std::string::npos)
      << RenderMdstat(array, sync);
  sync.action = SyncAction::kCheck;
  sync.done_bytes = 0;
  EXPECT_NE(RenderMdstat(array, sync).find("[>....................]  check =  0.0% (0/1024)"),
            std::string::npos)
      << RenderMdstat(array, sync);
  sync.action = SyncAction::kRepair;  // md's word for it
  EXPECT_NE(RenderMdstat(array, sync).find("]  resync = "), std::string::npos);
}

TEST(MdstatProgressTest, APositionBeyondTheEndIsTheEnd) {
  const ArraySnapshot array = testing::FakeSnapshot();
  SyncStatus sync;
  sync.action = SyncAction::kCheck;
  sync.total_bytes = 1048576;
  sync.done_bytes = uint64_t{1} << 40;
  EXPECT_NE(RenderMdstat(array, sync)
                .find("[====================>]  check =100.0% (1024/1024) finish=0.0min"),
            std::string::npos)
      << RenderMdstat(array, sync);
}

}  // namespace
}  // namespace mdvol
