// `mdvol check`, `repair`, `resync`, `idle` and `freeze`: words for md/sync_action. Each returns
// once sync_action shows the action, or once it has ended already.

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "core/base/status.h"
#include "fuse/cli/live.h"
#include "fuse/cli/verbs.h"

namespace mdvol {
namespace {

constexpr char kFile[] = "md/sync_action";

absl::Status RunAction(const std::string& mountpoint, const std::string& word) {
  MDVOL_ASSIGN_OR_RETURN(const LiveMount mount, LiveMount::Open(mountpoint));
  return Annotate(mount.Write(kFile, word), mountpoint);
}

void AddAction(CLI::App& app, VerbContext& context, const std::string& verb_name,
               const std::string& word, const std::string& help) {
  auto mountpoint = std::make_shared<std::string>();
  CLI::App* const verb = app.add_subcommand(verb_name, help);
  verb->add_option("MOUNTPOINT", *mountpoint, "Where the array is mounted")->required();
  verb->callback([mountpoint, word, &context] {
    context.run = [mountpoint, word] { return RunAction(*mountpoint, word); };
  });
}

}  // namespace

void AddCheck(CLI::App& app, VerbContext& context) {
  AddAction(app, context, "check", "check",
            "Compares data, P and Q, and names the member that is wrong");
}

void AddRepair(CLI::App& app, VerbContext& context) {
  AddAction(app, context, "repair", "repair", "Checks, and mends what is wrong");
}

void AddResync(CLI::App& app, VerbContext& context) {
  AddAction(app, context, "resync", "resync", "Makes P and Q agree with the data everywhere");
}

void AddIdle(CLI::App& app, VerbContext& context) {
  AddAction(app, context, "idle", "idle",
            "Ends what is running; what is needed starts again by itself");
}

void AddFreeze(CLI::App& app, VerbContext& context) {
  AddAction(app, context, "freeze", "frozen",
            "Ends what is running, and lets nothing start by itself until idle");
}

}  // namespace mdvol
