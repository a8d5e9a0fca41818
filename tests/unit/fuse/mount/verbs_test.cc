// The live verbs on a real mount.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "fuse/cli/cli.h"
#include "tests/unit/fuse/mount/mounted.h"

namespace mdvol {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string err;
};

class LiveVerbsTest : public testing::MountedTest {
 protected:
  // "@" stands for the mountpoint.
  Outcome Run(std::vector<std::string> words) {
    words.insert(words.begin(), "mdvol");
    std::vector<const char*> arguments;
    for (std::string& word : words) {
      word = word == "@" ? folder_.path() : word;
      arguments.push_back(word.c_str());
    }
    std::ostringstream out;
    std::ostringstream err;
    Outcome outcome;
    outcome.exit_code = RunCli(static_cast<int>(arguments.size()), arguments.data(), out, err);
    outcome.out = out.str();
    outcome.err = err.str();
    return outcome;
  }
};

TEST_F(LiveVerbsTest, DetailAndStatusShowTheArray) {
  Mount();
  const Outcome detail = Run({"detail", "@"});
  EXPECT_EQ(detail.exit_code, 0);
  EXPECT_THAT(detail.out, StartsWith(folder_.path() + ":\n           Version : 1.2\n"));
  EXPECT_THAT(detail.out, HasSubstr("active sync   /images/d5.img\n"));
  EXPECT_EQ(Run({"status", "@"}).out, ReadFile("mdstat"));
  EXPECT_EQ(Run({"detail", "--json", "@"}).out, ReadFile("status.json"));
  EXPECT_EQ(Run({"status", "--json", "@"}).out, ReadFile("status.json"));
}

TEST_F(LiveVerbsTest, GetAndSetReadAndWriteAttributes) {
  Mount();
  EXPECT_EQ(Run({"get", "@", "chunk_size"}).out, "65536\n");
  EXPECT_EQ(Run({"get", "@", "dev-d1.img/slot"}).out, "1\n");
  EXPECT_EQ(Run({"set", "@", "rmw_level=2"}).exit_code, 0);
  EXPECT_EQ(ReadFile("md/rmw_level"), "2\n");
  EXPECT_EQ(Run({"set", "@", "policy/degraded_read=no-such"}).exit_code, 1);
}

TEST_F(LiveVerbsTest, WhatCannotBeReadOrSetIsOneLine) {
  Mount();
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"get", "@", "no_such"},
                                             {"get", "@", "bitmap"},
                                             {"set", "@", "rmw_level=9"},
                                             {"set", "@", "level=raid5"},
                                             {"set", "@", "no_such=1"}}) {
    const Outcome outcome = Run(words);
    EXPECT_EQ(outcome.exit_code, 1) << words.back();
    EXPECT_THAT(outcome.err, MatchesRegex("mdvol: [^\n]+\n"));
    EXPECT_EQ(outcome.out, "");
  }
  EXPECT_EQ(Run({"get", "@", "no_such"}).err, "mdvol: md/no_such: there is no such file\n");
  EXPECT_EQ(Run({"get", "@", "policy"}).err, "mdvol: md/policy: is a folder: name a file in it\n");
  EXPECT_EQ(Run({"set", "@", "no_such=1"}).err, "mdvol: md/no_such: there is no such file\n");
  EXPECT_EQ(Run({"get", "@", "../status.json"}).exit_code, 2);
  EXPECT_EQ(Run({"get", "@", "/etc/passwd"}).exit_code, 2);
  EXPECT_EQ(Run({"get", "@", ""}).exit_code, 2);
  EXPECT_EQ(Run({"set", "@", "rmw_level"}).exit_code, 2);
  EXPECT_EQ(ReadFile("md/rmw_level"), "1\n");
}

TEST_F(LiveVerbsTest, FailTakesASlotANameOrAPathAndNoMoreThanTwo) {
  Mount();
  EXPECT_EQ(Run({"fail", "@", "1"}).exit_code, 0);
  EXPECT_EQ(Run({"fail", "@", "1"}).exit_code, 0);  // Again: its slot is empty, its number stays.
  EXPECT_EQ(Run({"fail", "@", "/images/d3.img", "d3.img"}).exit_code, 0);
  const Outcome third = Run({"fail", "@", "d5.img"});
  EXPECT_EQ(third.exit_code, 1);
  EXPECT_THAT(third.err, HasSubstr("d5.img: not failed"));
  const Outcome unknown = Run({"fail", "@", "0", "99"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("99: no member"));
  EXPECT_THAT(ReadFile("mdstat"), HasSubstr("[6/4] [U_U_UU]"));
}

TEST_F(LiveVerbsTest, StopFlushesAndWaitsForTheDaemon) {
  Mount();
  const uint64_t flushes = array().flush_count;
  // A zombie is gone as far as others can tell.
  EXPECT_EQ(Run({"stop", "@"}).exit_code, 0);
  EXPECT_FALSE(is_mounted());
  EXPECT_TRUE(array().stopped);
  EXPECT_GT(array().flush_count, flushes);
  EXPECT_EQ(WaitForServer(), 0);
}

TEST_F(LiveVerbsTest, StopWhileInUseChangesNothing) {
  Mount();
  const UniqueFd file = Open(O_RDWR);
  const Outcome outcome = Run({"stop", "@"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("in use, not stopped"));
  EXPECT_TRUE(is_mounted());
  EXPECT_FALSE(array().stopped);
}

TEST_F(LiveVerbsTest, AFlushThatFailsIsToldAndTheArrayGoesOn) {
  Mount();
  array().flush_error = EIO;
  const Outcome outcome = Run({"stop", "@"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("flush: Input/output error"));
  EXPECT_TRUE(is_mounted());
}

TEST_F(LiveVerbsTest, ABrokenArrayIsUnmountedAndSaidToBeDirty) {
  Mount();
  array().broken = true;
  array().flush_error = EIO;
  array().stop_error = EIO;
  const Outcome outcome = Run({"stop", "@"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("not clean: injected: put the members that were lost back"));
  EXPECT_FALSE(is_mounted());
  EXPECT_TRUE(array().stopped);
  EXPECT_NE(WaitForServer(), 0);
}

TEST_F(LiveVerbsTest, ABrokenArrayInUseStays) {
  Mount();
  array().broken = true;
  array().flush_error = EIO;
  const UniqueFd file = Open(O_RDWR);
  const Outcome outcome = Run({"stop", "@"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("in use, not stopped"));
  EXPECT_TRUE(is_mounted());
}

TEST_F(LiveVerbsTest, AStopThatFailsAfterTheUnmountIsAnError) {
  Mount();
  array().stop_error = ENOSPC;
  const Outcome outcome = Run({"stop", "@"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("unmounted, but not clean: injected: mount again"));
  EXPECT_FALSE(is_mounted());
}

// Nothing is lost: done, with a word.
TEST_F(LiveVerbsTest, AStopThatLeavesTheArrayDirtyWarns) {
  Mount();
  array().stays_dirty = true;
  const Outcome outcome = Run({"stop", "@"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("mdvol: warning: " + folder_.path() + ": left dirty: "));
  EXPECT_THAT(outcome.err, HasSubstr("make room, then mount again"));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1);
  EXPECT_FALSE(is_mounted());
}

TEST_F(LiveVerbsTest, ADaemonThatDiesInsteadOfStoppingIsAnError) {
  Mount();
  array().dies_at_stop = true;
  const Outcome outcome = Run({"stop", "@"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("ended without saying how: ask mdvol examine"));
}

TEST_F(LiveVerbsTest, WhereNothingIsMountedTheySaySo) {
  for (const char* verb : {"detail", "status", "stop"}) {
    const Outcome outcome = Run({verb, "@"});
    EXPECT_EQ(outcome.exit_code, 1) << verb;
    EXPECT_THAT(outcome.err, HasSubstr(folder_.path() + ": no array is mounted here"));
    EXPECT_EQ(Run({verb, "/proc"}).exit_code, 1);
    const Outcome no_folder = Run({verb, "/no/such/folder"});
    EXPECT_EQ(no_folder.exit_code, 1);
    EXPECT_THAT(no_folder.err, HasSubstr("/no/such/folder: no such folder"));
  }
}

TEST_F(LiveVerbsTest, OfADeadMountTheySaySo) {
  Mount();
  ASSERT_EQ(::kill(server(), SIGKILL), 0);
  WaitForServer();
  const Outcome outcome = Run({"detail", "@"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("the daemon has gone"));
  EXPECT_THAT(Run({"map", "@", "--offset", "0"}).err, HasSubstr("the daemon has gone"));
}

}  // namespace
}  // namespace mdvol
