// See merge.h.

#include "core/config/merge.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "core/base/status.h"

namespace mdvol {
namespace {

template <typename T>
void Override(std::optional<T>& base, const std::optional<T>& override_value) {
  if (override_value.has_value()) {
    base = override_value;
  }
}

template <typename T>
void Override(std::vector<T>& base, const std::vector<T>& override_list) {
  if (!override_list.empty()) {
    base = override_list;
  }
}

void OverridePolicy(PolicyConfig& base, const PolicyConfig& overrides) {
  for (size_t i = 0; i < base.choices.size(); ++i) {
    Override(base.choices[i], overrides.choices[i]);
  }
  Override(base.plugins, overrides.plugins);
  const auto id_of = [](const PolicyOption& option) {
    return std::tie(option.family, option.policy, option.key);
  };
  for (const PolicyOption& option : overrides.options) {
    const auto same = std::find_if(
        base.options.begin(), base.options.end(),
        [&](const PolicyOption& candidate) { return id_of(candidate) == id_of(option); });
    if (same == base.options.end()) {
      base.options.push_back(option);
    } else {
      *same = option;
    }
  }
}

// A kind and numbers exclude each other, so that who names either replaces the whole model.
void OverrideModel(MemberModelConfig& base, const MemberModelConfig& overrides) {
  const bool has_numbers = overrides.latency_us.has_value() || overrides.seek_us.has_value() ||
                           overrides.bandwidth_bytes.has_value() ||
                           overrides.parallelism.has_value();
  if (overrides.kind.has_value() || has_numbers) {
    base = overrides;
  }
}

}  // namespace

Config MergeConfig(Config base, const Config& overrides) {
  Override(base.array.members, overrides.array.members);
  Override(base.array.read_only, overrides.array.read_only);
  Override(base.array.force, overrides.array.force);
  Override(base.array.run, overrides.array.run);
  Override(base.volume.name, overrides.volume.name);
  Override(base.volume.uid, overrides.volume.uid);
  Override(base.volume.gid, overrides.volume.gid);
  Override(base.volume.mode, overrides.volume.mode);
  Override(base.volume.writeback, overrides.volume.writeback);
  Override(base.io.backend, overrides.io.backend);
  Override(base.io.direct, overrides.io.direct);
  Override(base.io.threads, overrides.io.threads);
  Override(base.cache.stripe_cache_size, overrides.cache.stripe_cache_size);
  OverridePolicy(base.policy, overrides.policy);
  Override(base.sync.speed_min_bytes, overrides.sync.speed_min_bytes);
  Override(base.sync.speed_max_bytes, overrides.sync.speed_max_bytes);
  Override(base.sync.checkpoint_interval_ms, overrides.sync.checkpoint_interval_ms);
  Override(base.sync.repair, overrides.sync.repair);
  OverrideModel(base.member_model, overrides.member_model);
  Override(base.faults, overrides.faults);
  return base;
}

absl::Status CheckConfig(const Config& config) {
  if (config.array.members.empty()) {
    return UsageError("no members: name them before the mountpoint, or in members of [array]");
  }
  return absl::OkStatus();
}

}  // namespace mdvol
