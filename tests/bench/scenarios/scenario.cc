// See scenario.h.

#include "tests/bench/scenarios/scenario.h"

#include <algorithm>

namespace mdvol::bench {
namespace {

// What a quick run spends on windows; the rest is for making arrays and starting threads.
constexpr double kQuickWindowShare = 0.6;

constexpr double kUsPerNs = 1e-3;

}  // namespace

RunTimes ScenarioContext::TimesFor(uint32_t runs) const {
  if (!quick) {
    return times;
  }
  const double each =
      kQuickSeconds * kQuickWindowShare / static_cast<double>(std::max(1U, runs * repeats));
  const double seconds = std::min(times.seconds, each * 0.8);
  return {seconds / 4, seconds};
}

absl::Status ScenarioContext::ForEachTurn(
    const std::function<absl::Status(const std::string&, uint32_t)>& body) const {
  for (uint32_t repeat = 0; repeat < repeats; ++repeat) {
    for (size_t i = 0; i < policies.size(); ++i) {
      MDVOL_RETURN_IF_ERROR(body(policies[(i + repeat) % policies.size()], repeat));
    }
  }
  return absl::OkStatus();
}

void ScenarioContext::Add(std::string_view policy, std::string_view workload,
                          std::string_view metric, std::string_view unit, double value,
                          uint32_t repeat, const Beside& beside) {
  results.Add({scenario, std::string(policy), std::string(workload), std::string(metric),
               std::string(unit), value, repeat, beside.report_value, beside.bound});
}

void ScenarioContext::AddWorkload(std::string_view policy, std::string_view workload,
                                  const WorkloadResult& result, uint32_t repeat) {
  const auto add = [&](std::string_view metric, std::string_view unit, double value) {
    Add(policy, workload, metric, unit, value, repeat);
  };
  const LatencyHistogram latency = result.Latency();
  add("iops", "1/s", result.Iops());
  add("throughput", "MB/s", result.BytesPerSecond() * 1e-6);
  add("latency mean", "us", latency.MeanNs() * kUsPerNs);
  add("latency stdev", "us", latency.StdevNs() * kUsPerNs);
  add("latency p50", "us", static_cast<double>(latency.QuantileNs(0.5)) * kUsPerNs);
  add("latency p99", "us", static_cast<double>(latency.QuantileNs(0.99)) * kUsPerNs);
  add("latency max", "us", static_cast<double>(latency.max_ns()) * kUsPerNs);
  if (result.flushes.requests != 0) {
    add("flush p99", "us", static_cast<double>(result.flushes.latency.QuantileNs(0.99)) * kUsPerNs);
  }
}

void ScenarioContext::AddRatio(std::string_view policy, std::string_view workload,
                               std::string_view metric, std::string_view base_policy,
                               std::string_view base_workload, std::string_view ratio_metric,
                               const Beside& beside) {
  const auto find = [&](std::string_view of_policy, std::string_view of_workload,
                        uint32_t repeat) -> std::optional<double> {
    for (const Record& record : results.records()) {
      if (record.repeat == repeat && record.policy == of_policy && record.workload == of_workload &&
          record.metric == metric) {
        return record.value;
      }
    }
    return std::nullopt;
  };
  for (uint32_t repeat = 0; repeat < repeats; ++repeat) {
    const std::optional<double> value = find(policy, workload, repeat);
    const std::optional<double> base = find(base_policy, base_workload, repeat);
    if (value.has_value() && base.has_value() && *base > 0) {
      Add(policy, workload, ratio_metric, "x", *value / *base, repeat, beside);
    }
  }
}

}  // namespace mdvol::bench
