// parity-workers: whether threads that compute parity for others help or hurt. The two workloads of
// the report on 16 members: sixty users who write files of less than 4 KiB and wait for each to be
// durable, and streams of full stripes, one and several. Besides a lone writer of 4 KiB, who feels
// every hand-over.
//
// The members are as fast as memory, so that what is measured is the engine. Criteria C1, C4 and
// C5; C2 shows in two streams beside one, and C3 holds for the default because it hands nothing
// over.

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "tests/bench/scenarios/all.h"

namespace mdvol::bench {
namespace {

constexpr uint32_t kMembers = 16;
constexpr uint64_t kChunkBytes = 64 * kKiB;
constexpr uint64_t kStripeBytes = (kMembers - 2) * kChunkBytes;

// Of the report: files a second without threads to the two forms with them.
constexpr double kReportFirstForm = 1014.47 / 7549.24;
constexpr double kReportSecondForm = 3276.77 / 7549.24;

WorkloadSpec SmallFiles(uint64_t seed) {
  return {.name = "small files, 60 users",
          .jobs = 60,
          .block_bytes = 4096,
          .read_share = 0,
          .fsync_every = 1,
          .length_bytes = 64 * kMiB,
          .seed = seed};
}

WorkloadSpec Streams(uint32_t jobs, uint64_t seed) {
  return {.name = "full stripes, " + std::to_string(jobs) + (jobs == 1 ? " stream" : " streams"),
          .jobs = jobs,
          .block_bytes = kStripeBytes,
          .read_share = 0,
          .random = false,
          .length_bytes = 256 * kStripeBytes,
          .own_regions = true,
          .seed = seed};
}

WorkloadSpec LoneWriter(uint64_t seed) {
  return {.name = "write 4K, 1 user",
          .block_bytes = 4096,
          .read_share = 0,
          .length_bytes = 64 * kMiB,
          .seed = seed};
}

std::vector<WorkloadSpec> AllWorkloads(uint64_t seed) {
  return {SmallFiles(seed), Streams(1, seed), Streams(2, seed), Streams(8, seed), LoneWriter(seed)};
}

absl::Status Measure(ScenarioContext& context, BenchArray& array, const WorkloadSpec& spec,
                     const std::string& policy, uint32_t repeat) {
  const auto runs = context.policies.size() * AllWorkloads(0).size();
  const RunTimes times = context.TimesFor(static_cast<uint32_t>(runs));
  MDVOL_RETURN_IF_ERROR(array.Switch(context.Choice(policy)));
  const MemberTally before = array.Total();
  MDVOL_ASSIGN_OR_RETURN(const WorkloadResult result,
                         RunWorkload(array.array(), spec, times, context.clock));
  const Tally written = (array.Total() - before).Data().writes;
  context.AddWorkload(policy, spec.name, result, repeat);
  context.Add(policy, spec.name, "request size", "KiB", written.MeanBytes() / kKiB, repeat);
  return absl::OkStatus();
}

absl::Status MeasureTurn(ScenarioContext& context, BenchArray& array, const std::string& policy,
                         uint32_t repeat) {
  for (const WorkloadSpec& spec : AllWorkloads(context.seed + repeat)) {
    MDVOL_RETURN_IF_ERROR(Measure(context, array, spec, policy, repeat));
  }
  return absl::OkStatus();
}

std::optional<double> ReportedOf(const std::string& policy, const std::string& workload) {
  if (workload != SmallFiles(0).name) {
    return std::nullopt;
  }
  return policy == "handle-stripe" ? std::optional(kReportFirstForm)
         : policy == "run-ops"     ? std::optional(kReportSecondForm)
                                   : std::nullopt;
}

void Judge(ScenarioContext& context) {
  const std::string& inline_parity = context.default_policy();
  for (const WorkloadSpec& spec : AllWorkloads(0)) {
    double best = 0;
    for (const std::string& policy : context.policies) {
      context.AddRatio(policy, spec.name, "iops", inline_parity, spec.name, "iops of the default",
                       {.report_value = ReportedOf(policy, spec.name), .bound = {}});
      if (policy != inline_parity) {
        best = std::max(best, context.results.MedianOf(policy, spec.name, "iops of the default"));
      }
    }
    if (best > 0) {
      context.verdicts.Demand("C1", spec.name + ": the default to the best of the others", 1 / best,
                              Relation::kAtLeast, 0.98, "x");
    }
    context.verdicts.Contest(context.results, "C1", spec.name + ": as fast as under any policy",
                             inline_parity, context.policies, spec.name, "iops", Better::kHigher);
  }
  double least_us = std::numeric_limits<double>::infinity();
  for (const std::string& policy : context.policies) {
    least_us =
        std::min(least_us, context.results.MedianOf(policy, LoneWriter(0).name, "latency p50"));
  }
  context.verdicts.Demand(
      "C4", "a lone 4 KiB write: the default's latency to the best",
      context.results.MedianOf(inline_parity, LoneWriter(0).name, "latency p50") / least_us,
      Relation::kAtMost, 1.05, "x");
  const auto rate = [&](uint32_t jobs) {
    return context.results.MedianOf(inline_parity, Streams(jobs, 0).name, "throughput");
  };
  context.verdicts.Demand("C1", "eight streams to one", rate(8) / rate(1), Relation::kAtLeast, 0.98,
                          "x");
  const double alone = context.results.MedianOf(inline_parity, Streams(1, 0).name, "request size");
  const double many = context.results.MedianOf(inline_parity, Streams(8, 0).name, "request size");
  context.verdicts.Demand("C5", "size of a member's write, eight streams to one", many / alone,
                          Relation::kAtLeast, 0.95, "x");
}

}  // namespace

absl::Status RunParityWorkers(ScenarioContext& context) {
  MDVOL_ASSIGN_OR_RETURN(
      const std::unique_ptr<BenchArray> array,
      BenchArray::Make(
          {.members = kMembers, .chunk_bytes = kChunkBytes, .member_bytes = 256 * kMiB}));
  MDVOL_RETURN_IF_ERROR(context.ForEachTurn([&](const std::string& policy, uint32_t repeat) {
    return MeasureTurn(context, *array, policy, repeat);
  }));
  Judge(context);
  return array->Close();
}

}  // namespace mdvol::bench
