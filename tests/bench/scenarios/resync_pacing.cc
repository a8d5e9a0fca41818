// resync-pacing: what a resync takes from users of the volume, and what it gets done beside them.
//
// Random reads of 4 KiB, one outstanding and 64 jobs, first alone, then during a resync of an array
// that is whole; the resync also alone. Judged are the share of the solo IOPS that is left, and of
// the solo resync rate. Criteria P1 to P3.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"
#include "tests/bench/scenarios/all.h"

namespace mdvol::bench {
namespace {

constexpr std::string_view kNone = "";  // the "policy" of what runs without a resync
constexpr std::string_view kResyncAlone = "resync alone";

WorkloadSpec RandomReads(uint32_t jobs, uint64_t seed) {
  return {.name = jobs == 1 ? "randread 4K, 1 job" : "randread 4K, 64 jobs",
          .jobs = jobs,
          .seed = seed};
}

// `spec` null: the resync alone.
absl::Status MeasureOne(ScenarioContext& context, BenchArray& array, const WorkloadSpec* spec,
                        std::string_view policy, uint32_t repeat) {
  // The resync alone and with each load, for each policy; and each load without a resync.
  const RunTimes times = context.TimesFor(static_cast<uint32_t>(context.policies.size()) * 3 + 2);
  const std::vector<WorkloadSpec> specs =
      spec == nullptr ? std::vector<WorkloadSpec>() : std::vector<WorkloadSpec>{*spec};
  MDVOL_ASSIGN_OR_RETURN(const Measurement measured, context.Measure(array, specs, times));
  const std::string workload = spec == nullptr ? std::string(kResyncAlone) : spec->name;
  if (spec != nullptr) {
    context.AddWorkload(policy, workload, measured.loads[0], repeat);
  }
  if (policy != kNone) {
    context.Add(policy, workload, "resync rate", "MB/s", measured.SyncBytesPerSecond() * 1e-6,
                repeat);
  }
  return absl::OkStatus();
}

absl::Status MeasureTurn(ScenarioContext& context, BenchArray& array, const std::string& policy,
                         uint32_t repeat) {
  const std::vector<WorkloadSpec> loads{RandomReads(1, context.seed + repeat),
                                        RandomReads(64, context.seed + repeat)};
  if (policy == context.default_policy()) {
    for (const WorkloadSpec& load : loads) {
      MDVOL_RETURN_IF_ERROR(MeasureOne(context, array, &load, kNone, repeat));
    }
  }
  MDVOL_RETURN_IF_ERROR(array.Switch(context.Choice(policy)));
  MDVOL_RETURN_IF_ERROR(array.StartSync(SyncAction::kResync));
  MDVOL_RETURN_IF_ERROR(MeasureOne(context, array, nullptr, policy, repeat));
  for (const WorkloadSpec& load : loads) {
    MDVOL_RETURN_IF_ERROR(MeasureOne(context, array, &load, policy, repeat));
  }
  return array.StopSync();
}

void Judge(ScenarioContext& context) {
  for (const uint32_t jobs : {1U, 64U}) {
    const std::string workload = RandomReads(jobs, 0).name;
    for (const std::string& policy : context.policies) {
      context.AddRatio(policy, workload, "iops", kNone, workload, "iops of solo");
      context.AddRatio(policy, workload, "resync rate", policy, kResyncAlone, "resync of solo");
    }
    context.verdicts.Demand(
        jobs == 1 ? "P1" : "P2", workload + " keeps its IOPS during a resync",
        context.results.MedianOf(context.default_policy(), workload, "iops of solo"),
        Relation::kAtLeast, jobs == 1 ? 0.90 : 0.95, "x");
    context.verdicts.Contest(context.results, jobs == 1 ? "P1" : "P2",
                             workload + " keeps as much as under any other policy",
                             context.default_policy(), context.policies, workload, "iops of solo",
                             Better::kHigher);
  }
}

}  // namespace

absl::Status RunResyncPacing(ScenarioContext& context) {
  MDVOL_ASSIGN_OR_RETURN(const std::unique_ptr<BenchArray> array,
                         BenchArray::Make({.model = kSsdModel}));
  MDVOL_RETURN_IF_ERROR(context.ForEachTurn([&](const std::string& policy, uint32_t repeat) {
    return MeasureTurn(context, *array, policy, repeat);
  }));
  Judge(context);
  return array->Close();
}

}  // namespace mdvol::bench
