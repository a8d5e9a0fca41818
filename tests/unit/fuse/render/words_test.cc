// md's words for members and arrays.

#include "fuse/render/words.h"

#include <gtest/gtest.h>

#include "tests/support/fake_array.h"

namespace mdvol {
namespace {

TEST(WordsTest, AMemberStateIsTheListOfItsFlags) {
  MemberSnapshot member;
  EXPECT_EQ(MemberStateWords(member), "spare");
  member.slot = 1;
  member.recovering = true;
  EXPECT_EQ(MemberStateWords(member), "spare");
  member.in_sync = true;
  EXPECT_EQ(MemberStateWords(member), "in_sync");
  member.write_mostly = true;
  EXPECT_EQ(MemberStateWords(member), "in_sync,write_mostly");
  member.in_sync = false;
  member.faulty = true;
  EXPECT_EQ(MemberStateWords(member), "faulty,write_mostly");
}

TEST(WordsTest, ARoleIsOneWord) {
  MemberSnapshot member;
  EXPECT_EQ(MemberRoleWord(member), "spare");
  member.slot = 1;
  EXPECT_EQ(MemberRoleWord(member), "rebuilding");
  member.in_sync = true;
  EXPECT_EQ(MemberRoleWord(member), "active");
  member.faulty = true;
  EXPECT_EQ(MemberRoleWord(member), "faulty");
}

TEST(WordsTest, ADeviceIsCalledAsTheKernelCallsThatOfANamedArray) {
  EXPECT_EQ(DeviceNameOf("host:big"), "md_big");
  EXPECT_EQ(DeviceNameOf("big"), "md_big");
  EXPECT_EQ(DeviceNameOf("host:two words/x"), "md_two_words_x");
  EXPECT_EQ(DeviceNameOf(""), "md0");
  EXPECT_EQ(DeviceNameOf("host:"), "md0");
}

TEST(WordsTest, ASlotBelongsToTheMemberThatWorksInIt) {
  ArraySnapshot array = testing::FakeSnapshot();
  array.members[4].faulty = true;
  EXPECT_EQ(MemberInSlot(array, 4), nullptr);
  EXPECT_EQ(MemberInSlot(array, 6), nullptr);
  ASSERT_NE(MemberInSlot(array, 3), nullptr);
  EXPECT_EQ(MemberInSlot(array, 3)->name, "d3.img");
}

TEST(WordsTest, TheConsistencyPolicyFollowsTheBitmap) {
  ArraySnapshot array = testing::FakeSnapshot();
  EXPECT_EQ(ConsistencyPolicyWord(array), "bitmap");
  array.bitmap.reset();
  EXPECT_EQ(ConsistencyPolicyWord(array), "resync");
}

}  // namespace
}  // namespace mdvol
