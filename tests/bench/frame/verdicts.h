// Verdicts: the criteria of a scenario, each with what was measured and whether it is met.
//
// Two kinds. A demand compares a number with a threshold of its own (md-like criteria: "at least
// 90 % of solo"); it is what full runs on a quiet machine are for. A contest asks only whether the
// default loses to an alternative beyond what noise explains (Compare in statistics.h); it is what
// --quick judges by, on any machine. Not thread-safe.

#ifndef MDVOL_TESTS_BENCH_FRAME_VERDICTS_H_
#define MDVOL_TESTS_BENCH_FRAME_VERDICTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/bench/frame/results.h"
#include "tests/bench/frame/statistics.h"

namespace mdvol::bench {

enum class CriterionKind : uint8_t { kDemand, kContest };
enum class Relation : uint8_t { kAtLeast, kAtMost };

struct Criterion {
  CriterionKind kind = CriterionKind::kDemand;
  std::string id;    // "P1"
  std::string text;  // one line
  double value = 0;
  Relation relation = Relation::kAtLeast;
  double threshold = 0;
  std::string unit;
  // Of a contest: whether the repeats lie close enough together to tell.
  bool is_telling = true;

  // By what was not measured (not a number) nothing is met.
  bool IsMet() const {
    return !is_telling ||
           (relation == Relation::kAtLeast ? value >= threshold : value <= threshold);
  }
};

class Verdicts {
 public:
  // What the numbers are of is for the caller to say; usually medians or ratios of medians.
  void Demand(std::string_view id, std::string_view text, double value, Relation relation,
              double threshold, std::string_view unit = "");

  // The default against every other policy that was measured on this workload: one criterion, of
  // the alternative that comes closest to beating it. Without alternatives nothing is added.
  void Contest(const Results& results, std::string_view id, std::string_view text,
               std::string_view default_policy, const std::vector<std::string>& policies,
               std::string_view workload, std::string_view metric, Better better);

  const std::vector<Criterion>& criteria() const { return criteria_; }
  bool AllMet(CriterionKind kind) const;

 private:
  std::vector<Criterion> criteria_;
};

}  // namespace mdvol::bench

#endif  // MDVOL_TESTS_BENCH_FRAME_VERDICTS_H_
