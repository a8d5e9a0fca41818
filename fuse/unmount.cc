// See unmount.h. The format of mountinfo: proc(5).

#include "fuse/unmount.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>

#include "absl/strings/str_split.h"
#include "core/base/retry.h"
#include "core/base/status.h"

namespace mdvol {
namespace {

// "\040" for a blank and so on.
std::string Unescape(std::string_view text) {
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) && is_octal(text[i + 2]) &&
        is_octal(text[i + 3])) {
      result += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                  (text[i + 3] - '0'));
      i += 3;
    } else {
      result += text[i];
    }
  }
  return result;
}

// Runs fusermount3 and waits; its own message goes to nowhere, ours says more.
absl::StatusOr<int> RunFusermount(const std::string& mountpoint, UnmountKind kind) {
  std::vector<std::string> words{"fusermount3", "-u", "-q"};
  if (kind == UnmountKind::kLazy) {
    words.emplace_back("-z");
  }
  words.emplace_back("--");
  words.push_back(mountpoint);
  std::vector<char*> arguments;
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, "fusermount3", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return SystemError(error, "fusermount3 (Debian package fuse3)");
  }
  int status = 0;
  if (RetryOnEintr([&] { return ::waitpid(child, &status, 0); }) < 0) {
    return SystemError(errno, "fusermount3");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

}  // namespace

absl::Status Unmount(const std::string& mountpoint, UnmountKind kind) {
  const int flags = UMOUNT_NOFOLLOW | (kind == UnmountKind::kLazy ? MNT_DETACH : 0);
  if (::umount2(mountpoint.c_str(), flags) == 0) {
    return absl::OkStatus();
  }
  if (errno != EPERM) {
    return SystemError(errno, mountpoint + ": unmount");
  }
  MDVOL_ASSIGN_OR_RETURN(const int exit_code, RunFusermount(mountpoint, kind));
  if (exit_code == 0) {
    return absl::OkStatus();
  }
  // fusermount3 says why in words only. Of what can be wrong with a mount of ours, in use is what
  // remains.
  return SystemError(EBUSY, mountpoint + ": unmount by fusermount3");
}

std::optional<MountInfo> ParseMountInfoLine(std::string_view line) {
  // 36 35 98:0 /root /mountpoint rw,noatime shared:1 - type source rw,errors=continue
  const std::vector<std::string> fields =
      absl::StrSplit(absl::string_view(line.data(), line.size()), ' ', absl::SkipEmpty());
  size_t separator = 6;
  while (separator < fields.size() && fields[separator] != "-") {
    ++separator;
  }
  if (separator + 2 >= fields.size()) {
    return std::nullopt;
  }
  return MountInfo{Unescape(fields[4]), fields[separator + 1], Unescape(fields[separator + 2])};
}

absl::StatusOr<std::optional<MountInfo>> FindMount(std::string_view mountpoint) {
  std::ifstream file("/proc/self/mountinfo");
  if (!file) {
    return SystemError(errno, "/proc/self/mountinfo");
  }
  std::optional<MountInfo> found;
  std::string line;
  while (std::getline(file, line)) {
    std::optional<MountInfo> info = ParseMountInfoLine(line);
    if (info.has_value() && info->mountpoint == mountpoint) {
      found = std::move(info);  // A later line lies over an earlier one.
    }
  }
  return found;
}

}  // namespace mdvol
