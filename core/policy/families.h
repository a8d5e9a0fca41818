// The families of policies: which decisions of the engine are open to choice, and what each is
// called. A policy may be wrong about speed, never about bytes: nothing in this list can change
// what is stored. Pure values, no locking.

#ifndef MDVOL_CORE_POLICY_FAMILIES_H_
#define MDVOL_CORE_POLICY_FAMILIES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace mdvol {

enum class PolicyFamily : uint8_t {
  kDegradedRead,
  kResyncPacing,
  kResyncRequest,
  kWriteAdmission,
  kParityWorkers,
};

inline constexpr size_t kPolicyFamilyCount = 5;

struct PolicyFamilyInfo {
  PolicyFamily family;
  std::string_view name;     // as in the configuration, on the command line and under md/policy
  std::string_view decides;  // for people, one line
};

// In the order of the enum, so that a family is its own index.
inline constexpr std::array<PolicyFamilyInfo, kPolicyFamilyCount> kPolicyFamilies{{
    {PolicyFamily::kDegradedRead, "degraded_read",
     "how a read is served while members are missing"},
    {PolicyFamily::kResyncPacing, "resync_pacing",
     "how much of the members a resync takes while others use them"},
    {PolicyFamily::kResyncRequest, "resync_request",
     "in what pieces and order a resync asks the members"},
    {PolicyFamily::kWriteAdmission, "write_admission",
     "how many writes a member is given at once, and which waits"},
    {PolicyFamily::kParityWorkers, "parity_workers", "which threads compute parity"},
}};

constexpr size_t IndexOf(PolicyFamily family) { return static_cast<size_t>(family); }

constexpr std::string_view PolicyFamilyName(PolicyFamily family) {
  return kPolicyFamilies[IndexOf(family)].name;
}

constexpr std::optional<PolicyFamily> FindPolicyFamily(std::string_view name) {
  for (const PolicyFamilyInfo& info : kPolicyFamilies) {
    if (info.name == name) {
      return info.family;
    }
  }
  return std::nullopt;
}

}  // namespace mdvol

#endif  // MDVOL_CORE_POLICY_FAMILIES_H_
