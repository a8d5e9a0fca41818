// See session.h.

#include "fuse/session.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "core/base/check.h"
#include "core/base/retry.h"
#include "core/base/status.h"
#include "fuse/closed_last.h"
#include "fuse/init_extension.h"
#include "fuse/mountpoint.h"
#include "fuse/unmount.h"

namespace mdvol {
namespace {

// What shows as the source of the mount; the kernel refuses an empty one, an array may have no
// name.
std::string SourceName(const std::string& array_name) {
  return array_name.empty() ? "mdvol" : array_name;
}

// In a list of mount options a comma or a backslash in a value is escaped.
std::string EscapeOption(const std::string& value) {
  std::string escaped;
  for (const char c : value) {
    if (c == ',' || c == '\\') {
      escaped += '\\';
    }
    escaped += c;
  }
  return escaped;
}

constexpr std::array kStandardStreams{STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};

// What libfuse and fusermount3 print while `call` runs, as one line. They report to standard error
// and give no reason otherwise. Nothing else of our streams is lent to them: with -o auto_unmount a
// fusermount3 stays for as long as the mount, and who reads our output would wait for its end. Only
// while no other thread uses these streams.
template <typename Call>
std::string CaptureStandardError(Call&& call) {
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const UniqueFd memory(::memfd_create("mdvol-stderr", MFD_CLOEXEC));
  std::array<UniqueFd, kStandardStreams.size()> saved;
  bool is_complete = null.valid() && memory.valid();
  for (const int stream : kStandardStreams) {
    UniqueFd& copy = saved[static_cast<size_t>(stream)];
    copy.reset(::fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    is_complete &= copy.valid();
  }
  if (!is_complete) {
    call();
    return {};
  }
  for (const int stream : kStandardStreams) {
    ::dup2(stream == STDERR_FILENO ? memory.get() : null.get(), stream);
  }
  call();
  for (const int stream : kStandardStreams) {
    ::dup2(saved[static_cast<size_t>(stream)].get(), stream);
  }
  std::string text(4096, '\0');
  const ssize_t count = ::pread(memory.get(), text.data(), text.size(), 0);
  text.resize(count > 0 ? static_cast<size_t>(count) : 0);
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  return signals;
}

void BlockStopSignals() {
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

Session::Session(const SessionOptions& options, Tree& tree)
    : options_(options),
      context_{tree, options.writeback, options.suspension},
      ended_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

absl::StatusOr<std::unique_ptr<Session>> Session::Mount(const SessionOptions& options, Tree& tree) {
  std::unique_ptr<Session> session(new Session(options, tree));
  MDVOL_RETURN_IF_ERROR(session->Create());
  MDVOL_RETURN_IF_ERROR(session->Connect());
  return session;
}

void Session::InvalidateVolume(uint64_t offset_bytes, uint64_t length_bytes) {
  // An error says that the kernel knows nothing of the file (any more): then nothing is cached.
  fuse_lowlevel_notify_inval_inode(session_, kVolumeInode, static_cast<off_t>(offset_bytes),
                                   static_cast<off_t>(length_bytes));
}

absl::Status Session::Create() {
  if (!ended_.valid()) {
    return SystemError(errno, "eventfd");
  }
  std::vector<std::string> words{
      "mdvol", "-o",
      "default_permissions,subtype=mdvol,fsname=" + EscapeOption(SourceName(options_.name))};
  for (const std::string& option : options_.options) {
    words.emplace_back("-o");
    words.push_back(option);
  }
  fuse_args arguments = FUSE_ARGS_INIT(0, nullptr);
  const absl::Cleanup free_arguments = [&arguments] { fuse_opt_free_args(&arguments); };
  for (const std::string& word : words) {
    if (fuse_opt_add_arg(&arguments, word.c_str()) != 0) {
      return SystemError(ENOMEM, "mount options");
    }
  }
  const std::string said = CaptureStandardError([&] {
    session_ = fuse_session_new(&arguments, &Operations(), sizeof(fuse_lowlevel_ops), &context_);
  });
  return session_ != nullptr ? absl::OkStatus()
                             : UsageError("-o: the mount options were refused: " + said);
}

absl::Status Session::MountSession() {
  MDVOL_ASSIGN_OR_RETURN(const UniqueFd reserved, ReserveMountpoint(options_.mountpoint));
  const std::vector<int> sockets = OpenSockets();
  int result = 0;
  int error = 0;
  const std::string said = CaptureStandardError([&] {
    result = fuse_session_mount(session_, options_.mountpoint.c_str());
    error = errno;
  });
  if (result == 0) {
    for (const int socket : OpenSockets()) {
      if (!std::binary_search(sockets.begin(), sockets.end(), socket)) {
        CloseLast(socket);  // libfuse's for -o auto_unmount, which it opens and forgets
      }
    }
    return absl::OkStatus();
  }
  const std::string what = options_.mountpoint + ": could not be mounted: ";
  // fusermount3 says what it knows; when even it could not be run, the last error is what there is.
  return said.empty() ? SystemError(error != 0 ? error : EIO,
                                    what + "is there a /dev/fuse, and is fuse3 installed?")
                      : ErrnoStatus(EIO, what + said);
}

absl::Status Session::Connect() {
  MDVOL_RETURN_IF_ERROR(MountSession());
  if (const int error = ExtendInit(session_); error != 0) {
    return SystemError(-error, options_.mountpoint);
  }
  workers_ = std::make_unique<WorkerPool>(session_, options_.max_threads, [this] {
    const uint64_t one = 1;
    MDVOL_CHECK(::write(ended_.get(), &one, sizeof(one)) == sizeof(one));
  });
  // The first request is FUSE_INIT; others follow only once it has been answered.
  MDVOL_RETURN_IF_ERROR(Annotate(workers_->ServeOne(), options_.mountpoint));
  if (!context_.initialized) {
    return ErrnoStatus(EPROTO, options_.mountpoint + ": the kernel's FUSE is too old");
  }
  return absl::OkStatus();
}

Session::~Session() {
  workers_.reset();
  if (session_ != nullptr) {
    fuse_session_unmount(session_);
    fuse_session_destroy(session_);
  }
}

void Session::Run(const std::function<void()>& before_stop) {
  const sigset_t signals = StopSignals();
  const UniqueFd stop(::signalfd(-1, &signals, SFD_CLOEXEC));
  MDVOL_CHECK(stop.valid());
  workers_->Start();
  std::array<pollfd, 2> events{pollfd{stop.get(), POLLIN, 0}, pollfd{ended_.get(), POLLIN, 0}};
  RetryOnEintr([&] { return ::poll(events.data(), events.size(), -1); });
  if ((events[1].revents & POLLIN) == 0) {
    Detach();
  }
  if (before_stop) {
    before_stop();
  }
  workers_->Stop();
}

// The workers serve meanwhile: an unmount writes mapped pages back first. When somebody uses the
// mount, it stays until the destructor ends the connection and detaches it.
void Session::Detach() {
  if (IsConnected()) {
    static_cast<void>(Unmount(options_.mountpoint, UnmountKind::kIfUnused));
  }
}

// False after an unmount or an abort from outside: then the mountpoint may be somebody else's.
bool Session::IsConnected() const {
  pollfd device{fuse_session_fd(session_), 0, 0};
  return ::poll(&device, 1, 0) == 0 || (device.revents & POLLERR) == 0;
}

}  // namespace mdvol
