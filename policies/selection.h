// PolicySelection: which policy of each family is active, and with what options. Switched while the
// array runs, by configuration, command line or md/policy; puts what it makes into the array's
// PolicySet. Thread-safe; every read sees one consistent state.
//
// Options are remembered for each policy of each family, active or not: a switch away and back
// keeps them. Setting one of the active policy makes that policy anew.

#ifndef MDVOL_POLICIES_SELECTION_H_
#define MDVOL_POLICIES_SELECTION_H_

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "core/policy/families.h"
#include "core/policy/policy_set.h"
#include "policies/registry.h"

namespace mdvol {

class PolicySelection {
 public:
  // Every family starts with its default. Both must outlive the selection.
  PolicySelection(const Registry& registry, PolicySet& set);
  PolicySelection(const PolicySelection&) = delete;
  PolicySelection& operator=(const PolicySelection&) = delete;

  // EINVAL (a usage error) for a name that the family does not have; the message lists those it
  // has.
  absl::Status Switch(PolicyFamily family, std::string_view name) ABSL_LOCKS_EXCLUDED(mutex_);
  // As above for a family given by name ("degraded_read"), which may be unknown too.
  absl::Status Switch(std::string_view family_name, std::string_view name)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // "FAMILY=NAME", as --policy takes it.
  absl::Status SwitchByAssignment(std::string_view assignment) ABSL_LOCKS_EXCLUDED(mutex_);

  std::string_view Active(PolicyFamily family) const ABSL_LOCKS_EXCLUDED(mutex_);

  // All names of the family, the active one in brackets, as md/policy/FAMILY reads: "[bypass]
  // other".
  std::string Describe(PolicyFamily family) const ABSL_LOCKS_EXCLUDED(mutex_);

  // ---- Options: EINVAL (a usage error) for an unknown policy or option, or a value out of bounds
  // --

  absl::Status SetOption(PolicyFamily family, std::string_view policy, std::string_view option,
                         double value) ABSL_LOCKS_EXCLUDED(mutex_);
  // Of the active policy, as written to md/policy/FAMILY.KEY.
  absl::Status SetActiveOption(PolicyFamily family, std::string_view option, std::string_view text)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Names and values of the active policy's options, in the order in which it declares them.
  std::vector<std::pair<std::string_view, std::string>> ActiveOptions(PolicyFamily family) const
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Choice {
    const PolicyEntry* active = nullptr;
    std::map<std::string_view, std::vector<double>> numbers;  // by policy; the standard if absent
  };

  absl::Status SetNumber(Choice& choice, const PolicyEntry& entry, std::string_view option,
                         double value) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<double> NumbersOf(const Choice& choice, const PolicyEntry& entry) const
      ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  // Makes the active policy of the family and puts it into the set.
  void Install(PolicyFamily family) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Registry& registry_;
  PolicySet& set_;
  mutable absl::Mutex mutex_;
  std::array<Choice, kPolicyFamilyCount> choices_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mdvol

#endif  // MDVOL_POLICIES_SELECTION_H_
