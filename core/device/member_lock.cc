// See member_lock.h.

#include "core/device/member_lock.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "core/base/retry.h"
#include "core/base/status.h"
#include "core/base/unique_fd.h"

namespace mdvol {
namespace {

constexpr std::string_view kDeletedSuffix = " (deleted)";

struct DirectoryCloser {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

// The contents of a sysfs attribute without the newline that ends it. They can be no longer than a
// page, which one read returns whole.
std::optional<std::string> ReadAttribute(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text(4096, '\0');
  const ssize_t length = RetryOnEintr([&] { return ::read(fd.get(), text.data(), text.size()); });
  if (length <= 0) {
    return std::nullopt;
  }
  text.resize(static_cast<size_t>(length));
  if (text.back() == '\n') {
    text.pop_back();
  }
  return text;
}

bool NamesFile(const std::string& path, const FileIdentity& file) {
  const absl::StatusOr<FileIdentity> found = IdentifyFile(path);
  return found.ok() && *found == file;
}

// Whether the path that sysfs shows for a backing file leads to `file`. A name may itself end like
// the note that the kernel puts behind the path of a deleted file.
bool ShownPathNamesFile(const std::string& shown, const FileIdentity& file) {
  if (NamesFile(shown, file)) {
    return true;
  }
  return shown.ends_with(kDeletedSuffix) &&
         NamesFile(shown.substr(0, shown.size() - kDeletedSuffix.size()), file);
}

// The loop device's own word for what it serves; none if it cannot be asked.
std::optional<bool> LoopDeviceServes(const std::string& loop_path, const FileIdentity& file) {
  const UniqueFd fd(::open(loop_path.c_str(), O_RDONLY | O_CLOEXEC));
  loop_info64 info = {};
  if (!fd.valid() || ::ioctl(fd.get(), LOOP_GET_STATUS64, &info) != 0) {
    return std::nullopt;
  }
  if (file.is_block_device) {
    return info.lo_rdevice == file.device;
  }
  return info.lo_device == file.device && info.lo_inode == file.inode;
}

}  // namespace

absl::Status LockImage(int fd, const std::string& path, bool is_shared) {
  const int operation = (is_shared ? LOCK_SH : LOCK_EX) | LOCK_NB;
  if (RetryOnEintr([&] { return ::flock(fd, operation); }) == 0) {
    return absl::OkStatus();
  }
  if (errno == EWOULDBLOCK) {
    return ErrnoStatus(EBUSY, absl::StrCat(path,
                                           ": held by another process (is the array mounted "
                                           "already?): unmount it or pass a copy"));
  }
  return SystemError(errno, absl::StrCat(path, ": cannot be locked"));
}

absl::Status CheckNotReplaced(const FileIdentity& before, const FileIdentity& opened,
                              const std::string& path) {
  if (before == opened) {
    return absl::OkStatus();
  }
  return ErrnoStatus(EBUSY, absl::StrCat(path, ": replaced while it was being opened: try again"));
}

std::string FindLoopDeviceOver(const FileIdentity& file, const LoopRoots& roots) {
  const std::unique_ptr<DIR, DirectoryCloser> directory(::opendir(roots.sys_block.c_str()));
  if (directory == nullptr) {
    return "";
  }
  while (const dirent* const entry = ::readdir(directory.get())) {
    std::string name = entry->d_name;
    if (!name.starts_with("loop")) {
      continue;
    }
    // Only there while the loop device has a backing file.
    const std::optional<std::string> shown =
        ReadAttribute(absl::StrCat(roots.sys_block, "/", name, "/loop/backing_file"));
    if (!shown.has_value()) {
      continue;
    }
    const std::optional<bool> serves = LoopDeviceServes(absl::StrCat(roots.dev, "/", name), file);
    if (serves.has_value() ? *serves : ShownPathNamesFile(*shown, file)) {
      return name;
    }
  }
  return "";
}

absl::Status RefuseIfBehindLoopDevice(const FileIdentity& file, const std::string& path,
                                      const LoopRoots& roots) {
  const std::string loop_device = FindLoopDeviceOver(file, roots);
  if (loop_device.empty()) {
    return absl::OkStatus();
  }
  return ErrnoStatus(
      EBUSY, absl::StrCat(path, ": backs the loop device /dev/", loop_device,
                          ": detach it (losetup -d /dev/", loop_device, ") or pass a copy"));
}

}  // namespace mdvol
