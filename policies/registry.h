// The registry: which policies there are. The built-in ones stand in one table, in registry.cc; a
// name that is not there exists only if a plugin has added it (policies/plugin.h), and nothing
// registers itself.
//
// The built-in table is constant. A Registry is filled before the array is put together and only
// read afterwards, from any thread.

#ifndef MDVOL_POLICIES_REGISTRY_H_
#define MDVOL_POLICIES_REGISTRY_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "core/policy/families.h"
#include "core/policy/policy.h"

namespace mdvol {

struct PolicyEntry {
  PolicyFamily family;
  std::string_view name;
  std::string_view summary;  // what it does, one line
  std::span<const PolicyOptionInfo> options;
  // As many numbers as there are options, each within its bounds. What it makes is of the family's
  // own class: see Entry below.
  std::unique_ptr<Policy> (*make)(PolicyNumbers numbers);

  // The index of the option.
  std::optional<size_t> FindOption(std::string_view option_name) const;
};

// The entry of a policy class that has a constructor from PolicyNumbers and is of a family's class.
template <typename Kind>
constexpr PolicyEntry Entry(std::string_view name, std::string_view summary,
                            std::span<const PolicyOptionInfo> options = {}) {
  return {Kind::kFamily, name, summary, options,
          [](PolicyNumbers numbers) -> std::unique_ptr<Policy> {
            return std::make_unique<Kind>(numbers);
          }};
}

// Ordered by family; the first of a family is its default.
std::span<const PolicyEntry> BuiltInPolicies();

class Registry {
 public:
  // The built-in policies.
  Registry();

  // Behind those that the family has. Strings and options must outlive the registry. EEXIST for a
  // name that the family has, EINVAL for an entry that breaks the rules of PolicyOptionInfo or has
  // no name; nothing is added then.
  absl::Status Add(const PolicyEntry& entry);

  // The entries of one family; never empty, and the first is the default.
  std::span<const PolicyEntry> Of(PolicyFamily family) const;

  // Null when the family has no policy of that name.
  const PolicyEntry* Find(PolicyFamily family, std::string_view name) const;

  // "bypass, stripe-cache": for messages.
  std::string Names(PolicyFamily family) const;

 private:
  std::vector<PolicyEntry> entries_[kPolicyFamilyCount];
};

}  // namespace mdvol

#endif  // MDVOL_POLICIES_REGISTRY_H_
