// Going to the background: the outcome reaches the caller, whatever it is.

#include "fuse/daemon.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <string>

#include "core/base/status.h"

namespace mdvol {
namespace {

// A pipe that tells what a daemon says after its start.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe(ends_.data()), 0); }
  ~Pipe() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }

  void Say(const std::string& text) const {
    EXPECT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  // Of the first `size` bytes; a daemon that says less ends the test by its time limit.
  std::string Hear(size_t size) const {
    std::string text(size, '\0');
    EXPECT_EQ(::read(ends_[0], text.data(), size), static_cast<ssize_t>(size));
    return text;
  }

 private:
  std::array<int, 2> ends_{};
};

// For a process that is no child of ours; whoever inherits it may never wait for it.
bool IsAlive(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  return std::getline(file, line) && line.find(") Z ") == std::string::npos;
}

TEST(DaemonTest, ReturnsWhenTheWorkIsReadyAndTheWorkGoesOn) {
  const Pipe go;
  const Pipe said;
  const absl::Status status = RunInBackground([&](const ReportReady& report_ready) {
    MDVOL_RETURN_IF_ERROR(report_ready());
    said.Say(go.Hear(2));
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok());
  go.Say("ok");
  EXPECT_EQ(said.Hear(2), "ok");
  int exit_status = 0;
  ::wait(&exit_status);
  EXPECT_EQ(exit_status, 0);
}

TEST(DaemonTest, IsInASessionOfItsOwnInTheRootFolderWithoutATerminal) {
  const Pipe said;
  ASSERT_TRUE(RunInBackground([&](const ReportReady& report_ready) {
                MDVOL_RETURN_IF_ERROR(report_ready());
                std::array<char, 4096> folder{};
                std::array<char, 4096> output{};
                const bool is_leader = ::getsid(0) == ::getpid();
                const bool is_root = ::getcwd(folder.data(), folder.size()) != nullptr &&
                                     std::string(folder.data()) == "/";
                const ssize_t size =
                    ::readlink("/proc/self/fd/1", output.data(), output.size() - 1);
                const bool is_null = size > 0 && std::string(output.data()) == "/dev/null";
                said.Say(std::string(is_leader ? "1" : "0") + (is_root ? "1" : "0") +
                         (is_null ? "1" : "0"));
                return absl::OkStatus();
              }).ok());
  EXPECT_EQ(said.Hear(3), "111");
  ::wait(nullptr);
}

TEST(DaemonTest, AFailureReachesTheShellWithItsReason) {
  const absl::Status status = RunInBackground(
      [](const ReportReady&) { return ErrnoStatus(EBUSY, "d0.img: in use: stop it first"); });
  EXPECT_EQ(ErrnoOf(status), EBUSY);
  EXPECT_EQ(MessageOf(status), "d0.img: in use: stop it first");
  EXPECT_FALSE(IsUsageError(status));
}

TEST(DaemonTest, AUsageErrorStaysOne) {
  const absl::Status status =
      RunInBackground([](const ReportReady&) { return UsageError("a.toml:3:1: no such key"); });
  EXPECT_TRUE(IsUsageError(status));
  EXPECT_EQ(MessageOf(status), "a.toml:3:1: no such key");
}

TEST(DaemonTest, AnEndWithoutAWordIsAFailure) {
  const absl::Status killed = RunInBackground([](const ReportReady&) {
    ::raise(SIGKILL);
    return absl::OkStatus();
  });
  EXPECT_NE(MessageOf(killed).find("signal 9"), std::string::npos) << MessageOf(killed);
  const absl::Status ended = RunInBackground([](const ReportReady&) { return absl::OkStatus(); });
  EXPECT_NE(MessageOf(ended).find("exit code 0"), std::string::npos) << MessageOf(ended);
}

TEST(DaemonTest, AWorkThatIsNotReadyEndsWithItsCommand) {
  const Pipe said;
  const pid_t command = ::fork();
  if (command == 0) {
    static_cast<void>(RunInBackground([&](const ReportReady&) {
      const std::string pid = std::to_string(::getpid()) + std::string(16, ' ');
      said.Say(pid.substr(0, 16));
      ::pause();
      return absl::OkStatus();
    }));
    ::_exit(0);
  }
  const pid_t daemon = std::stoi(said.Hear(16));
  ::kill(command, SIGKILL);
  ::waitpid(command, nullptr, 0);
  while (IsAlive(daemon)) {
    ::usleep(1000);
  }
}

TEST(DaemonTest, AnInterruptedCommandIsToldToTheWork) {
  const Pipe go;
  const Pipe said;
  const pid_t command = ::fork();
  if (command == 0) {
    static_cast<void>(RunInBackground([&](const ReportReady& report_ready) {
      ::signal(SIGTERM, SIG_IGN);  // As if it came too late.
      go.Hear(2);
      said.Say(report_ready().ok() ? "ready" : "alone");
      return absl::OkStatus();
    }));
    ::_exit(0);
  }
  ::usleep(50'000);
  ::kill(command, SIGKILL);
  ::waitpid(command, nullptr, 0);
  go.Say("ok");
  EXPECT_EQ(said.Hear(5), "alone");
}

TEST(DaemonTest, InTheForegroundTheWorkIsDoneWhenItReturns) {
  bool was_ready = false;
  EXPECT_TRUE(RunInForeground([&](const ReportReady& report_ready) {
                was_ready = report_ready().ok();
                return absl::OkStatus();
              }).ok());
  EXPECT_TRUE(was_ready);
  EXPECT_EQ(ErrnoOf(RunInForeground([](const ReportReady&) { return ErrnoStatus(EIO, "x"); })),
            EIO);
}

}  // namespace
}  // namespace mdvol
