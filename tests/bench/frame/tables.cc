// See tables.h.

#include "tests/bench/frame/tables.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/bench/frame/groups.h"
#include "tests/bench/frame/statistics.h"

namespace mdvol::bench {
namespace {

constexpr size_t kLeftColumns = 2;

std::string OptionalNumber(const std::optional<double>& value) {
  return value.has_value() ? FormatNumber(*value) : std::string("-");
}

std::string ScatterText(const std::vector<double>& values) {
  const double median = Median(values);
  return median == 0 || values.size() < 2
             ? std::string("-")
             : absl::StrFormat("%.1f%%", 100 * Scatter(values) / std::abs(median));
}

}  // namespace

std::string FormatNumber(double value) {
  if (value == 0 || !std::isfinite(value)) {
    return absl::StrFormat("%g", value);
  }
  const int digits_before = static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
  return absl::StrFormat("%.*f", std::clamp(4 - digits_before, 0, 4), value);
}

std::string FormatTable(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - row[i].size(), ' ');
      absl::StrAppend(&line, i == 0 ? "" : "  ", i < kLeftColumns ? "" : padding, row[i],
                      i < kLeftColumns ? padding : "");
    }
    line.erase(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

std::string FormatResults(const std::vector<Record>& records) {
  std::string text;
  std::string title;
  std::vector<std::vector<std::string>> rows;
  const auto finish = [&] {
    if (!rows.empty()) {
      absl::StrAppend(&text, "\n", title, "\n", FormatTable(rows));
      rows.clear();
    }
  };
  double first_median = 0;
  std::string subject;
  for (const Group& group : GroupRecords(records)) {
    const Record& about = *group.about;
    const std::string new_title = absl::StrCat(about.scenario, ": ", about.workload);
    if (new_title != title) {
      finish();
      title = new_title;
      subject.clear();
      rows.push_back({"metric", "policy", "median", "scatter", "to first", "report", "bound"});
    }
    const double median = Median(group.values);
    const bool is_first = subject != about.metric;
    if (is_first) {
      subject = about.metric;
      first_median = median;
    }
    const std::string unit = about.unit.empty() ? "" : absl::StrCat(" (", about.unit, ")");
    rows.push_back({is_first ? about.metric + unit : std::string(),
                    about.policy.empty() ? std::string("-") : about.policy, FormatNumber(median),
                    ScatterText(group.values),
                    is_first || first_median == 0
                        ? std::string("-")
                        : absl::StrCat(absl::StrFormat("%.3f", median / first_median)),
                    OptionalNumber(about.report_value), OptionalNumber(about.bound)});
  }
  finish();
  return text;
}

std::string FormatVerdicts(const Verdicts& verdicts, bool demands_count) {
  std::vector<std::vector<std::string>> rows;
  for (const Criterion& criterion : verdicts.criteria()) {
    const bool counts = demands_count || criterion.kind == CriterionKind::kContest;
    const char* word = !criterion.is_telling ? "too noisy to tell"
                       : criterion.IsMet()   ? "met"
                       : counts              ? "MISSED"
                                             : "missed, not judged";
    rows.push_back({word, absl::StrCat(criterion.id, "  ", criterion.text),
                    FormatNumber(criterion.value),
                    criterion.relation == Relation::kAtLeast ? ">=" : "<=",
                    absl::StrCat(FormatNumber(criterion.threshold),
                                 criterion.unit.empty() ? "" : " ", criterion.unit)});
  }
  return FormatTable(rows);
}

}  // namespace mdvol::bench
