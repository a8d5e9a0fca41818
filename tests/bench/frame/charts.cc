// See charts.h.

#include "tests/bench/frame/charts.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "tests/bench/frame/csv.h"
#include "tests/bench/frame/groups.h"
#include "tests/bench/frame/statistics.h"
#include "tests/bench/frame/svg.h"
#include "tests/bench/frame/tables.h"

namespace mdvol::bench {
namespace {

constexpr double kWidth = 760;
constexpr double kHeight = 420;
constexpr double kLeft = 76;
constexpr double kRight = kWidth - 170;  // the legend is beside it
constexpr double kTop = 44;
constexpr double kBottom = kHeight - 66;
constexpr std::string_view kBoundDashes = "7 4";
constexpr std::string_view kReportDashes = "2 3";

// One picture's contents: what is at each place along x for each policy.
struct Chart {
  std::string title;
  std::string unit;
  std::string key;  // of a series; empty for bars
  std::vector<std::string> policies;
  std::vector<std::string> places;  // names of workloads, or NAMEs of series
  std::vector<Group> groups;
};

size_t IndexOf(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) {
    return static_cast<size_t>(found - names.begin());
  }
  names.push_back(name);
  return names.size() - 1;
}

double LargestOf(const Chart& chart) {
  double largest = 0;
  for (const Group& group : chart.groups) {
    largest = std::max({largest, *std::max_element(group.values.begin(), group.values.end()),
                        group.about->bound.value_or(0), group.about->report_value.value_or(0)});
  }
  return largest;
}

std::string PolicyLabel(const std::string& policy) { return policy.empty() ? "(none)" : policy; }

class Painter {
 public:
  explicit Painter(Chart chart)
      : chart_(std::move(chart)), ticks_(TicksFor(LargestOf(chart_))), svg_(kWidth, kHeight) {}

  std::string Paint() {
    PaintFrame();
    chart_.key.empty() ? PaintBars() : PaintLines();
    PaintLegend();
    return svg_.Finish();
  }

 private:
  double Y(double value) const { return kBottom - (kBottom - kTop) * value / ticks_.end; }

  void PaintFrame() {
    svg_.Text(kLeft, 22, chart_.title, Anchor::kStart, 15);
    const int count = static_cast<int>(std::lround(ticks_.end / ticks_.step));
    for (int i = 0; i <= count; ++i) {
      const double value = ticks_.step * i;
      svg_.Line(kLeft, Y(value), kRight, Y(value), i == 0 ? kInk : kFaintInk);
      svg_.Text(kLeft - 6, Y(value) + 4, absl::StrCat(value), Anchor::kEnd, 11);
    }
    svg_.Line(kLeft, kTop, kLeft, kBottom, kInk);
    if (!chart_.unit.empty()) {
      svg_.Text(18, (kTop + kBottom) / 2, chart_.unit, Anchor::kMiddle, 12, -90);
    }
  }

  void PaintWhisker(double x, const Group& group, std::string_view colour) {
    if (group.values.size() > 1) {
      const auto [least, most] = std::minmax_element(group.values.begin(), group.values.end());
      svg_.Line(x, Y(*least), x, Y(*most), colour, 1.5);
    }
  }

  // The bound and the report's value over a stretch of x.
  void PaintBeside(double x1, double x2, const Record& about, std::string_view colour) {
    if (about.bound.has_value()) {
      svg_.Line(x1, Y(*about.bound), x2, Y(*about.bound), kInk, 2, kBoundDashes);
      has_bound_ = true;
    }
    if (about.report_value.has_value()) {
      svg_.Line(x1, Y(*about.report_value), x2, Y(*about.report_value), colour, 2, kReportDashes);
      has_report_ = true;
    }
  }

  void PaintBars() {
    const double place_width = (kRight - kLeft) / static_cast<double>(chart_.places.size());
    const double bar_width = place_width * 0.8 / static_cast<double>(chart_.policies.size());
    for (const Group& group : chart_.groups) {
      const size_t place = IndexOf(chart_.places, group.about->workload);
      const size_t policy = IndexOf(chart_.policies, group.about->policy);
      const double x = kLeft + place_width * (static_cast<double>(place) + 0.1) +
                       bar_width * static_cast<double>(policy);
      const double top = Y(Median(group.values));
      svg_.Rectangle(x + 1, top, bar_width - 2, kBottom - top, SeriesColour(policy));
      PaintWhisker(x + bar_width / 2, group, kInk);
      PaintBeside(x - 1, x + bar_width + 1, *group.about, kInk);
    }
    for (size_t i = 0; i < chart_.places.size(); ++i) {
      svg_.Text(kLeft + place_width * (static_cast<double>(i) + 0.5),
                kBottom + (chart_.places.size() > 3 && i % 2 == 1 ? 34 : 18), chart_.places[i],
                Anchor::kMiddle);
    }
  }

  void PaintLines() {
    // Policy and series name make a line; several series of one policy are told apart by their
    // dots' labels in the legend.
    std::map<std::pair<size_t, size_t>, std::vector<std::pair<double, const Group*>>> lines;
    double least = 0;
    double most = 0;
    for (const Group& group : chart_.groups) {
      const SeriesPoint point = ParseSeriesPoint(group.about->workload);
      const size_t place = IndexOf(chart_.places, point.name);
      lines[{place, IndexOf(chart_.policies, group.about->policy)}].emplace_back(point.number,
                                                                                 &group);
      least = least == 0 ? point.number : std::min(least, point.number);
      most = std::max(most, point.number);
    }
    const auto x_of = [&](double number) {
      return most <= least
                 ? (kLeft + kRight) / 2
                 : kLeft + 20 +
                       (kRight - kLeft - 40) * std::log(number / least) / std::log(most / least);
    };
    std::map<double, bool> labelled;
    for (auto& [name, points] : lines) {
      std::sort(points.begin(), points.end(),
                [](const auto& a, const auto& b) { return a.first < b.first; });
      const size_t colour = name.first * chart_.policies.size() + name.second;
      PaintLine(points, x_of, SeriesColour(colour));
      for (const auto& [number, group] : points) {
        labelled[number] = true;
      }
    }
    for (const auto& [number, ignored] : labelled) {
      svg_.Text(x_of(number), kBottom + 18, absl::StrCat(number), Anchor::kMiddle, 11);
    }
    svg_.Text((kLeft + kRight) / 2, kBottom + 40, chart_.key, Anchor::kMiddle);
  }

  template <typename XOf>
  void PaintLine(const std::vector<std::pair<double, const Group*>>& points, const XOf& x_of,
                 std::string_view colour) {
    std::vector<std::pair<double, double>> places;
    for (size_t i = 0; i < points.size(); ++i) {
      const auto& [number, group] = points[i];
      const double x = x_of(number);
      places.emplace_back(x, Y(Median(group->values)));
      svg_.Circle(x, places.back().second, 3.5, colour);
      PaintWhisker(x, *group, colour);
      const double before = i == 0 ? x - 12 : (x_of(points[i - 1].first) + x) / 2;
      const double after = i + 1 == points.size() ? x + 12 : (x_of(points[i + 1].first) + x) / 2;
      PaintBeside(before, after, *group->about, colour);
    }
    svg_.Polyline(places, colour);
  }

  void PaintLegend() {
    const double x = kRight + 16;
    double y = kTop + 8;
    const auto entry = [&](std::string_view text) {
      svg_.Text(x + 22, y + 4, text, Anchor::kStart, 11);
      y += 18;
    };
    const size_t series = chart_.key.empty() ? 1 : chart_.places.size();
    for (size_t i = 0; i < series * chart_.policies.size(); ++i) {
      const std::string label = PolicyLabel(chart_.policies[i % chart_.policies.size()]);
      svg_.Rectangle(x, y - 5, 14, 10, SeriesColour(i));
      entry(series == 1 ? label
                        : absl::StrCat(label, ", ", chart_.places[i / chart_.policies.size()]));
    }
    if (has_bound_) {
      svg_.Line(x - 2, y, x + 18, y, kInk, 2, kBoundDashes);
      entry("bound");
    }
    if (has_report_) {
      svg_.Line(x - 2, y, x + 18, y, kInk, 2, kReportDashes);
      entry("report");
    }
  }

  Chart chart_;
  const Ticks ticks_;
  Svg svg_;
  bool has_bound_ = false;
  bool has_report_ = false;
};

std::string FileNameOf(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (is_plain || (!name.empty() && name.back() != '-')) {
      name += is_plain ? c : '-';
    }
  }
  while (!name.empty() && name.back() == '-') {
    name.pop_back();
  }
  return name;
}

}  // namespace

Ticks TicksFor(double largest) {
  if (!(largest > 0) || !std::isfinite(largest)) {
    return {};
  }
  const double power = std::pow(10, std::floor(std::log10(largest)));
  double step = power;
  for (const double part : {0.1, 0.2, 0.5, 1.0}) {
    step = power * part;
    if (std::ceil(largest / step) <= 10) {
      break;
    }
  }
  return {std::ceil(largest / step - 1e-9) * step, step};
}

std::vector<Picture> DrawCharts(const std::vector<Record>& records) {
  const std::vector<Group> groups = GroupRecords(records);
  std::map<std::string, size_t> places;
  std::vector<std::pair<std::string, Chart>> charts;
  for (const Group& group : groups) {
    const Record& about = *group.about;
    const SeriesPoint point = ParseSeriesPoint(about.workload);
    std::string name = FileNameOf(absl::StrCat(about.scenario, " ", about.metric));
    if (!point.key.empty()) {
      absl::StrAppend(&name, "-by-", FileNameOf(point.key));
    }
    const auto [found, is_new] = places.try_emplace(name, charts.size());
    if (is_new) {
      charts.emplace_back(name, Chart{.title = absl::StrCat(about.scenario, ": ", about.metric),
                                      .unit = about.unit,
                                      .key = point.key,
                                      .policies = {},
                                      .places = {},
                                      .groups = {}});
    }
    Chart& chart = charts[found->second].second;
    IndexOf(chart.policies, about.policy);
    IndexOf(chart.places, point.name);
    chart.groups.push_back(group);
  }
  std::vector<Picture> pictures;
  for (auto& [name, chart] : charts) {
    pictures.push_back({absl::StrCat(name, ".svg"), Painter(std::move(chart)).Paint()});
  }
  return pictures;
}

absl::Status WriteCharts(const std::vector<Record>& records, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return SystemError(error.value(), absl::StrCat(folder, ": cannot be made"));
  }
  for (const Picture& picture : DrawCharts(records)) {
    MDVOL_RETURN_IF_ERROR(WriteTextFile(absl::StrCat(folder, "/", picture.file_name), picture.svg));
  }
  return absl::OkStatus();
}

}  // namespace mdvol::bench
