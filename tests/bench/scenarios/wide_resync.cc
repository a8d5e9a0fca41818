// wide-resync: whether more members make a resync ask for smaller pieces, as a plug of fixed length
// does. A check of a whole array over 4 to 128 members, and what reaches each of them.
//
// The members answer as those of the report do: 10 000 requests of 4 KiB a second, 210 MB/s in
// large ones. So that the machine's own speed does not matter, the more members there are the
// slower time passes for them; rates are given as at full speed.
//
// Criteria M1, M3, M4, M6 and M8; M2 follows from M1. M5 and M7 hold by what is not there: no
// request of a user's passes the policy, and no member's request waits for another member.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/aligned_buffer.h"
#include "core/base/units.h"
#include "core/device/io_batch.h"
#include "tests/bench/frame/measure.h"
#include "tests/bench/scenarios/all.h"

namespace mdvol::bench {
namespace {

constexpr uint64_t kChunkBytes = 512 * kKiB;
constexpr DiskModelParameters kReportDisk{75'000, 8'000'000, 210'000'000, 1};
constexpr double kMachineBytesPerS = 1.2e9;  // that any machine can compare
constexpr std::string_view kExtent = "extent";

std::vector<uint32_t> MemberCounts(bool quick) {
  return quick ? std::vector<uint32_t>{8, 36}
               : std::vector<uint32_t>{4, 8, 16, 17, 32, 33, 36, 64, 65, 128};
}

double StretchOf(uint32_t members) {
  return std::max(
      1.0, members * static_cast<double>(kReportDisk.bandwidth_bytes_per_s) / kMachineBytesPerS);
}

std::string WorkloadOf(uint32_t members) { return SeriesWorkload("check", "members", members); }

// KiB, of the tables of iostat.
std::optional<double> ReportedSize(uint32_t members, std::string_view policy) {
  if (policy == "plug-16") {
    return members == 16   ? std::optional(470.84)
           : members == 17 ? std::optional(4.0)
           : members == 36 ? std::optional(4.13)
                           : std::nullopt;
  }
  return policy == "plug-64" && members == 36 ? std::optional(479.74) : std::nullopt;
}

absl::Status MeasureCheck(ScenarioContext& context, BenchArray& array, const std::string& policy,
                          uint32_t repeat) {
  const auto runs = context.policies.size() * MemberCounts(context.quick).size();
  const RunTimes times = context.TimesFor(static_cast<uint32_t>(runs));
  MDVOL_RETURN_IF_ERROR(array.Switch(context.Choice(policy)));
  MDVOL_RETURN_IF_ERROR(array.StartSync(SyncAction::kCheck));
  MDVOL_ASSIGN_OR_RETURN(const Measurement measured, Measure(array, {}, times, context.clock));
  const Tally reads = measured.members[IoClass::kSync].reads;
  const uint32_t members = measured.live_members;
  const std::string workload = WorkloadOf(members);
  context.Add(policy, workload, "request size", "KiB", reads.MeanBytes() / kKiB, repeat,
              {.report_value = ReportedSize(members, policy), .bound = {}});
  context.Add(policy, workload, "sequential share", "x", reads.SequentialShare(), repeat,
              {.report_value = {}, .bound = 1});
  context.Add(
      policy, workload, "rate per member", "MB/s",
      measured.SyncBytesPerSecond() * 1e-6 * StretchOf(members), repeat,
      {.report_value = {}, .bound = static_cast<double>(kReportDisk.bandwidth_bytes_per_s) * 1e-6});
  return array.StopSync();
}

// ---- M4: what it costs to queue a lane, beside how many members ----

class NullDevice final : public MemberDevice {
 public:
  const std::string& path() const override { return path_; }
  uint64_t size_bytes() const override { return kTiB; }
  uint32_t alignment_bytes() const override { return 1; }
  bool read_only() const override { return false; }
  void Submit(IoRequest& request) override { request.error = 0; }
  void Wait(IoRequest& /*request*/) override {}
  absl::StatusOr<uint64_t> NextData(uint64_t offset_bytes) override { return offset_bytes; }
  absl::StatusOr<uint64_t> NextHole(uint64_t /*offset_bytes*/) override { return kTiB; }

 private:
  const std::string path_ = "null";
};

// Nanoseconds for each lane of windows of 128 lanes of every member, queued as md asks for them: a
// lane of each member in turn.
double QueueingNs(uint32_t members, Clock& clock) {
  constexpr uint64_t kLanes = 128;
  constexpr int kWindows = 40;
  std::vector<NullDevice> devices(members);
  AlignedBuffer buffer(kLaneBytes);
  IoBatch batch;
  double best_ns = 1e9;
  for (int window = 0; window < kWindows; ++window) {
    const uint64_t begin_ns = clock.NowNs();
    batch.Clear();
    for (uint64_t lane = 0; lane < kLanes; ++lane) {
      for (NullDevice& device : devices) {
        batch.AddRead(&device, lane * kLaneBytes, buffer.data(), kLaneBytes);
      }
    }
    batch.Run();
    best_ns = std::min(best_ns, static_cast<double>(clock.NowNs() - begin_ns));
  }
  return best_ns / static_cast<double>(kLanes * members);
}

void MeasureQueueing(ScenarioContext& context) {
  for (uint32_t repeat = 0; repeat < context.repeats; ++repeat) {
    const double few_ns = QueueingNs(4, context.clock);
    const double many_ns = QueueingNs(64, context.clock);
    context.Add(kExtent, SeriesWorkload("queueing", "members", 4), "cost of 4 KiB", "ns", few_ns,
                repeat);
    context.Add(kExtent, SeriesWorkload("queueing", "members", 64), "cost of 4 KiB", "ns", many_ns,
                repeat);
    context.Add(kExtent, "queueing", "64 members to 4", "x", many_ns / few_ns, repeat);
  }
  context.verdicts.Demand("M4", "queueing 4 KiB costs at 64 members what it costs at 4",
                          context.results.MedianOf(kExtent, "queueing", "64 members to 4"),
                          Relation::kAtMost, 1.2, "x");
}

// ---- Verdicts -----------------------------------------------------------------------------------

double MedianAt(const ScenarioContext& context, std::string_view policy, uint32_t members,
                std::string_view metric) {
  return context.results.MedianOf(policy, WorkloadOf(members), metric);
}

// Of the default: large and sequential everywhere, no step from one count to the next.
void JudgeDefault(ScenarioContext& context, const std::vector<uint32_t>& counts) {
  const std::string& policy = context.default_policy();
  const double first_size = MedianAt(context, policy, counts.front(), "request size");
  double least = first_size;
  double least_sequential = 1;
  double least_of_first = 1;
  for (const uint32_t members : counts) {
    const double size = MedianAt(context, policy, members, "request size");
    least = std::min(least, size);
    least_of_first = std::min(least_of_first, size / first_size);
    least_sequential =
        std::min(least_sequential, MedianAt(context, policy, members, "sequential share"));
  }
  auto& verdicts = context.verdicts;
  verdicts.Demand("M1", "mean request size, the least of all", least, Relation::kAtLeast, 256,
                  "KiB");
  verdicts.Demand("M1", "mean request size, the least to that of the fewest members",
                  least_of_first, Relation::kAtLeast, 0.95, "x");
  verdicts.Demand("M3", "rate of a member among 36 to that of one among 8",
                  MedianAt(context, policy, 36, "rate per member") /
                      MedianAt(context, policy, 8, "rate per member"),
                  Relation::kAtLeast, 0.95, "x");
  verdicts.Demand("M6", "requests that follow their predecessor, the least", least_sequential,
                  Relation::kAtLeast, 0.99, "x");
}

// Of the plugs: the cliff is where it was.
void JudgePlug(ScenarioContext& context, std::string_view policy, uint32_t holds,
               const std::vector<uint32_t>& counts) {
  for (const uint32_t members : counts) {
    const double size = MedianAt(context, policy, members, "request size");
    const std::string what = std::string(policy) + ", " + std::to_string(members) + " members";
    if (std::isnan(size)) {
      continue;  // was left out
    }
    context.verdicts.Demand("report", what + ": request size", size,
                            members > holds ? Relation::kAtMost : Relation::kAtLeast,
                            members > holds ? 4.5 : 256, "KiB");
  }
}

}  // namespace

absl::Status RunWideResync(ScenarioContext& context) {
  const std::vector<uint32_t> counts = MemberCounts(context.quick);
  for (const uint32_t members : counts) {
    MDVOL_ASSIGN_OR_RETURN(const std::unique_ptr<BenchArray> array,
                           BenchArray::Make({.members = members,
                                             .chunk_bytes = kChunkBytes,
                                             .model = Stretched(kReportDisk, StretchOf(members))}));
    MDVOL_RETURN_IF_ERROR(context.ForEachTurn([&](const std::string& policy, uint32_t repeat) {
      return MeasureCheck(context, *array, policy, repeat);
    }));
    MDVOL_RETURN_IF_ERROR(array->Close());
    context.verdicts.Contest(context.results, "M3",
                             WorkloadOf(members) + ": no slower than another policy",
                             context.default_policy(), context.policies, WorkloadOf(members),
                             "rate per member", Better::kHigher);
  }
  MeasureQueueing(context);
  JudgeDefault(context, counts);
  JudgePlug(context, "plug-16", 16, counts);
  JudgePlug(context, "plug-64", 64, counts);
  return absl::OkStatus();
}

}  // namespace mdvol::bench
