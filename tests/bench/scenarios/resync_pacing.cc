// resync-pacing: what a resync takes from users of the volume, and what it gets done beside them.
//
// Random reads of 4 KiB, one outstanding and 64 jobs, first alone, then during a resync of an array
// that is whole; the resync also alone. Judged are the share of the solo IOPS that is left, and of
// the solo resync rate. Criteria P1 to P3.

#include <memory>
#include <string>

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

// What the sync did to each member in the window, in MB/s.
double SyncRate(const BenchArray& array, const MemberTally& before, double seconds) {
  const MemberTally done = array.Total() - before;
  return static_cast<double>(done[IoClass::kSync].reads.bytes) / array.live_members() / seconds *
         1e-6;
}

absl::Status MeasureResyncAlone(ScenarioContext& context, BenchArray& array, const RunTimes& times,
                                const std::string& policy, uint32_t repeat) {
  const auto pass = [&context](double seconds) {
    context.clock.SleepUntil(context.clock.NowNs() + static_cast<uint64_t>(seconds * 1e9));
  };
  MDVOL_RETURN_IF_ERROR(array.StartSync(SyncAction::kResync));
  pass(times.warmup_seconds);
  const MemberTally before = array.Total();
  const uint64_t begin_ns = context.clock.NowNs();
  pass(times.seconds);
  const double seconds = static_cast<double>(context.clock.NowNs() - begin_ns) * 1e-9;
  context.Add(policy, kResyncAlone, "resync rate", "MB/s", SyncRate(array, before, seconds),
              repeat);
  return array.StopSync();
}

absl::Status MeasureReads(ScenarioContext& context, BenchArray& array, const RunTimes& times,
                          const WorkloadSpec& spec, std::string_view policy, uint32_t repeat) {
  const MemberTally before = array.Total();
  const uint64_t begin_ns = context.clock.NowNs();
  MDVOL_ASSIGN_OR_RETURN(const WorkloadResult result,
                         RunWorkload(array.array(), spec, times, context.clock));
  const double seconds = static_cast<double>(context.clock.NowNs() - begin_ns) * 1e-9;
  context.AddWorkload(policy, spec.name, result, repeat);
  if (policy != kNone) {
    context.Add(policy, spec.name, "resync rate", "MB/s", SyncRate(array, before, seconds), repeat);
  }
  return absl::OkStatus();
}

absl::Status MeasureTurn(ScenarioContext& context, BenchArray& array, const std::string& policy,
                         uint32_t repeat) {
  const RunTimes times = context.TimesFor(static_cast<uint32_t>(context.policies.size()) * 3 + 2);
  MDVOL_RETURN_IF_ERROR(array.Switch(context.Choice(policy)));
  MDVOL_RETURN_IF_ERROR(MeasureResyncAlone(context, array, times, policy, repeat));
  for (const uint32_t jobs : {1U, 64U}) {
    const WorkloadSpec spec = RandomReads(jobs, context.seed + repeat);
    if (policy == context.default_policy()) {
      MDVOL_RETURN_IF_ERROR(MeasureReads(context, array, times, spec, kNone, repeat));
    }
    MDVOL_RETURN_IF_ERROR(array.StartSync(SyncAction::kResync));
    MDVOL_RETURN_IF_ERROR(MeasureReads(context, array, times, spec, policy, repeat));
    MDVOL_RETURN_IF_ERROR(array.StopSync());
  }
  return absl::OkStatus();
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
