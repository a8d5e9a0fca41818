// Where events go while they happen: syslog, a file, or standard error in the foreground. Each
// makes a listener for EventLog; listeners may be called from several threads at once.
//
// A listener never blocks: a thread of the sink's own writes, and when thousands of events wait for
// a log whose reader has stopped, further ones are dropped and counted. The end of a listener waits
// a second at most for what is still to be written.

#ifndef MDVOL_FUSE_EVENT_SINK_H_
#define MDVOL_FUSE_EVENT_SINK_H_

#include <string>

#include "absl/status/statusor.h"
#include "core/array/events.h"

namespace mdvol {

// As facility daemon, identified as "mdvol" with the process number. Process-wide: one at a time.
EventLog::Listener SyslogSink();

// Appends a line per event; the file is made when missing. The error names the path; ENXIO for a
// FIFO that nobody reads.
absl::StatusOr<EventLog::Listener> FileSink(const std::string& path);

EventLog::Listener StandardErrorSink();

}  // namespace mdvol

#endif  // MDVOL_FUSE_EVENT_SINK_H_
