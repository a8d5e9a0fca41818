// Events in a log file, on standard error, in syslog.

#include "fuse/event_sink.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/base/unique_fd.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temporary_folder.h"

namespace {

// What was handed to syslog, as "PRIORITY TEXT", "IDENT FACILITY" first.
std::vector<std::string>& SyslogCalls() {
  static std::vector<std::string> calls;
  return calls;
}

void RecordSyslog(int priority, const char* format, va_list arguments) {
  char text[1000];
  std::vsnprintf(text, sizeof(text), format, arguments);
  SyslogCalls().push_back(std::to_string(priority) + ' ' + text);
}

}  // namespace

// In place of the C library's, under all names that its header may use.
extern "C" {

void openlog(const char* ident, int, int facility) {
  SyslogCalls().push_back(std::string(ident) + ' ' + std::to_string(facility));
}

void syslog(int priority, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  RecordSyslog(priority, format, arguments);
  va_end(arguments);
}

void __syslog_chk(int priority, int, const char* format, ...);
void __syslog_chk(int priority, int, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  RecordSyslog(priority, format, arguments);
  va_end(arguments);
}

}  // extern "C"

namespace mdvol {
namespace {

TEST(EventSinkTest, AFileGetsALinePerEventBehindWhatItHolds) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.Path("log");
  std::ofstream(path) << "before\n";
  testing::FakeClock clock;
  EventLog events(clock);
  absl::StatusOr<EventLog::Listener> sink = FileSink(path);
  ASSERT_TRUE(sink.ok());
  events.SetListener(*std::move(sink));
  events.Add(EventLevel::kInfo, "mounted", "", "/mnt");
  events.Add(EventLevel::kError, "member failed", "d3.img", "write error");
  sink = absl::UnknownError("");
  events.SetListener({});
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::string expected = "before\n";
  for (const Event& event : events.All()) {
    expected += FormatEvent(event) + '\n';
  }
  EXPECT_EQ(text, expected);
}

TEST(EventSinkTest, StandardErrorGetsALinePerEvent) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.Path("err");
  const UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  const UniqueFd saved(::dup(STDERR_FILENO));
  ASSERT_EQ(::dup2(file.get(), STDERR_FILENO), STDERR_FILENO);
  const Event event{1'000'000, EventLevel::kWarning, "member failed", "d3.img", "write error"};
  StandardErrorSink()(event);
  ::dup2(saved.get(), STDERR_FILENO);
  std::ifstream text(path);
  EXPECT_EQ((std::string{std::istreambuf_iterator<char>(text), std::istreambuf_iterator<char>()}),
            FormatEvent(event) + '\n');
}

TEST(EventSinkTest, SyslogGetsLevelsAndTextsAsTheyAre) {
  SyslogCalls().clear();
  EventLog::Listener sink = SyslogSink();
  std::vector<std::string> expected{"mdvol " + std::to_string(LOG_DAEMON)};
  const std::pair<EventLevel, int> levels[] = {{EventLevel::kInfo, LOG_INFO},
                                               {EventLevel::kWarning, LOG_WARNING},
                                               {EventLevel::kError, LOG_ERR}};
  for (const auto& [level, priority] : levels) {
    const Event event{1'000'000, level, "member failed", "100%s%n.img", "50% done"};
    sink(event);
    expected.push_back(std::to_string(priority) + ' ' + FormatEvent(event));
  }
  sink = {};
  EXPECT_EQ(SyslogCalls(), expected);
}

TEST(EventSinkTest, AFifoWhoseReaderHasStoppedHoldsNobody) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.Path("fifo");
  std::signal(SIGPIPE, SIG_IGN);  // As the daemon does.
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(ErrnoOf(FileSink(path).status()), ENXIO);  // Nobody reads at all.
  const UniqueFd reader(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(reader.valid());
  absl::StatusOr<EventLog::Listener> sink = FileSink(path);
  ASSERT_TRUE(sink.ok());
  const Event event{1'000'000, EventLevel::kInfo, "mounted", "", std::string(1000, 'x')};
  for (int i = 0; i < 10'000; ++i) {
    (*sink)(event);
  }
  sink = absl::UnknownError("");  // Nor does its end.
}

TEST(EventSinkTest, WhatWasDroppedIsCounted) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.Path("fifo");
  std::signal(SIGPIPE, SIG_IGN);  // As the daemon does.
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const UniqueFd reader(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  absl::StatusOr<EventLog::Listener> sink = FileSink(path);
  ASSERT_TRUE(sink.ok());
  const Event event{1'000'000, EventLevel::kInfo, "mounted", "", std::string(1000, 'x')};
  for (int i = 0; i < 10'000; ++i) {
    (*sink)(event);
  }
  // From here on it is read; the next event that finds room says what was lost.
  std::string text;
  std::vector<char> buffer(1 << 20);
  for (int tries = 0; tries < 1000 && text.find("events not logged") == std::string::npos;
       ++tries) {
    (*sink)(event);
    ::usleep(1000);
    const ssize_t count = ::read(reader.get(), buffer.data(), buffer.size());
    text.append(buffer.data(), count > 0 ? static_cast<size_t>(count) : 0);
  }
  EXPECT_NE(text.find("events not logged: "), std::string::npos);
  sink = absl::UnknownError("");
}

TEST(EventSinkTest, AFileThatCannotBeOpenedIsNamed) {
  const absl::Status status = FileSink("/no/such/log").status();
  EXPECT_EQ(ErrnoOf(status), ENOENT);
  EXPECT_NE(MessageOf(status).find("/no/such/log"), std::string::npos);
}

}  // namespace
}  // namespace mdvol
