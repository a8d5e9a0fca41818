// See live.h.

#include "fuse/cli/live.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/base/retry.h"
#include "core/base/status.h"
#include "core/base/unique_fd.h"
#include "fuse/member_word.h"
#include "fuse/mountpoint.h"
#include "fuse/open_control_file.h"
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

}  // namespace

absl::StatusOr<LiveMount> LiveMount::Open(const std::string& mountpoint) {
  absl::StatusOr<std::string> resolved = ResolveMountpoint(mountpoint);
  if (ErrnoOf(resolved.status()) == ENOENT) {
    return ErrnoStatus(ENOENT, mountpoint + ": no such folder: name the mountpoint of an array");
  }
  MDVOL_RETURN_IF_ERROR(resolved.status());
  std::string path = *std::move(resolved);
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

namespace {

// Why the daemon has refused what was just written through `file`; empty when it does not say.
std::string ReasonOf(int file, const std::string& name) {
  std::array<char, 4096> buffer;
  const ssize_t count = RetryOnEintr([&] {
    return ::pread(file, buffer.data(), buffer.size(), static_cast<off_t>(kReasonOffset));
  });
  std::string reason(buffer.data(), count > 0 ? static_cast<size_t>(count) : 0);
  const std::string prefix = name + ": ";
  return reason.rfind(prefix, 0) == 0 ? reason.substr(prefix.size()) : reason;
}

// For whoever wants to store something; says nothing of where, as the daemon's reasons do not.
absl::Status DescribeOpenError(const std::string& path, int error_number) {
  switch (error_number) {
    case EACCES:
      return ErrnoStatus(EACCES, "cannot be set (or not by you)");
    case ENOENT:
      return ErrnoStatus(ENOENT, "there is no such file");
    case EISDIR:
      return ErrnoStatus(EISDIR, "is a folder: name a file in it");
    default:
      return DescribeError(path, error_number);
  }
}

}  // namespace

absl::Status LiveMount::Write(const std::string& name, std::string_view value) const {
  const std::string path = path_ + "/" + name;
  const UniqueFd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file.valid()) {
    return DescribeOpenError(path, errno);
  }
  const std::string line = std::string(value) + '\n';
  const ssize_t count = RetryOnEintr([&] { return ::write(file.get(), line.data(), line.size()); });
  if (count >= 0) {
    return absl::OkStatus();
  }
  const int error = errno;
  const std::string reason = ReasonOf(file.get(), name);
  return reason.empty() ? DescribeError(path, error) : ErrnoStatus(error, reason);
}

absl::StatusOr<std::vector<LiveMember>> LiveMount::Members() const {
  MDVOL_ASSIGN_OR_RETURN(const std::string text, Read("status.json"));
  std::vector<LiveMember> members;
  try {
    const nlohmann::json status = nlohmann::json::parse(text);
    for (const nlohmann::json& member : status.at("members")) {
      LiveMember& live = members.emplace_back();
      live.name = member.at("name");
      live.path = member.contains("path_escaped")
                      ? UnescapeOctal(member.at("path_escaped").get<std::string>())
                      : member.at("path").get<std::string>();
      if (!member.at("slot").is_null()) {
        live.slot = member.at("slot").get<uint32_t>();
      }
      live.number = member.at("dev_number");
    }
  } catch (const nlohmann::json::exception&) {
    return ErrnoStatus(EINVAL, path_ + "/status.json: not of this version of mdvol");
  }
  return members;
}

absl::StatusOr<LiveMember> LiveMount::FindMember(const std::string& text) const {
  MDVOL_ASSIGN_OR_RETURN(const std::vector<LiveMember> members, Members());
  std::vector<MemberTitles> titles;
  for (const LiveMember& member : members) {
    titles.push_back({member.name, member.path, member.slot, member.number});
  }
  MDVOL_ASSIGN_OR_RETURN(const std::optional<size_t> found,
                         FindMemberByWord(titles, text, PathMatch::kFile));
  if (!found.has_value()) {
    return ErrnoStatus(ENODEV, text + ": no member of " + path_ +
                                   ": give a path, a name of mdvol detail, or a slot number");
  }
  return members[*found];
}

}  // namespace mdvol
