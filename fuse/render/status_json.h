// MNT/status.json: everything that `detail` prints, machine-readable, under keys that stay. The
// form is documented in docs/control-files.md. Pure.

#ifndef MDVOL_FUSE_RENDER_STATUS_JSON_H_
#define MDVOL_FUSE_RENDER_STATUS_JSON_H_

#include <sys/types.h>

#include <string>

#include "core/array/snapshot.h"
#include "core/sync/sync_status.h"
#include "policies/selection.h"

namespace mdvol {

// What is not the array's own.
struct StatusContext {
  pid_t pid = 0;        // of the daemon: `stop` waits for its end
  std::string version;  // mdvol's
  const PolicySelection* policies = nullptr;
  std::string outcome_socket = {};  // where `stop` learns how it ended (outcome.h)
};

// Two blanks of indentation, a newline at the end.
std::string RenderStatusJson(const ArraySnapshot& array, const StatusContext& context,
                             const SyncStatus& sync = {});

}  // namespace mdvol

#endif  // MDVOL_FUSE_RENDER_STATUS_JSON_H_
