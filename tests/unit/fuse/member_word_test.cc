// Words that stand for members: the same rule everywhere, and never a guess.

#include "fuse/member_word.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/status.h"
#include "tests/support/temporary_folder.h"

namespace mdvol {
namespace {

using ::testing::HasSubstr;

constexpr size_t kNone = 99;
constexpr size_t kTwo = 100;

std::vector<MemberTitles> Members() {
  return {{"a", "/x/a", 0, 0}, {"b", "/x/b", 1, 1}, {"c", "/x/c", std::nullopt, 2}};
}

size_t Find(const std::vector<MemberTitles>& members, const std::string& word,
            PathMatch match = PathMatch::kText) {
  const auto found = FindMemberByWord(members, word, match);
  if (!found.ok()) {
    EXPECT_EQ(ErrnoOf(found.status()), EINVAL);
    EXPECT_THAT(MessageOf(found.status()), HasSubstr("'" + word + "' means two members, "));
    return kTwo;
  }
  return found->value_or(kNone);
}

TEST(MemberWordTest, IsAPathASlotOrAName) {
  EXPECT_EQ(Find(Members(), "/x/b"), 1U);
  EXPECT_EQ(Find(Members(), "1"), 1U);
  EXPECT_EQ(Find(Members(), "b"), 1U);
  for (const char* word : {"", "3", "d", "/x/d", "x/b", "1 ", "-1", "+1", "18446744073709551616"}) {
    EXPECT_EQ(Find(Members(), word), kNone) << word;
  }
}

TEST(MemberWordTest, TheNumberOfAnEmptySlotMeansWhoHadIt) {
  EXPECT_EQ(Find(Members(), "2"), 2U);
  std::vector<MemberTitles> members = Members();
  members[2].number = 1;  // Somebody else has the slot now.
  EXPECT_EQ(Find(members, "1"), 1U);
  members[2].number.reset();
  EXPECT_EQ(Find(members, "2"), kNone);
}

TEST(MemberWordTest, FilesCalledByNumbersInTheOrderOfTheirSlotsAreMeant) {
  const std::vector<MemberTitles> members{{"0", "/x/0", 0, 0}, {"1", "/x/1", 1, 1}};
  EXPECT_EQ(Find(members, "0"), 0U);
  EXPECT_EQ(Find(members, "1"), 1U);
}

TEST(MemberWordTest, AWordThatMeansTwoIsRefused) {
  const std::vector<MemberTitles> members{
      {"1", "/x/1", 0, 0}, {"0", "/x/0", 1, 1}, {"7", "/x/7", std::nullopt, 2}};
  EXPECT_EQ(Find(members, "0"), kTwo);
  EXPECT_EQ(Find(members, "1"), kTwo);
  EXPECT_EQ(Find(members, "2"), 2U);
  EXPECT_EQ(Find(members, "7"), 2U);
  EXPECT_EQ(Find(members, "/x/0"), 1U);
  EXPECT_EQ(Find(members, "/x/1"), 0U);
  EXPECT_THAT(MessageOf(FindMemberByWord(members, "1", PathMatch::kText).status()),
              HasSubstr("/x/0 and /x/1: give a path"));
}

TEST(MemberWordTest, AFileIsFoundByItsNameAsItIsAndAsItIsShown) {
  const std::vector<MemberTitles> members{{R"(a\040b)", "/x/a b", 0, 0},
                                          {R"(d\377)", "/x/d\xff", 1, 1}};
  EXPECT_EQ(Find(members, "a b"), 0U);
  EXPECT_EQ(Find(members, R"(a\040b)"), 0U);
  EXPECT_EQ(Find(members, "d\xff"), 1U);
  EXPECT_EQ(Find(members, R"(d\377)"), 1U);
  EXPECT_EQ(Find(members, "y/a b"), kNone);
}

TEST(MemberWordTest, OtherSpellingsOfAPathAreFollowedWhenAskedTo) {
  const testing::TemporaryFolder temporary;
  const std::string folder = temporary.path();
  std::filesystem::create_directories(folder + "/other");
  std::ofstream(folder + "/a") << "a";
  std::ofstream(folder + "/other/a") << "other";
  std::filesystem::create_symlink(folder + "/a", folder + "/link");
  const std::vector<MemberTitles> members{{"a", folder + "/a", 0, 0},
                                          {"a-2", folder + "/other/a", 1, 1}};
  EXPECT_EQ(Find(members, folder + "/./a", PathMatch::kFile), 0U);
  EXPECT_EQ(Find(members, folder + "/link", PathMatch::kFile), 0U);
  EXPECT_EQ(Find(members, folder + "/link", PathMatch::kText), kNone);
  // "a" is one member by its name, and here another by its path.
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder + "/other");
  EXPECT_EQ(Find(members, "a", PathMatch::kFile), kTwo);
  EXPECT_EQ(Find(members, "./a", PathMatch::kFile), 1U);
  std::filesystem::current_path(before);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace mdvol
