// Session: one mount, from mount(2) to unmount, over libfuse's low-level API (3.14 or later).
//
// Order of life: Mount (mounts, negotiates, returns once the kernel has its answer and requests can
// be served), Run (serves until SIGTERM, SIGINT or SIGHUP, or until somebody unmounts), destructor
// (unmounts what is left). Works for root through mount(2) and for everybody else through
// fusermount3. The thread that calls Run waits; requests are carried by workers (worker.h). Nothing
// here ever touches a path below its own mountpoint: a daemon that waits for itself cannot be
// stopped.
//
// Mount must be called after any fork, and with the stop signals blocked in all threads of the
// process (BlockStopSignals).

#ifndef MDVOL_FUSE_SESSION_H_
#define MDVOL_FUSE_SESSION_H_

#include <signal.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/unique_fd.h"
#include "fuse/libfuse.h"
#include "fuse/operations.h"
#include "fuse/tree.h"
#include "fuse/worker.h"

namespace mdvol {

struct SessionOptions {
  std::string mountpoint;            // absolute, an existing folder
  std::string name;                  // shown as the source of the mount: the array's name
  std::vector<std::string> options;  // as after -o, one each
  uint32_t max_threads = 64;
  bool writeback = false;
  Suspension* suspension = nullptr;  // may be null; must outlive the session
};

// SIGTERM, SIGINT and SIGHUP.
sigset_t StopSignals();

// Blocks the stop signals in the calling thread and in those that it starts later, so
// that they wait for Session::Run. SIGPIPE is ignored from now on.
void BlockStopSignals();

class Session {
 public:
  // Errors are one line that names the mountpoint or the option. `tree` must outlive the session.
  static absl::StatusOr<std::unique_ptr<Session>> Mount(const SessionOptions& options, Tree& tree);
  ~Session();

  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Serves. After a stop signal the mount is taken away: at once if nobody uses it, otherwise
  // lazily, and those who still hold files get ENOTCONN. `before_stop` is called when
  // that has been done, while requests are still served: whoever waits for one must end there.
  void Run(const std::function<void()>& before_stop = {});

  // The kernel forgets what it has cached of these bytes of the volume; it may write dirty mapped
  // pages back through us first, so not to be called by a worker. From any thread, as long as the
  // session lives.
  void InvalidateVolume(uint64_t offset_bytes, uint64_t length_bytes);

 private:
  Session(const SessionOptions& options, Tree& tree);
  absl::Status Create();
  absl::Status MountSession();
  absl::Status Connect();
  void Detach();
  bool IsConnected() const;

  const SessionOptions options_;
  OperationsContext context_;
  UniqueFd ended_;  // an eventfd: the workers have ended
  fuse_session* session_ = nullptr;
  std::unique_ptr<WorkerPool> workers_;
};

}  // namespace mdvol

#endif  // MDVOL_FUSE_SESSION_H_
