// How a daemon's life ended, told to those who wait for it (`mdvol stop`), other users included. By
// then the mount is gone, so no file in it can tell, and an exit status reaches the parent alone.
//
// The daemon listens at an abstract UNIX socket, whose name the kernel picks and status.json shows:
// it leaves nothing behind, and cannot be taken by somebody else first. Who wants to know connects
// while the array still runs, so that nothing is missed, and reads one message: the outcome. A
// daemon that dies sends none, and its sockets are closed.

#ifndef MDVOL_FUSE_OUTCOME_H_
#define MDVOL_FUSE_OUTCOME_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/array/array.h"
#include "core/base/unique_fd.h"

namespace mdvol {

// How the array was left.
struct StopOutcome {
  absl::Status status;
  std::string warning;  // of an end that went well: what is to be known of it all the same
};

// Of an array whose Stop has returned `stopped`.
StopOutcome OutcomeOf(const absl::Status& stopped, const Array& array);

// The daemon's side. A thread keeps those who ask and lets go of those who gave up, so that stops
// that were refused fill no queue.
class OutcomeSource {
 public:
  // In the process whose outcome it is: who asks checks the process number.
  static absl::StatusOr<std::unique_ptr<OutcomeSource>> Listen();
  // Who still waits is let go without a word.
  ~OutcomeSource();

  OutcomeSource(const OutcomeSource&) = delete;
  OutcomeSource& operator=(const OutcomeSource&) = delete;

  // For AskForOutcome.
  const std::string& name() const { return name_; }
  // Tells all who have asked. Once, at the end.
  void Tell(const StopOutcome& outcome);

 private:
  OutcomeSource() = default;
  void KeepAskers();
  void EndThread();

  UniqueFd listener_;
  UniqueFd ended_;  // an eventfd: the thread shall end
  std::string name_;
  std::vector<UniqueFd> askers_;  // the thread's while it runs
  std::thread thread_;
};

// A connection to the source `name` of process `pid`; an error when it is not that process.
absl::StatusOr<UniqueFd> AskForOutcome(const std::string& name, pid_t pid);

// Waits until the daemon tells or ends. *outcome gets what was told; an error when that could not
// be learned.
absl::Status AwaitOutcome(const UniqueFd& connection, StopOutcome* outcome);

}  // namespace mdvol

#endif  // MDVOL_FUSE_OUTCOME_H_
