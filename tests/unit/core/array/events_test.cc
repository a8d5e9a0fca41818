// Tests of the event log: what a line looks like, what is kept, who is told.

#include "core/array/events.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/support/fake_clock.h"

namespace mdvol {
namespace {

using testing::FakeClock;

constexpr uint64_t kNoonUs = 1'769'860'800'000'000;  // 2026-01-31 12:00:00 UTC

TEST(FormatEventTest, HasTimeWhatMemberAndWhy) {
  EXPECT_EQ(FormatEvent({kNoonUs + 42, EventLevel::kError, "member failed", "d3.img",
                         "write error at 4096"}),
            "2026-01-31T12:00:00.000042Z member failed d3.img: write error at 4096");
}

TEST(FormatEventTest, LeavesOutWhatIsEmpty) {
  EXPECT_EQ(FormatEvent({kNoonUs, EventLevel::kInfo, "array dirty", "", ""}),
            "2026-01-31T12:00:00.000000Z array dirty");
  EXPECT_EQ(FormatEvent({kNoonUs, EventLevel::kInfo, "array started", "", "degraded by 1"}),
            "2026-01-31T12:00:00.000000Z array started: degraded by 1");
  EXPECT_EQ(FormatEvent({kNoonUs, EventLevel::kInfo, "member added", "d3.img", ""}),
            "2026-01-31T12:00:00.000000Z member added d3.img");
  EXPECT_EQ(FormatEvent({0, EventLevel::kInfo, "x", "", ""}), "1970-01-01T00:00:00.000000Z x");
}

TEST(FormatEventTest, StaysOneLineWhateverAFileIsCalled) {
  EXPECT_EQ(FormatEvent({kNoonUs, EventLevel::kInfo, "member added", "a\nb\x1b[2J", "c\td"}),
            "2026-01-31T12:00:00.000000Z member added a?b?[2J: c?d");
  EXPECT_EQ(FormatEvent({kNoonUs, EventLevel::kInfo, "member added", "é", ""}),
            "2026-01-31T12:00:00.000000Z member added é");
}

TEST(EventLogTest, KeepsEventsInOrderWithTheTimeOfTheClock) {
  FakeClock clock;
  EventLog log(clock);
  log.Add(EventLevel::kInfo, "first", "a", "why");
  clock.Advance(5'000'000);
  log.Add(EventLevel::kError, "second", "", "");
  const std::vector<Event> events = log.All();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].what, "first");
  EXPECT_EQ(events[0].member, "a");
  EXPECT_EQ(events[0].why, "why");
  EXPECT_EQ(events[0].level, EventLevel::kInfo);
  EXPECT_EQ(events[0].wall_us, FakeClock::kStartWallUs);
  EXPECT_EQ(events[1].what, "second");
  EXPECT_EQ(events[1].level, EventLevel::kError);
  EXPECT_EQ(events[1].wall_us, FakeClock::kStartWallUs + 5'000);
}

TEST(EventLogTest, DropsTheOldestBeyondItsCapacity) {
  FakeClock clock;
  EventLog log(clock, 3);
  for (const char* const what : {"1", "2", "3", "4", "5"}) {
    log.Add(EventLevel::kInfo, what, "", "");
  }
  const std::vector<Event> events = log.All();
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].what, "3");
  EXPECT_EQ(events[2].what, "5");
}

TEST(EventLogTest, TellsTheListenerAndLetsItUseTheLog) {
  FakeClock clock;
  EventLog log(clock);
  log.Add(EventLevel::kInfo, "before", "", "");
  std::vector<std::string> heard;
  // All() inside the listener would deadlock if a lock were held around it.
  log.SetListener(
      [&](const Event& event) { heard.push_back(event.what + std::to_string(log.All().size())); });
  log.Add(EventLevel::kInfo, "during", "", "");
  log.SetListener(nullptr);
  log.Add(EventLevel::kInfo, "after", "", "");
  EXPECT_EQ(heard, std::vector<std::string>{"during2"});
  EXPECT_EQ(log.All().size(), 3U);
}

TEST(EventLogTest, TakesEventsFromManyThreads) {
  FakeClock clock;
  EventLog log(clock, 10'000);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&log, i] {
      for (int round = 0; round < 250; ++round) {
        log.Add(EventLevel::kInfo, std::to_string(i), "", std::to_string(round));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::vector<int> next(4, 0);
  for (const Event& event : log.All()) {
    EXPECT_EQ(event.why,
              std::to_string(next.at(std::stoul(event.what))++));  // each thread in order
  }
  EXPECT_EQ(next, std::vector<int>(4, 250));
}

}  // namespace
}  // namespace mdvol
