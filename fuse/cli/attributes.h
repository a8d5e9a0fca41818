// What get and set share: a name as the user gives it, to a path below md/.

#ifndef MDVOL_FUSE_CLI_ATTRIBUTES_H_
#define MDVOL_FUSE_CLI_ATTRIBUTES_H_

#include <string>

#include "absl/status/statusor.h"

namespace mdvol {

// "rmw_level" is "md/rmw_level", "policy/resync_pacing" is "md/policy/resync_pacing". A usage error
// for a name that leads out of md/.
absl::StatusOr<std::string> AttributePath(const std::string& name);

}  // namespace mdvol

#endif  // MDVOL_FUSE_CLI_ATTRIBUTES_H_
