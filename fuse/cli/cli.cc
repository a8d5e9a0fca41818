// See cli.h. CLI11 reports through exceptions; they end here.

#include "fuse/cli/cli.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "core/base/status.h"
#include "fuse/cli/verbs.h"

namespace mdvol {
namespace {

constexpr char kSummary[] = "A Linux md RAID6 array as one file, without root.";
constexpr char kFooter[] =
    "mdvol VERB --help tells about a verb. Exit codes: 0 done, 1 could not, 2 wrong usage.";

// Whatever comes from a file name or a library: an error stays one line, and moves no cursor.
void PrintError(std::ostream& err, std::string message) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  std::replace_if(message.begin(), message.end(), is_control, '?');
  err << "mdvol: " << message << '\n';
}

int Report(const absl::Status& status, std::ostream& err) {
  if (status.ok()) {
    return kExitDone;
  }
  PrintError(err, MessageOf(status));
  return IsUsageError(status) ? kExitUsage : kExitFailed;
}

absl::Status CheckWritten(std::ostream& out) {
  out.flush();
  return out ? absl::OkStatus()
             : ErrnoStatus(EIO, "standard output: could not be written (is its disk full?)");
}

// "MOUNTPOINT" says enough; CLI11 would add "TEXT".
void DropPlaceholders(CLI::App& verb) {
  for (CLI::Option* option : verb.get_options()) {
    if (option->get_positional()) {
      option->type_name("");
    }
  }
}

// The verb that was being parsed when an error came up, for the hint: "mdvol create --help".
std::string HelpHint(const CLI::App& app) {
  const auto verbs = app.get_subcommands();
  return verbs.empty() ? "mdvol --help" : "mdvol " + verbs.back()->get_name() + " --help";
}

std::string UsageMessage(const CLI::App& app, const CLI::ParseError& error) {
  std::string message = error.what();
  if (const auto unknown = app.remaining(); app.get_subcommands().empty() && !unknown.empty()) {
    message = "there is no verb or option '" + unknown.front() + "'";
  }
  while (!message.empty() && (message.back() == '\n' || message.back() == '.')) {
    message.pop_back();
  }
  return message + " (see " + HelpHint(app) + ")";
}

}  // namespace

int RunCli(int argc, const char* const* argv, std::ostream& out, std::ostream& err) {
  VerbContext context{out, err, {}};
  CLI::App app(kSummary, "mdvol");
  app.footer(kFooter);
  app.set_version_flag("-V,--version", "mdvol " MDVOL_VERSION);
  app.require_subcommand(0, 1);  // That there is one is checked below, in better words.
  for (AddVerb* add_verb : AllVerbs()) {
    add_verb(app, context);
  }
  for (CLI::App* verb : app.get_subcommands({})) {
    DropPlaceholders(*verb);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    app.exit(success, out, err);
    return Report(CheckWritten(out), err);
  } catch (const CLI::ParseError& error) {
    return Report(UsageError(UsageMessage(app, error)), err);
  }
  if (!context.run) {
    return Report(UsageError("no verb is given (see mdvol --help)"), err);
  }
  absl::Status status = context.run();
  const absl::Status written = CheckWritten(out);
  status.Update(written);
  return Report(status, err);
}

}  // namespace mdvol
