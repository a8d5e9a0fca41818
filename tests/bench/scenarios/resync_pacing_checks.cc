// See resync_pacing_checks.h.

#include "tests/bench/scenarios/resync_pacing_checks.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"

namespace mdvol::bench {
namespace {

constexpr uint64_t kMs = 1'000'000;

class Checks {
 public:
  Checks(ScenarioContext& context, BenchArray& array, const ReactionSpec& spec)
      : context_(context), array_(array), spec_(spec) {}

  absl::Status Run() {
    MDVOL_RETURN_IF_ERROR(array_.Switch(context_.Choice("adaptive")));
    MDVOL_RETURN_IF_ERROR(array_.StartSync(SyncAction::kResync));
    MDVOL_RETURN_IF_ERROR(CheckAlone());
    MDVOL_RETURN_IF_ERROR(CheckReaction());
    MDVOL_RETURN_IF_ERROR(CheckSingleRequests());
    MDVOL_RETURN_IF_ERROR(CheckSpeedMax());
    MDVOL_RETURN_IF_ERROR(CheckSpeedMin());
    return array_.StopSync();
  }

 private:
  std::string Text(const char* what) const { return absl::StrCat(spec_.disk_name, ": ", what); }

  uint64_t DoneBytes() const {
    return array_.Total()[IoClass::kSync].reads.bytes / array_.live_members();
  }
  void Pass(uint64_t ns) { context_.clock.SleepUntil(context_.clock.NowNs() + ns); }
  // Bytes per second and member over this time.
  double RateOver(uint64_t ns) {
    const uint64_t begin_ns = context_.clock.NowNs();
    const uint64_t before = DoneBytes();
    Pass(ns);
    return static_cast<double>(DoneBytes() - before) * 1e9 /
           static_cast<double>(context_.clock.NowNs() - begin_ns);
  }

  absl::Status CheckAlone() {
    Pass(500 * kMs);
    alone_ = RateOver(3000 * kMs);
    context_.verdicts.Demand("P9", Text("resync alone, of the member's bandwidth"),
                             alone_ / spec_.stream_bytes_per_s, Relation::kAtLeast, 0.95, "x");
    return absl::OkStatus();
  }

  absl::Status CheckReaction() {
    std::vector<double> kept;
    std::vector<double> resumed;
    for (uint32_t repeat = 0; repeat < context_.repeats; ++repeat) {
      MDVOL_ASSIGN_OR_RETURN(
          const std::unique_ptr<Workload> load,
          StartWorkload(array_.array(), {.name = "reader", .seed = context_.seed + repeat},
                        context_.clock));
      Pass(100 * kMs);
      load->BeginMeasuring();
      Pass(1000 * kMs);
      load->EndMeasuring();
      kept.push_back(load->Stop().Iops() / spec_.solo_iops);
      Pass(200 * kMs);
      resumed.push_back(RateOver(1000 * kMs) / alone_);
    }
    context_.verdicts.Demand("P5", Text("IOPS of solo, from 100 ms after the first read"),
                             Median(kept), Relation::kAtLeast, spec_.least_of_solo, "x");
    context_.verdicts.Demand("P5", Text("resync of solo, from 200 ms after the last read"),
                             Median(resumed), Relation::kAtLeast, 0.95, "x");
    return absl::OkStatus();
  }

  // One read a second: a tenth of the time goes by with somebody there.
  absl::Status CheckSingleRequests() {
    MDVOL_ASSIGN_OR_RETURN(
        const std::unique_ptr<Workload> load,
        StartWorkload(array_.array(), {.name = "one a second", .think_ns = 1000 * kMs},
                      context_.clock));
    const double rate = RateOver(4000 * kMs);
    load->Stop();
    context_.verdicts.Demand("P7", Text("one read a second is seen: resync of solo"), rate / alone_,
                             Relation::kAtMost, 0.98, "x");
    context_.verdicts.Demand("P7", Text("and not for longer: resync of solo"), rate / alone_,
                             Relation::kAtLeast, 0.80, "x");
    return absl::OkStatus();
  }

  absl::Status CheckSpeedMax() {
    constexpr uint64_t kSpeed = 40 * kMiB;
    constexpr uint64_t kSampleNs = 2 * kMs;
    array_.sync().SetSpeedMax(kSpeed);
    Pass(500 * kMs);
    std::vector<double> deviations;
    uint64_t longest_gap_ns = 0;
    for (uint32_t second = 0; second < context_.repeats; ++second) {
      const uint64_t begin_ns = context_.clock.NowNs();
      const uint64_t before = DoneBytes();
      uint64_t last = before;
      uint64_t last_ns = begin_ns;
      while (context_.clock.NowNs() - begin_ns < 1000 * kMs) {
        Pass(kSampleNs);
        if (DoneBytes() != last) {
          last = DoneBytes();
          last_ns = context_.clock.NowNs();
        }
        longest_gap_ns = std::max(longest_gap_ns, context_.clock.NowNs() - last_ns);
      }
      const double seconds = static_cast<double>(context_.clock.NowNs() - begin_ns) * 1e-9;
      const double rate = static_cast<double>(DoneBytes() - before) / seconds;
      deviations.push_back(std::max(rate / kSpeed, kSpeed / rate) - 1);
    }
    array_.sync().SetSpeedMax(kNoSpeedMax);
    context_.verdicts.Demand("P6", Text("speed_max of 40 MiB/s, missed in a second by"),
                             Median(deviations), Relation::kAtMost, 0.02, "x");
    context_.verdicts.Demand("P6", Text("longest time without a request"),
                             static_cast<double>(longest_gap_ns) * 1e-6, Relation::kAtMost, 50,
                             "ms");
    return absl::OkStatus();
  }

  // With the least share there is, under 64 readers.
  absl::Status CheckSpeedMin() {
    constexpr uint64_t kSpeed = 1000 * kKiB;
    constexpr size_t kSamples = 30;  // in 3 s
    PolicyChoice choice = context_.Choice("adaptive");
    choice.options = {{"latency_share", 0.01}};
    MDVOL_RETURN_IF_ERROR(array_.Switch(choice));
    MDVOL_ASSIGN_OR_RETURN(
        const std::unique_ptr<Workload> load,
        StartWorkload(array_.array(), {.name = "64 readers", .jobs = 64}, context_.clock));
    Pass(1000 * kMs);
    std::vector<uint64_t> done;
    std::vector<uint64_t> at_ns;
    double least = 1e300;
    for (size_t i = 0; i < 3 * kSamples; ++i) {
      done.push_back(DoneBytes());
      at_ns.push_back(context_.clock.NowNs());
      if (i >= kSamples) {
        least = std::min(least, static_cast<double>(done[i] - done[i - kSamples]) * 1e9 /
                                    static_cast<double>(at_ns[i] - at_ns[i - kSamples]));
      }
      Pass(100 * kMs);
    }
    load->Stop();
    context_.verdicts.Demand("P4", Text("least rate over 3 s, beside 64 readers, of speed_min"),
                             least / kSpeed, Relation::kAtLeast, 1, "x");
    choice.options = {{"latency_share", 0.10}};
    return array_.Switch(choice);
  }

  ScenarioContext& context_;
  BenchArray& array_;
  const ReactionSpec& spec_;
  double alone_ = 0;  // bytes per second and member
};

}  // namespace

absl::Status CheckReactions(ScenarioContext& context, BenchArray& array, const ReactionSpec& spec) {
  return Checks(context, array, spec).Run();
}

}  // namespace mdvol::bench
