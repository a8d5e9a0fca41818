// `mdvol add` and `mdvol re-add`: members for a running array, as mdadm adds them.
//
// A file that was a member comes back into its slot when the bitmap can vouch for it, and only what
// was written meanwhile is copied; otherwise it becomes a spare and is rebuilt from the start.
// re-add is refused where that would be so.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "core/array/array.h"
#include "core/base/path.h"
#include "core/base/status.h"
#include "core/device/file_device.h"
#include "fuse/cli/live.h"
#include "fuse/cli/verbs.h"
#include "fuse/member_place.h"

namespace mdvol {
namespace {

struct AddOptions {
  std::string mountpoint;
  std::vector<std::string> members;
};

// One that the array still lists as faulty is named like any member; others are paths.
absl::StatusOr<std::string> PathOf(const LiveMount& mount, const std::string& text) {
  std::error_code error;
  if (!std::filesystem::exists(text, error)) {
    MDVOL_ASSIGN_OR_RETURN(const LiveMember member, mount.FindMember(text));
    return member.path;
  }
  return AbsolutePath(text);
}

absl::StatusOr<const LiveMember*> FindByPath(const std::vector<LiveMember>& members,
                                             const std::string& path) {
  for (const LiveMember& member : members) {
    std::error_code error;
    if (member.path == path || std::filesystem::equivalent(member.path, path, error)) {
      return &member;
    }
  }
  return nullptr;
}

// What can be told without touching the file, which is still the array's.
absl::Status CheckCanBeOpened(const std::string& path) {
  MDVOL_RETURN_IF_ERROR(CheckMemberPlace(path));
  MDVOL_RETURN_IF_ERROR(IdentifyFile(path).status());
  return ::eaccess(path.c_str(), R_OK | W_OK) == 0
             ? absl::OkStatus()
             : SystemError(errno, path + ": cannot be opened for writing");
}

// A member that failed has to leave before its file can come in again. For a re-add the array does
// both, and neither when it would not take the member back.
absl::Status Add(const LiveMount& mount, const std::string& text, AddMode mode) {
  MDVOL_ASSIGN_OR_RETURN(const std::string path, PathOf(mount, text));
  MDVOL_ASSIGN_OR_RETURN(const std::vector<LiveMember> members, mount.Members());
  MDVOL_ASSIGN_OR_RETURN(const LiveMember* const present, FindByPath(members, path));
  if (present != nullptr) {
    const std::string state_file = "md/dev-" + present->name + "/state";
    MDVOL_ASSIGN_OR_RETURN(const std::string state, mount.Read(state_file));
    if (state.find("faulty") == std::string::npos) {
      return ErrnoStatus(EBUSY, path + ": is a member already");
    }
    if (mode == AddMode::kReAdd) {
      return mount.Write(state_file, "re-add");
    }
    MDVOL_RETURN_IF_ERROR(CheckCanBeOpened(path));
    MDVOL_RETURN_IF_ERROR(mount.Write(state_file, "remove"));
  }
  return mount.Write("md/new_dev", mode == AddMode::kReAdd ? "re-add " + path : path);
}

absl::Status AddAll(const AddOptions& options, AddMode mode) {
  MDVOL_ASSIGN_OR_RETURN(const LiveMount mount, LiveMount::Open(options.mountpoint));
  for (const std::string& text : options.members) {
    MDVOL_RETURN_IF_ERROR(Add(mount, text, mode));
  }
  return absl::OkStatus();
}

void AddAddingVerb(CLI::App& app, VerbContext& context, const std::string& name, AddMode mode,
                   const std::string& help) {
  auto options = std::make_shared<AddOptions>();
  CLI::App* const verb = app.add_subcommand(name, help);
  verb->add_option("MOUNTPOINT", options->mountpoint, "Where the array is mounted")->required();
  verb->add_option("MEMBER", options->members, "An image file or a block device")->required();
  verb->callback([options, mode, &context] {
    context.run = [options, mode] { return AddAll(*options, mode); };
  });
}

}  // namespace

void AddAdd(CLI::App& app, VerbContext& context) {
  AddAddingVerb(app, context, "add", AddMode::kAdd,
                "Adds members to a mounted array: back into their slots, or as spares");
}

void AddReAdd(CLI::App& app, VerbContext& context) {
  AddAddingVerb(app, context, "re-add", AddMode::kReAdd,
                "Brings members back into their slots, copying what they missed");
}

}  // namespace mdvol
