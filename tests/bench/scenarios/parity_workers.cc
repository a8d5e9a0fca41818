// parity-workers: whether threads that compute parity for others help or hurt: 60 users who write
// files of less than 4 KiB and wait for each to be durable, and one who writes full stripes.
// Criteria C1 and C5.

#include <memory>
#include <string>

#include "core/base/units.h"
#include "tests/bench/scenarios/all.h"

namespace mdvol::bench {
namespace {

constexpr uint32_t kMembers = 8;
constexpr uint64_t kChunkBytes = 64 * kKiB;

WorkloadSpec SmallFiles(uint64_t seed) {
  return {.name = "small files",
          .jobs = 60,
          .read_share = 0,
          .fsync_every = 1,
          .length_bytes = 64 * kMiB,
          .seed = seed};
}

WorkloadSpec FullStripes(uint64_t seed) {
  return {.name = "full stripes",
          .block_bytes = (kMembers - 2) * kChunkBytes,
          .read_share = 0,
          .random = false,
          .length_bytes = 384 * kMiB,
          .seed = seed};
}

absl::Status Measure(ScenarioContext& context, BenchArray& array, const WorkloadSpec& spec,
                     const std::string& policy, uint32_t repeat) {
  const RunTimes times = context.TimesFor(static_cast<uint32_t>(context.policies.size()) * 2);
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
  const uint64_t seed = context.seed + repeat;
  MDVOL_RETURN_IF_ERROR(Measure(context, array, SmallFiles(seed), policy, repeat));
  return Measure(context, array, FullStripes(seed), policy, repeat);
}

}  // namespace

absl::Status RunParityWorkers(ScenarioContext& context) {
  MDVOL_ASSIGN_OR_RETURN(
      const std::unique_ptr<BenchArray> array,
      BenchArray::Make({.members = kMembers, .chunk_bytes = kChunkBytes, .member_bytes = kGiB}));
  MDVOL_RETURN_IF_ERROR(context.ForEachTurn([&](const std::string& policy, uint32_t repeat) {
    return MeasureTurn(context, *array, policy, repeat);
  }));
  for (const WorkloadSpec& spec : {SmallFiles(0), FullStripes(0)}) {
    context.verdicts.Contest(context.results, "C1", spec.name + " are as fast as under any policy",
                             context.default_policy(), context.policies, spec.name, "iops",
                             Better::kHigher);
  }
  return array->Close();
}

}  // namespace mdvol::bench
