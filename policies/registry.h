// The registry: the one table of all policies. A name that is not in it does not exist; nothing
// registers itself. Constant data, safe from any thread.

#ifndef MDVOL_POLICIES_REGISTRY_H_
#define MDVOL_POLICIES_REGISTRY_H_

#include <span>
#include <string>
#include <string_view>

#include "core/policy/families.h"

namespace mdvol {

struct PolicyEntry {
  PolicyFamily family;
  std::string_view name;
  std::string_view summary;  // what it does, one line
};

// Ordered by family; the first of a family is its default.
std::span<const PolicyEntry> AllPolicies();

// The entries of one family; never empty.
std::span<const PolicyEntry> PoliciesOf(PolicyFamily family);

// Null when the family has no policy of that name.
const PolicyEntry* FindPolicy(PolicyFamily family, std::string_view name);

// "bypass, stripe-cache": for messages.
std::string PolicyNames(PolicyFamily family);

}  // namespace mdvol

#endif  // MDVOL_POLICIES_REGISTRY_H_
