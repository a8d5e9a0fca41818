// `mdvol remove`: lets faulty members and idle spares go, as `mdadm --remove` does.

#include <CLI/CLI.hpp>
#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/base/status.h"
#include "fuse/cli/live.h"
#include "fuse/cli/verbs.h"

namespace mdvol {
namespace {

struct RemoveOptions {
  std::string mountpoint;
  std::vector<std::string> members;
};

absl::Status RunRemove(const RemoveOptions& options) {
  MDVOL_ASSIGN_OR_RETURN(const LiveMount mount, LiveMount::Open(options.mountpoint));
  std::vector<LiveMember> members;  // All are found before the first is removed.
  for (const std::string& text : options.members) {
    MDVOL_ASSIGN_OR_RETURN(members.emplace_back(), mount.FindMember(text));
  }
  for (const LiveMember& member : members) {
    const absl::Status status = mount.Write("md/dev-" + member.name + "/state", "remove");
    if (ErrnoOf(status) == EBUSY) {
      return ErrnoStatus(EBUSY, member.name + ": not removed: it is in use: fail it first");
    }
    MDVOL_RETURN_IF_ERROR(Annotate(status, member.name));
  }
  return absl::OkStatus();
}

}  // namespace

void AddRemove(CLI::App& app, VerbContext& context) {
  auto options = std::make_shared<RemoveOptions>();
  CLI::App* const verb =
      app.add_subcommand("remove", "Takes faulty members and spares out of a mounted array");
  verb->add_option("MOUNTPOINT", options->mountpoint, "Where the array is mounted")->required();
  verb->add_option("MEMBER", options->members, "A path, the NAME of md/dev-NAME, or a slot number")
      ->required();
  verb->callback([options, &context] { context.run = [options] { return RunRemove(*options); }; });
}

}  // namespace mdvol
