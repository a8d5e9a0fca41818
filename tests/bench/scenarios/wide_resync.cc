// wide-resync: whether more members make a resync ask for smaller pieces, as a plug of fixed length
// does. A check of a whole array, over few and over many members, and what reaches each of them.
// Criteria M1 and M3.

#include <memory>
#include <string>

#include "core/base/units.h"
#include "tests/bench/scenarios/all.h"

namespace mdvol::bench {
namespace {

constexpr uint64_t kChunkBytes = 512 * kKiB;
constexpr uint32_t kFew = 8;
constexpr uint32_t kMany = 36;
// What 36 members of 180 MB/s deliver is more than a small machine can compare.
constexpr double kStretch = 4;

std::string WorkloadOf(uint32_t members) { return SeriesWorkload("check", "members", members); }

absl::Status Measure(ScenarioContext& context, BenchArray& array, const std::string& policy,
                     uint32_t repeat) {
  const RunTimes times = context.TimesFor(static_cast<uint32_t>(context.policies.size()) * 2);
  const auto pass = [&context](double seconds) {
    context.clock.SleepUntil(context.clock.NowNs() + static_cast<uint64_t>(seconds * 1e9));
  };
  MDVOL_RETURN_IF_ERROR(array.Switch(context.Choice(policy)));
  MDVOL_RETURN_IF_ERROR(array.StartSync(SyncAction::kCheck));
  pass(times.warmup_seconds);
  const MemberTally before = array.Total();
  const uint64_t begin_ns = context.clock.NowNs();
  pass(times.seconds);
  const Tally reads = (array.Total() - before)[IoClass::kSync].reads;
  const double seconds = static_cast<double>(context.clock.NowNs() - begin_ns) * 1e-9;
  const uint32_t members = array.live_members();
  const std::string workload = WorkloadOf(members);
  context.Add(policy, workload, "request size", "KiB", reads.MeanBytes() / kKiB, repeat);
  context.Add(policy, workload, "sequential share", "x", reads.SequentialShare(), repeat,
              {.bound = 1});
  context.Add(policy, workload, "rate per member", "MB/s",
              static_cast<double>(reads.bytes) / members / seconds * 1e-6, repeat);
  return array.StopSync();
}

}  // namespace

absl::Status RunWideResync(ScenarioContext& context) {
  for (const uint32_t members : {kFew, kMany}) {
    MDVOL_ASSIGN_OR_RETURN(const std::unique_ptr<BenchArray> array,
                           BenchArray::Make({.members = members,
                                             .chunk_bytes = kChunkBytes,
                                             .model = Stretched(kHddModel, kStretch)}));
    MDVOL_RETURN_IF_ERROR(context.ForEachTurn([&](const std::string& policy, uint32_t repeat) {
      return Measure(context, *array, policy, repeat);
    }));
    MDVOL_RETURN_IF_ERROR(array->Close());
    context.verdicts.Demand(
        "M1", WorkloadOf(members) + ": mean size of a request",
        context.results.MedianOf(context.default_policy(), WorkloadOf(members), "request size"),
        Relation::kAtLeast, 256, "KiB");
    context.verdicts.Contest(context.results, "M3",
                             WorkloadOf(members) + ": no slower than another policy",
                             context.default_policy(), context.policies, WorkloadOf(members),
                             "rate per member", Better::kHigher);
  }
  return absl::OkStatus();
}

}  // namespace mdvol::bench
