// `mdvol replace`: has a member copied to a spare, which then takes its place, as `mdadm --replace`
// does. The member goes on working meanwhile.

#include <CLI/CLI.hpp>
#include <cerrno>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "core/base/status.h"
#include "fuse/cli/live.h"
#include "fuse/cli/verbs.h"

namespace mdvol {
namespace {

struct ReplaceOptions {
  std::string mountpoint;
  std::string old_member;
  std::string new_member;  // empty: the first spare that fits
};

absl::Status RunReplace(const ReplaceOptions& options) {
  MDVOL_ASSIGN_OR_RETURN(const LiveMount mount, LiveMount::Open(options.mountpoint));
  MDVOL_ASSIGN_OR_RETURN(const LiveMember old_member, mount.FindMember(options.old_member));
  if (!old_member.slot.has_value()) {
    return ErrnoStatus(EINVAL, old_member.name + ": works in no slot, there is nothing to replace");
  }
  if (options.new_member.empty()) {
    return Annotate(mount.Write("md/dev-" + old_member.name + "/state", "want_replacement"),
                    old_member.name);
  }
  const absl::StatusOr<LiveMember> new_member = mount.FindMember(options.new_member);
  if (!new_member.ok()) {
    return Annotate(new_member.status(), "add it to the array first");
  }
  return Annotate(
      mount.Write("md/dev-" + new_member->name + "/slot", std::to_string(*old_member.slot)),
      new_member->name);
}

}  // namespace

void AddReplace(CLI::App& app, VerbContext& context) {
  auto options = std::make_shared<ReplaceOptions>();
  CLI::App* const verb =
      app.add_subcommand("replace", "Copies a member to a spare, which then takes its place");
  verb->add_option("MOUNTPOINT", options->mountpoint, "Where the array is mounted")->required();
  verb->add_option("OLD", options->old_member, "A path, the NAME of md/dev-NAME, or a slot number")
      ->required();
  verb->add_option("NEW", options->new_member, "A spare of the array; default: any");
  verb->callback([options, &context] { context.run = [options] { return RunReplace(*options); }; });
}

}  // namespace mdvol
