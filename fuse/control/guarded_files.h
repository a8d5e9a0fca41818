// GuardedFiles: control files whose reading cannot end the daemon. What it takes to show a text
// allocates and formats, and throws when memory is short or when we have made a mistake there; the
// array is sound all the same, and users' data must not be out of reach for the sake of a text. The
// reader gets EIO (ENOMEM when that is what it is) and the event log says why, once for each reason
// in a row.
//
// Storing is passed on as it is: an exception in the middle of a change leaves the array in a state
// that nobody knows, and then a crash, which every array survives, is better. Thread-safe.

#ifndef MDVOL_FUSE_CONTROL_GUARDED_FILES_H_
#define MDVOL_FUSE_CONTROL_GUARDED_FILES_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "core/array/events.h"
#include "fuse/control/control_files.h"

namespace mdvol {

class GuardedFiles final : public ControlFiles {
 public:
  // Both must outlive it.
  GuardedFiles(ControlFiles& files, EventLog& events) : files_(files), events_(events) {}

  absl::StatusOr<ControlEntry> Find(std::string_view path) const override;
  absl::StatusOr<std::vector<ControlEntry>> List(std::string_view path) const override;
  absl::StatusOr<std::string> Show(std::string_view path) const override;
  absl::Status Store(std::string_view path, std::string_view value) override;

 private:
  absl::Status Tell(int error_number, std::string_view path, const char* why) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  ControlFiles& files_;
  EventLog& events_;
  mutable absl::Mutex mutex_;
  mutable std::string last_told_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mdvol

#endif  // MDVOL_FUSE_CONTROL_GUARDED_FILES_H_
