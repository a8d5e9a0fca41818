// write-admission: whether slots that are kept for readers who are not there cost anything, and
// whether a reader beside a flood of writes is served. 24 jobs, 64 outstanding, of sequential
// writes of 128 KiB with a flush after each, as in the report; alone, and beside one random reader.
//
// Ten members and chunks of 16 KiB: a write is a full stripe, 16 KiB on each member, so that 1536
// stand before the 256 slots of each, and neighbours belong to different users. The members are
// SSDs ten times as slow, so that two cores keep up with ten of them; ratios are those of the SSD.
// Criteria T1, T3 and T5 to T8; T2 and T4 are for the unit tests, which have no noise.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "tests/bench/scenarios/all.h"
#include "tests/bench/scenarios/write_bound.h"

namespace mdvol::bench {
namespace {

constexpr std::string_view kAlone = "writes alone";
constexpr std::string_view kBeside = "writes beside a reader";
constexpr std::string_view kReader = "reader beside writes";
constexpr std::string_view kReaderAlone = "reader alone";
constexpr std::string_view kUnlimited = "unlimited";
constexpr std::string_view kDeadline = "deadline-6.6";

constexpr uint32_t kMembers = 10;
constexpr uint64_t kChunkBytes = 16 * kKiB;
constexpr double kStretch = 10;
constexpr double kReadLatency = 3;  // T3: of a read alone

// Of the report, table 7.3: 6.8-rc7 to the revert. Sizes and joining of dm-0.
constexpr double kReportThroughput = 236.0 / 315;
constexpr double kReportRequestSize = 135.6 / 403.6;
constexpr double kReportJoined = 27056.0 / (27056 + 533034);
constexpr double kReportJoinedUnlimited = 493981.0 / (493981 + 246318);
constexpr double kReportP99 = 2869.0 / 3171;
constexpr double kReportStdev = 339.05 / 714.90;

WorkloadSpec Writes(uint64_t seed) {
  return {.name = "writes",
          .jobs = 24,
          .queue_depth = 64,
          .block_bytes = 128 * kKiB,
          .read_share = 0,
          .random = false,
          .fsync_every = 1,
          .length_bytes = 24 * 16 * kMiB,
          .own_regions = true,
          .seed = seed};
}

WorkloadSpec Reader(uint64_t seed) { return {.name = "reader", .seed = seed}; }

std::optional<double> Reported(std::string_view policy, double of_deadline, double of_unlimited) {
  return policy == kDeadline    ? std::optional(of_deadline)
         : policy == kUnlimited ? std::optional(of_unlimited)
                                : std::nullopt;
}

void AddRequests(ScenarioContext& context, const std::string& policy, std::string_view workload,
                 const Tally& written, uint32_t repeat) {
  context.Add(policy, workload, "request size", "KiB", written.MeanBytes() / kKiB, repeat);
  const double pieces = static_cast<double>(written.merged + written.requests);
  context.Add(
      policy, workload, "joined", "x",
      pieces > 0 ? static_cast<double>(written.merged) / pieces : 0, repeat,
      {.report_value = Reported(policy, kReportJoined, kReportJoinedUnlimited), .bound = {}});
  context.Add(policy, workload, "sequential share", "x", written.SequentialShare(), repeat);
}

absl::Status Measure(ScenarioContext& context, BenchArray& array, const std::string& policy,
                     uint32_t repeat) {
  const RunTimes times = context.TimesFor(static_cast<uint32_t>(context.policies.size()) * 2 + 1);
  const uint64_t seed = context.seed + repeat;
  MDVOL_RETURN_IF_ERROR(array.Switch(context.Choice(policy)));
  if (policy == context.default_policy()) {
    MDVOL_ASSIGN_OR_RETURN(const WorkloadResult solo,
                           RunWorkload(array.array(), Reader(seed), times, context.clock));
    context.AddWorkload(policy, kReaderAlone, solo, repeat);
  }
  MemberTally before = array.Total();
  MDVOL_ASSIGN_OR_RETURN(const WorkloadResult alone,
                         RunWorkload(array.array(), Writes(seed), times, context.clock));
  context.AddWorkload(policy, kAlone, alone, repeat);
  AddRequests(context, policy, kAlone, (array.Total() - before).Data().writes, repeat);
  before = array.Total();
  MDVOL_ASSIGN_OR_RETURN(
      const std::vector<WorkloadResult> beside,
      RunTogether(array.array(), {Writes(seed), Reader(seed + 1)}, times, context.clock));
  context.AddWorkload(policy, kBeside, beside[0], repeat);
  context.AddWorkload(policy, kReader, beside[1], repeat);
  AddRequests(context, policy, kBeside, (array.Total() - before).Data().writes, repeat);
  return absl::OkStatus();
}

// What is written beside the reader at most, to what is written alone: of the model.
double ModelledShare(uint64_t seed) {
  const DiskModelParameters model = Stretched(kSsdModel, kStretch);
  const double alone = PlayMixedLoad(model, {kMembers, 4, kMiB, false}, seed).write_bytes_per_s;
  const double solo_ns = PlayMixedLoad(model, {kMembers, 0, 0, true}, seed).read_p99_ns;
  return WriteBound(model, kMembers, kReadLatency * solo_ns, seed) / alone;
}

void AddRatios(ScenarioContext& context, double modelled_share) {
  const std::string unlimited(kUnlimited);
  for (const std::string& policy : context.policies) {
    const auto beside = [&policy](double of_deadline) {
      return Beside{.report_value = Reported(policy, of_deadline, 1), .bound = {}};
    };
    context.AddRatio(policy, kAlone, "throughput", unlimited, kAlone, "throughput of unlimited",
                     beside(kReportThroughput));
    context.AddRatio(policy, kAlone, "request size", unlimited, kAlone, "size of unlimited",
                     beside(kReportRequestSize));
    context.AddRatio(policy, kAlone, "latency p99", unlimited, kAlone, "p99 of unlimited",
                     beside(kReportP99));
    context.AddRatio(policy, kAlone, "latency stdev", unlimited, kAlone, "stdev of unlimited",
                     beside(kReportStdev));
    context.AddRatio(policy, kAlone, "sequential share", unlimited, kAlone,
                     "sequential of unlimited");
    context.AddRatio(policy, kAlone, "flush p99", unlimited, kAlone, "flush p99 of unlimited");
    context.AddRatio(policy, kBeside, "joined", unlimited, kBeside, "joined of unlimited");
    context.AddRatio(policy, kBeside, "throughput", policy, kAlone, "throughput of alone",
                     {.report_value = {}, .bound = modelled_share});
    context.AddRatio(policy, kReader, "latency p99", context.default_policy(), kReaderAlone,
                     "p99 of solo");
  }
}

// What the default is measured by, and that the reproduction of 6.6 loses with nobody to gain.
void Judge(ScenarioContext& context, double modelled_share) {
  const auto demand = [&context](std::string_view id, std::string_view text,
                                 std::string_view policy, std::string_view workload,
                                 std::string_view metric, Relation relation, double threshold) {
    context.verdicts.Demand(id, text, context.results.MedianOf(policy, workload, metric), relation,
                            threshold, "x");
  };
  const std::string& adaptive = context.default_policy();
  constexpr Relation kLeast = Relation::kAtLeast;
  constexpr Relation kMost = Relation::kAtMost;
  demand("T1", "writes alone: throughput of unlimited", adaptive, kAlone, "throughput of unlimited",
         kLeast, 0.98);
  demand("T1", "writes alone: request size of unlimited", adaptive, kAlone, "size of unlimited",
         kLeast, 0.95);
  demand("T3", "a reader beside writes: p99 of its solo p99", adaptive, kReader, "p99 of solo",
         kMost, kReadLatency);
  demand("T3", "writes beside a reader, of alone: 0.8 of what the model leaves", adaptive, kBeside,
         "throughput of alone", kLeast, 0.8 * modelled_share);
  demand("T5", "writes held back are joined as often as under unlimited", adaptive, kBeside,
         "joined of unlimited", kLeast, 0.95);
  demand("T6", "writes alone: sequential requests of unlimited", adaptive, kAlone,
         "sequential of unlimited", kLeast, 0.95);
  demand("T7", "writes alone: p99 of unlimited", adaptive, kAlone, "p99 of unlimited", kMost, 1);
  demand("T7", "writes alone: deviation of unlimited", adaptive, kAlone, "stdev of unlimited",
         kMost, 1);
  demand("T8", "flushes: p99 of unlimited", adaptive, kAlone, "flush p99 of unlimited", kMost, 1);
  demand("6.6", "writes alone: deadline-6.6 is slower than unlimited", kDeadline, kAlone,
         "throughput of unlimited", kMost, 0.95);
  demand("6.6", "writes alone: and its requests are smaller", kDeadline, kAlone,
         "size of unlimited", kMost, 0.8);
}

}  // namespace

absl::Status RunWriteAdmission(ScenarioContext& context) {
  MDVOL_ASSIGN_OR_RETURN(const std::unique_ptr<BenchArray> array,
                         BenchArray::Make({.members = kMembers,
                                           .chunk_bytes = kChunkBytes,
                                           .model = Stretched(kSsdModel, kStretch)}));
  MDVOL_RETURN_IF_ERROR(context.ForEachTurn([&](const std::string& policy, uint32_t repeat) {
    return Measure(context, *array, policy, repeat);
  }));
  const double modelled_share = ModelledShare(context.seed);
  AddRatios(context, modelled_share);
  Judge(context, modelled_share);
  context.verdicts.Contest(context.results, "T1", "writes alone are as fast as under any policy",
                           context.default_policy(), context.policies, kAlone, "throughput",
                           Better::kHigher);
  context.verdicts.Contest(context.results, "T3", "a reader beside writes waits no longer",
                           context.default_policy(), context.policies, kReader, "latency mean",
                           Better::kLower);
  return array->Close();
}

}  // namespace mdvol::bench
