// Events in a log file.

#include "fuse/event_sink.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "core/base/status.h"
#include "tests/support/fake_clock.h"

namespace mdvol {
namespace {

TEST(EventSinkTest, AFileGetsALinePerEventBehindWhatItHolds) {
  const std::string path = ::testing::TempDir() + "event_sink_test.log";
  std::ofstream(path) << "before\n";
  testing::FakeClock clock;
  EventLog events(clock);
  absl::StatusOr<EventLog::Listener> sink = FileSink(path);
  ASSERT_TRUE(sink.ok());
  events.SetListener(*std::move(sink));
  events.Add(EventLevel::kInfo, "mounted", "", "/mnt");
  events.Add(EventLevel::kError, "member failed", "d3.img", "write error");
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::string expected = "before\n";
  for (const Event& event : events.All()) {
    expected += FormatEvent(event) + '\n';
  }
  EXPECT_EQ(text, expected);
  std::filesystem::remove(path);
}

TEST(EventSinkTest, AFileThatCannotBeOpenedIsNamed) {
  const absl::Status status = FileSink("/no/such/log").status();
  EXPECT_EQ(ErrnoOf(status), ENOENT);
  EXPECT_NE(MessageOf(status).find("/no/such/log"), std::string::npos);
}

}  // namespace
}  // namespace mdvol
