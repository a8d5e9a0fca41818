// `mdvol get`: the value of a file below MOUNTPOINT/md.

#include <CLI/CLI.hpp>
#include <cerrno>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "core/base/status.h"
#include "fuse/cli/attributes.h"
#include "fuse/cli/live.h"
#include "fuse/cli/verbs.h"

namespace mdvol {
namespace {

struct GetOptions {
  std::string mountpoint;
  std::string name;
};

absl::Status RunGet(const GetOptions& options, VerbContext& context) {
  MDVOL_ASSIGN_OR_RETURN(const std::string path, AttributePath(options.name));
  MDVOL_ASSIGN_OR_RETURN(const LiveMount mount, LiveMount::Open(options.mountpoint));
  const absl::StatusOr<std::string> value = mount.Read(path);
  if (ErrnoOf(value.status()) == ENOENT) {
    return ErrnoStatus(ENOENT, path + ": there is no such file");
  }
  if (ErrnoOf(value.status()) == EISDIR) {
    return ErrnoStatus(EISDIR, path + ": is a folder: name a file in it");
  }
  MDVOL_RETURN_IF_ERROR(value.status());
  context.out << *value;
  return absl::OkStatus();
}

}  // namespace

void AddGet(CLI::App& app, VerbContext& context) {
  auto options = std::make_shared<GetOptions>();
  CLI::App* const verb = app.add_subcommand("get", "Prints an attribute of a mounted array");
  verb->add_option("MOUNTPOINT", options->mountpoint, "Where the array is mounted")->required();
  verb->add_option("NAME", options->name, "A file below MOUNTPOINT/md: array_state, dev-NAME/state")
      ->required();
  verb->callback([options, &context] {
    context.run = [options, &context] { return RunGet(*options, context); };
  });
}

}  // namespace mdvol
