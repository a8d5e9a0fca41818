// How a daemon's end reaches those who wait for it.

#include "fuse/outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "tests/support/fake_array.h"

namespace mdvol {
namespace {

using ::testing::HasSubstr;

size_t CountOpenFiles() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(files), end(files)));
}

StopOutcome UnknownError() { return {ErrnoStatus(EPROTO, "not told"), ""}; }

UniqueFd Ask(const OutcomeSource& source) {
  absl::StatusOr<UniqueFd> connection = AskForOutcome(source.name(), ::getpid());
  EXPECT_TRUE(connection.ok()) << MessageOf(connection.status());
  return connection.ok() ? *std::move(connection) : UniqueFd();
}

TEST(OutcomeTest, AllWhoHaveAskedAreTold) {
  for (const StopOutcome& outcome :
       {StopOutcome(), StopOutcome{absl::OkStatus(), "left dirty: no space"},
        StopOutcome{ErrnoStatus(ENOSPC, "two members: full"), ""},
        StopOutcome{ErrnoStatus(EIO, ""), ""}}) {
    const auto source = OutcomeSource::Listen();
    ASSERT_TRUE(source.ok()) << MessageOf(source.status());
    std::vector<UniqueFd> connections;
    for (int i = 0; i < 100; ++i) {  // More than are kept at once.
      connections.push_back(Ask(**source));
    }
    (*source)->Tell(outcome);
    for (const UniqueFd& connection : connections) {
      StopOutcome told = UnknownError();
      ASSERT_TRUE(AwaitOutcome(connection, &told).ok());
      EXPECT_EQ(ErrnoOf(told.status), ErrnoOf(outcome.status));
      EXPECT_EQ(MessageOf(told.status), MessageOf(outcome.status));
      EXPECT_EQ(told.warning, outcome.warning);
    }
  }
}

TEST(OutcomeTest, ALongReasonArrivesCut) {
  const auto source = OutcomeSource::Listen();
  const UniqueFd connection = Ask(**source);
  (*source)->Tell({ErrnoStatus(EIO, std::string(100'000, 'x')), ""});
  StopOutcome told;
  ASSERT_TRUE(AwaitOutcome(connection, &told).ok());
  EXPECT_EQ(ErrnoOf(told.status), EIO);
  EXPECT_GT(MessageOf(told.status).size(), 4000U);
}

TEST(OutcomeTest, AnEndWithoutAWordIsAnError) {
  auto source = OutcomeSource::Listen();
  const UniqueFd kept = Ask(**source);
  ::usleep(20'000);
  const UniqueFd queued = Ask(**source);
  source->reset();
  StopOutcome told;
  EXPECT_FALSE(AwaitOutcome(kept, &told).ok());
  EXPECT_FALSE(AwaitOutcome(queued, &told).ok());
}

TEST(OutcomeTest, AProcessThatIsKilledTellsNothing) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto source = OutcomeSource::Listen();
    const std::string name = source.ok() ? (*source)->name() : "";
    static_cast<void>(::write(ends[1], name.data(), name.size()) == 0);
    ::pause();
    ::_exit(0);
  }
  std::string name(100, '\0');
  name.resize(static_cast<size_t>(std::max<ssize_t>(0, ::read(ends[0], name.data(), name.size()))));
  const absl::StatusOr<UniqueFd> connection = AskForOutcome(name, child);
  ASSERT_TRUE(connection.ok()) << MessageOf(connection.status());
  EXPECT_EQ(ErrnoOf(AskForOutcome(name, ::getpid()).status()), EPERM);  // Not who it should be.
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  StopOutcome told;
  EXPECT_THAT(MessageOf(AwaitOutcome(*connection, &told)), HasSubstr("without saying how"));
  EXPECT_EQ(ErrnoOf(AskForOutcome(name, child).status()), ECONNREFUSED);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(OutcomeTest, WhoGivesUpTakesNoPlace) {
  const auto source = OutcomeSource::Listen();
  const size_t before = CountOpenFiles();
  for (int i = 0; i < 10'000; ++i) {  // More than the queue holds.
    absl::StatusOr<UniqueFd> connection = AskForOutcome((*source)->name(), ::getpid());
    if (!connection.ok()) {
      ASSERT_EQ(ErrnoOf(connection.status()), EAGAIN);
      ::usleep(1000);
    }
  }
  const UniqueFd last = Ask(**source);
  for (int i = 0; i < 1000 && CountOpenFiles() > before + 2; ++i) {
    ::usleep(1000);
  }
  EXPECT_LE(CountOpenFiles(), before + 2);
  (*source)->Tell(StopOutcome());
  StopOutcome told = UnknownError();
  EXPECT_TRUE(AwaitOutcome(last, &told).ok());
  EXPECT_TRUE(told.status.ok());
}

TEST(OutcomeTest, ANameThatIsNoneIsRefused) {
  EXPECT_EQ(ErrnoOf(AskForOutcome("", ::getpid()).status()), EINVAL);
  EXPECT_EQ(ErrnoOf(AskForOutcome(std::string(108, 'x'), ::getpid()).status()), EINVAL);
}

// What is in doubt for want of space waits for room, not for a resync alone.
TEST(OutcomeTest, DoubtThatAwaitsSpaceAsksForRoom) {
  testing::FakeArray array(std::make_shared<testing::FakeArrayState>());
  array.ChangeSnapshot([](ArraySnapshot& snapshot) { snapshot.dirty = true; });
  array.state().in_doubt = true;
  EXPECT_THAT(OutcomeOf(absl::OkStatus(), array).warning, HasSubstr("await their resync"));
  array.ChangeSnapshot([](ArraySnapshot& snapshot) { snapshot.awaits_space = true; });
  EXPECT_THAT(OutcomeOf(absl::OkStatus(), array).warning, HasSubstr("make room"));
}

}  // namespace
}  // namespace mdvol
