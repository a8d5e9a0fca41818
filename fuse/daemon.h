// Daemon: going to the background without losing the outcome. The child does the work, the parent
// waits until the child says that it is ready or why it is not, and returns that to the shell.
//
// The fork comes first, before any thread, lock or open file that matters; a process that already
// runs threads must not call this. Paths must be absolute by then: a daemon leaves its folder.

#ifndef MDVOL_FUSE_DAEMON_H_
#define MDVOL_FUSE_DAEMON_H_

#include <functional>

#include "absl/status/status.h"

namespace mdvol {

// Called by the work when others may rely on it. An error means that nobody waits any more (the
// command was interrupted): then the work undoes what it did and returns the error. A work that has
// not come so far gets SIGTERM when the command ends.
using ReportReady = std::function<absl::Status()>;

// Runs to the end of the daemon's life.
using DaemonWork = std::function<absl::Status(const ReportReady& report_ready)>;

// OK once the work has reported that it is ready: it goes on in the child, in a session of its own,
// in the root folder, its standard streams at /dev/null. Otherwise the work's error, with its errno
// and kind.
absl::Status RunInBackground(const DaemonWork& work);

// In this process, returning when the work has ended.
absl::Status RunInForeground(const DaemonWork& work);

}  // namespace mdvol

#endif  // MDVOL_FUSE_DAEMON_H_
