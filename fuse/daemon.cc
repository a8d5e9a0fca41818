// See daemon.h. What goes through the pipe: "ready", or "USAGE ERRNO MESSAGE" with USAGE 0 or 1, or
// nothing when the child died.

#include "fuse/daemon.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <string>
#include <utility>

#include "core/base/retry.h"
#include "core/base/status.h"
#include "core/base/unique_fd.h"

namespace mdvol {
namespace {

constexpr std::string_view kReady = "ready";

std::string Encode(const absl::Status& status) {
  std::string text = IsUsageError(status) ? "1 " : "0 ";
  return text + std::to_string(ErrnoOf(status)) + ' ' + MessageOf(status);
}

absl::Status Decode(std::string_view text) {
  const size_t blank = text.find(' ', 2);
  int error_number = EIO;
  if (text.size() < 2 || blank == std::string_view::npos) {
    return ErrnoStatus(EIO, text);
  }
  std::from_chars(text.data() + 2, text.data() + blank, error_number);
  const std::string_view message = text.substr(blank + 1);
  return text[0] == '1' ? UsageError(message) : ErrnoStatus(error_number, message);
}

absl::Status WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = RetryOnEintr([&] { return ::write(fd, text.data(), text.size()); });
    if (count < 0) {
      return SystemError(errno, "the command that started the daemon");
    }
    text.remove_prefix(static_cast<size_t>(count));
  }
  return absl::OkStatus();
}

std::string ReadAll(int fd) {
  std::string text;
  std::array<char, 4096> buffer;
  while (true) {
    const ssize_t count = RetryOnEintr([&] { return ::read(fd, buffer.data(), buffer.size()); });
    if (count <= 0) {
      return text;
    }
    text.append(buffer.data(), static_cast<size_t>(count));
  }
}

void LeaveTerminal() {
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (null.valid()) {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      ::dup2(null.get(), fd);
    }
  }
}

[[noreturn]] void RunChild(const DaemonWork& work, UniqueFd pipe, pid_t parent) {
  ::signal(SIGPIPE, SIG_IGN);
  ::setsid();
  // Ctrl-C reaches the command alone; while it waits, its end is ours.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  absl::Status status = ::chdir("/") == 0 ? absl::OkStatus() : SystemError(errno, "/");
  if (::getppid() != parent) {
    status = ErrnoStatus(EINTR, "the command that started the daemon has gone");
  }
  const auto report_ready = [&pipe] {
    ::prctl(PR_SET_PDEATHSIG, 0);
    MDVOL_RETURN_IF_ERROR(WriteAll(pipe.get(), kReady));
    LeaveTerminal();
    pipe.reset();
    return absl::OkStatus();
  };
  if (status.ok()) {
    status = work(report_ready);
  }
  if (!status.ok() && pipe.valid()) {
    static_cast<void>(WriteAll(pipe.get(), Encode(status)));
  }
  // Not exit(): what the parent has registered or buffered is its own.
  ::_exit(status.ok() ? 0 : 1);
}

// The child is gone; it left no word.
absl::Status DescribeDeath(pid_t child) {
  int status = 0;
  RetryOnEintr([&] { return ::waitpid(child, &status, 0); });
  const std::string how = WIFSIGNALED(status)
                              ? "was ended by signal " + std::to_string(WTERMSIG(status))
                              : "ended with exit code " + std::to_string(WEXITSTATUS(status));
  return ErrnoStatus(EIO, "the daemon " + how + " before it was ready");
}

}  // namespace

absl::Status RunInBackground(const DaemonWork& work) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return SystemError(errno, "pipe");
  }
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    return SystemError(errno, "fork");
  }
  if (child == 0) {
    read_end.reset();
    RunChild(work, std::move(write_end), parent);
  }
  write_end.reset();
  const std::string said = ReadAll(read_end.get());
  if (said == kReady) {
    return absl::OkStatus();
  }
  const absl::Status death = DescribeDeath(child);
  return said.empty() ? death : Decode(said);
}

absl::Status RunInForeground(const DaemonWork& work) {
  return work([] { return absl::OkStatus(); });
}

}  // namespace mdvol
