// `mdvol stop`: flushes the volume, unmounts it and returns when the daemon has gone, i.e. when the
// members are closed and the array is marked clean. When the mount is in use nothing changes.

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "core/base/retry.h"
#include "core/base/status.h"
#include "core/base/unique_fd.h"
#include "fuse/cli/live.h"
#include "fuse/cli/verbs.h"
#include "fuse/tree.h"
#include "fuse/unmount.h"

namespace mdvol {
namespace {

struct StopOptions {
  std::string mountpoint;
};

absl::StatusOr<pid_t> DaemonOf(const LiveMount& mount) {
  MDVOL_ASSIGN_OR_RETURN(const std::string text, mount.Read("status.json"));
  const nlohmann::json status = nlohmann::json::parse(text, nullptr, false);
  if (!status.is_object() || !status.contains("pid") || !status["pid"].is_number_integer()) {
    return ErrnoStatus(EINVAL, mount.path() + "/status.json: not of this version of mdvol");
  }
  return status["pid"].get<pid_t>();
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

// What the kernel and the members still hold back becomes durable, or the reason why not is told
// while the array still runs.
absl::Status SyncVolume(const LiveMount& mount) {
  const std::string path = VolumePath(mount);
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
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

absl::Status RunStop(const StopOptions& options) {
  MDVOL_ASSIGN_OR_RETURN(const LiveMount mount, LiveMount::Open(options.mountpoint));
  MDVOL_ASSIGN_OR_RETURN(const pid_t pid, DaemonOf(mount));
  // Held from before the unmount, so that it is this process and no later one with its number.
  MDVOL_ASSIGN_OR_RETURN(const UniqueFd process, OpenProcess(pid));
  MDVOL_RETURN_IF_ERROR(SyncVolume(mount));
  const absl::Status unmounted = Unmount(mount.path(), UnmountKind::kIfUnused);
  if (ErrnoOf(unmounted) == EBUSY) {
    return ErrnoStatus(EBUSY, options.mountpoint +
                                  ": in use, not stopped: close what is open there (see fuser -m)");
  }
  MDVOL_RETURN_IF_ERROR(unmounted);
  pollfd ended{process.get(), POLLIN, 0};
  if (RetryOnEintr([&] { return ::poll(&ended, 1, -1); }) < 0) {
    return SystemError(errno, "the daemon");
  }
  return absl::OkStatus();
}

}  // namespace

void AddStop(CLI::App& app, VerbContext& context) {
  auto options = std::make_shared<StopOptions>();
  CLI::App* const verb =
      app.add_subcommand("stop", "Flushes and unmounts an array; returns when its daemon has gone");
  verb->add_option("MOUNTPOINT", options->mountpoint, "Where the array is mounted")->required();
  verb->callback([options, &context] { context.run = [options] { return RunStop(*options); }; });
}

}  // namespace mdvol
