// `mdvol set`: stores a value into a file below MOUNTPOINT/md.

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "core/base/status.h"
#include "fuse/cli/attributes.h"
#include "fuse/cli/live.h"
#include "fuse/cli/verbs.h"

namespace mdvol {
namespace {

struct SetOptions {
  std::string mountpoint;
  std::string assignment;
};

absl::Status RunSet(const SetOptions& options) {
  const size_t equals = options.assignment.find('=');
  if (equals == std::string::npos) {
    return UsageError("\"" + options.assignment + "\": give NAME=VALUE");
  }
  const std::string value = options.assignment.substr(equals + 1);
  MDVOL_ASSIGN_OR_RETURN(const std::string path,
                         AttributePath(options.assignment.substr(0, equals)));
  MDVOL_ASSIGN_OR_RETURN(const LiveMount mount, LiveMount::Open(options.mountpoint));
  return Annotate(mount.Write(path, value), path);
}

}  // namespace

void AddSet(CLI::App& app, VerbContext& context) {
  auto options = std::make_shared<SetOptions>();
  CLI::App* const verb = app.add_subcommand("set", "Sets an attribute of a mounted array");
  verb->add_option("MOUNTPOINT", options->mountpoint, "Where the array is mounted")->required();
  verb->add_option("NAME=VALUE", options->assignment, "NAME is a file below MOUNTPOINT/md")
      ->required();
  verb->callback([options, &context] { context.run = [options] { return RunSet(*options); }; });
}

}  // namespace mdvol
