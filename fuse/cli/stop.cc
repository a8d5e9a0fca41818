// `mdvol stop`: flushes the volume, unmounts it and returns when the daemon has gone, i.e. when the
// members are closed and the array is marked clean, or with the reason why it could not be. An
// array that has lost nothing, but needs a resync, was stopped all right: a warning says so. When
// the mount is in use nothing changes.

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "core/base/retry.h"
#include "core/base/status.h"
#include "core/base/unique_fd.h"
#include "core/base/units.h"
#include "fuse/cli/live.h"
#include "fuse/cli/verbs.h"
#include "fuse/outcome.h"
#include "fuse/render/words.h"
#include "fuse/tree.h"
#include "fuse/unmount.h"

namespace mdvol {
namespace {

struct StopOptions {
  std::string mountpoint;
};

struct Daemon {
  pid_t pid = 0;
  std::string outcome_socket;
};

absl::StatusOr<Daemon> DaemonOf(const LiveMount& mount) {
  MDVOL_ASSIGN_OR_RETURN(const std::string text, mount.Read("status.json"));
  try {
    const nlohmann::json status = nlohmann::json::parse(text);
    return Daemon{status.at("pid").get<pid_t>(), status.at("outcome_socket").get<std::string>()};
  } catch (const nlohmann::json::exception&) {
    return ErrnoStatus(EINVAL, mount.path() + "/status.json: not of this version of mdvol");
  }
}

// The volume can have any name, but its inode number is fixed.
std::string VolumePath(const LiveMount& mount) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(mount.path().c_str()), &::closedir);
  while (const dirent* const entry = folder ? ::readdir(folder.get()) : nullptr) {
    if (entry->d_ino == kVolumeInode) {
      return mount.path() + "/" + entry->d_name;
    }
  }
  return mount.path() + "/volume";
}

// Whether writes to some bytes have to wait (md/suspend_lo, md/suspend_hi).
bool IsSuspending(const LiveMount& mount) {
  const auto sectors = [&mount](const char* name) -> uint64_t {
    const absl::StatusOr<std::string> text = mount.Read(name);
    const absl::StatusOr<uint64_t> number =
        text.ok() ? ParseUnsigned(text->substr(0, text->find('\n'))) : text.status();
    return number.value_or(0);
  };
  return sectors("md/suspend_lo") < sectors("md/suspend_hi");
}

// What the kernel and the members still hold back becomes durable, or the reason why not is told
// while the array still runs. Not where writes are suspended: for those that wait the kernel would
// let us wait too, in a way that nothing ends. Who made them has the volume open, so that the
// unmount refuses; and of a volume that nobody uses the kernel holds back nothing.
absl::Status SyncVolume(const LiveMount& mount) {
  if (IsSuspending(mount)) {
    return absl::OkStatus();
  }
  const std::string path = VolumePath(mount);
  // O_DIRECT, because the kernel lets any other open wait until no write by O_DIRECT is under way.
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC));
  if (!file.valid()) {
    // Whoever mounted it may have given the volume to somebody else; the daemon flushes all the
    // same.
    return errno == EACCES ? absl::OkStatus() : SystemError(errno, path);
  }
  return ::fsync(file.get()) == 0 ? absl::OkStatus() : SystemError(errno, path + ": flush");
}

absl::StatusOr<UniqueFd> OpenProcess(pid_t pid) {
  UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process.valid()) {
    return SystemError(errno, "process " + std::to_string(pid) + " of the daemon");
  }
  return process;
}

// A broken array cannot be flushed, however often: it can only be left as it is.
bool IsBroken(const LiveMount& mount) {
  const absl::StatusOr<std::string> state = mount.Read("md/array_state");
  return state.ok() && *state == "broken\n";
}

// Of a volume that backs one: "/dev/loop0", else empty. Such a use shows nowhere else.
std::string LoopDeviceOn(const LiveMount& mount) {
  std::error_code error;
  for (const auto& device : std::filesystem::directory_iterator("/sys/block", error)) {
    std::ifstream file(device.path() / "loop" / "backing_file");
    std::string backing;
    if (std::getline(file, backing) && backing.rfind(mount.path() + "/", 0) == 0) {
      return "/dev/" + device.path().filename().string();
    }
  }
  return {};
}

absl::Status UnmountUnused(const LiveMount& mount, const std::string& mountpoint) {
  const absl::Status unmounted = Unmount(mount.path(), UnmountKind::kIfUnused);
  if (ErrnoOf(unmounted) == EBUSY) {
    if (const std::string loop = LoopDeviceOn(mount); !loop.empty()) {
      return ErrnoStatus(EBUSY, mountpoint + ": in use, not stopped: " + loop +
                                    " is attached: unmount it, then losetup --detach " + loop);
    }
    return ErrnoStatus(
        EBUSY, mountpoint + ": in use, not stopped: close what is open there (see fuser -m)");
  }
  return unmounted;
}

// What is wrong with a stop that has unmounted: whether its outcome could be learned, and which.
absl::Status JudgeEnd(const absl::Status& learned, const absl::Status& outcome, bool is_broken,
                      const std::string& mountpoint) {
  if (!learned.ok()) {
    return ErrnoStatus(ErrnoOf(learned),
                       mountpoint + ": unmounted, but whether the array is clean is not known: " +
                           MessageOf(learned) + ": ask mdvol examine");
  }
  if (outcome.ok()) {
    return absl::OkStatus();
  }
  return ErrnoStatus(
      ErrnoOf(outcome),
      mountpoint + ": unmounted, but not clean: " + MessageOf(outcome) +
          (is_broken
               ? ": put the members that were lost back; look with mount --read-only, then mount "
                 "--force"
               : ": mount again"));
}

absl::Status RunStop(const StopOptions& options, VerbContext& context) {
  MDVOL_ASSIGN_OR_RETURN(const LiveMount mount, LiveMount::Open(options.mountpoint));
  MDVOL_ASSIGN_OR_RETURN(const Daemon daemon, DaemonOf(mount));
  // Held from before the unmount, so that it is this process and no later one with its number.
  MDVOL_ASSIGN_OR_RETURN(const UniqueFd process, OpenProcess(daemon.pid));
  const absl::StatusOr<UniqueFd> question = AskForOutcome(daemon.outcome_socket, daemon.pid);
  const absl::Status synced = SyncVolume(mount);
  const bool is_broken = IsBroken(mount);
  if (!synced.ok() && !is_broken) {
    return synced;
  }
  MDVOL_RETURN_IF_ERROR(UnmountUnused(mount, options.mountpoint));
  StopOutcome outcome;
  const absl::Status learned =
      question.ok() ? AwaitOutcome(*question, &outcome) : question.status();
  pollfd ended{process.get(), POLLIN, 0};
  if (RetryOnEintr([&] { return ::poll(&ended, 1, -1); }) < 0) {
    return SystemError(errno, "the daemon");
  }
  if (learned.ok() && !outcome.warning.empty()) {
    context.err << "mdvol: warning: " << Printable(options.mountpoint)
                << ": left dirty: " << Printable(outcome.warning) << '\n';
  }
  return JudgeEnd(learned, outcome.status, is_broken, options.mountpoint);
}

}  // namespace

void AddStop(CLI::App& app, VerbContext& context) {
  auto options = std::make_shared<StopOptions>();
  CLI::App* const verb =
      app.add_subcommand("stop", "Flushes and unmounts an array; returns when its daemon has gone");
  verb->add_option("MOUNTPOINT", options->mountpoint, "Where the array is mounted")->required();
  verb->callback([options, &context] {
    context.run = [options, &context] { return RunStop(*options, context); };
  });
}

}  // namespace mdvol
