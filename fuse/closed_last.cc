// See closed_last.h.

#include "fuse/closed_last.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>

namespace mdvol {
namespace {

// Room for others that are moved up there.
constexpr int kPlaces = 16;
// A limit may be a billion; the kernel's table of descriptors grows with the highest number.
constexpr rlim_t kHighest = 4096;

}  // namespace

std::vector<int> OpenSockets() {
  std::vector<int> sockets;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc/self/fd", error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename();
    int descriptor = -1;
    std::from_chars(name.data(), name.data() + name.size(), descriptor);
    struct stat status = {};
    if (::fstat(descriptor, &status) == 0 && S_ISSOCK(status.st_mode)) {
      sockets.push_back(descriptor);
    }
  }
  std::sort(sockets.begin(), sockets.end());
  return sockets;
}

void CloseLast(int descriptor) {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return;
  }
  const int lowest = static_cast<int>(std::min(limit.rlim_cur, kHighest)) - kPlaces;
  const int flags = ::fcntl(descriptor, F_GETFD);
  if (lowest <= descriptor || flags < 0) {
    return;
  }
  const int command = (flags & FD_CLOEXEC) != 0 ? F_DUPFD_CLOEXEC : F_DUPFD;
  if (::fcntl(descriptor, command, lowest) >= 0) {
    ::close(descriptor);
  }
}

}  // namespace mdvol
