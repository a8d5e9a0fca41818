// degraded-read: what sequential reads cost while a member is missing, by block size: member bytes
// read for a byte of the volume, and the throughput. Ten members, chunks of 128 KiB. Criteria D1
// and D2.

#include <array>
#include <memory>
#include <string>

#include "core/base/units.h"
#include "tests/bench/scenarios/all.h"

namespace mdvol::bench {
namespace {

constexpr uint32_t kMembers = 10;
constexpr uint64_t kChunkBytes = 128 * kKiB;
constexpr uint64_t kDataBytes = 256 * kMiB;
constexpr std::array<uint64_t, 3> kBlocks{4 * kKiB, 64 * kKiB, kMiB};

std::string WorkloadOf(uint64_t block_bytes) {
  return SeriesWorkload("sequential read", "block_kib", block_bytes / kKiB);
}

absl::Status MeasureTurn(ScenarioContext& context, BenchArray& array, uint64_t block_bytes,
                         const std::string& policy, uint32_t repeat) {
  const RunTimes times =
      context.TimesFor(static_cast<uint32_t>(context.policies.size() * kBlocks.size()));
  MDVOL_RETURN_IF_ERROR(array.Switch(context.Choice(policy)));
  const WorkloadSpec spec{.name = WorkloadOf(block_bytes),
                          .queue_depth = 4,
                          .block_bytes = block_bytes,
                          .random = false,
                          .length_bytes = kDataBytes,
                          .seed = context.seed + repeat};
  MDVOL_ASSIGN_OR_RETURN(const Measurement measured, context.Measure(array, {spec}, times));
  context.AddWorkload(policy, spec.name, measured.loads[0], repeat);
  context.Add(policy, spec.name, "amplification", "x", measured.ReadAmplification(), repeat,
              {.bound = 1});
  return absl::OkStatus();
}

}  // namespace

absl::Status RunDegradedRead(ScenarioContext& context) {
  MDVOL_ASSIGN_OR_RETURN(
      const std::unique_ptr<BenchArray> array,
      BenchArray::Make({.members = kMembers, .chunk_bytes = kChunkBytes, .member_bytes = kGiB}));
  MDVOL_RETURN_IF_ERROR(array->Fill(kDataBytes, context.seed));
  MDVOL_RETURN_IF_ERROR(array->FailMember(0));
  for (const uint64_t block_bytes : kBlocks) {
    MDVOL_RETURN_IF_ERROR(context.ForEachTurn([&](const std::string& policy, uint32_t repeat) {
      return MeasureTurn(context, *array, block_bytes, policy, repeat);
    }));
    const std::string workload = WorkloadOf(block_bytes);
    context.verdicts.Demand(
        "D1", workload + ": member bytes for a byte of the volume",
        context.results.MedianOf(context.default_policy(), workload, "amplification"),
        Relation::kAtMost, 1.02, "x");
    context.verdicts.Contest(context.results, "D2", workload + " is as fast as under any policy",
                             context.default_policy(), context.policies, workload, "throughput",
                             Better::kHigher);
  }
  return array->Close();
}

}  // namespace mdvol::bench
