// The keys of [policy] and of [policy.options.FAMILY.NAME]. See config_rules.h.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/config/config_rules.h"

namespace mdvol::config_internal {
namespace {

template <PolicyFamily family>
void ReadChoice(const Value& value, PolicyConfig& policy) {
  std::optional<std::string> name;
  value.ReadString(name);
  if (name.has_value() && name->empty()) {
    value.AddError("is empty: name a policy, or leave the key out (mdvol policies lists them)");
  } else if (name.has_value()) {
    policy.choices[IndexOf(family)] = PolicyChoice{*std::move(name), value.Where()};
  }
}

std::optional<PolicyOptionValue> OptionValueOf(const toml::node& node) {
  if (const auto value = node.value_exact<bool>()) return *value;
  if (const auto value = node.value_exact<int64_t>()) return *value;
  if (const auto value = node.value_exact<double>()) return *value;
  if (auto value = node.value_exact<std::string>()) return *std::move(value);
  return std::nullopt;
}

// The keys of one [policy.options.FAMILY.NAME]; what they mean is the policy's word.
void ReadOptionsOfPolicy(const Value& value, PolicyFamily family, std::string_view policy_name,
                         PolicyConfig& policy) {
  const toml::table* const table = value.node().as_table();
  if (table == nullptr) {
    value.AddError("must be a section [policy.options.FAMILY.NAME], not " +
                   std::string(TypeName(value.node())));
    return;
  }
  for (const auto& [key, node] : *table) {
    const Value option(key, node, value.name() + "." + std::string(key.str()), value.document());
    if (auto option_value = OptionValueOf(node); option_value.has_value()) {
      policy.options.push_back({family, std::string(policy_name), std::string(key.str()),
                                *std::move(option_value), option.Where()});
    } else {
      option.AddError("must be a number, a string, true or false, not " +
                      std::string(TypeName(node)));
    }
  }
}

void ReadOptionsOfFamily(const Value& value, PolicyFamily family, PolicyConfig& policy) {
  const toml::table* const table = value.node().as_table();
  if (table == nullptr) {
    value.AddError("must hold sections [policy.options.FAMILY.NAME], not " +
                   std::string(TypeName(value.node())));
    return;
  }
  for (const auto& [key, node] : *table) {
    const Value inner(key, node, value.name() + "." + std::string(key.str()), value.document());
    ReadOptionsOfPolicy(inner, family, key.str(), policy);
  }
}

template <PolicyFamily family>
void ReadFamilyOptions(const Value& value, PolicyConfig& policy) {
  ReadOptionsOfFamily(value, family, policy);
}

template <PolicyFamily family>
constexpr KeyRule<PolicyConfig> kChoiceRule{PolicyFamilyName(family), ReadChoice<family>};
template <PolicyFamily family>
constexpr KeyRule<PolicyConfig> kOptionsRule{PolicyFamilyName(family), ReadFamilyOptions<family>};

constexpr std::array<KeyRule<PolicyConfig>, kPolicyFamilyCount> kOptionFamilies{
    kOptionsRule<PolicyFamily::kDegradedRead>, kOptionsRule<PolicyFamily::kResyncPacing>,
    kOptionsRule<PolicyFamily::kResyncRequest>, kOptionsRule<PolicyFamily::kWriteAdmission>,
    kOptionsRule<PolicyFamily::kParityWorkers>};

void ReadPolicyOptions(const Value& value, PolicyConfig& policy) {
  const toml::table* const table = value.node().as_table();
  if (table == nullptr) {
    value.AddError("must hold sections [policy.options.FAMILY.NAME], not " +
                   std::string(TypeName(value.node())));
    return;
  }
  ReadKeys<PolicyConfig>(*table, value.name(), kOptionFamilies, policy, value.document());
}

constexpr std::array<KeyRule<PolicyConfig>, kPolicyFamilyCount + 2> kPolicyKeys{{
    kChoiceRule<PolicyFamily::kDegradedRead>,
    kChoiceRule<PolicyFamily::kResyncPacing>,
    kChoiceRule<PolicyFamily::kResyncRequest>,
    kChoiceRule<PolicyFamily::kWriteAdmission>,
    kChoiceRule<PolicyFamily::kParityWorkers>,
    {"plugins", [](const Value& value, PolicyConfig& policy) { value.ReadPaths(policy.plugins); }},
    {"options", ReadPolicyOptions},
}};

}  // namespace

void ReadPolicy(const Value& value, PolicyConfig& policy) { ReadTable(value, kPolicyKeys, policy); }

void AddPolicyKeys(std::vector<std::string>& keys) {
  AddKeys("policy", kPolicyKeys, keys);
  keys.back() += ".FAMILY.NAME";  // options, the last one, is no key but a level of sections
}

}  // namespace mdvol::config_internal
