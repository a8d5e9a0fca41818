// See startup_guard.h.

#include "fuse/startup_guard.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>

#include "core/base/check.h"
#include "core/base/retry.h"
#include "fuse/session.h"

namespace mdvol {

StartupGuard::StartupGuard() : done_(::eventfd(0, EFD_CLOEXEC)), watcher_([this] { Watch(); }) {}

StartupGuard::~StartupGuard() {
  const uint64_t one = 1;
  MDVOL_CHECK(::write(done_.get(), &one, sizeof(one)) == sizeof(one));
  watcher_.join();
}

void StartupGuard::Watch() const {
  const sigset_t signals = StopSignals();
  const UniqueFd stop(::signalfd(-1, &signals, SFD_CLOEXEC));
  std::array<pollfd, 2> events{pollfd{done_.get(), POLLIN, 0}, pollfd{stop.get(), POLLIN, 0}};
  RetryOnEintr([&] { return ::poll(events.data(), events.size(), -1); });
  if ((events[0].revents & POLLIN) != 0) {
    return;
  }
  std::fputs("mdvol: interrupted before the volume was ready\n", stderr);
  ::_exit(1);
}

}  // namespace mdvol
