// See verdicts.h.

#include "tests/bench/frame/verdicts.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"

namespace mdvol::bench {
namespace {

// Repeats that scatter so much say nothing unless one policy is several times the other.
constexpr double kUntellingMargin = 0.5;

}  // namespace

void Verdicts::Demand(std::string_view id, std::string_view text, double value, Relation relation,
                      double threshold, std::string_view unit) {
  criteria_.push_back({CriterionKind::kDemand, std::string(id), std::string(text), value, relation,
                       threshold, std::string(unit), true});
}

void Verdicts::Contest(const Results& results, std::string_view id, std::string_view text,
                       std::string_view default_policy, const std::vector<std::string>& policies,
                       std::string_view workload, std::string_view metric, Better better) {
  const std::vector<double> ours = results.Values(default_policy, workload, metric);
  std::optional<Comparison> closest;
  std::string rival;
  for (const std::string& policy : policies) {
    const std::vector<double> theirs = results.Values(policy, workload, metric);
    if (policy == default_policy || theirs.empty() || ours.empty()) {
      continue;
    }
    const Comparison comparison = Compare(ours, theirs, better);
    if (!closest.has_value() ||
        comparison.ratio + comparison.margin < closest->ratio + closest->margin) {
      closest = comparison;
      rival = policy;
    }
  }
  if (closest.has_value()) {
    criteria_.push_back({CriterionKind::kContest, std::string(id),
                         absl::StrCat(std::string(text), " (against ", rival, ")"), closest->ratio,
                         Relation::kAtLeast, std::max(0.0, 1 - closest->margin), "x",
                         closest->margin < kUntellingMargin || closest->ratio == 0});
  }
}

bool Verdicts::AllMet(CriterionKind kind) const {
  return std::all_of(criteria_.begin(), criteria_.end(), [kind](const Criterion& criterion) {
    return criterion.kind != kind || criterion.IsMet();
  });
}

}  // namespace mdvol::bench
