// Tests of `mdvol create` on real files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "core/array/create.h"
#include "core/array/member_loader.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "core/device/file_device.h"
#include "tests/unit/fuse/cli/cli_fixture.h"

namespace mdvol {
namespace {

using testing::CliFixture;
using testing::CliResult;
using ::testing::HasSubstr;
using testing::IsOneErrorLine;
using testing::RunMdvol;

class CreateVerbTest : public CliFixture {
 protected:
  static LoadedMember MustLoad(const std::string& path) {
    auto device = OpenFileDevice(path, {.read_only = true});
    EXPECT_TRUE(device.ok()) << device.status();
    auto member = LoadMember(*std::move(device));
    EXPECT_TRUE(member.ok()) << member.status();
    return *std::move(member);
  }

  // Exit code 1 or 2, one line, and nothing in the folder has changed.
  void ExpectRefused(const std::vector<std::string>& arguments, int exit_code, const char* says) {
    const auto before = Everything();
    const CliResult result = RunMdvol(arguments);
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_TRUE(IsOneErrorLine(result.err));
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(says));
    EXPECT_TRUE(Everything() == before) << "something was written: " << result.err;
  }

  std::vector<std::string> CreateArguments(const std::vector<std::string>& options,
                                           const std::vector<std::string>& members) {
    std::vector<std::string> arguments{"create", "--chunk", "64K"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), members.begin(), members.end());
    return arguments;
  }
};

TEST_F(CreateVerbTest, NewImagesStartCleanWithExactlyTheLengthThatIsDue) {
  const auto paths = CreateArray("d", {"--name", "vol"});
  for (size_t i = 0; i < paths.size(); ++i) {
    EXPECT_EQ(std::filesystem::file_size(paths[i]), 5 * kMiB);  // data offset and size
    const LoadedMember member = MustLoad(paths[i]);
    EXPECT_EQ(SetName(member.report.super), "vol");
    EXPECT_EQ(member.report.super.resync_offset.get(), kResyncDone);
    EXPECT_EQ(OwnSlot(member.report.super), i);
    struct stat facts = {};
    ASSERT_EQ(::stat(paths[i].c_str(), &facts), 0);
    EXPECT_LE(facts.st_blocks * 512, 64 * 1024);  // sparse but for the metadata
    EXPECT_GE(facts.st_blocks * 512, 12 * 1024);  // which has its space
  }
}

TEST_F(CreateVerbTest, SaysWhatItMade) {
  const auto paths = Paths("d", 4);
  const CliResult result =
      RunMdvol(CreateArguments({"--size", "4M", "--uuid", "00010203:04050607:08090a0b:0c0d0e0f"},
                               {paths[0], paths[1], "missing", paths[3]}));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(
      result.out,
      "mdvol: array 00010203:04050607:08090a0b:0c0d0e0f created: raid6, 4 members, chunk 64K, "
      "volume of 8388608 bytes, degraded by 1, clean\n");
}

TEST_F(CreateVerbTest, UuidsDifferFromMemberToMemberAndFromArrayToArray) {
  const auto a = CreateArray("a");
  const auto b = CreateArray("b");
  const LoadedMember a0 = MustLoad(a[0]);
  EXPECT_NE(a0.report.super.device_uuid, MustLoad(a[1]).report.super.device_uuid);
  EXPECT_EQ(a0.report.super.set_uuid, MustLoad(a[1]).report.super.set_uuid);
  EXPECT_NE(a0.report.super.set_uuid, MustLoad(b[0]).report.super.set_uuid);
}

TEST_F(CreateVerbTest, BareSizesAreKiB) {
  const auto paths = Paths("d", 4);
  ASSERT_EQ(RunMdvol({"create", "--size", "2048", "--chunk", "128", "--data-offset", "256",
                      paths[0], paths[1], paths[2], paths[3]})
                .exit_code,
            0);
  const Superblock super = MustLoad(paths[0]).report.super;
  EXPECT_EQ(super.size.get() * kSectorBytes, 2 * kMiB);
  EXPECT_EQ(super.chunksize.get() * kSectorBytes, 128 * kKiB);
  EXPECT_EQ(super.data_offset.get() * kSectorBytes, 256 * kKiB);
}

TEST_F(CreateVerbTest, ExistingFilesKeepTheirLengthAndGetAResync) {
  const auto paths = Paths("d", 4);
  for (const std::string& path : paths) {
    Write(path, std::string(6 * kMiB, 'x'));
  }
  const CliResult result = RunMdvol(CreateArguments({}, paths));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("initial resync due"));
  const LoadedMember member = MustLoad(paths[0]);
  EXPECT_EQ(member.report.super.resync_offset.get(), 0U);
  EXPECT_EQ(std::filesystem::file_size(paths[0]), 6 * kMiB);
  EXPECT_EQ(Read(paths[0])[5 * kMiB], 'x');  // data is left as it is
  EXPECT_EQ(member.bitmap_file[kBitmapSuperBytes], 0xff);
}

TEST_F(CreateVerbTest, AssumeCleanLeavesNoResync) {
  const auto paths = Paths("d", 4);
  for (const std::string& path : paths) {
    Write(path, std::string(6 * kMiB, '\0'));
  }
  ASSERT_EQ(RunMdvol(CreateArguments({"--assume-clean"}, paths)).exit_code, 0);
  EXPECT_EQ(MustLoad(paths[0]).report.super.resync_offset.get(), kResyncDone);
}

TEST_F(CreateVerbTest, SparesComeLast) {
  const auto paths = Paths("d", 6);
  ASSERT_EQ(RunMdvol(CreateArguments({"--size", "4M", "-n", "4", "-x", "2"}, paths)).exit_code, 0);
  EXPECT_EQ(OwnRole(MustLoad(paths[5]).report.super), kRoleSpare);
  EXPECT_EQ(OwnSlot(MustLoad(paths[3]).report.super), 3U);
}

TEST_F(CreateVerbTest, WhatCarriesSomethingIsRefusedWithoutForce) {
  const auto paths = CreateArray("d");
  ExpectRefused(CreateArguments({"--size", "1M"}, paths), 1, "carries md metadata 1.2 of array");
  Write(paths[0], std::string(5 * kMiB, '\0'));
  Overwrite(paths[0], 1080, "\x53\xef");
  ExpectRefused(CreateArguments({"--size", "1M"}, {paths[0], Path("n1"), Path("n2"), Path("n3")}),
                1, "d0: carries an ext2 file system: give --force");
  const CliResult forced = RunMdvol(CreateArguments({"--size", "1M", "--force"}, paths));
  EXPECT_EQ(forced.exit_code, 0) << forced.err;
  auto device = OpenFileDevice(paths[0], {.read_only = true});
  EXPECT_THAT(*FindSignature(**device), HasSubstr("md metadata 1.2"));
  EXPECT_EQ(FindSignature(**device)->find("ext2"), std::string::npos);
}

TEST_F(CreateVerbTest, OneFileUnderTwoNamesIsRefused) {
  const auto paths = Paths("d", 3);
  Write(paths[0], std::string(6 * kMiB, '\0'));
  std::filesystem::create_symlink(paths[0], Path("symbolic"));
  std::filesystem::create_hard_link(paths[0], Path("hard"));
  for (const std::string& other : {paths[0], Path("./d0"), Path("symbolic"), Path("hard")}) {
    ExpectRefused(CreateArguments({"--size", "4M"}, {paths[0], paths[1], paths[2], other}), 1,
                  "given twice");
  }
  // So are two names of a file that does not exist.
  ExpectRefused(CreateArguments({"--size", "4M"}, {paths[1], paths[2], Path("x"), Path("./x")}), 1,
                "given twice");
}

TEST_F(CreateVerbTest, WhatIsNoFileIsRefused) {
  const auto paths = Paths("d", 3);
  std::filesystem::create_directory(Path("folder"));
  ExpectRefused(CreateArguments({"--size", "4M"}, {paths[0], paths[1], paths[2], Path("folder")}),
                1, "neither a file nor a block device");
  ExpectRefused(CreateArguments({"--size", "4M"}, {paths[0], paths[1], paths[2], "/dev/null"}), 1,
                "neither a file nor a block device");
  ExpectRefused(CreateArguments({"--size", "4M"}, {paths[0], paths[1], paths[2], Path("none/d3")}),
                1, "none/d3");
}

TEST_F(CreateVerbTest, TooSmallFilesAreRefused) {
  const auto paths = Paths("d", 4);
  for (const size_t size : {size_t{0}, size_t{1}, size_t{4096}, size_t{1} << 20}) {
    Write(paths[2], std::string(size, '\0'));
    ExpectRefused(CreateArguments({"--size", "4M"}, paths), 1, "too small");
  }
}

TEST_F(CreateVerbTest, BadSizesAndCountsAreRefused) {
  const auto paths = Paths("d", 4);
  for (const std::vector<std::string>& options : std::vector<std::vector<std::string>>{
           {},  // no size, and no member that gives one
           {"--size", "0"},
           {"--size", "1K"},  // less than a chunk
           {"--size", "4000000T"},
           {"--size", "4M", "--chunk=3K"},
           {"--size", "4M", "--raid-devices", "3"},
           {"--size", "4M", "--raid-devices", "5"},
           {"--size", "4M", "--raid-devices", "0"},
           {"--size", "4M", "--spare-devices", "1"},
           {"--size", "4M", "--data-offset", "1"},
           {"--size", "4M", "--data-offset", "5000"},
           {"--size", "4M", "--metadata", "1.0", "--data-offset", "1M"},
           {"--size", "4M", "--bitmap", "none", "--bitmap-chunk", "64M"},
           {"--size", "4M", "--bitmap-chunk", "3M"},
           {"--size", "4M", "--name", std::string(33, 'n')},
           {"--size", "4M", "--level", "5"},
       }) {
    std::vector<std::string> arguments{"create"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), paths.begin(), paths.end());
    if (options.empty() || options.back() != "5000") {  // 5000 KiB is a multiple of 4 KiB
      ExpectRefused(arguments, 2, "");
    }
  }
  ExpectRefused(CreateArguments({"--size", "4M"}, {paths[0], "missing", "missing", "missing"}), 2,
                "missing");
}

TEST_F(CreateVerbTest, MissingAmongExistingMembersNeedsAssumeClean) {
  const auto paths = Paths("d", 3);
  for (const std::string& path : paths) {
    Write(path, std::string(6 * kMiB, '\0'));
  }
  ExpectRefused(CreateArguments({}, {paths[0], paths[1], paths[2], "missing"}), 2,
                "--assume-clean");
  EXPECT_EQ(RunMdvol(CreateArguments({"--assume-clean"}, {paths[0], paths[1], paths[2], "missing"}))
                .exit_code,
            0);
}

TEST_F(CreateVerbTest, ImagesThatWereMadeAreRemovedWhenALaterOneCannotBe) {
  const auto paths = Paths("d", 4);
  std::filesystem::create_symlink(Path("nowhere/at/all"), paths[3]);  // exists not, cannot be made
  ExpectRefused(CreateArguments({"--size", "4M"}, paths), 1, "d3");
  EXPECT_FALSE(std::filesystem::exists(paths[0]));
}

TEST_F(CreateVerbTest, ASignalLeavesNoImagesBehind) {
  static int handled = 0;
  const auto old_handler = std::signal(SIGTERM, [](int) { ++handled; });
  sigset_t term;
  sigset_t before;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &term, &before);
  ::kill(::getpid(), SIGTERM);  // Comes before the first image.
  ExpectRefused(CreateArguments({"--size", "4M"}, Paths("d", 4)), 1, "interrupted");
  EXPECT_EQ(handled, 0);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(handled, 1);
  std::signal(SIGTERM, old_handler);
}

TEST_F(CreateVerbTest, UsageIsJudgedBeforeMembersAre) {
  const auto paths = CreateArray("d");
  ExpectRefused({"create", "--chunk", "3K", paths[0], paths[1], paths[2], paths[3]}, 2, "chunk");
  ExpectRefused({"create", "--size", "1K", paths[0], paths[1], paths[2], paths[3]}, 2, "size");
}

TEST_F(CreateVerbTest, OneSpareIsOne) {
  EXPECT_THAT(RunMdvol(CreateArguments({"--size", "4M", "-x", "1"}, Paths("d", 5))).out,
              HasSubstr(", 1 spare, "));
}

// Writing the tail of the existing files fails, which the limit on file sizes sees to.
TEST_F(CreateVerbTest, AWriteThatFailsRemovesNewImagesAndNamesTheOtherMembers) {
  const auto paths = Paths("d", 4);
  for (size_t i = 0; i < 3; ++i) {
    Write(paths[i], std::string(6 * kMiB, '\0'));
  }
  struct rlimit unlimited = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &unlimited), 0);
  struct rlimit limit = unlimited;
  limit.rlim_cur = 4 * kMiB;
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const CliResult result = RunMdvol(CreateArguments({"--metadata", "1.0", "--size", "1M"}, paths));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &unlimited), 0);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(IsOneErrorLine(result.err));
  EXPECT_THAT(result.err, HasSubstr("d0: "));
  EXPECT_THAT(result.err, HasSubstr("(may have been written: " + paths[0] + ", " + paths[1]));
  EXPECT_FALSE(std::filesystem::exists(paths[3]));
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(std::filesystem::file_size(paths[i]), 6 * kMiB);
  }
}

TEST_F(CreateVerbTest, MembersThatSomebodyHoldsAreRefused) {
  const auto paths = Paths("d", 4);
  Write(paths[1], std::string(6 * kMiB, '\0'));
  const auto holder = OpenFileDevice(paths[1], {});
  ASSERT_TRUE(holder.ok());
  ExpectRefused(CreateArguments({"--size", "4M"}, paths), 1, "d1: held by another process");
}

}  // namespace
}  // namespace mdvol
