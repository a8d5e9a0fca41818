// See selection.h.

#include "policies/selection.h"

#include <string>

#include "core/base/status.h"

namespace mdvol {
namespace {

std::string FamilyNames() {
  std::string names;
  for (const PolicyFamilyInfo& info : kPolicyFamilies) {
    names += names.empty() ? "" : ", ";
    names += info.name;
  }
  return names;
}

}  // namespace

PolicySelection::PolicySelection() {
  for (const PolicyFamilyInfo& info : kPolicyFamilies) {
    active_[IndexOf(info.family)] = &PoliciesOf(info.family).front();
  }
}

absl::Status PolicySelection::Switch(PolicyFamily family, std::string_view name) {
  const PolicyEntry* const entry = FindPolicy(family, name);
  if (entry == nullptr) {
    return UsageError("policy " + std::string(PolicyFamilyName(family)) + ": '" +
                      std::string(name) + "' is unknown: use " + PolicyNames(family));
  }
  absl::MutexLock lock(&mutex_);
  active_[IndexOf(family)] = entry;
  return absl::OkStatus();
}

absl::Status PolicySelection::Switch(std::string_view family_name, std::string_view name) {
  const auto family = FindPolicyFamily(family_name);
  if (!family.has_value()) {
    return UsageError("policy family '" + std::string(family_name) + "' is unknown: use one of " +
                      FamilyNames());
  }
  return Switch(*family, name);
}

absl::Status PolicySelection::SwitchByAssignment(std::string_view assignment) {
  const size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    return UsageError("policy '" + std::string(assignment) +
                      "': write FAMILY=NAME, as in degraded_read=bypass");
  }
  return Switch(assignment.substr(0, equals), assignment.substr(equals + 1));
}

std::string_view PolicySelection::Active(PolicyFamily family) const {
  absl::MutexLock lock(&mutex_);
  return active_[IndexOf(family)]->name;
}

std::string PolicySelection::Describe(PolicyFamily family) const {
  const std::string_view active = Active(family);
  std::string text;
  for (const PolicyEntry& entry : PoliciesOf(family)) {
    const bool is_active = entry.name == active;
    text += text.empty() ? "" : " ";
    text += is_active ? "[" : "";
    text += entry.name;
    text += is_active ? "]" : "";
  }
  return text;
}

}  // namespace mdvol
