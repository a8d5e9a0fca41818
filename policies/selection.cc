// See selection.h.

#include "policies/selection.h"

#include <charconv>
#include <cmath>
#include <memory>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
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

std::string OptionNames(const PolicyEntry& entry) {
  std::string names;
  for (const PolicyOptionInfo& option : entry.options) {
    names += names.empty() ? "" : ", ";
    names += option.name;
  }
  return names.empty() ? "none" : names;
}

// The shortest form that reads back as the same number.
std::string NumberText(double value) {
  char text[32];
  const std::to_chars_result result = std::to_chars(text, text + sizeof(text), value);
  return std::string(text, result.ptr);
}

// "policy degraded_read adaptive"
std::string Named(const PolicyEntry& entry) {
  return absl::StrCat("policy ", std::string(PolicyFamilyName(entry.family)), " ",
                      std::string(entry.name));
}

template <typename Family>
std::shared_ptr<Family> MakeOf(const PolicyEntry& entry, PolicyNumbers numbers) {
  return std::shared_ptr<Family>(static_cast<Family*>(entry.make(numbers).release()));
}

}  // namespace

PolicySelection::PolicySelection(const Registry& registry, PolicySet& set)
    : registry_(registry), set_(set) {
  absl::MutexLock lock(&mutex_);
  for (const PolicyFamilyInfo& info : kPolicyFamilies) {
    choices_[IndexOf(info.family)].active = &registry_.Of(info.family).front();
    Install(info.family);
  }
}

void PolicySelection::Install(PolicyFamily family) {
  const Choice& choice = choices_[IndexOf(family)];
  const PolicyEntry& entry = *choice.active;
  const std::vector<double> numbers = NumbersOf(choice, entry);
  switch (family) {
    case PolicyFamily::kDegradedRead:
      return set_.degraded_read.Set(MakeOf<DegradedRead>(entry, numbers));
    case PolicyFamily::kResyncPacing:
      return set_.resync_pacing.Set(MakeOf<ResyncPacing>(entry, numbers));
    case PolicyFamily::kResyncRequest:
      return set_.resync_request.Set(MakeOf<ResyncRequest>(entry, numbers));
    case PolicyFamily::kWriteAdmission:
      return set_.write_admission.Set(MakeOf<WriteAdmission>(entry, numbers));
    case PolicyFamily::kParityWorkers:
      return set_.parity_workers.Set(MakeOf<ParityWorkers>(entry, numbers));
  }
}

std::vector<double> PolicySelection::NumbersOf(const Choice& choice,
                                               const PolicyEntry& entry) const {
  if (const auto set = choice.numbers.find(entry.name); set != choice.numbers.end()) {
    return set->second;
  }
  std::vector<double> numbers;
  for (const PolicyOptionInfo& option : entry.options) {
    numbers.push_back(option.standard);
  }
  return numbers;
}

absl::Status PolicySelection::Switch(PolicyFamily family, std::string_view name) {
  const PolicyEntry* const entry = registry_.Find(family, name);
  if (entry == nullptr) {
    return UsageError("policy " + std::string(PolicyFamilyName(family)) + ": '" +
                      std::string(name) + "' is unknown: use " + registry_.Names(family));
  }
  absl::MutexLock lock(&mutex_);
  Choice& choice = choices_[IndexOf(family)];
  if (choice.active != entry) {
    choice.active = entry;
    Install(family);
  }
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
  return choices_[IndexOf(family)].active->name;
}

std::string PolicySelection::Describe(PolicyFamily family) const {
  const std::string_view active = Active(family);
  std::string text;
  for (const PolicyEntry& entry : registry_.Of(family)) {
    const bool is_active = entry.name == active;
    text += text.empty() ? "" : " ";
    text += is_active ? "[" : "";
    text += entry.name;
    text += is_active ? "]" : "";
  }
  return text;
}

absl::Status PolicySelection::SetNumber(Choice& choice, const PolicyEntry& entry,
                                        std::string_view option, double value) {
  const std::optional<size_t> index = entry.FindOption(option);
  if (!index.has_value()) {
    return UsageError(absl::StrCat(Named(entry), ": option '", std::string(option),
                                   "' is unknown: it has ", OptionNames(entry)));
  }
  const PolicyOptionInfo& info = entry.options[*index];
  const bool is_fraction = info.is_whole && value != std::floor(value);
  if (!(value >= info.least && value <= info.most) || is_fraction) {
    return UsageError(absl::StrCat(Named(entry), ": ", info.name, " = ", NumberText(value),
                                   " is not ", info.is_whole ? "a whole number " : "", "between ",
                                   NumberText(info.least), " and ", NumberText(info.most)));
  }
  std::vector<double> numbers = NumbersOf(choice, entry);
  numbers[*index] = value;
  choice.numbers[entry.name] = std::move(numbers);
  return absl::OkStatus();
}

absl::Status PolicySelection::SetOption(PolicyFamily family, std::string_view policy,
                                        std::string_view option, double value) {
  const PolicyEntry* const entry = registry_.Find(family, policy);
  if (entry == nullptr) {
    return UsageError("policy " + std::string(PolicyFamilyName(family)) + ": '" +
                      std::string(policy) + "' is unknown: use " + registry_.Names(family));
  }
  absl::MutexLock lock(&mutex_);
  Choice& choice = choices_[IndexOf(family)];
  MDVOL_RETURN_IF_ERROR(SetNumber(choice, *entry, option, value));
  if (choice.active == entry) {
    Install(family);
  }
  return absl::OkStatus();
}

absl::Status PolicySelection::SetActiveOption(PolicyFamily family, std::string_view option,
                                              std::string_view text) {
  double value = 0;
  if (!absl::SimpleAtod(absl::string_view(text.data(), text.size()), &value)) {
    return UsageError(absl::StrCat("'", std::string(text), "' is not a number"));
  }
  absl::MutexLock lock(&mutex_);
  Choice& choice = choices_[IndexOf(family)];
  MDVOL_RETURN_IF_ERROR(SetNumber(choice, *choice.active, option, value));
  Install(family);
  return absl::OkStatus();
}

std::vector<std::pair<std::string_view, std::string>> PolicySelection::ActiveOptions(
    PolicyFamily family) const {
  absl::MutexLock lock(&mutex_);
  const Choice& choice = choices_[IndexOf(family)];
  const std::vector<double> numbers = NumbersOf(choice, *choice.active);
  std::vector<std::pair<std::string_view, std::string>> options;
  for (size_t i = 0; i < numbers.size(); ++i) {
    options.emplace_back(choice.active->options[i].name, NumberText(numbers[i]));
  }
  return options;
}

}  // namespace mdvol
