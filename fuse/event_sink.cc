// See event_sink.h. A line is one write(2), so that lines of several threads, and of several
// daemons with one log file, do not mix.

#include "fuse/event_sink.h"

#include <fcntl.h>
#include <pthread.h>
#include <syslog.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
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

// As many as MNT/events keeps.
constexpr size_t kMostWaiting = 4096;

// How long the end of a sink waits for what is still to be written.
constexpr absl::Duration kEndLimit = absl::Seconds(1);

// Events on their way to a sink that may block: a reader that has stopped must not stop the array.
// The thread that writes shares this, and outlives the sink where it is stuck.
class EventQueue {
 public:
  explicit EventQueue(EventLog::Listener write) : write_(std::move(write)) {}

  void Put(const Event& event) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    if (waiting_.size() >= kMostWaiting) {
      ++dropped_;
      return;
    }
    if (dropped_ > 0) {
      waiting_.push_back({event.wall_us, EventLevel::kWarning, "events not logged", "",
                          std::to_string(dropped_) + ": the log has not taken them"});
      dropped_ = 0;
    }
    waiting_.push_back(event);
  }

  // Until End. In the thread of its own.
  void WriteAll() ABSL_LOCKS_EXCLUDED(mutex_) {
    const auto is_awake = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
      return !waiting_.empty() || is_ending_;
    };
    absl::MutexLock lock(&mutex_);
    while (true) {
      mutex_.Await(absl::Condition(&is_awake));
      if (waiting_.empty()) {
        has_ended_ = true;
        return;
      }
      const Event event = std::move(waiting_.front());
      waiting_.pop_front();
      mutex_.Unlock();
      write_(event);
      mutex_.Lock();
    }
  }

  // True when everything has been written.
  bool End() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    is_ending_ = true;
    return mutex_.AwaitWithTimeout(absl::Condition(&has_ended_), kEndLimit);
  }

 private:
  const EventLog::Listener write_;
  absl::Mutex mutex_;
  std::deque<Event> waiting_ ABSL_GUARDED_BY(mutex_);
  size_t dropped_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_ended_ ABSL_GUARDED_BY(mutex_) = false;
};

class QueuedWriter {
 public:
  explicit QueuedWriter(EventLog::Listener write)
      : queue_(std::make_shared<EventQueue>(std::move(write))), thread_([queue = queue_] {
          pthread_setname_np(pthread_self(), "mdvol-events");
          queue->WriteAll();
        }) {}
  ~QueuedWriter() { queue_->End() ? thread_.join() : thread_.detach(); }
  QueuedWriter(const QueuedWriter&) = delete;
  QueuedWriter& operator=(const QueuedWriter&) = delete;

  void Put(const Event& event) { queue_->Put(event); }

 private:
  const std::shared_ptr<EventQueue> queue_;
  std::thread thread_;
};

EventLog::Listener Queued(EventLog::Listener write) {
  try {
    return [writer = std::make_shared<QueuedWriter>(write)](const Event& event) {
      writer->Put(event);
    };
  } catch (const std::system_error&) {
    return write;  // Out of threads: whoever has an event writes it.
  }
}

EventLog::Listener LinesInto(UniqueFd file) {
  return Queued([fd = std::make_shared<UniqueFd>(std::move(file))](const Event& event) {
    WriteLine(fd->get(), event);
  });
}

}  // namespace

EventLog::Listener SyslogSink() {
  ::openlog("mdvol", LOG_PID, LOG_DAEMON);
  return Queued([](const Event& event) {
    ::syslog(PriorityOf(event.level), "%s", FormatEvent(event).c_str());
  });
}

absl::StatusOr<EventLog::Listener> FileSink(const std::string& path) {
  // Not blocking, so that a FIFO that nobody reads is an error; later its reader may be slow.
  UniqueFd opened(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0666));
  if (!opened.valid()) {
    return errno == ENXIO ? ErrnoStatus(ENXIO, path + ": log file: nobody reads this FIFO")
                          : SystemError(errno, path + ": log file");
  }
  if (::fcntl(opened.get(), F_SETFL, O_APPEND) != 0) {
    return SystemError(errno, path + ": log file");
  }
  return LinesInto(std::move(opened));
}

EventLog::Listener StandardErrorSink() {
  // A number of its own: the other is lent to fusermount3 for a while (session.cc).
  return LinesInto(UniqueFd(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)));
}

}  // namespace mdvol
