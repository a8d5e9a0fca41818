// `mdvol detail` and `mdvol status`: the running array in mdadm's form and as /proc/mdstat has it;
// both as status.json with --json.

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "core/base/status.h"
#include "fuse/cli/live.h"
#include "fuse/cli/verbs.h"
#include "fuse/render/detail.h"

namespace mdvol {
namespace {

struct ShowOptions {
  bool json = false;
  std::string mountpoint;
};

DeviceNumber NumberOf(const std::string& path) {
  struct stat attributes {};
  if (::stat(path.c_str(), &attributes) != 0 || !S_ISBLK(attributes.st_mode)) {
    return {};
  }
  return {major(attributes.st_rdev), minor(attributes.st_rdev)};
}

absl::Status RunDetail(const ShowOptions& options, VerbContext& context) {
  MDVOL_ASSIGN_OR_RETURN(const LiveMount mount, LiveMount::Open(options.mountpoint));
  MDVOL_ASSIGN_OR_RETURN(const std::string status, mount.Read("status.json"));
  if (options.json) {
    context.out << status;
    return absl::OkStatus();
  }
  MDVOL_ASSIGN_OR_RETURN(const std::string text, RenderDetail(mount.path(), status, NumberOf));
  context.out << text;
  return absl::OkStatus();
}

absl::Status RunStatus(const ShowOptions& options, VerbContext& context) {
  MDVOL_ASSIGN_OR_RETURN(const LiveMount mount, LiveMount::Open(options.mountpoint));
  MDVOL_ASSIGN_OR_RETURN(const std::string text,
                         mount.Read(options.json ? "status.json" : "mdstat"));
  context.out << text;
  return absl::OkStatus();
}

void AddShow(CLI::App& app, VerbContext& context, const char* name, const char* summary,
             absl::Status (*run)(const ShowOptions&, VerbContext&)) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* const verb = app.add_subcommand(name, summary);
  verb->add_flag("--json", options->json, "Machine-readable: the content of status.json");
  verb->add_option("MOUNTPOINT", options->mountpoint, "Where the array is mounted")->required();
  verb->callback([options, &context, run] {
    context.run = [options, &context, run] { return run(*options, context); };
  });
}

}  // namespace

void AddDetail(CLI::App& app, VerbContext& context) {
  AddShow(app, context, "detail", "Shows a mounted array as mdadm --detail does", RunDetail);
}

void AddStatus(CLI::App& app, VerbContext& context) {
  AddShow(app, context, "status", "Shows a mounted array as /proc/mdstat does", RunStatus);
}

}  // namespace mdvol
