// See mountpoint.h.

#include "fuse/mountpoint.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>

#include "core/base/status.h"
#include "fuse/unmount.h"

namespace mdvol {
namespace {

// What the kernel, fusermount3 and libfuse know and what does not touch what we promise.
constexpr std::array<std::string_view, 16> kOptions{
    "allow_other", "allow_root", "auto_unmount", "suid", "nosuid", "dev",     "nodev", "exec",
    "noexec",      "atime",      "noatime",      "sync", "async",  "dirsync", "debug", "relatime"};

absl::StatusOr<std::string> RealPath(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(path.c_str(), nullptr),
                                                             &std::free);
  if (resolved == nullptr) {
    return SystemError(errno, path);
  }
  return std::string(resolved.get());
}

absl::Status CheckOption(const std::string& option, bool may_allow_other) {
  if (option == "ro") {
    return UsageError("-o ro: would make the control files read-only too: use --read-only");
  }
  if (std::find(kOptions.begin(), kOptions.end(), option) == kOptions.end()) {
    return UsageError("-o " + option + ": not an option of this mount");
  }
  if ((option == "allow_other" || option == "allow_root") && !may_allow_other) {
    return ErrnoStatus(EPERM, "-o " + option +
                                  ": not allowed to users here: root can allow it with the line "
                                  "user_allow_other in /etc/fuse.conf");
  }
  return absl::OkStatus();
}

// A daemon that was killed leaves a mount behind, where every call is ENOTCONN.
absl::Status TakeAwayDeadMount(const std::string& path) {
  MDVOL_ASSIGN_OR_RETURN(const std::optional<MountInfo> mount, FindMount(path));
  struct stat unused {};
  if (!mount.has_value() || mount->type != kMountType || ::stat(path.c_str(), &unused) == 0 ||
      errno != ENOTCONN) {
    return absl::OkStatus();
  }
  return Unmount(path, UnmountKind::kLazy);
}

absl::Status CheckUnused(const std::string& path, const std::string& name) {
  MDVOL_ASSIGN_OR_RETURN(const std::optional<MountInfo> mount, FindMount(path));
  return mount.has_value()
             ? ErrnoStatus(EBUSY, name + ": something is mounted here already (" + mount->type +
                                      "): unmount it, or choose another folder")
             : absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> ResolveMountpoint(const std::string& mountpoint) {
  absl::StatusOr<std::string> resolved = RealPath(mountpoint);
  if (resolved.ok() || ErrnoOf(resolved.status()) != ENOTCONN) {
    return resolved;
  }
  std::string path = mountpoint;
  while (path.size() > 1 && path.back() == '/') {
    path.pop_back();
  }
  const size_t slash = path.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  MDVOL_ASSIGN_OR_RETURN(const std::string folder, RealPath(parent));
  return folder + (folder == "/" ? "" : "/") + path.substr(slash + 1);
}

absl::StatusOr<UniqueFd> ReserveMountpoint(const std::string& mountpoint) {
  UniqueFd folder(::open(mountpoint.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A mount takes a moment. Somebody else's lock, which may mean anything, holds us up no longer.
  constexpr int kMostTries = 200;
  for (int tries = 0; folder.valid() && tries < kMostTries; ++tries) {
    if (::flock(folder.get(), LOCK_EX | LOCK_NB) == 0) {
      break;
    }
    ::usleep(10'000);
  }
  MDVOL_RETURN_IF_ERROR(CheckUnused(mountpoint, mountpoint));
  return folder;
}

absl::Status CheckHidesNoMember(const std::string& mountpoint,
                                const std::vector<std::string>& members) {
  const std::string prefix = mountpoint == "/" ? mountpoint : mountpoint + "/";
  for (const std::string& member : members) {
    const absl::StatusOr<std::string> path = RealPath(member);
    if (path.ok() && path->rfind(prefix, 0) == 0) {
      return ErrnoStatus(EINVAL, mountpoint + ": the member " + member +
                                     " lies in it and would be hidden: choose another folder");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> PrepareMountpoint(const std::string& mountpoint) {
  const absl::StatusOr<std::string> resolved = ResolveMountpoint(mountpoint);
  if (!resolved.ok() && ErrnoOf(resolved.status()) == ENOENT) {
    return ErrnoStatus(ENOENT, mountpoint + ": no such folder: make the mountpoint with mkdir");
  }
  MDVOL_RETURN_IF_ERROR(resolved.status());
  MDVOL_RETURN_IF_ERROR(TakeAwayDeadMount(*resolved));
  MDVOL_RETURN_IF_ERROR(CheckUnused(*resolved, mountpoint));
  struct stat attributes {};
  if (::stat(resolved->c_str(), &attributes) != 0) {
    return SystemError(errno, mountpoint);
  }
  if (!S_ISDIR(attributes.st_mode)) {
    return ErrnoStatus(ENOTDIR, mountpoint + ": not a folder: a mountpoint must be one");
  }
  return *resolved;
}

absl::StatusOr<std::vector<std::string>> CheckMountOptions(const std::vector<std::string>& options,
                                                           bool is_root, bool user_allow_other) {
  std::vector<std::string> checked;
  for (const std::string& list : options) {
    std::istringstream words(list);
    std::string option;
    while (std::getline(words, option, ',')) {
      MDVOL_RETURN_IF_ERROR(CheckOption(option, is_root || user_allow_other));
      checked.push_back(option);
    }
  }
  return checked;
}

bool HasUserAllowOther(std::string_view fuse_conf) {
  std::istringstream lines{std::string(fuse_conf)};
  std::string line;
  while (std::getline(lines, line)) {
    const size_t begin = line.find_first_not_of(" \t");
    const size_t end = line.find_last_not_of(" \t\r");
    if (begin != std::string::npos && line.substr(begin, end - begin + 1) == "user_allow_other") {
      return true;
    }
  }
  return false;
}

bool SystemHasUserAllowOther() {
  std::ifstream file("/etc/fuse.conf");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return HasUserAllowOther(text);
}

}  // namespace mdvol
