// See outcome.h. The message is "0", "0 WARNING", or "ERRNO MESSAGE".

#include "fuse/outcome.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/base/check.h"
#include "core/base/retry.h"
#include "core/base/status.h"

namespace mdvol {
namespace {

// How many are kept at once; further ones wait in the socket's queue. So nobody can use up the
// daemon's file descriptors.
constexpr size_t kMostAskers = 64;
constexpr size_t kMaxMessageBytes = 4096;

// The first byte of an abstract name is zero; the rest has no end mark.
constexpr size_t kNameOffset = offsetof(sockaddr_un, sun_path) + 1;

sockaddr* Generic(sockaddr_un& address) { return reinterpret_cast<sockaddr*>(&address); }

std::string Encode(const StopOutcome& outcome) {
  if (outcome.status.ok() && outcome.warning.empty()) {
    return "0";
  }
  const std::string words = outcome.status.ok() ? outcome.warning : MessageOf(outcome.status);
  return (std::to_string(ErrnoOf(outcome.status)) + ' ' + words).substr(0, kMaxMessageBytes);
}

StopOutcome Decode(std::string_view text) {
  if (text == "0") {
    return {};
  }
  int error_number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), error_number);
  const auto digits = static_cast<size_t>(end - text.data());
  if (error != std::errc() || error_number < 0 || digits == text.size()) {
    return {.status = ErrnoStatus(EPROTO, text), .warning = {}};
  }
  const std::string_view words = text.substr(digits + 1);
  if (error_number == 0) {
    return {.status = absl::OkStatus(), .warning = std::string(words)};
  }
  return {.status = ErrnoStatus(error_number, words), .warning = {}};
}

}  // namespace

StopOutcome OutcomeOf(const absl::Status& stopped, const Array& array) {
  const ArraySnapshot left = array.Snapshot();
  if (!stopped.ok() || left.read_only || !left.dirty) {
    return {.status = stopped, .warning = {}};
  }
  return {
      .status = stopped,
      .warning = !left.awaits_space && array.NextDoubt(0).has_value()
                     ? "some stripes still await their resync: nothing is lost; it goes on when "
                       "the array is mounted again"
                     : "some stripes await their parity, for the file system of a member is "
                       "full: nothing is lost; make room, then mount again, which resyncs them"};
}

absl::StatusOr<std::unique_ptr<OutcomeSource>> OutcomeSource::Listen() {
  std::unique_ptr<OutcomeSource> source(new OutcomeSource);
  source->listener_.reset(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  source->ended_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socklen_t length = sizeof(address);
  // An address of the family alone: the kernel picks a name that is free.
  if (!source->listener_.valid() || !source->ended_.valid() ||
      ::bind(source->listener_.get(), Generic(address), sizeof(address.sun_family)) != 0 ||
      ::listen(source->listener_.get(), SOMAXCONN) != 0 ||
      ::getsockname(source->listener_.get(), Generic(address), &length) != 0) {
    return SystemError(errno, "the socket that tells how the array was stopped");
  }
  MDVOL_CHECK(length > kNameOffset && address.sun_path[0] == '\0');
  source->name_.assign(address.sun_path + 1, length - kNameOffset);
  try {
    source->thread_ = std::thread([raw = source.get()] { raw->KeepAskers(); });
  } catch (const std::system_error&) {
    return SystemError(EAGAIN, "the thread that tells how the array was stopped");
  }
  return source;
}

OutcomeSource::~OutcomeSource() { EndThread(); }

void OutcomeSource::EndThread() {
  if (thread_.joinable()) {
    const uint64_t one = 1;
    MDVOL_CHECK(::write(ended_.get(), &one, sizeof(one)) == sizeof(one));
    thread_.join();
  }
}

void OutcomeSource::KeepAskers() {
  while (true) {
    const bool has_room = askers_.size() < kMostAskers;
    std::vector<pollfd> events{{ended_.get(), POLLIN, 0},
                               {has_room ? listener_.get() : -1, POLLIN, 0}};
    for (const UniqueFd& asker : askers_) {
      events.push_back({asker.get(), POLLRDHUP, 0});  // Nobody has anything to say here.
    }
    RetryOnEintr([&] { return ::poll(events.data(), events.size(), -1); });
    if (events[0].revents != 0) {
      return;
    }
    size_t index = 2;
    std::erase_if(askers_, [&](const UniqueFd&) { return events[index++].revents != 0; });
    if (events[1].revents != 0) {
      UniqueFd asker(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (asker.valid()) {
        askers_.push_back(std::move(asker));
      } else {
        ::usleep(100'000);  // Out of file descriptors: the queue keeps who asks.
      }
    }
  }
}

void OutcomeSource::Tell(const StopOutcome& outcome) {
  EndThread();
  const std::string text = Encode(outcome);
  const auto tell = [&text](const UniqueFd& asker) {
    // Who has gone needs no answer, and a message fits into an empty connection.
    static_cast<void>(::send(asker.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
  };
  std::for_each(askers_.begin(), askers_.end(), tell);
  askers_.clear();
  while (true) {
    const UniqueFd asker(
        ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!asker.valid()) {
      return;
    }
    tell(asker);
  }
}

absl::StatusOr<UniqueFd> AskForOutcome(const std::string& name, pid_t pid) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.empty() || name.size() > sizeof(address.sun_path) - 1) {
    return ErrnoStatus(EINVAL, "the daemon's socket has no name");
  }
  name.copy(address.sun_path + 1, name.size());
  // Not blocking: a queue that is full is an error, not a wait.
  UniqueFd connection(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  ucred peer{};
  socklen_t length = sizeof(peer);
  if (!connection.valid() ||
      ::connect(connection.get(), Generic(address),
                static_cast<socklen_t>(kNameOffset + name.size())) != 0 ||
      ::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) {
    return SystemError(errno, "the daemon's socket");
  }
  if (peer.pid != pid) {
    return ErrnoStatus(EPERM, "the daemon's socket belongs to another process");
  }
  return connection;
}

absl::Status AwaitOutcome(const UniqueFd& connection, StopOutcome* outcome) {
  pollfd event{connection.get(), POLLIN, 0};
  if (RetryOnEintr([&] { return ::poll(&event, 1, -1); }) < 0) {
    return SystemError(errno, "the daemon's socket");
  }
  std::array<char, kMaxMessageBytes> buffer;
  const ssize_t count = RetryOnEintr(
      [&] { return ::recv(connection.get(), buffer.data(), buffer.size(), MSG_DONTWAIT); });
  if (count <= 0) {
    return ErrnoStatus(EPIPE, "the daemon has ended without saying how");
  }
  *outcome = Decode({buffer.data(), static_cast<size_t>(count)});
  return absl::OkStatus();
}

}  // namespace mdvol
