// EventLog: what happened to the array, a line each: time, what, member, why. Kept in memory for
// MNT/events (bounded: the oldest go first) and handed to one listener (syslog, a log file).
// Thread-safe; the listener is called without a lock held, possibly from several threads at once.

#ifndef MDVOL_CORE_ARRAY_EVENTS_H_
#define MDVOL_CORE_ARRAY_EVENTS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "core/base/clock.h"

namespace mdvol {

enum class EventLevel : uint8_t { kInfo, kWarning, kError };

struct Event {
  uint64_t wall_us = 0;
  EventLevel level = EventLevel::kInfo;
  std::string what;    // a word or two: "member failed", "array dirty"
  std::string member;  // its name, or empty
  std::string why;
};

// "2026-01-31T12:00:00.000000Z member failed d3.img: write error …", without a newline.
std::string FormatEvent(const Event& event);

class EventLog {
 public:
  using Listener = std::function<void(const Event&)>;

  explicit EventLog(Clock& clock, size_t capacity = 4096) : clock_(clock), capacity_(capacity) {}

  void SetListener(Listener listener) ABSL_LOCKS_EXCLUDED(mutex_);
  void Add(EventLevel level, std::string what, std::string member, std::string why)
      ABSL_LOCKS_EXCLUDED(mutex_);
  std::vector<Event> All() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  Clock& clock_;
  const size_t capacity_;
  mutable absl::Mutex mutex_;
  std::deque<Event> events_ ABSL_GUARDED_BY(mutex_);
  Listener listener_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mdvol

#endif  // MDVOL_CORE_ARRAY_EVENTS_H_
