// What people hand to a tool like this: examine and map must say what is wrong in one line, write
// nothing, and never crash. (create has its own tests, mount its end-to-end ones.)

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/little_endian.h"
#include "core/base/units.h"
#include "core/metadata/superblock.h"
#include "tests/support/seed.h"
#include "tests/unit/fuse/cli/cli_fixture.h"

namespace mdvol {
namespace {

using testing::CliFixture;
using testing::CliResult;
using ::testing::HasSubstr;
using testing::IsOneErrorLine;
using testing::RunMdvol;

constexpr uint64_t kSuperOffset = 4096;  // of 1.2

class BadInputTest : public CliFixture {
 protected:
  void SetUp() override {
    CliFixture::SetUp();
    members_ = CreateArray("d");
  }

  static CliResult Examine(const std::vector<std::string>& members) {
    std::vector<std::string> arguments{"examine"};
    arguments.insert(arguments.end(), members.begin(), members.end());
    return RunMdvol(arguments);
  }

  static CliResult Map(const std::vector<std::string>& members) {
    std::vector<std::string> arguments{"map", "--offset", "0"};
    arguments.insert(arguments.end(), members.begin(), members.end());
    return RunMdvol(arguments);
  }

  // Both verbs refuse these members.
  void ExpectRefused(const std::vector<std::string>& members, int exit_code, const char* says) {
    const auto before = Everything();
    for (const CliResult& result : {Examine(members), Map(members)}) {
      EXPECT_EQ(result.exit_code, exit_code) << result.err;
      EXPECT_TRUE(IsOneErrorLine(result.err));
      EXPECT_THAT(result.err, HasSubstr(says));
    }
    EXPECT_TRUE(Everything() == before);
  }

  // The members are whole, but make no array: examine says so, map refuses.
  void ExpectNoArray(const std::vector<std::string>& members, const char* says) {
    const auto before = Everything();
    const CliResult examined = Examine(members);
    EXPECT_EQ(examined.exit_code, 0) << examined.err;
    EXPECT_EQ(examined.err, "");
    EXPECT_THAT(examined.out, HasSubstr(": does not start: "));
    EXPECT_THAT(examined.out, HasSubstr(says));
    const CliResult mapped = Map(members);
    EXPECT_EQ(mapped.exit_code, 1) << mapped.err;
    EXPECT_TRUE(IsOneErrorLine(mapped.err));
    EXPECT_THAT(mapped.err, HasSubstr(says));
    EXPECT_EQ(mapped.out, "");
    EXPECT_TRUE(Everything() == before);
  }

  static Superblock Super(const std::string& path) {
    Superblock super;
    std::memcpy(&super, Read(path).data() + kSuperOffset, sizeof(super));
    return super;
  }

  static void PutSuper(const std::string& path, Superblock super) {
    SealSuperblock(super);
    Overwrite(path, kSuperOffset,
              std::string(reinterpret_cast<const char*>(&super), sizeof(super)));
  }

  std::vector<std::string> members_;
};

TEST_F(BadInputTest, GoodMembersAreAccepted) {
  EXPECT_EQ(Examine(members_).exit_code, 0);
  EXPECT_EQ(Map(members_).exit_code, 0);
  EXPECT_THAT(Examine(members_).out, HasSubstr("starts with 4 of 4 members, clean"));
}

TEST_F(BadInputTest, AFileWithoutMetadata) {
  Write(Path("plain"), std::string(5 * kMiB, 'x'));
  ExpectRefused({members_[0], members_[1], members_[2], Path("plain")}, 1,
                "plain: no md superblock");
}

TEST_F(BadInputTest, MembersOfTwoArrays) {
  const auto others = CreateArray("e");
  ExpectNoArray({members_[0], members_[1], others[2], others[3]}, "array");
}

TEST_F(BadInputTest, TheSameMemberTwice) {
  std::filesystem::create_symlink(members_[0], Path("symbolic"));
  std::filesystem::create_hard_link(members_[0], Path("hard"));
  for (const std::string& other : {members_[0], Path("./d0"), Path("symbolic"), Path("hard")}) {
    ExpectRefused({members_[0], members_[1], other}, 1, "given twice");
  }
}

TEST_F(BadInputTest, ACopyOfAMember) {
  std::filesystem::copy_file(members_[0], Path("copy"));
  ExpectNoArray({members_[0], members_[1], members_[2], Path("copy")}, "copy");
}

TEST_F(BadInputTest, TooFewMembers) {
  const CliResult mapped = Map({members_[0]});
  EXPECT_EQ(mapped.exit_code, 1);
  EXPECT_TRUE(IsOneErrorLine(mapped.err));
  EXPECT_THAT(mapped.err, HasSubstr("too few members"));
  EXPECT_THAT(Examine({members_[0], members_[1]}).out, HasSubstr(": does not start: "));
}

TEST_F(BadInputTest, ATruncatedMember) {
  std::filesystem::resize_file(members_[3], 3 * kMiB);
  ExpectRefused(members_, 1, "cut short");
  std::filesystem::resize_file(members_[3], 4097);
  ExpectRefused(members_, 1, "d3: no md superblock");
}

TEST_F(BadInputTest, AWrongChecksum) {
  Overwrite(members_[2], kSuperOffset + 40, "x");
  ExpectRefused(members_, 1, "d2: ");
  ExpectRefused(members_, 1, "sb_csum");
}

TEST_F(BadInputTest, OneRottenMemberDoesNotHideTheOthers) {
  Overwrite(members_[2], kSuperOffset + 40, "x");
  std::filesystem::resize_file(members_[3], 0);
  const CliResult result = Examine(members_);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(IsOneErrorLine(result.err));
  EXPECT_THAT(result.err, HasSubstr("d2: "));
  EXPECT_THAT(result.err, HasSubstr("1 more"));
  EXPECT_THAT(result.out, HasSubstr(members_[0] + ":\n"));
  EXPECT_THAT(result.out, HasSubstr(members_[1] + ":\n"));
  const CliResult json = RunMdvol({"examine", "--json", members_[0], members_[2], members_[3]});
  EXPECT_EQ(json.exit_code, 1);
  const auto parsed = nlohmann::json::parse(json.out);
  EXPECT_EQ(parsed["members"].size(), 1U);
  EXPECT_EQ(parsed["errors"].size(), 2U);
}

TEST_F(BadInputTest, AMemberThatClaimsAnothersSlotIsLeftOut) {
  Superblock super = Super(members_[1]);
  super.dev_roles[super.dev_number] = 0;
  PutSuper(members_[1], super);
  const CliResult examined = Examine(members_);
  EXPECT_EQ(examined.exit_code, 0);
  EXPECT_THAT(examined.out, HasSubstr("its place is slot 1, but its own superblock says 0"));
  const CliResult mapped = Map(members_);
  EXPECT_EQ(mapped.exit_code, 0) << mapped.err;
  EXPECT_THAT(mapped.out, HasSubstr("member missing slot 1"));
}

TEST_F(BadInputTest, RolesThatCollide) {
  for (const std::string& member : members_) {
    Superblock super = Super(member);
    super.dev_roles[1] = 0;
    PutSuper(member, super);
  }
  ExpectNoArray(members_, "slot 0");
}

TEST_F(BadInputTest, WhatIsNoMember) {
  std::filesystem::create_directory(Path("folder"));
  Write(Path("empty"), "");
  std::filesystem::create_symlink(Path("loop"), Path("loop"));
  const auto with = [this](const std::string& path) {
    return std::vector<std::string>{members_[0], members_[1], path};
  };
  ExpectRefused(with(Path("folder")), 1, "neither a file nor a block device");
  ExpectRefused(with("/dev/null"), 1, "neither a file nor a block device");
  ExpectRefused(with(Path("empty")), 1, "empty: no md superblock found in 0 bytes");
  ExpectRefused(with(Path("none")), 1, "none: no such file");
  ExpectRefused(with(members_[2] + "/below"), 1, "d2/below");
  ExpectRefused(with(Path("loop")), 1, "loop");
}

TEST_F(BadInputTest, BadRangesOfMap) {
  const auto refused = [this](std::vector<std::string> options, int exit_code, const char* says) {
    options.insert(options.begin(), "map");
    options.insert(options.end(), members_.begin(), members_.end());
    const CliResult result = RunMdvol(options);
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_TRUE(IsOneErrorLine(result.err));
    EXPECT_THAT(result.err, HasSubstr(says));
    EXPECT_EQ(result.out, "");
  };
  refused({"--offset", "x"}, 2, "--offset: 'x'");
  refused({"--offset", "0+x"}, 2, "'x'");
  refused({"--offset", "0+0"}, 2, "length");
  refused({"--offset", "+"}, 2, "''");
  refused({"--offset", "8M"}, 2, "the volume has 8388608 bytes");
  refused({"--offset", "8388607+2"}, 2, "the volume has 8388608 bytes");
  refused({"--offset", "8388608T"}, 2, "the volume has");
  refused({"--offset", "8388608T+8388608T"}, 2, "the volume has");
  refused({"--offset", "0", "--member", "d9"}, 2, "no such member");
  refused({"--offset", "0", "--member", "d0"}, 2, "outside of its data area");
}

TEST_F(BadInputTest, MapOfAMountpointThatIsNone) {
  std::filesystem::create_directory(Path("mnt"));
  const CliResult result = RunMdvol({"map", Path("mnt"), "--offset", "0"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("no array is mounted here"));
}

// Found before anything is opened or started.
TEST_F(BadInputTest, AConfigurationThatIsWrong) {
  std::filesystem::create_directory(Path("mnt"));
  const auto expect_refused = [this](const std::string& text, const std::string& says) {
    Write(Path("a.toml"), text);
    const auto before = Everything();
    const CliResult result = RunMdvol({"mount", "--config", Path("a.toml"), Path("mnt")});
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_TRUE(IsOneErrorLine(result.err));
    EXPECT_THAT(result.err, HasSubstr(says));
    EXPECT_TRUE(Everything() == before);
  };
  const std::string members = "members = ['d0', 'd1', 'd2', 'd3']\n";
  expect_refused("[array]\n" + members + "forse = true", "a.toml:3:1: array.forse: unknown key");
  expect_refused("[array]\n" + members + members, "a.toml:3:11: ");
  expect_refused("[array]\n" + members + "run = 1", "a.toml:3:7: array.run: must be true or false");
  expect_refused("[array]\n" + members + "[policy]\ndegraded_read = 'warp'", "a.toml:4:17: ");
  expect_refused("[array]\n" + members + "[policy]\nplugins = ['./d0']",
                 "policy plugin " + Path("d0") + ": is no shared object");
  expect_refused("[io]\nthreads = 4", "no members");
  const CliResult folder = RunMdvol({"mount", "--config", Path("mnt"), Path("mnt")});
  EXPECT_EQ(folder.exit_code, 2);
  EXPECT_THAT(folder.err, HasSubstr("is a directory"));
}

// Every field with values that break arithmetic, the checksum made right: an answer or one line.
TEST_F(BadInputTest, HostileSuperblocks) {
  const Superblock good = Super(members_[0]);
  testing::Prng prng(testing::TestSeed("HostileSuperblocks"));
  for (size_t offset = 0; offset < 256; offset += 4) {
    for (const uint64_t value : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}, uint64_t{1} << 31,
                                 uint64_t{1} << 63, prng.Next()}) {
      Superblock super = good;
      const size_t length = offset % 8 == 0 && prng.OneIn(2) ? 8 : 4;
      const le64 bytes = value;
      std::memcpy(reinterpret_cast<char*>(&super) + offset, &bytes, length);
      if (super.max_dev.get() <= kMaxDevices) {
        SealSuperblock(super);
      }
      Overwrite(members_[0], kSuperOffset,
                std::string(reinterpret_cast<const char*>(&super), sizeof(super)));
      for (const CliResult& result : {Examine(members_), Map(members_)}) {
        EXPECT_TRUE(result.exit_code == 0 || result.exit_code == 1) << offset << " " << value;
        EXPECT_TRUE(result.exit_code == 0 ? result.err.empty() : IsOneErrorLine(result.err));
      }
    }
  }
}

}  // namespace
}  // namespace mdvol
