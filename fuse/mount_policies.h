// What a mount has of policies: which there are, which are active, and what they make. Filled
// before the array starts; the selection is thread-safe afterwards.

#ifndef MDVOL_FUSE_MOUNT_POLICIES_H_
#define MDVOL_FUSE_MOUNT_POLICIES_H_

#include <utility>

#include "absl/status/status.h"
#include "core/config/config.h"
#include "core/policy/policy_set.h"
#include "policies/registry.h"
#include "policies/selection.h"

namespace mdvol {

struct MountPolicies {
  explicit MountPolicies(Registry all) : registry(std::move(all)) {}

  const Registry registry;
  PolicySet set;
  PolicySelection selection{registry, set};
};

// Does what [policy], [policy.options] and --policy say. A usage error names the place where an
// unknown name or a value out of bounds stands.
absl::Status SelectPolicies(const PolicyConfig& config, MountPolicies& policies);

}  // namespace mdvol

#endif  // MDVOL_FUSE_MOUNT_POLICIES_H_
