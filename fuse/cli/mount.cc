// `mdvol mount`: starts an array and mounts it; the daemon goes on in the background once the
// volume is ready.

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/base/status.h"
#include "core/config/config.h"
#include "core/config/merge.h"
#include "fuse/cli/verbs.h"
#include "fuse/daemon.h"
#include "fuse/mount.h"

namespace mdvol {
namespace {

struct MountVerbOptions {
  std::string config_path;
  bool read_only = false;
  bool foreground = false;
  bool force = false;
  bool run = false;
  bool direct = false;
  std::vector<std::string> policies;
  std::string log_path;
  std::vector<std::string> fuse_options;
  std::vector<std::string> paths;  // members, then the mountpoint
};

// A flag that is not given leaves the configuration alone.
std::optional<bool> WhenGiven(bool flag) { return flag ? std::optional<bool>(true) : std::nullopt; }

absl::Status AddPolicyChoice(const std::string& assignment, PolicyConfig& config) {
  const size_t equals = assignment.find('=');
  const std::optional<PolicyFamily> family =
      equals == std::string::npos ? std::nullopt : FindPolicyFamily(assignment.substr(0, equals));
  if (equals == std::string::npos) {
    return UsageError("--policy " + assignment +
                      ": give FAMILY=NAME (mdvol policies lists the families)");
  }
  if (!family.has_value()) {
    std::string known;
    for (const PolicyFamilyInfo& info : kPolicyFamilies) {
      known += (known.empty() ? "" : ", ") + std::string(info.name);
    }
    return UsageError("--policy " + assignment + ": unknown family, known are " + known);
  }
  config.choices[IndexOf(*family)] = PolicyChoice{assignment.substr(equals + 1), "--policy"};
  return absl::OkStatus();
}

absl::StatusOr<MountRequest> MakeRequest(const MountVerbOptions& options) {
  Config overrides;
  overrides.array.members.assign(options.paths.begin(), options.paths.end() - 1);
  overrides.array.read_only = WhenGiven(options.read_only);
  overrides.array.force = WhenGiven(options.force);
  overrides.array.run = WhenGiven(options.run);
  overrides.io.direct = WhenGiven(options.direct);
  for (const std::string& assignment : options.policies) {
    MDVOL_RETURN_IF_ERROR(AddPolicyChoice(assignment, overrides.policy));
  }
  MountRequest request;
  if (!options.config_path.empty()) {
    MDVOL_ASSIGN_OR_RETURN(request.config, LoadConfig(options.config_path));
  }
  request.config = MergeConfig(std::move(request.config), overrides);
  request.mountpoint = options.paths.back();
  request.options = options.fuse_options;
  request.log_path = options.log_path;
  request.foreground = options.foreground;
  request.version = MDVOL_VERSION;
  return ResolveMountRequest(std::move(request));
}

absl::Status RunMount(const MountVerbOptions& options, VerbContext& context) {
  MDVOL_ASSIGN_OR_RETURN(const MountRequest request, MakeRequest(options));
  const DaemonWork work = [&request](const ReportReady& report_ready) {
    return ServeMount(request, report_ready);
  };
  context.out.flush();
  context.err.flush();
  return options.foreground ? RunInForeground(work) : RunInBackground(work);
}

}  // namespace

void AddMount(CLI::App& app, VerbContext& context) {
  auto options = std::make_shared<MountVerbOptions>();
  CLI::App* const verb = app.add_subcommand(
      "mount", "Starts an array and mounts it; returns when the volume is ready");
  verb->add_option("--config", options->config_path, "Configuration file (examples/array.toml)")
      ->type_name("FILE");
  verb->add_flag("--read-only", options->read_only, "Not one byte of any member changes");
  verb->add_flag("--foreground", options->foreground, "Stay in the foreground");
  verb->add_flag("--force", options->force, "Start although dirty and degraded, or stale");
  verb->add_flag("--run", options->run, "Start with fewer members than were active last time");
  verb->add_flag("--direct", options->direct, "Open the members with O_DIRECT");
  verb->add_option("--policy", options->policies, "A policy for a family; any number of times")
      ->allow_extra_args(false)
      ->type_name("FAMILY=NAME");
  verb->add_option("--log", options->log_path, "Log events to this file instead of syslog")
      ->type_name("FILE");
  verb->add_option("-o", options->fuse_options, "Mount options, as allow_other")
      ->allow_extra_args(false)
      ->type_name("OPTIONS");
  verb->add_option("PATH", options->paths,
                   "[MEMBER...] MOUNTPOINT; the members may be in the configuration instead")
      ->required();
  verb->callback([options, &context] {
    context.run = [options, &context] { return RunMount(*options, context); };
  });
}

}  // namespace mdvol
