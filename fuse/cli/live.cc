// See live.h.

#include "fuse/cli/live.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "core/base/retry.h"
#include "core/base/status.h"
#include "core/base/unique_fd.h"
#include "core/base/units.h"
#include "fuse/mountpoint.h"
#include "fuse/unmount.h"

namespace mdvol {
namespace {

absl::Status DescribeError(const std::string& path, int error_number) {
  switch (error_number) {
    case ENOTCONN:
      return SystemError(error_number, path + ": the daemon has gone (mdvol mount cleans up)");
    case EACCES:
    case EPERM:
      return SystemError(error_number, path + ": be the user who mounted it");
    default:
      return SystemError(error_number, path);
  }
}

bool NamesSameFile(const std::string& a, const std::string& b) {
  std::error_code error;
  return a == b || std::filesystem::equivalent(a, b, error);
}

}  // namespace

absl::StatusOr<LiveMount> LiveMount::Open(const std::string& mountpoint) {
  MDVOL_ASSIGN_OR_RETURN(std::string path, ResolveMountpoint(mountpoint));
  MDVOL_ASSIGN_OR_RETURN(const std::optional<MountInfo> mount, FindMount(path));
  if (!mount.has_value() || mount->type != kMountType) {
    return ErrnoStatus(ENOTCONN, mountpoint + ": no array is mounted here (see mdvol mount)");
  }
  struct stat unused {};
  if (::stat(path.c_str(), &unused) != 0) {
    return DescribeError(mountpoint, errno);
  }
  return LiveMount(std::move(path));
}

absl::StatusOr<std::string> LiveMount::Read(const std::string& name) const {
  const std::string path = path_ + "/" + name;
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) {
    return DescribeError(path, errno);
  }
  std::string text;
  std::array<char, 65536> buffer;
  while (true) {
    const ssize_t count =
        RetryOnEintr([&] { return ::read(file.get(), buffer.data(), buffer.size()); });
    if (count < 0) {
      return DescribeError(path, errno);
    }
    if (count == 0) {
      return text;
    }
    text.append(buffer.data(), static_cast<size_t>(count));
  }
}

absl::Status LiveMount::Write(const std::string& name, std::string_view value) const {
  const std::string path = path_ + "/" + name;
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.valid()) {
    return errno == EACCES ? SystemError(EACCES, path + ": cannot be set (or not by you)")
                           : DescribeError(path, errno);
  }
  const std::string line = std::string(value) + '\n';
  const ssize_t count = RetryOnEintr([&] { return ::write(file.get(), line.data(), line.size()); });
  return count < 0 ? DescribeError(path, errno) : absl::OkStatus();
}

absl::StatusOr<std::vector<LiveMember>> LiveMount::Members() const {
  MDVOL_ASSIGN_OR_RETURN(const std::string text, Read("status.json"));
  std::vector<LiveMember> members;
  try {
    const nlohmann::json status = nlohmann::json::parse(text);
    for (const nlohmann::json& member : status.at("members")) {
      LiveMember& live = members.emplace_back();
      live.name = member.at("name");
      live.path = member.at("path");
      live.slot = member.at("slot").is_null() ? -1 : member.at("slot").get<int>();
      live.number = member.at("dev_number");
    }
  } catch (const nlohmann::json::exception&) {
    return ErrnoStatus(EINVAL, path_ + "/status.json: not of this version of mdvol");
  }
  return members;
}

absl::StatusOr<LiveMember> LiveMount::FindMember(const std::string& text) const {
  MDVOL_ASSIGN_OR_RETURN(const std::vector<LiveMember> members, Members());
  const absl::StatusOr<uint64_t> number = ParseUnsigned(text);
  const LiveMember* without_slot = nullptr;
  for (const LiveMember& member : members) {
    const auto is_number = [&number](int value) {
      return number.ok() && value >= 0 && static_cast<uint64_t>(value) == *number;
    };
    if (is_number(member.slot) || member.name == text || NamesSameFile(member.path, text)) {
      return member;
    }
    if (member.slot < 0 && is_number(member.number)) {
      without_slot = &member;
    }
  }
  if (without_slot != nullptr) {
    return *without_slot;
  }
  return ErrnoStatus(ENODEV, text + ": no member of " + path_ +
                                 ": give a path, a name of mdvol detail, or a slot number");
}

}  // namespace mdvol
