// See events.h.

#include "core/array/events.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <string>
#include <utility>

namespace mdvol {
namespace {

constexpr uint64_t kUsPerSecond = 1'000'000;

std::string FormatWallTime(uint64_t wall_us) {
  const auto seconds = static_cast<time_t>(wall_us / kUsPerSecond);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 64> date{};
  std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::array<char, 16> fraction{};
  std::snprintf(fraction.data(), fraction.size(), ".%06uZ",
                static_cast<unsigned>(wall_us % kUsPerSecond));
  return std::string(date.data()) + fraction.data();
}

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

}  // namespace

std::string FormatEvent(const Event& event) {
  std::string line = FormatWallTime(event.wall_us);
  line += ' ';
  line += event.what;
  if (!event.member.empty()) {
    line += ' ';
    line += event.member;
  }
  if (!event.why.empty()) {
    line += ": ";
    line += event.why;
  }
  // A file may be called anything: an event stays one line, whatever terminal shows it.
  std::replace_if(line.begin(), line.end(), IsControl, '?');
  return line;
}

void EventLog::SetListener(Listener listener) {
  absl::MutexLock lock(&mutex_);
  listener_ = std::move(listener);
}

void EventLog::Add(EventLevel level, std::string what, std::string member, std::string why) {
  const Event event{clock_.WallUs(), level, std::move(what), std::move(member), std::move(why)};
  Listener listener;
  {
    absl::MutexLock lock(&mutex_);
    events_.push_back(event);
    while (events_.size() > capacity_) {
      events_.pop_front();
    }
    listener = listener_;
  }
  if (listener) {
    listener(event);
  }
}

std::vector<Event> EventLog::All() const {
  absl::MutexLock lock(&mutex_);
  return {events_.begin(), events_.end()};
}

}  // namespace mdvol
