// See probe.h. The child's word is one write to a pipe: "+", or "-" and a message. Without it the
// child counts as broken, however it ended.

#include "policies/probe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "core/base/retry.h"
#include "core/base/status.h"
#include "core/base/unique_fd.h"

namespace mdvol {
namespace {

// Neither its words nor the system's about its end are for the user, who gets ours.
void GoQuiet() {
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::dup2(null.get(), fd);
  }
  ::prctl(PR_SET_DUMPABLE, 0);
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) {
    ::signal(signal, SIG_DFL);
  }
}

// noexcept: what is thrown ends the child here and is not caught by some caller of the parent's,
// who would then go on twice.
[[noreturn]] void RunChild(const std::function<absl::Status()>& work, int word_fd,
                           pid_t parent) noexcept {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) {
    ::_exit(1);
  }
  GoQuiet();
  const absl::Status status = work();
  std::string word = status.ok() ? "+" : "-" + MessageOf(status);
  word.resize(std::min<size_t>(word.size(), PIPE_BUF));
  static_cast<void>(!::write(word_fd, word.data(), word.size()));
  ::_exit(0);
}

std::string HowItEnded(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return "crashes when it is loaded (signal " + std::to_string(signal) + ", " +
           ::strsignal(signal) + ")";
  }
  return "ends the process when it is loaded (exit code " + std::to_string(WEXITSTATUS(status)) +
         ")";
}

// Ends the child and whatever it has started; returns how it ended if it had before.
int End(pid_t child) {
  // Its own group by now, or not yet.
  if (::kill(-child, SIGKILL) != 0) {
    ::kill(child, SIGKILL);
  }
  int status = 0;
  RetryOnEintr([&] { return ::waitpid(child, &status, 0); });
  return status;
}

}  // namespace

absl::Status RunInProbe(const std::function<absl::Status()>& work, int limit_ms) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return SystemError(errno, "pipe");
  }
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    return SystemError(errno, "fork");
  }
  if (child == 0) {
    RunChild(work, write_end.get(), parent);
  }
  ::setpgid(child, child);  // Whoever comes first.
  write_end.reset();
  pollfd word{read_end.get(), POLLIN, 0};
  const int ready = RetryOnEintr([&] { return ::poll(&word, 1, limit_ms); });
  std::array<char, PIPE_BUF> buffer;
  const ssize_t length =
      ready <= 0 ? 0 : RetryOnEintr([&] { return ::read(word.fd, buffer.data(), buffer.size()); });
  const int ended = End(child);
  if (length > 0 && buffer[0] == '+') {
    return absl::OkStatus();
  }
  if (length > 0) {
    return UsageError(std::string_view(buffer.data() + 1, static_cast<size_t>(length) - 1));
  }
  if (ready <= 0) {
    return UsageError("hangs when it is loaded (more than " + std::to_string(limit_ms) +
                      " ms): mend it");
  }
  return UsageError(HowItEnded(ended) + ": mend it, or rebuild it");
}

}  // namespace mdvol
