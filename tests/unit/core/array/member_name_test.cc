// Names of members are one word of UTF-8, whatever the file is called.

#include "core/array/member_name.h"

#include <gtest/gtest.h>

#include <string>

namespace mdvol {
namespace {

TEST(MemberNameTest, IsTheLastPartOfThePath) {
  EXPECT_EQ(MemberNameOf("/images/d0.img"), "d0.img");
  EXPECT_EQ(MemberNameOf("d0.img"), "d0.img");
  EXPECT_EQ(MemberNameOf("a b/d0.img"), "d0.img");
  EXPECT_EQ(MemberNameOf("/images/"), "");
}

TEST(MemberNameTest, WhatSplitsOrBreaksALineIsEscaped) {
  EXPECT_EQ(MemberNameOf("a b.img"), R"(a\040b.img)");
  EXPECT_EQ(MemberNameOf("a\tb\nc\x7f"
                         "d"),
            R"(a\011b\012c\177d)");
  EXPECT_EQ(MemberNameOf(R"(a\b)"), R"(a\134b)");
  EXPECT_EQ(MemberNameOf(std::string_view("a\0b", 3)), R"(a\000b)");
}

TEST(MemberNameTest, Utf8StaysAndOtherBytesAreEscaped) {
  for (const char* text :
       {"\xc3\xa9", "\xe2\x82\xac", "\xed\x9f\xbf", "\xee\x80\x80", "\xf0\x9f\x92\xbe",
        "\xf4\x8f\xbf\xbf", "\xc2\x80", "\xe0\xa0\x80", "\xf0\x90\x80\x80"}) {
    EXPECT_EQ(MemberNameOf(text), text);
  }
  EXPECT_EQ(MemberNameOf("d\xff.img"), R"(d\377.img)");
  EXPECT_EQ(MemberNameOf("\x80"), R"(\200)");
  EXPECT_EQ(MemberNameOf("\xc3"), R"(\303)");                          // cut short
  EXPECT_EQ(MemberNameOf("\xc3x"), R"(\303x)");                        // another follows
  EXPECT_EQ(MemberNameOf("\xc1\xbf"), R"(\301\277)");                  // longer than need be
  EXPECT_EQ(MemberNameOf("\xe0\x9f\xbf"), R"(\340\237\277)");          // likewise
  EXPECT_EQ(MemberNameOf("\xf0\x8f\xbf\xbf"), R"(\360\217\277\277)");  // likewise
  EXPECT_EQ(MemberNameOf("\xed\xa0\x80"), R"(\355\240\200)");          // half of a UTF-16 pair
  EXPECT_EQ(MemberNameOf("\xf4\x90\x80\x80"), R"(\364\220\200\200)");  // past U+10FFFF
  EXPECT_EQ(MemberNameOf("\xf5\x80\x80\x80"), R"(\365\200\200\200)");
}

TEST(MemberNameTest, FitsIntoAFileNameAndIsCutBetweenCharacters) {
  EXPECT_EQ(MemberNameOf(std::string(255, 'x')), std::string(240, 'x'));
  EXPECT_EQ(MemberNameOf(std::string(239, 'x') + "\xc3\xa9"), std::string(239, 'x'));
  EXPECT_EQ(MemberNameOf(std::string(237, 'x') + " y"), std::string(237, 'x'));
  EXPECT_EQ(MemberNameOf(std::string(236, 'x') + " y"), std::string(236, 'x') + R"(\040)");
}

TEST(MemberNameTest, AWholePathCanBeOneWord) {
  EXPECT_EQ(AsOneWord("/a b/d0"), R"(/a\040b/d0)");
  EXPECT_EQ(AsOneWord(std::string(1000, 'x')), std::string(1000, 'x'));
  EXPECT_EQ(AsOneWord(""), "");
}

}  // namespace
}  // namespace mdvol
