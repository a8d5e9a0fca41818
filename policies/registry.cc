// See registry.h. Each entry says what the engine does under that name, not what it is meant for.

#include "policies/registry.h"

#include <algorithm>
#include <array>
#include <string>

namespace mdvol {
namespace {

constexpr std::array<PolicyEntry, 5> kPolicies{{
    {PolicyFamily::kDegradedRead, "bypass",
     "reads only what was asked for; a lost chunk is rebuilt from the same bytes of the survivors"},
    {PolicyFamily::kResyncPacing, "unthrottled",
     "goes as fast as the members allow, whatever else they are asked for"},
    {PolicyFamily::kResyncRequest, "extent",
     "one large request to each member per window, all members side by side"},
    {PolicyFamily::kWriteAdmission, "unlimited", "every write goes to the members at once"},
    {PolicyFamily::kParityWorkers, "inline",
     "the thread that carries a write computes its parity; no thread of its own"},
}};

}  // namespace

std::span<const PolicyEntry> AllPolicies() { return kPolicies; }

std::span<const PolicyEntry> PoliciesOf(PolicyFamily family) {
  const auto is_of_family = [family](const PolicyEntry& entry) { return entry.family == family; };
  const auto first = std::find_if(kPolicies.begin(), kPolicies.end(), is_of_family);
  const auto last = std::find_if_not(first, kPolicies.end(), is_of_family);
  return {first, last};
}

const PolicyEntry* FindPolicy(PolicyFamily family, std::string_view name) {
  for (const PolicyEntry& entry : PoliciesOf(family)) {
    if (entry.name == name) {
      return &entry;
    }
  }
  return nullptr;
}

std::string PolicyNames(PolicyFamily family) {
  std::string names;
  for (const PolicyEntry& entry : PoliciesOf(family)) {
    names += names.empty() ? "" : ", ";
    names += entry.name;
  }
  return names;
}

}  // namespace mdvol
