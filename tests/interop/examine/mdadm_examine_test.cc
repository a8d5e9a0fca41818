// What `mdvol create` makes, mdadm accepts, and `mdvol examine` prints what `mdadm --examine`
// prints, line by line: over many shapes of arrays, and over superblocks as running arrays leave
// them.

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/units.h"
#include "core/geometry/layout.h"
#include "core/metadata/superblock.h"
#include "tests/support/full.h"
#include "tests/support/seed.h"
#include "tests/unit/fuse/cli/cli_fixture.h"

namespace mdvol {
namespace {

using testing::CliFixture;
using testing::CliResult;
using testing::RunMdvol;

CliResult RunMdadm(const std::string& arguments) {
  const std::string command = "PATH=\"$PATH:/usr/sbin:/sbin\" mdadm " + arguments + " 2>&1";
  CliResult result;
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  char buffer[4096];
  for (size_t count = 0; (count = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
    result.out.append(buffer, count);
  }
  const int status = ::pclose(pipe);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

class MdadmExamineTest : public CliFixture {
 protected:
  // Both tools say the same of the member; `what` is for the message.
  static void ExpectAgreement(const std::string& path, const std::string& what) {
    const CliResult theirs = RunMdadm("--examine '" + path + "'");
    const CliResult ours = RunMdvol({"examine", path});
    EXPECT_EQ(theirs.exit_code, 0) << what << "\n" << theirs.out;
    EXPECT_EQ(ours.exit_code, 0) << what << "\n" << ours.err;
    EXPECT_EQ(ours.out, theirs.out) << what;
  }

  // Makes an array with these options; "missing" may be among `names`.
  void CreateAndCompare(std::vector<std::string> options, const std::vector<std::string>& names) {
    const std::string what = ::testing::PrintToString(options);
    options.insert(options.begin(), "create");
    for (const std::string& name : names) {
      options.push_back(name == "missing" ? name : Path(name));
    }
    const CliResult created = RunMdvol(options);
    ASSERT_EQ(created.exit_code, 0) << what << created.err;
    for (const std::string& name : names) {
      if (name != "missing") {
        ExpectAgreement(Path(name), what);
        std::filesystem::remove(Path(name));
      }
    }
  }
};

TEST_F(MdadmExamineTest, AgreesOnEveryLayoutAndVersion) {
  for (const char* const metadata : {"1.0", "1.1", "1.2"}) {
    for (const Layout layout : AllLayouts()) {
      CreateAndCompare({"-e", metadata, "-p", std::string(LayoutName(layout)), "--size", "8M"},
                       {"a", "b", "c", "d"});
    }
  }
}

TEST_F(MdadmExamineTest, AgreesOnOptions) {
  const std::vector<std::string> six = {"a", "b", "c", "d", "e", "f"};
  const std::vector<std::vector<std::string>> shapes = {
      {"--size", "3000", "--chunk", "4K"},
      {"--size", "8M", "--bitmap", "none"},
      {"--size", "9M", "--spare-devices", "1", "--bitmap-chunk", "4K"},
      {"--size", "48M", "--chunk", "16M", "--name", "host:x"},
      {"--size", "20G"},
      {"--size", "300G", "--name", "a-name-of-exactly-thirty-two-by-"},
      {"--size", "3T", "--chunk", "1M"},
      {"--size", "5M"},
      {"--size", "4999K", "--chunk", "8K"},
  };
  for (const char* const metadata : {"1.0", "1.1", "1.2"}) {
    for (std::vector<std::string> shape : shapes) {
      shape.insert(shape.end(), {"-e", metadata});
      CreateAndCompare(shape, six);
      CreateAndCompare(shape, {"a", "missing", "c", "d", "missing", "f"});
    }
    if (std::string(metadata) != "1.0") {
      CreateAndCompare({"--size", "8M", "-e", metadata, "--data-offset", "20K"}, six);
      CreateAndCompare({"--size", "8M", "-e", metadata, "--data-offset", "128M"}, six);
    }
  }
}

TEST_F(MdadmExamineTest, AgreesOnArraysOfManyMembers) {
  for (const size_t count : {16UL, 128UL, 129UL, 255UL}) {
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) {
      names.push_back(absl::StrCat("m", i));
    }
    CreateAndCompare({"--size", "1M", "--chunk", "64K"}, names);
  }
}

TEST_F(MdadmExamineTest, AgreesOnExistingFilesOfAnySize) {
  testing::Prng prng(testing::TestSeed("ExamineExistingFiles"));
  const int rounds = testing::FullRun() ? 200 : 20;
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::string> names = {"a", "b", "c", "d"};
    for (const std::string& name : names) {
      Write(Path(name), "");
      std::filesystem::resize_file(Path(name), prng.Between(3 * kMiB, 40 * kMiB) / 512 * 512);
    }
    std::vector<std::string> options = {"--chunk", "64K", "-e", absl::StrCat("1.", prng.Below(3))};
    if (prng.OneIn(2)) {
      options.insert(options.end(), {"--size", "1M"});
    }
    CreateAndCompare(options, names);
  }
}

// States that only a running array gets into, written as md would write them.
TEST_F(MdadmExamineTest, AgreesOnWhatRunningArraysLeaveBehind) {
  testing::Prng prng(testing::TestSeed("ExamineStates"));
  const std::vector<std::string> paths = CreateArray("d");
  constexpr uint64_t kSuperOffset = 4096;
  Superblock fresh;
  std::memcpy(&fresh, Read(paths[1]).data() + kSuperOffset, sizeof(fresh));
  const int rounds = testing::FullRun() ? 1000 : 60;
  for (int round = 0; round < rounds; ++round) {
    Superblock super = fresh;
    super.events = prng.Next() >> prng.Below(64);
    super.resync_offset = prng.OneIn(2) ? kResyncDone : prng.Below(8192);
    super.utime = PackMdTime(1'600'000'000'000'000 + prng.Below(1'000'000'000'000'000));
    super.devflags = static_cast<uint8_t>(prng.Below(4));
    super.cnt_corrected_read = static_cast<uint32_t>(prng.Below(100));
    for (uint32_t number = 0; number < 6; ++number) {
      if (prng.OneIn(3)) {
        super.dev_roles[number] = prng.OneIn(2) ? kRoleFaulty : kRoleSpare;
      }
    }
    if (prng.OneIn(3)) {
      super.feature_map = super.feature_map.get() | kFeatureRecoveryOffset;
      super.recovery_offset = prng.Below(8192);
    }
    SealSuperblock(super);
    Overwrite(paths[1], kSuperOffset,
              std::string(reinterpret_cast<const char*>(&super), sizeof(super)));
    ExpectAgreement(paths[1], absl::StrCat("round ", round));
  }
}

}  // namespace
}  // namespace mdvol
