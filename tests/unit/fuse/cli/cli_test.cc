// Tests of the frame: help, version, usage errors, exit codes.

#include "fuse/cli/cli.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <ostream>
#include <set>
#include <string>

#include "core/base/status.h"
#include "fuse/cli/verbs.h"
#include "tests/unit/fuse/cli/cli_fixture.h"

namespace mdvol {
namespace {

using testing::CliResult;
using ::testing::HasSubstr;
using testing::IsOneErrorLine;
using testing::RunMdvol;
using ::testing::StartsWith;

std::set<std::string> VerbNames() {
  CLI::App app;
  std::ostringstream stream;
  VerbContext context{stream, stream, {}};
  for (AddVerb* add_verb : AllVerbs()) {
    add_verb(app, context);
  }
  std::set<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](CLI::App*) { return true; })) {
    names.insert(verb->get_name());
  }
  return names;
}

TEST(CliTest, VersionAndHelpGoToStandardOutput) {
  const CliResult version = RunMdvol({"--version"});
  EXPECT_EQ(version.exit_code, kExitDone);
  EXPECT_THAT(version.out, StartsWith("mdvol "));
  EXPECT_EQ(version.err, "");
  for (const char* const flag : {"--help", "-h"}) {
    const CliResult help = RunMdvol({flag});
    EXPECT_EQ(help.exit_code, kExitDone);
    EXPECT_EQ(help.err, "");
    for (const std::string& name : VerbNames()) {
      EXPECT_THAT(help.out, HasSubstr("\n  " + name));
    }
  }
}

TEST(CliTest, HelpThatCannotBeWrittenIsAnError) {
  for (const char* const flag : {"--help", "--version", "-V"}) {
    std::ostringstream out;
    std::ostringstream err;
    out.setstate(std::ios::badbit);
    const std::array argv{"mdvol", flag};
    EXPECT_EQ(RunCli(2, argv.data(), out, err), kExitFailed) << flag;
    EXPECT_THAT(err.str(), HasSubstr("could not be written"));
  }
}

TEST(CliTest, PlaceholdersAreWords) {
  const std::string help = RunMdvol({"mount", "--help"}).out;
  EXPECT_THAT(help, HasSubstr("--log FILE"));
  EXPECT_THAT(help, HasSubstr("-o OPTIONS"));
  for (const std::string& name : VerbNames()) {
    EXPECT_EQ(RunMdvol({name, "--help"}).out.find("TEXT"), std::string::npos) << name;
  }
}

TEST(CliTest, AnUnknownPolicyFamilyIsSaidToBeOne) {
  const CliResult result = RunMdvol({"mount", "--policy", "degraded_reads=bypass", "d0", "mnt"});
  EXPECT_EQ(result.exit_code, kExitUsage);
  EXPECT_THAT(result.err, HasSubstr("unknown family, known are degraded_read, "));
}

TEST(CliTest, EveryVerbHasHelpWithItsNameAndASummary) {
  for (const std::string& name : VerbNames()) {
    const CliResult help = RunMdvol({name, "--help"});
    EXPECT_EQ(help.exit_code, kExitDone) << name;
    EXPECT_THAT(help.out, HasSubstr("mdvol " + name));
    EXPECT_EQ(help.err, "");
  }
}

TEST(CliTest, OfflineVerbsAreThere) {
  EXPECT_THAT(VerbNames(), ::testing::IsSupersetOf({"create", "examine", "map", "policies"}));
}

TEST(CliTest, WrongUsageIsOneLineWithAHintAndExitCode2) {
  const std::vector<std::vector<std::string>> command_lines = {
      {},
      {"frobnicate"},
      {"--frobnicate"},
      {"create"},
      {"create", "--no-such", "x"},
      {"create", "--chunk"},
      {"create", "--chunk", "64K", "--chunk", "128K", "x"},
      {"create", "--force=perhaps", "x"},
      {"examine"},
      {"examine", "--json", "--jsn", "x"},
      {"map", "x"},
      {"map", "--offset", "0"},
      {"policies", "extra"},
      {"policies", "create"},
  };
  for (const auto& arguments : command_lines) {
    const CliResult result = RunMdvol(arguments);
    const std::string shown = ::testing::PrintToString(arguments);
    EXPECT_EQ(result.exit_code, kExitUsage) << shown;
    EXPECT_EQ(result.out, "") << shown;
    EXPECT_TRUE(IsOneErrorLine(result.err)) << shown;
    EXPECT_THAT(result.err, HasSubstr("--help)")) << shown;
  }
  EXPECT_THAT(RunMdvol({"create"}).err, HasSubstr("(see mdvol create --help)"));
  EXPECT_THAT(RunMdvol({"frobnicate"}).err, HasSubstr("no verb or option 'frobnicate'"));
}

TEST(CliTest, AStandardOutputThatCannotBeWrittenIsAnError) {
  std::ostream closed(nullptr);  // every write fails
  std::ostringstream err;
  const char* const argv[] = {"mdvol", "policies"};
  EXPECT_EQ(RunCli(2, argv, closed, err), kExitFailed);
  EXPECT_TRUE(IsOneErrorLine(err.str()));
  EXPECT_THAT(err.str(), HasSubstr("standard output"));
}

TEST(CliTest, ControlCharactersOfAFileNameDoNotReachTheTerminal) {
  const CliResult result = RunMdvol({"examine", "/nowhere/a\nb\rc\x1b[2J"});
  EXPECT_EQ(result.exit_code, kExitFailed);
  EXPECT_TRUE(IsOneErrorLine(result.err));
  EXPECT_THAT(result.err, HasSubstr("/nowhere/a?b?c?[2J"));
}

TEST(CliTest, PoliciesListsEveryFamily) {
  const CliResult text = RunMdvol({"policies"});
  EXPECT_EQ(text.exit_code, kExitDone);
  for (const char* const family :
       {"degraded_read", "resync_pacing", "resync_request", "write_admission", "parity_workers"}) {
    EXPECT_THAT(text.out, HasSubstr(family));
    EXPECT_THAT(RunMdvol({"policies", "--json"}).out, HasSubstr(family));
  }
  EXPECT_THAT(text.out, HasSubstr("* adaptive"));
}

}  // namespace
}  // namespace mdvol
