// Stop signals before and after the start.

#include "fuse/startup_guard.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuse/session.h"

namespace mdvol {
namespace {

// Runs `work` in a child with the stop signals blocked; returns what waitpid says of its end.
template <typename Work>
int StatusOf(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    BlockStopSignals();
    work();
    ::_exit(0);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST(StartupGuardTest, AStopSignalEndsTheProcessWhileItStarts) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    const int status = StatusOf([signal] {
      const StartupGuard guard;
      ::kill(::getpid(), signal);
      ::pause();
    });
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 1);
  }
}

TEST(StartupGuardTest, AfterwardsTheSignalWaits) {
  EXPECT_EQ(StatusOf([] {
              { const StartupGuard guard; }
              ::kill(::getpid(), SIGTERM);
              sigset_t pending;
              ::sigpending(&pending);
              ::_exit(sigismember(&pending, SIGTERM) == 1 ? 0 : 2);
            }),
            0);
}

}  // namespace
}  // namespace mdvol
