// degraded-read: what reads cost while one or two members are missing, by block size, sequential
// and at random: member bytes read for a byte of the volume, the size of the members' requests, and
// the throughput beside that of the same array whole. The report's array: ten members, chunks of
// 128 KiB, nine block sizes, as many requests at once as keep the members busy.
//
// The members are SSDs of the model in slow motion, so that the machine's own speed does not
// matter; the report's were disks. What is read has never been written: zeroes cost as much, and
// each turn reads where nobody has read before.
//
// Criteria D1 to D4 and D6; D5 is what makes them hold, D7 (read errors) is not a matter of speed.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "tests/bench/scenarios/all.h"

namespace mdvol::bench {
namespace {

constexpr uint32_t kMembers = 10;
constexpr uint32_t kDataDisks = kMembers - 2;
constexpr uint64_t kChunkBytes = 128 * kKiB;
constexpr uint32_t kQueueDepth = 16;
constexpr uint64_t kTurnBytes = kGiB;    // more than a turn reads
constexpr std::string_view kWhole = "";  // the policy of an array that is whole

// MiB/s of a stream and reads a second at random, whole, before 4.1 and since.
struct ReportRow {
  uint64_t block_kib;
  double stream[3];
  double random[3];
};
constexpr std::array<ReportRow, 9> kReport{{
    {4, {411, 413, 850}, {948, 940, 955}},
    {8, {768, 647, 953}, {927, 940, 929}},
    {16, {1368, 688, 986}, {900, 970, 971}},
    {32, {1580, 1420, 1004}, {849, 848, 837}},
    {64, {1612, 1119, 1000}, {726, 724, 726}},
    {128, {1636, 771, 983}, {576, 592, 591}},
    {256, {1635, 728, 980}, {426, 428, 424}},
    {512, {1624, 710, 956}, {274, 273, 272}},
    {1024, {1608, 656, 995}, {163, 160, 156}},
}};

struct Kind {
  bool random;
  uint32_t lost;
};

std::string WorkloadOf(const Kind& kind, uint64_t block_kib) {
  const std::string name =
      std::string(kind.random ? "random" : "sequential") + (kind.lost == 0   ? ", whole"
                                                            : kind.lost == 1 ? ", one lost"
                                                                             : ", two lost");
  return SeriesWorkload(name, "block_kib", block_kib);
}

std::optional<double> ReportedShare(const Kind& kind, const ReportRow& row,
                                    std::string_view policy) {
  const size_t column = policy == "bypass" ? 1 : policy == "stripe-cache" ? 2 : 0;
  if (kind.lost != 1 || column == 0) {
    return std::nullopt;
  }
  const double* const values = kind.random ? row.random : row.stream;
  return values[column] / values[0];
}

// Section "degraded_read" of docs/policies.md, for blocks that lie in one chunk; a large random
// read shares less, or more.
std::optional<double> ModelledAmplification(const Kind& kind, uint64_t block_kib,
                                            std::string_view policy) {
  if (kind.lost != 1) {
    return policy == "adaptive" && !kind.random ? std::optional(1.0) : std::nullopt;
  }
  constexpr double kD = kDataDisks;
  constexpr double kN = kMembers;
  if (kind.random) {
    const double rebuilt = policy == "adaptive" ? kN - 2 : kN - 1;
    return block_kib * kKiB <= kChunkBytes ? std::optional((kN - 1) / kN + rebuilt / kN)
                                           : std::nullopt;
  }
  if (policy == "adaptive") {
    return 1.0;
  }
  const double hit = policy == "bypass" ? kD - 1 + kN - 1 : kN - 1;
  return ((kN - 2) / kN * hit + 2 / kN * kD) / kD;
}

class Turns {
 public:
  Turns(ScenarioContext& context, BenchArray& array, RunTimes times)
      : context_(context), array_(array), times_(times) {}

  absl::Status Run(const Kind& kind, const ReportRow& row, const std::string& policy,
                   uint32_t repeat) {
    if (policy != kWhole) {
      MDVOL_RETURN_IF_ERROR(array_.Switch(context_.Choice(policy)));
    }
    WorkloadSpec spec{.name = WorkloadOf(kind, row.block_kib),
                      .queue_depth = kQueueDepth,
                      .block_bytes = row.block_kib * kKiB,
                      .random = kind.random,
                      .seed = context_.seed + turns_};
    if (!kind.random) {
      spec.begin_bytes = turns_ * kTurnBytes;
      spec.length_bytes = kTurnBytes;
    }
    ++turns_;
    MDVOL_ASSIGN_OR_RETURN(const Measurement measured, context_.Measure(array_, {spec}, times_));
    context_.AddWorkload(policy, spec.name, measured.loads[0], repeat);
    context_.Add(policy, spec.name, "amplification", "x", measured.ReadAmplification(), repeat,
                 {.report_value = std::nullopt,
                  .bound = ModelledAmplification(kind, row.block_kib, policy)});
    context_.Add(policy, spec.name, "request size", "KiB",
                 measured.members[IoClass::kForeground].reads.MeanBytes() / kKiB, repeat);
    return absl::OkStatus();
  }

 private:
  ScenarioContext& context_;
  BenchArray& array_;
  const RunTimes times_;
  uint64_t turns_ = 0;
};

double Median(const ScenarioContext& context, const std::string& policy, const Kind& kind,
              uint64_t block_kib, std::string_view metric) {
  return context.results.MedianOf(policy, WorkloadOf(kind, block_kib), metric);
}

// D1 to D3 of the default, at one block size.
void Judge(ScenarioContext& context, const Kind& kind, const ReportRow& row) {
  const std::string workload = WorkloadOf(kind, row.block_kib);
  const std::string& policy = context.default_policy();
  auto& verdicts = context.verdicts;
  if (!kind.random) {
    verdicts.Demand("D1", workload + ": member bytes for a byte of the volume",
                    Median(context, policy, kind, row.block_kib, "amplification"),
                    Relation::kAtMost, 1.02, "x");
    verdicts.Demand(
        "D2", workload + ": share of the whole array's throughput",
        Median(context, policy, kind, row.block_kib, "throughput") /
            Median(context, std::string(kWhole), {kind.random, 0}, row.block_kib, "throughput"),
        Relation::kAtLeast, 0.9 * (kMembers - kind.lost) / kMembers, "x");
  } else if (kind.lost == 1 && row.block_kib * kKiB <= kChunkBytes) {
    // One in ten reads takes eight blocks: chance has its share in how many there were.
    const double reads = Median(context, policy, kind, row.block_kib, "iops") *
                         context.times.seconds * std::sqrt(context.repeats);
    verdicts.Demand("D3", workload + ": member bytes for a byte of the volume",
                    Median(context, policy, kind, row.block_kib, "amplification"),
                    Relation::kAtMost, 1.7 + 3 * 7 * 0.3 / std::sqrt(reads), "x");
  }
  verdicts.Contest(context.results, kind.random ? "D3" : "D2",
                   workload + ": as fast as under any policy", policy, context.policies, workload,
                   "throughput", Better::kHigher);
}

// D2: larger blocks are no slower than smaller ones.
void JudgeCliffs(ScenarioContext& context, const Kind& kind, const std::vector<ReportRow>& rows) {
  double worst = 10;
  for (size_t i = 1; i < rows.size(); ++i) {
    const std::string& policy = context.default_policy();
    worst = std::min(worst, Median(context, policy, kind, rows[i].block_kib, "throughput") /
                                Median(context, policy, kind, rows[i - 1].block_kib, "throughput"));
  }
  context.verdicts.Demand("D2",
                          WorkloadOf(kind, rows.front().block_kib) +
                              " and up: the least step from a block size to the next",
                          worst, Relation::kAtLeast, 0.9, "x");
}

void JudgeReproductions(ScenarioContext& context, const ReportRow& row) {
  const Kind kind{false, 1};
  for (const std::string& policy : context.policies) {
    const std::optional<double> model = ModelledAmplification(kind, row.block_kib, policy);
    if (policy != context.default_policy() && model.has_value()) {
      context.verdicts.Demand(
          "report",
          policy + ", " + WorkloadOf(kind, row.block_kib) + ": off the model of section 4",
          std::abs(Median(context, policy, kind, row.block_kib, "amplification") / *model - 1),
          Relation::kAtMost, 0.04, "x");
    }
  }
}

std::vector<ReportRow> RowsOf(bool quick) {
  if (quick) {
    return {kReport[0], kReport[5], kReport[8]};
  }
  return {kReport.begin(), kReport.end()};
}

}  // namespace

absl::Status RunDegradedRead(ScenarioContext& context) {
  const std::vector<ReportRow> rows = RowsOf(context.quick);
  const uint32_t most_lost = context.quick ? 1 : 2;
  const uint32_t kinds = context.quick ? 1 : 2;
  const auto runs =
      static_cast<uint32_t>(rows.size() * kinds * (1 + most_lost * context.policies.size()));
  MDVOL_ASSIGN_OR_RETURN(const std::unique_ptr<BenchArray> array,
                         BenchArray::Make({.members = kMembers,
                                           .chunk_bytes = kChunkBytes,
                                           .member_bytes = kTiB,
                                           .model = Stretched(kSsdModel, context.quick ? 8 : 20)}));
  Turns turns(context, *array, context.TimesFor(runs));
  for (uint32_t lost = 0; lost <= most_lost; ++lost) {
    if (lost > 0) {
      MDVOL_RETURN_IF_ERROR(array->FailMember(3 * lost));
    }
    for (uint32_t k = 0; k < kinds; ++k) {
      const Kind kind{k == 1, lost};
      for (const ReportRow& row : rows) {
        if (lost == 0) {
          for (uint32_t repeat = 0; repeat < context.repeats; ++repeat) {
            MDVOL_RETURN_IF_ERROR(turns.Run(kind, row, std::string(kWhole), repeat));
          }
          continue;
        }
        MDVOL_RETURN_IF_ERROR(context.ForEachTurn([&](const std::string& policy, uint32_t repeat) {
          return turns.Run(kind, row, policy, repeat);
        }));
        for (const std::string& policy : context.policies) {
          context.AddRatio(policy, WorkloadOf(kind, row.block_kib), "throughput", kWhole,
                           WorkloadOf({kind.random, 0}, row.block_kib), "throughput of whole",
                           {.report_value = ReportedShare(kind, row, policy), .bound = {}});
        }
        Judge(context, kind, row);
        if (lost == 1 && !kind.random) {
          JudgeReproductions(context, row);
        }
      }
      if (lost > 0 && !kind.random) {
        JudgeCliffs(context, kind, rows);
      }
    }
  }
  return array->Close();
}

}  // namespace mdvol::bench
