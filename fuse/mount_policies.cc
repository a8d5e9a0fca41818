// See mount_policies.h.

#include "fuse/mount_policies.h"

#include <cstdint>
#include <optional>
#include <variant>

#include "absl/status/statusor.h"
#include "core/base/status.h"

namespace mdvol {
namespace {

// Options are numbers; yes and no count as 1 and 0.
absl::StatusOr<double> NumberOf(const PolicyOption& option) {
  if (const auto* const flag = std::get_if<bool>(&option.value)) {
    return *flag ? 1.0 : 0.0;
  }
  if (const auto* const whole = std::get_if<int64_t>(&option.value)) {
    return static_cast<double>(*whole);
  }
  if (const auto* const real = std::get_if<double>(&option.value)) {
    return *real;
  }
  return UsageError(option.where + ": " + option.key + ": must be a number, or true or false");
}

}  // namespace

absl::Status SelectPolicies(const PolicyConfig& config, MountPolicies& policies) {
  for (const PolicyOption& option : config.options) {
    MDVOL_ASSIGN_OR_RETURN(const double number, NumberOf(option));
    MDVOL_RETURN_IF_ERROR(
        Annotate(policies.selection.SetOption(option.family, option.policy, option.key, number),
                 option.where));
  }
  for (const PolicyFamilyInfo& info : kPolicyFamilies) {
    const std::optional<PolicyChoice>& choice = config.choices[IndexOf(info.family)];
    if (choice.has_value()) {
      MDVOL_RETURN_IF_ERROR(
          Annotate(policies.selection.Switch(info.family, choice->name), choice->where));
    }
  }
  return absl::OkStatus();
}

}  // namespace mdvol
