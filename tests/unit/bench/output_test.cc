// What mdvol-bench writes: CSV files, tables, charts.

#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/bench/frame/charts.h"
#include "tests/bench/frame/csv.h"
#include "tests/bench/frame/results.h"
#include "tests/bench/frame/svg.h"
#include "tests/bench/frame/tables.h"

namespace mdvol::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kHeader =
    "scenario,policy,workload,metric,unit,value,repeat,report_value,bound\n";

std::vector<Record> SomeRecords() {
  std::vector<Record> records;
  for (uint32_t repeat = 0; repeat < 3; ++repeat) {
    for (const char* policy : {"fast", "slow"}) {
      const double value = (policy[0] == 'f' ? 200 : 100) + repeat;
      records.push_back({"s", policy, "reads", "iops", "1/s", value, repeat, 150, {}});
      for (const uint64_t kib : {4U, 64U, 1024U}) {
        records.push_back({"s",
                           policy,
                           SeriesWorkload("read", "block_kib", kib),
                           "iops",
                           "1/s",
                           value * static_cast<double>(kib),
                           repeat,
                           {},
                           1e6});
      }
    }
  }
  return records;
}

std::string ErrorOf(std::string_view csv) { return MessageOf(ParseCsv(csv).status()); }

TEST(CsvTest, WhatIsWrittenIsReadBack) {
  std::vector<Record> records = SomeRecords();
  records.push_back({"a,b", "say \"x\"", "two\nlines", "m", "", -0.125, 7, 1e-9, 123456789});
  const auto parsed = ParseCsv(FormatCsv(records));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(*parsed, records);
}

TEST(CsvTest, LineEndsOfOtherSystemsAndNoLastOneAreFine) {
  const auto parsed = ParseCsv(
      "scenario,policy,workload,metric,unit,value,repeat,report_value,bound\r\n"
      "s,p,w,m,u,1.5,2,,3");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  ASSERT_EQ(parsed->size(), 1U);
  EXPECT_EQ((*parsed)[0], (Record{"s", "p", "w", "m", "u", 1.5, 2, {}, 3}));
}

TEST(CsvTest, ErrorsNameTheLine) {
  const std::string header = kHeader;
  EXPECT_EQ(ErrorOf(""), "line 1: no header");
  EXPECT_THAT(ErrorOf("a,b\n"), HasSubstr("line 1: the header is not scenario,"));
  EXPECT_EQ(ErrorOf(header + "s,p,w\n"), "line 2: 3 fields instead of 9");
  EXPECT_EQ(ErrorOf(header + "s,p,w,m,u,1,0,,\ns,p,w,m,u,x,0,,\n"),
            "line 3: the value \"x\" is no number");
  EXPECT_EQ(ErrorOf(header + "s,p,w,m,u,1,-1,,\n"), "line 2: the repeat \"-1\" is no number");
  EXPECT_EQ(ErrorOf(header + "s,p,w,m,u,1,0,x,\n"), "line 2: report_value or bound is no number");
  EXPECT_EQ(ErrorOf(header + "s,\"p,w,m,u,1,0,,\n"), "line 2: a quote that does not end");
}

TEST(CsvTest, FilesThatCannotBeReadOrWrittenAreNamed) {
  EXPECT_THAT(MessageOf(ReadTextFile("/nowhere/x.csv").status()), HasSubstr("/nowhere/x.csv"));
  EXPECT_THAT(MessageOf(WriteTextFile("/nowhere/x.csv", "")), HasSubstr("/nowhere/x.csv"));
}

TEST(ResultsTest, APointOfASeriesIsTakenApart) {
  const SeriesPoint point = ParseSeriesPoint(SeriesWorkload("sequential read", "block_kib", 64));
  EXPECT_EQ(point.name, "sequential read");
  EXPECT_EQ(point.key, "block_kib");
  EXPECT_EQ(point.number, 64);
  for (const char* plain : {"randread 4K", "a @ b", "a=1 @ b", "a @ b=c"}) {
    EXPECT_EQ(ParseSeriesPoint(plain).key, "") << plain;
    EXPECT_EQ(ParseSeriesPoint(plain).name, plain);
  }
}

TEST(TablesTest, NumbersHaveFourDigits) {
  EXPECT_EQ(FormatNumber(0), "0");
  EXPECT_EQ(FormatNumber(0.91234), "0.9123");
  EXPECT_EQ(FormatNumber(12.5), "12.50");
  EXPECT_EQ(FormatNumber(178984.3), "178984");
}

TEST(TablesTest, ColumnsAreAsWideAsTheyMustBe) {
  EXPECT_EQ(FormatTable({{"a", "b", "c"}, {"long", "x", "12"}}),
            "a     b   c\n"
            "long  x  12\n");
}

TEST(TablesTest, PoliciesStandBelowEachOtherWithTheirRatio) {
  const std::string text = FormatResults(SomeRecords());
  EXPECT_THAT(text, HasSubstr("s: reads\n"));
  EXPECT_THAT(text, HasSubstr("iops (1/s)  fast     201.0     0.7%         -   150.0      -\n"
                              "            slow     101.0     1.5%     0.502   150.0      -\n"));
}

TEST(TablesTest, DemandsThatDoNotCountSaySo) {
  Verdicts verdicts;
  verdicts.Demand("P1", "enough", 0.5, Relation::kAtLeast, 0.9, "x");
  EXPECT_THAT(FormatVerdicts(verdicts, true), HasSubstr("MISSED"));
  EXPECT_THAT(FormatVerdicts(verdicts, false), HasSubstr("missed, not judged"));
  EXPECT_THAT(FormatVerdicts(verdicts, true), HasSubstr("0.5000  >=  0.9000 x"));
}

TEST(ChartsTest, TicksCoverTheLargestValueInRoundSteps) {
  for (double largest = 1e-3; largest < 1e7; largest *= 1.07) {
    const Ticks ticks = TicksFor(largest);
    EXPECT_GE(ticks.end, largest * (1 - 1e-9));
    EXPECT_LE(ticks.end, largest + ticks.step);
    const double count = ticks.end / ticks.step;
    EXPECT_NEAR(count, std::round(count), 1e-6);
    EXPECT_GE(count, 4) << largest;
    EXPECT_LE(count, 10) << largest;
  }
  EXPECT_EQ(TicksFor(0).end, 1);
}

TEST(ChartsTest, SeriesBecomeLinesAndOthersBars) {
  const std::vector<Picture> pictures = DrawCharts(SomeRecords());
  ASSERT_EQ(pictures.size(), 2U);
  EXPECT_EQ(pictures[0].file_name, "s-iops.svg");
  EXPECT_THAT(pictures[0].svg, Not(HasSubstr("<polyline")));
  EXPECT_THAT(pictures[0].svg, HasSubstr(">report</text>"));
  EXPECT_THAT(pictures[0].svg, Not(HasSubstr(">bound</text>")));
  EXPECT_EQ(pictures[1].file_name, "s-iops-by-block-kib.svg");
  EXPECT_THAT(pictures[1].svg, HasSubstr("<polyline"));
  EXPECT_THAT(pictures[1].svg, HasSubstr(">bound</text>"));
  for (const Picture& picture : pictures) {
    EXPECT_THAT(picture.svg, HasSubstr(">fast</text>"));
    EXPECT_THAT(picture.svg, HasSubstr(">slow</text>"));
    EXPECT_THAT(picture.svg, HasSubstr(">1/s</text>"));
    EXPECT_THAT(picture.svg, HasSubstr("</svg>"));
    EXPECT_THAT(picture.svg, Not(HasSubstr("nan")));
  }
}

TEST(ChartsTest, ABarIsAsHighAsItsMedian) {
  // Two bars, one twice the other: the axis ends at 200, and 310 units of height stand for it.
  const std::vector<Picture> pictures = DrawCharts(
      {{"s", "a", "w", "m", "", 200, 0, {}, {}}, {"s", "b", "w", "m", "", 100, 0, {}, {}}});
  ASSERT_EQ(pictures.size(), 1U);
  EXPECT_THAT(pictures[0].svg, HasSubstr("height=\"310.0\""));
  EXPECT_THAT(pictures[0].svg, HasSubstr("height=\"155.0\""));
}

TEST(ChartsTest, NamesCannotBreakThePicture) {
  EXPECT_EQ(EscapeXml("a<b & \"c\">"), "a&lt;b &amp; &quot;c&quot;&gt;");
}

TEST(ChartsTest, AFolderThatCannotBeMadeIsNamed) {
  EXPECT_THAT(MessageOf(WriteCharts(SomeRecords(), "/proc/none")), HasSubstr("/proc/none"));
}

}  // namespace
}  // namespace mdvol::bench
