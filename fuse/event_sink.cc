// See event_sink.h. A line is one write(2), so that lines of several threads, and of several
// daemons with one log file, do not mix.

#include "fuse/event_sink.h"

#include <fcntl.h>
#include <syslog.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "core/base/retry.h"
#include "core/base/status.h"
#include "core/base/unique_fd.h"

namespace mdvol {
namespace {

int PriorityOf(EventLevel level) {
  switch (level) {
    case EventLevel::kInfo:
      return LOG_INFO;
    case EventLevel::kWarning:
      return LOG_WARNING;
    case EventLevel::kError:
      return LOG_ERR;
  }
  return LOG_ERR;
}

// A log that cannot be written (its disk is full) must not stop the array.
void WriteLine(int fd, const Event& event) {
  const std::string line = FormatEvent(event) + '\n';
  static_cast<void>(RetryOnEintr([&] { return ::write(fd, line.data(), line.size()); }));
}

}  // namespace

EventLog::Listener SyslogSink() {
  ::openlog("mdvol", LOG_PID, LOG_DAEMON);
  return [](const Event& event) {
    ::syslog(PriorityOf(event.level), "%s", FormatEvent(event).c_str());
  };
}

absl::StatusOr<EventLog::Listener> FileSink(const std::string& path) {
  UniqueFd opened(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!opened.valid()) {
    return SystemError(errno, path + ": log file");
  }
  return [fd = std::make_shared<UniqueFd>(std::move(opened))](const Event& event) {
    WriteLine(fd->get(), event);
  };
}

EventLog::Listener StandardErrorSink() {
  return [](const Event& event) { WriteLine(STDERR_FILENO, event); };
}

}  // namespace mdvol
