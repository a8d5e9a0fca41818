// write-admission: whether writes that are held back for readers who are not there cost anything,
// and whether a reader beside a flood of writes is served. 24 jobs of sequential writes of 128 KiB
// with a flush after each, alone and beside one random reader. Criteria T1 and T3.

#include <memory>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "tests/bench/scenarios/all.h"

namespace mdvol::bench {
namespace {

constexpr std::string_view kAlone = "writes alone";
constexpr std::string_view kBeside = "writes beside a reader";
constexpr std::string_view kReader = "reader beside writes";

WorkloadSpec Writes(uint64_t seed) {
  return {.name = "writes",
          .jobs = 24,
          .queue_depth = 4,
          .block_bytes = 128 * kKiB,
          .read_share = 0,
          .random = false,
          .fsync_every = 1,
          .length_bytes = 768 * kMiB,
          .own_regions = true,
          .seed = seed};
}

absl::Status MeasureTurn(ScenarioContext& context, BenchArray& array, const std::string& policy,
                         uint32_t repeat) {
  const RunTimes times = context.TimesFor(static_cast<uint32_t>(context.policies.size()) * 2);
  const WorkloadSpec writes = Writes(context.seed + repeat);
  const WorkloadSpec reader{.name = "reader", .seed = context.seed + repeat + 1};
  MDVOL_RETURN_IF_ERROR(array.Switch(context.Choice(policy)));
  MDVOL_ASSIGN_OR_RETURN(const Measurement alone, context.Measure(array, {writes}, times));
  context.AddWorkload(policy, kAlone, alone.loads[0], repeat);
  context.Add(policy, kAlone, "request size", "KiB", alone.MeanWriteBytes() / kKiB, repeat);
  MDVOL_ASSIGN_OR_RETURN(const Measurement both, context.Measure(array, {writes, reader}, times));
  context.AddWorkload(policy, kBeside, both.loads[0], repeat);
  context.AddWorkload(policy, kReader, both.loads[1], repeat);
  return absl::OkStatus();
}

}  // namespace

absl::Status RunWriteAdmission(ScenarioContext& context) {
  MDVOL_ASSIGN_OR_RETURN(const std::unique_ptr<BenchArray> array,
                         BenchArray::Make({.model = kSsdModel}));
  MDVOL_RETURN_IF_ERROR(context.ForEachTurn([&](const std::string& policy, uint32_t repeat) {
    return MeasureTurn(context, *array, policy, repeat);
  }));
  context.verdicts.Contest(context.results, "T1", "writes alone are as fast as under any policy",
                           context.default_policy(), context.policies, kAlone, "throughput",
                           Better::kHigher);
  context.verdicts.Contest(context.results, "T3", "a reader beside writes waits no longer",
                           context.default_policy(), context.policies, kReader, "latency mean",
                           Better::kLower);
  return array->Close();
}

}  // namespace mdvol::bench
