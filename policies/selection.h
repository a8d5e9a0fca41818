// PolicySelection: which policy of each family is active. Switched while the array runs, by
// configuration, command line or md/policy/FAMILY. Thread-safe; every read sees one consistent
// name, and names have static lifetime.

#ifndef MDVOL_POLICIES_SELECTION_H_
#define MDVOL_POLICIES_SELECTION_H_

#include <array>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "core/policy/families.h"
#include "policies/registry.h"

namespace mdvol {

class PolicySelection {
 public:
  // Every family starts with its default.
  PolicySelection();

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

 private:
  mutable absl::Mutex mutex_;
  std::array<const PolicyEntry*, kPolicyFamilyCount> active_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mdvol

#endif  // MDVOL_POLICIES_SELECTION_H_
