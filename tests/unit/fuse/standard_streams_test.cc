// Whatever of the numbers 0, 1 and 2 is closed, no file is opened as one of them later.

#include "fuse/standard_streams.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace mdvol {
namespace {

// The bits of `closed` are numbers that are closed first. The exit code says what was wrong.
int OccupyWith(unsigned closed) {
  for (int number = 0; number <= 2; ++number) {
    if ((closed >> number & 1) != 0) {
      ::close(number);
    } else if (::fcntl(number, F_GETFD) == -1) {
      return 1;
    }
  }
  if (!OccupyStandardStreams()) {
    return 2;
  }
  if (::open("/dev/null", O_RDWR) <= 2) {
    return 3;
  }
  for (int number = 0; number <= 2; ++number) {
    if ((closed >> number & 1) == 0) {
      continue;
    }
    // Closed for those who use it, open for those who look for a free number, in children too.
    char byte = 0;
    const ssize_t count = number == 0 ? ::read(number, &byte, 1) : ::write(number, &byte, 1);
    if (count != -1 || errno != EBADF || ::fcntl(number, F_GETFD) != 0) {
      return 4;
    }
  }
  return 0;
}

TEST(StandardStreamsTest, EverySubsetThatIsClosedIsOccupied) {
  for (unsigned closed = 0; closed < 8; ++closed) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::_exit(OccupyWith(closed));
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 0) << closed;
  }
}

}  // namespace
}  // namespace mdvol
