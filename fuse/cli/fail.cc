// `mdvol fail`: takes members of a running array for faulty, as `mdadm --fail` does.

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

struct FailOptions {
  std::string mountpoint;
  std::vector<std::string> members;
};

absl::Status RunFail(const FailOptions& options) {
  MDVOL_ASSIGN_OR_RETURN(const LiveMount mount, LiveMount::Open(options.mountpoint));
  std::vector<LiveMember> members;  // All are found before the first is failed.
  for (const std::string& text : options.members) {
    MDVOL_ASSIGN_OR_RETURN(members.emplace_back(), mount.FindMember(text));
  }
  for (const LiveMember& member : members) {
    const absl::Status status = mount.Write("md/dev-" + member.name + "/state", "faulty");
    if (ErrnoOf(status) == EBUSY) {
      return ErrnoStatus(EBUSY, member.name + ": not failed: the array could not go on without it");
    }
    MDVOL_RETURN_IF_ERROR(Annotate(status, member.name));
  }
  return absl::OkStatus();
}

}  // namespace

void AddFail(CLI::App& app, VerbContext& context) {
  auto options = std::make_shared<FailOptions>();
  CLI::App* const verb = app.add_subcommand("fail", "Marks members of a mounted array as faulty");
  verb->add_option("MOUNTPOINT", options->mountpoint, "Where the array is mounted")->required();
  verb->add_option("MEMBER", options->members, "A path, the NAME of md/dev-NAME, or a slot number")
      ->required();
  verb->callback([options, &context] { context.run = [options] { return RunFail(*options); }; });
}

}  // namespace mdvol
