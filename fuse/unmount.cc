// See unmount.h. The format of mountinfo: proc(5).

#include "fuse/unmount.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "core/base/retry.h"
#include "core/base/status.h"
#include "core/base/unique_fd.h"

namespace mdvol {
namespace {

// What a program has written to `file`, as one line.
std::string ReadLine(int file) {
  std::string text(4096, '\0');
  const ssize_t count = ::pread(file, text.data(), text.size(), 0);
  text.resize(count > 0 ? static_cast<size_t>(count) : 0);
  text.erase(text.find_last_not_of('\n') + 1);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// Runs fusermount3 and waits. The exit code, and what it said in *said.
absl::StatusOr<int> RunFusermount(const std::string& mountpoint, UnmountKind kind,
                                  std::string* said) {
  std::vector<std::string> words{"fusermount3", "-u"};
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

  const UniqueFd memory(::memfd_create("mdvol-stderr", MFD_CLOEXEC));
  if (!memory.valid()) {
    return SystemError(errno, "memfd_create");
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, memory.get(), STDERR_FILENO);
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
  *said = ReadLine(memory.get());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

// A mount belongs to who made it.
absl::Status CheckOwner(const std::string& mountpoint) {
  MDVOL_ASSIGN_OR_RETURN(const std::optional<MountInfo> mount, FindMount(mountpoint));
  if (!mount.has_value()) {
    return ErrnoStatus(EINVAL, mountpoint + ": unmount: nothing is mounted there");
  }
  if (mount->user_id.has_value() && *mount->user_id != ::geteuid()) {
    return ErrnoStatus(EPERM, mountpoint + ": unmount: it was mounted by user " +
                                  std::to_string(*mount->user_id) +
                                  ": only that user or root can take it away");
  }
  return absl::OkStatus();
}

// "0:45"
dev_t DeviceOf(std::string_view numbers) {
  const size_t colon = numbers.find(':');
  uint32_t major_number = 0;
  uint32_t minor_number = 0;
  return colon != std::string_view::npos &&
                 absl::SimpleAtoi(absl::string_view(numbers.data(), colon), &major_number) &&
                 absl::SimpleAtoi(
                     absl::string_view(numbers.data() + colon + 1, numbers.size() - colon - 1),
                     &minor_number)
             ? makedev(major_number, minor_number)
             : 0;
}

// "rw,user_id=1000,group_id=1000"
std::optional<uid_t> UserIdOf(std::string_view super_options) {
  constexpr std::string_view kKey = "user_id=";
  for (const absl::string_view option :
       absl::StrSplit(absl::string_view(super_options.data(), super_options.size()), ',')) {
    uint32_t user_id = 0;
    if (absl::StartsWith(option, {kKey.data(), kKey.size()}) &&
        absl::SimpleAtoi(option.substr(kKey.size()), &user_id)) {
      return user_id;
    }
  }
  return std::nullopt;
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
  MDVOL_RETURN_IF_ERROR(CheckOwner(mountpoint));
  std::string said;
  MDVOL_ASSIGN_OR_RETURN(const int exit_code, RunFusermount(mountpoint, kind, &said));
  if (exit_code == 0) {
    return absl::OkStatus();
  }
  // fusermount3 says why in words only, and in English whatever the locale.
  if (absl::EndsWith(said, "Device or resource busy")) {
    return SystemError(EBUSY, mountpoint + ": unmount by fusermount3");
  }
  return ErrnoStatus(
      EPERM, mountpoint + ": unmount: " + (said.empty() ? "fusermount3 gave no reason" : said));
}

std::string UnescapeOctal(std::string_view text) {
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
  const std::string super_options = separator + 3 < fields.size() ? fields[separator + 3] : "";
  return MountInfo{DeviceOf(fields[2]), UnescapeOctal(fields[4]), fields[separator + 1],
                   UnescapeOctal(fields[separator + 2]), UserIdOf(super_options)};
}

absl::StatusOr<std::vector<MountInfo>> ListMounts() {
  std::ifstream file("/proc/self/mountinfo");
  if (!file) {
    return SystemError(errno, "/proc/self/mountinfo");
  }
  std::vector<MountInfo> mounts;
  std::string line;
  while (std::getline(file, line)) {
    if (std::optional<MountInfo> info = ParseMountInfoLine(line); info.has_value()) {
      mounts.push_back(*std::move(info));
    }
  }
  return mounts;
}

absl::StatusOr<std::optional<MountInfo>> FindMount(std::string_view mountpoint) {
  MDVOL_ASSIGN_OR_RETURN(std::vector<MountInfo> mounts, ListMounts());
  std::optional<MountInfo> found;
  for (MountInfo& info : mounts) {
    if (info.mountpoint == mountpoint) {
      found = std::move(info);  // A later line lies over an earlier one.
    }
  }
  return found;
}

}  // namespace mdvol
