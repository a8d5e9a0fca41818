// StartupGuard: while it lives, a stop signal ends the process at once. Between the first member
// that is opened and the mount there is nothing to unmount and nothing that a crash could not
// interrupt, but perhaps a resync of hours to sit through. A guard needs BlockStopSignals before
// it.

#ifndef MDVOL_FUSE_STARTUP_GUARD_H_
#define MDVOL_FUSE_STARTUP_GUARD_H_

#include <thread>

#include "absl/status/statusor.h"
#include "core/base/unique_fd.h"

namespace mdvol {

class StartupGuard {
 public:
  StartupGuard();
  // From here on stop signals wait for Session::Run.
  ~StartupGuard();

  StartupGuard(const StartupGuard&) = delete;
  StartupGuard& operator=(const StartupGuard&) = delete;

 private:
  void Watch() const;

  const UniqueFd done_;  // an eventfd
  std::thread watcher_;
};

}  // namespace mdvol

#endif  // MDVOL_FUSE_STARTUP_GUARD_H_
