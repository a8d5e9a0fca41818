// write-admission: whether slots that are kept for readers who are not there cost anything, and
// whether a reader beside a flood of writes is served. 24 jobs, 64 outstanding, of sequential
// writes of 128 KiB, as in the report; alone, and beside one random reader.
//
// The report flushes after each write, and its flushes took 0.1 us: they cost nothing there. Here a
// flush is one, and a job that makes one for each write waits for those, not for a member's queue,
// whatever the policy. So the judged workloads flush once for each round of a job's 64 writes; how
// a flush after each write does is measured beside them, under a name of its own.
//
// Ten members and chunks of 16 KiB: a write is a full stripe, 16 KiB on each member, so that 1536
// stand before the 256 slots of each, and neighbours belong to different users. The members are
// SSDs forty times as slow, so that what two cores are late by is little beside it; ratios are
// those of the SSD. A window of 15 s or more is for seeing each write of the 1536 several times.
// Criteria T1, T3 and T5 to T7; T2, T4 and T8 are for the unit tests, which have no noise.

#include <algorithm>
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
constexpr std::string_view kFlushed = "writes alone, each flushed";
constexpr std::string_view kBeside = "writes beside a reader";
constexpr std::string_view kReader = "reader beside writes";
constexpr std::string_view kReaderAlone = "reader alone";
constexpr std::string_view kUnlimited = "unlimited";
constexpr std::string_view kDeadline = "deadline-6.6";

constexpr uint32_t kMembers = 10;
constexpr uint64_t kChunkBytes = 16 * kKiB;
constexpr double kFullStretch = 40;
constexpr double kQuickStretch = 10;  // windows are short then, and only contests are judged
constexpr double kLearnMs = 20000;    // of "adaptive": reads, and so measurements, take longer too
constexpr double kReadLatency = 3;    // T3: of a read alone
constexpr double kLeastShare = 0.8;   // T3: of what the model leaves to writes

// Of the report, table 7.3: 6.8-rc7 to the revert. Sizes and joining of dm-0.
constexpr double kReportThroughput = 236.0 / 315;
constexpr double kReportRequestSize = 135.6 / 403.6;
constexpr double kReportJoined = 27056.0 / (27056 + 533034);
constexpr double kReportJoinedUnlimited = 493981.0 / (493981 + 246318);
constexpr double kReportP99 = 2869.0 / 3171;
constexpr double kReportStdev = 339.05 / 714.90;

WorkloadSpec Writes(uint64_t seed, uint32_t fsync_every = 64) {
  return {.name = "writes",
          .jobs = 24,
          .queue_depth = 64,
          .block_bytes = 128 * kKiB,
          .read_share = 0,
          .random = false,
          .fsync_every = fsync_every,
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
  // Of pieces: one that was joined begins where the one before it ended.
  context.Add(policy, workload, "sequential share", "x",
              pieces > 0 ? static_cast<double>(written.merged + written.sequential) / pieces : 0,
              repeat);
}

absl::Status Measure(ScenarioContext& context, BenchArray& array, const std::string& policy,
                     uint32_t repeat) {
  const RunTimes times = context.TimesFor(static_cast<uint32_t>(context.policies.size()) * 2 + 1);
  const uint64_t seed = context.seed + repeat;
  PolicyChoice choice = context.Choice(policy);
  if (policy == "adaptive") {
    choice.options.emplace_back("learn_ms", kLearnMs);
  }
  MDVOL_RETURN_IF_ERROR(array.Switch(choice));
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
  if (!context.quick) {
    before = array.Total();
    MDVOL_ASSIGN_OR_RETURN(const WorkloadResult flushed,
                           RunWorkload(array.array(), Writes(seed, 1), times, context.clock));
    context.AddWorkload(policy, kFlushed, flushed, repeat);
    AddRequests(context, policy, kFlushed, (array.Total() - before).Data().writes, repeat);
  }
  before = array.Total();
  MDVOL_ASSIGN_OR_RETURN(
      const std::vector<WorkloadResult> beside,
      RunTogether(array.array(), {Writes(seed), Reader(seed + 1)}, times, context.clock));
  context.AddWorkload(policy, kBeside, beside[0], repeat);
  context.AddWorkload(policy, kReader, beside[1], repeat);
  AddRequests(context, policy, kBeside, (array.Total() - before).Data().writes, repeat);
  return absl::OkStatus();
}

// What the model says. The reader's time alone is taken from it too: a measured one is longer where
// the machine or the array's own metadata are busy, and would forgive what it must not.
struct Modelled {
  double solo_p99_us = 0;
  double write_share = 0;  // the most that is written beside the reader, to what is written alone
  // Of pieces of a chunk, in the longest requests that leave the reader and the writers their due.
  double joined = 0;
};

DiskModelParameters Model(const ScenarioContext& context) {
  return Stretched(kSsdModel, context.quick ? kQuickStretch : kFullStretch);
}

Modelled PlayModel(const DiskModelParameters& model, uint64_t seed) {
  const double alone = PlayMixedLoad(model, {kMembers, 4, kMiB, false}, seed).write_bytes_per_s;
  const double solo_ns = PlayMixedLoad(model, {kMembers, 0, 0, true}, seed).read_p99_ns;
  const WriteBounds bounds =
      BoundWrites(model, kMembers, kReadLatency * solo_ns, kLeastShare, seed);
  const auto pieces = static_cast<double>(bounds.request_bytes / kChunkBytes);
  return {solo_ns * 1e-3, bounds.write_bytes_per_s / alone, pieces > 0 ? 1 - 1 / pieces : 0};
}

void AddReadRatio(ScenarioContext& context, const std::string& policy, const Modelled& modelled) {
  const std::vector<double> p99_us = context.results.Values(policy, kReader, "latency p99");
  for (uint32_t repeat = 0; repeat < p99_us.size(); ++repeat) {
    context.Add(policy, kReader, "p99 of solo", "x", p99_us[repeat] / modelled.solo_p99_us, repeat);
  }
}

void AddRatios(ScenarioContext& context, const Modelled& modelled) {
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
    context.AddRatio(policy, kAlone, "joined", unlimited, kAlone, "joined of unlimited");
    context.AddRatio(policy, kBeside, "joined", unlimited, kBeside, "joined of unlimited");
    context.AddRatio(policy, kBeside, "throughput", policy, kAlone, "throughput of alone",
                     {.report_value = {}, .bound = modelled.write_share});
    AddReadRatio(context, policy, modelled);
  }
}

// What the default is measured by, and that the reproduction of 6.6 loses with nobody to gain.
void Judge(ScenarioContext& context, const Modelled& modelled) {
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
  demand("T3", "a reader beside writes: p99 of what the model has alone", adaptive, kReader,
         "p99 of solo", kMost, kReadLatency);
  demand("T3", "writes beside a reader, of alone: 0.8 of what the model leaves", adaptive, kBeside,
         "throughput of alone", kLeast, kLeastShare * modelled.write_share);
  demand("T5", "writes that wait for a slot: joined of unlimited", adaptive, kAlone,
         "joined of unlimited", kLeast, 0.95);
  // Beside a reader requests have to be short for his sake: T3 and T5 meet where the model says.
  const double unlimited_joined = context.results.MedianOf(kUnlimited, kBeside, "joined");
  demand("T5", "writes that wait for a reader: joined, 0.95 of unlimited or of the model's bound",
         adaptive, kBeside, "joined", kLeast, 0.95 * std::min(unlimited_joined, modelled.joined));
  demand("T6", "writes alone: sequential requests of unlimited", adaptive, kAlone,
         "sequential of unlimited", kLeast, 0.95);
  demand("T7", "writes alone: p99 of unlimited", adaptive, kAlone, "p99 of unlimited", kMost, 1);
  demand("T7", "writes alone: deviation of unlimited", adaptive, kAlone, "stdev of unlimited",
         kMost, 1);
  demand("6.6", "writes alone: deadline-6.6 is slower than unlimited", kDeadline, kAlone,
         "throughput of unlimited", kMost, 0.95);
  demand("6.6", "writes alone: and its requests are smaller", kDeadline, kAlone,
         "size of unlimited", kMost, 0.8);
}

}  // namespace

absl::Status RunWriteAdmission(ScenarioContext& context) {
  MDVOL_ASSIGN_OR_RETURN(
      const std::unique_ptr<BenchArray> array,
      BenchArray::Make({.members = kMembers, .chunk_bytes = kChunkBytes, .model = Model(context)}));
  MDVOL_RETURN_IF_ERROR(context.ForEachTurn([&](const std::string& policy, uint32_t repeat) {
    return Measure(context, *array, policy, repeat);
  }));
  const Modelled modelled = PlayModel(Model(context), context.seed);
  AddRatios(context, modelled);
  Judge(context, modelled);
  context.verdicts.Contest(context.results, "T1", "writes alone are as fast as under any policy",
                           context.default_policy(), context.policies, kAlone, "throughput",
                           Better::kHigher);
  context.verdicts.Contest(context.results, "T3", "a reader beside writes waits no longer",
                           context.default_policy(), context.policies, kReader, "latency mean",
                           Better::kLower);
  return array->Close();
}

}  // namespace mdvol::bench
