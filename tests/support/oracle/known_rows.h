// Known rows of the fourteen layouts, as literals: what both core and oracle must agree with.
//
// kFiveMembers lists what the members 0..4 hold in the stripes 0..4, the exponent of g in brackets.
// kSixMembers lists the byte on the members 0..5 in the stripes 0..5 when data chunk k is filled
// with 0x11, 0x22, 0x44, 0x88 for k = 0..3; these bytes are those that a Linux 6.1 kernel wrote.

#ifndef MDVOL_TESTS_SUPPORT_ORACLE_KNOWN_ROWS_H_
#define MDVOL_TESTS_SUPPORT_ORACLE_KNOWN_ROWS_H_

#include <array>
#include <cstdint>
#include <string_view>

namespace mdvol::testing::oracle {

struct FiveMemberRows {
  int32_t layout_id;
  std::array<std::string_view, 5> rows;
};

struct SixMemberRows {
  int32_t layout_id;
  std::array<std::string_view, 6> rows;
};

inline constexpr std::array<uint8_t, 4> kSixMemberData = {0x11, 0x22, 0x44, 0x88};

inline constexpr std::array<FiveMemberRows, 14> kFiveMembers = {{
    {0,
     {"Q D0[0] D1[1] D2[2] P", "D0[0] D1[1] D2[2] P Q", "D0[1] D1[2] P Q D2[0]",
      "D0[2] P Q D1[0] D2[1]", "P Q D0[0] D1[1] D2[2]"}},
    {1,
     {"P Q D0[0] D1[1] D2[2]", "D0[2] P Q D1[0] D2[1]", "D0[1] D1[2] P Q D2[0]",
      "D0[0] D1[1] D2[2] P Q", "Q D0[0] D1[1] D2[2] P"}},
    {2,
     {"Q D0[0] D1[1] D2[2] P", "D0[0] D1[1] D2[2] P Q", "D1[1] D2[2] P Q D0[0]",
      "D2[2] P Q D0[0] D1[1]", "P Q D0[0] D1[1] D2[2]"}},
    {3,
     {"P Q D0[0] D1[1] D2[2]", "D2[2] P Q D0[0] D1[1]", "D1[1] D2[2] P Q D0[0]",
      "D0[0] D1[1] D2[2] P Q", "Q D0[0] D1[1] D2[2] P"}},
    {4,
     {"P Q D0[0] D1[1] D2[2]", "P Q D0[0] D1[1] D2[2]", "P Q D0[0] D1[1] D2[2]",
      "P Q D0[0] D1[1] D2[2]", "P Q D0[0] D1[1] D2[2]"}},
    {5,
     {"D0[0] D1[1] D2[2] P Q", "D0[0] D1[1] D2[2] P Q", "D0[0] D1[1] D2[2] P Q",
      "D0[0] D1[1] D2[2] P Q", "D0[0] D1[1] D2[2] P Q"}},
    {8,
     {"P Q D0[2] D1[3] D2[4]", "D0[0] P Q D1[3] D2[4]", "D0[0] D1[1] P Q D2[4]",
      "D0[0] D1[1] D2[2] P Q", "Q D0[1] D1[2] D2[3] P"}},
    {9,
     {"D0[0] D1[1] D2[2] P Q", "D0[0] D1[1] P Q D2[4]", "D0[0] P Q D1[3] D2[4]",
      "P Q D0[2] D1[3] D2[4]", "Q D0[1] D1[2] D2[3] P"}},
    {10,
     {"D0[0] D1[1] D2[2] Q P", "D1[0] D2[1] Q P D0[4]", "D2[0] Q P D0[3] D1[4]",
      "Q P D0[2] D1[3] D2[4]", "P D0[1] D1[2] D2[3] Q"}},
    {16,
     {"D0[0] D1[1] D2[2] P Q", "D0[0] D1[1] P D2[2] Q", "D0[0] P D1[1] D2[2] Q",
      "P D0[0] D1[1] D2[2] Q", "D0[0] D1[1] D2[2] P Q"}},
    {17,
     {"P D0[0] D1[1] D2[2] Q", "D0[0] P D1[1] D2[2] Q", "D0[0] D1[1] P D2[2] Q",
      "D0[0] D1[1] D2[2] P Q", "P D0[0] D1[1] D2[2] Q"}},
    {18,
     {"D0[0] D1[1] D2[2] P Q", "D1[0] D2[1] P D0[2] Q", "D2[0] P D0[1] D1[2] Q",
      "P D0[0] D1[1] D2[2] Q", "D0[0] D1[1] D2[2] P Q"}},
    {19,
     {"P D0[0] D1[1] D2[2] Q", "D2[0] P D0[1] D1[2] Q", "D1[0] D2[1] P D0[2] Q",
      "D0[0] D1[1] D2[2] P Q", "P D0[0] D1[1] D2[2] Q"}},
    {20,
     {"P D0[0] D1[1] D2[2] Q", "P D0[0] D1[1] D2[2] Q", "P D0[0] D1[1] D2[2] Q",
      "P D0[0] D1[1] D2[2] Q", "P D0[0] D1[1] D2[2] Q"}},
}};

inline constexpr std::array<SixMemberRows, 14> kSixMembers = {{
    {0,
     {"6c11224488ff", "11224488ff6c", "112244ff3888", "1122ff004488", "11ff38224488",
      "ff6c11224488"}},
    {1,
     {"ff6c11224488", "11ff38224488", "1122ff004488", "112244ff3888", "11224488ff6c",
      "6c11224488ff"}},
    {2,
     {"6c11224488ff", "11224488ff6c", "224488ff6c11", "4488ff6c1122", "88ff6c112244",
      "ff6c11224488"}},
    {3,
     {"ff6c11224488", "88ff6c112244", "4488ff6c1122", "224488ff6c11", "11224488ff6c",
      "6c11224488ff"}},
    {4,
     {"ff6c11224488", "ff6c11224488", "ff6c11224488", "ff6c11224488", "ff6c11224488",
      "ff6c11224488"}},
    {5,
     {"11224488ff6c", "11224488ff6c", "11224488ff6c", "11224488ff6c", "11224488ff6c",
      "11224488ff6c"}},
    {8,
     {"ffad11224488", "11fff8224488", "1122ffb14488", "112244ff8888", "11224488ff6c",
      "d811224488ff"}},
    {9,
     {"11224488ff6c", "112244ff8888", "1122ffb14488", "11fff8224488", "ffad11224488",
      "d811224488ff"}},
    {10,
     {"112244886cff", "224488aaff11", "448870ff1122", "8872ff112244", "adff11224488",
      "ff11224488d8"}},
    {16,
     {"11224488ff6c", "112244ff886c", "1122ff44886c", "11ff2244886c", "ff112244886c",
      "11224488ff6c"}},
    {17,
     {"ff112244886c", "11ff2244886c", "1122ff44886c", "112244ff886c", "11224488ff6c",
      "ff112244886c"}},
    {18,
     {"11224488ff6c", "224488ff1138", "4488ff112200", "88ff11224438", "ff112244886c",
      "11224488ff6c"}},
    {19,
     {"ff112244886c", "88ff11224438", "4488ff112200", "224488ff1138", "11224488ff6c",
      "ff112244886c"}},
    {20,
     {"ff112244886c", "ff112244886c", "ff112244886c", "ff112244886c", "ff112244886c",
      "ff112244886c"}},
}};

}  // namespace mdvol::testing::oracle

#endif  // MDVOL_TESTS_SUPPORT_ORACLE_KNOWN_ROWS_H_
