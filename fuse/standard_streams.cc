// See standard_streams.h.

#include "fuse/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>

namespace mdvol {

bool OccupyStandardStreams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(number, F_GETFD) != -1) {
      continue;
    }
    // The lowest free number is this one, as those below it are taken. Without O_CLOEXEC: programs
    // that are run from here need it as much.
    const int mode = number == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (errno != EBADF || ::open("/dev/null", mode) != number) {
      return false;
    }
  }
  return true;
}

}  // namespace mdvol
