// The verbs of the command line, and what a verb's file owes the frame (cli.h).
//
// A verb lives in fuse/cli/<verb>.cc (verbs that differ in a word share a file) and exposes one
// function of type AddVerb, declared here and listed in verbs.cc (the order there is the order of
// `mdvol --help`). The function adds a subcommand with its options and sets the subcommand's
// callback; the callback does no work itself, it puts the work into VerbContext::run:
//
//   void AddPolicies(CLI::App& app, VerbContext& context) {
//     auto options = std::make_shared<PoliciesOptions>();  // lives as long as the callback
//     CLI::App* verb = app.add_subcommand("policies", "Lists the policies");
//     verb->add_flag("--json", options->json, "...");
//     verb->callback([options, &context] {
//       context.run = [options, &context] { return RunPolicies(*options, context); };
//     });
//   }
//
// Exit codes follow from the status that `run` returns: OK is 0, an error made by UsageError is 2,
// any other error 1. The frame prints an error as the one line "mdvol: MESSAGE" on `err`, with
// control characters replaced; a verb prints results to `out`, warnings to `err`, and never an
// error. Values that do not parse (sizes, uuids, layouts) are kept as strings by CLI11 and parsed
// in `run`, so that all messages have one form. Verbs run in one thread; nothing here is locked.

#ifndef MDVOL_FUSE_CLI_VERBS_H_
#define MDVOL_FUSE_CLI_VERBS_H_

#include <functional>
#include <ostream>
#include <span>

#include "absl/status/status.h"

namespace CLI {
class App;
}  // namespace CLI

namespace mdvol {

struct VerbContext {
  std::ostream& out;
  std::ostream& err;
  std::function<absl::Status()> run;  // set by the callback of the verb that was named
};

using AddVerb = void(CLI::App& app, VerbContext& context);

// Offline: on members.
AddVerb AddCreate;
AddVerb AddExamine;
AddVerb AddMap;
AddVerb AddPolicies;

// Live: on a mountpoint.
AddVerb AddMount;
AddVerb AddDetail;
AddVerb AddStatus;
AddVerb AddFail;
AddVerb AddRemove;
AddVerb AddAdd;
AddVerb AddReAdd;
AddVerb AddReplace;
AddVerb AddCheck;
AddVerb AddRepair;
AddVerb AddResync;
AddVerb AddIdle;
AddVerb AddFreeze;
AddVerb AddWait;
AddVerb AddGet;
AddVerb AddSet;
AddVerb AddStop;

// All verbs, in the order in which the help shows them.
std::span<AddVerb* const> AllVerbs();

}  // namespace mdvol

#endif  // MDVOL_FUSE_CLI_VERBS_H_
