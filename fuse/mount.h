// Mounting: from a configuration to a served mount. Opens and decorates the members, starts the
// array, builds the volume file and the control tree, serves until the mount ends, stops the array.
// The composition root of a daemon: everything below gets what it needs handed in.

#ifndef MDVOL_FUSE_MOUNT_H_
#define MDVOL_FUSE_MOUNT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/array/member_loader.h"
#include "core/config/config.h"
#include "core/device/fault_device.h"
#include "fuse/daemon.h"
#include "policies/registry.h"

namespace mdvol {

// All paths absolute (ResolveMountRequest sees to it), because a daemon leaves its folder.
struct MountRequest {
  Config config;
  std::string mountpoint;
  std::vector<std::string> options;  // as after -o, checked
  std::string log_path;              // empty: syslog, in the foreground standard error
  bool foreground = false;
  std::string version;  // for status.json
  Registry registry;    // with the policies of the plugins, which ResolveMountRequest loads
};

// Members, plugins, log and mountpoint as absolute paths; loads the plugins and checks what can be
// checked before anything is opened. Only while the process has one thread.
absl::StatusOr<MountRequest> ResolveMountRequest(MountRequest request);

// The work of the daemon. Warnings of the start are events too; they also go to standard error
// while the starting command still shows it.
absl::Status ServeMount(const MountRequest& request, const ReportReady& report_ready);

}  // namespace mdvol

#endif  // MDVOL_FUSE_MOUNT_H_
