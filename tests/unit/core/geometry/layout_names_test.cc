// The names of the layouts: mdadm's words, its abbreviations, ids, and what is none of them.

#include <cerrno>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/geometry/layout.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mdvol {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::vector<std::pair<int32_t, std::string_view>> kWords = {
    {0, "left-asymmetric"},    {1, "right-asymmetric"},    {2, "left-symmetric"},
    {3, "right-symmetric"},    {4, "parity-first"},        {5, "parity-last"},
    {8, "ddf-zero-restart"},   {9, "ddf-N-restart"},       {10, "ddf-N-continue"},
    {16, "left-asymmetric-6"}, {17, "right-asymmetric-6"}, {18, "left-symmetric-6"},
    {19, "right-symmetric-6"}, {20, "parity-first-6"},
};

TEST(LayoutNameTest, ListsTheFourteenInTheOrderOfTheirIds) {
  ASSERT_EQ(AllLayouts().size(), kWords.size());
  for (size_t i = 0; i < kWords.size(); ++i) {
    EXPECT_EQ(static_cast<int32_t>(AllLayouts()[i]), kWords[i].first);
  }
}

TEST(LayoutNameTest, IsMdadmsWordAndParsesBack) {
  for (const auto& [id, word] : kWords) {
    EXPECT_EQ(LayoutName(static_cast<Layout>(id)), word);
    const auto parsed = ParseLayout(word);
    ASSERT_TRUE(parsed.ok()) << word;
    EXPECT_EQ(static_cast<int32_t>(*parsed), id);
  }
}

TEST(LayoutNameTest, KnowsExactlyTheseIds) {
  std::set<int32_t> ids;
  for (const auto& [id, word] : kWords) {
    ids.insert(id);
  }
  for (int32_t id = -300; id <= 300; ++id) {
    EXPECT_EQ(IsKnownLayout(id), ids.contains(id)) << id;
  }
  EXPECT_FALSE(IsKnownLayout(INT32_MAX));
  EXPECT_FALSE(IsKnownLayout(INT32_MIN));
}

TEST(ParseLayoutTest, TakesAbbreviations) {
  const std::vector<std::pair<std::string_view, Layout>> abbreviations = {
      {"default", Layout::kLeftSymmetric}, {"la", Layout::kLeftAsymmetric},
      {"ra", Layout::kRightAsymmetric},    {"ls", Layout::kLeftSymmetric},
      {"rs", Layout::kRightSymmetric},     {"la-6", Layout::kLeftAsymmetric6},
      {"ra-6", Layout::kRightAsymmetric6}, {"ls-6", Layout::kLeftSymmetric6},
      {"rs-6", Layout::kRightSymmetric6},
  };
  for (const auto& [word, layout] : abbreviations) {
    const auto parsed = ParseLayout(word);
    ASSERT_TRUE(parsed.ok()) << word;
    EXPECT_EQ(*parsed, layout) << word;
  }
}

TEST(ParseLayoutTest, TakesIds) {
  for (int32_t id = 0; id <= 300; ++id) {
    const auto parsed = ParseLayout(std::to_string(id));
    ASSERT_EQ(parsed.ok(), IsKnownLayout(id)) << id;
    if (parsed.ok()) {
      EXPECT_EQ(static_cast<int32_t>(*parsed), id);
    }
  }
}

TEST(ParseLayoutTest, RefusesEverythingElseAndListsTheWords) {
  for (const std::string_view text :
       {"", " ", "left", "Left-Symmetric", "left-symmetric ", "ddf-n-restart", "parity-last-6",
        "la6", "-1", "2x", "2 ", "4294967298", "18446744073709551618", "n2", "far"}) {
    const auto parsed = ParseLayout(text);
    ASSERT_FALSE(parsed.ok()) << '\'' << text << '\'';
    EXPECT_EQ(ErrnoOf(parsed.status()), EINVAL);
    EXPECT_TRUE(IsUsageError(parsed.status()));
    EXPECT_THAT(MessageOf(parsed.status()),
                StartsWith(std::string("unknown layout '").append(text)));
    EXPECT_THAT(MessageOf(parsed.status()), HasSubstr("left-symmetric-6"));
  }
}

TEST(LayoutNameDeathTest, ALayoutThatIsNoneIsOurBug) {
  EXPECT_DEATH(LayoutName(static_cast<Layout>(7)), "check failed");
}

}  // namespace
}  // namespace mdvol
