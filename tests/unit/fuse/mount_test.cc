// What a mount refuses before anything is opened, and failures on the way to a mount.

#include "fuse/mount.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/status.h"
#include "tests/support/temporary_folder.h"

namespace mdvol {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class MountRequestTest : public ::testing::Test {
 protected:
  void SetUp() override {
    request_.mountpoint = folder_;
    request_.config.array.members = {"a.img", "/b.img", "missing", "./c.img"};
  }

  absl::Status Resolve() { return ResolveMountRequest(request_).status(); }

  const testing::TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
  MountRequest request_;
};

TEST_F(MountRequestTest, PathsBecomeAbsolute) {
  request_.log_path = "log";
  const absl::StatusOr<MountRequest> resolved = ResolveMountRequest(request_);
  ASSERT_TRUE(resolved.ok()) << MessageOf(resolved.status());
  const std::string here = std::filesystem::current_path();
  EXPECT_THAT(resolved->config.array.members,
              ElementsAre(here + "/a.img", "/b.img", "missing", here + "/c.img"));
  EXPECT_EQ(resolved->log_path, here + "/log");
  EXPECT_EQ(resolved->mountpoint, folder_);
}

TEST_F(MountRequestTest, APathBehindALinkStaysTheFileThatItNames) {
  const std::filesystem::path other = folder_.string() + "_other";
  std::filesystem::create_directories(other / "inner");
  std::filesystem::create_directory_symlink(other / "inner", other / "link");
  request_.log_path = other / "link" / ".." / "log";
  request_.config.array.members = {other / "link" / ".." / "d0.img", other / "inner/../d1.img"};
  const absl::StatusOr<MountRequest> resolved = ResolveMountRequest(request_);
  ASSERT_TRUE(resolved.ok()) << MessageOf(resolved.status());
  EXPECT_THAT(resolved->config.array.members,
              ElementsAre(other.string() + "/link/../d0.img", other.string() + "/d1.img"));
  EXPECT_EQ(resolved->log_path, other.string() + "/link/../log");
  std::filesystem::remove_all(other);
}

TEST_F(MountRequestTest, ALogThatIsAMemberIsRefusedUnderEveryName) {
  const std::filesystem::path images = folder_.string() + "_images";
  std::filesystem::create_directory(images);
  std::ofstream(images / "d0.img") << "member";
  std::filesystem::create_symlink("d0.img", images / "link");
  std::filesystem::create_hard_link(images / "d0.img", images / "hard");
  request_.config.array.members = {images / "d0.img"};
  for (const char* name : {"d0.img", "link", "hard"}) {
    request_.log_path = images / name;
    const absl::Status status = Resolve();
    EXPECT_TRUE(IsUsageError(status)) << name;
    EXPECT_THAT(MessageOf(status), HasSubstr("is the member"));
  }
  request_.log_path = images / "log";
  EXPECT_TRUE(Resolve().ok());
  std::filesystem::remove_all(images);
}

TEST_F(MountRequestTest, AMemberBelowTheMountpointIsNotHidden) {
  std::filesystem::create_directory(folder_ / "sub");
  std::ofstream(folder_ / "sub" / "d0.img") << "member";
  request_.config.array.members = {folder_ / "sub" / "d0.img"};
  const absl::Status status = Resolve();
  EXPECT_EQ(ErrnoOf(status), EINVAL);
  EXPECT_THAT(MessageOf(status), HasSubstr("would be hidden"));
  std::filesystem::create_directory(folder_ / "su");
  request_.mountpoint = folder_ / "su";
  EXPECT_TRUE(Resolve().ok());
}

TEST_F(MountRequestTest, WithoutMembersThereIsNothingToMount) {
  request_.config.array.members.clear();
  EXPECT_TRUE(IsUsageError(Resolve()));
}

TEST_F(MountRequestTest, AnUnknownPolicyIsNamedWhereItWasChosen) {
  request_.config.policy.choices[IndexOf(PolicyFamily::kDegradedRead)] =
      PolicyChoice{"no-such", "a.toml:3:5"};
  const absl::Status status = Resolve();
  EXPECT_TRUE(IsUsageError(status));
  EXPECT_THAT(MessageOf(status), HasSubstr("a.toml:3:5"));
  EXPECT_THAT(MessageOf(status), HasSubstr("no-such"));
}

TEST_F(MountRequestTest, APluginThatIsNoneEndsTheCommandWithItsName) {
  request_.config.policy.plugins = {"none.so"};
  const absl::Status status = Resolve();
  EXPECT_TRUE(IsUsageError(status));
  EXPECT_THAT(MessageOf(status),
              HasSubstr("policy plugin " + (std::filesystem::current_path() / "none.so").string() +
                        ": No such file or directory"));
}

TEST_F(MountRequestTest, OptionsAndMountpointAreChecked) {
  request_.options = {"no_such_option"};
  EXPECT_TRUE(IsUsageError(Resolve()));
  request_.options = {"nodev,noatime"};
  EXPECT_THAT(ResolveMountRequest(request_)->options, ElementsAre("nodev", "noatime"));
  request_.mountpoint = folder_ / "none";
  EXPECT_EQ(ErrnoOf(Resolve()), ENOENT);
}

TEST_F(MountRequestTest, AMemberThatIsNotThereEndsTheMountBeforeItIsReady) {
  request_.config.array.members = {folder_ / "none.img"};
  bool was_ready = false;
  const absl::Status status = RunInForeground([&](const ReportReady&) {
    return ServeMount(request_, [&] {
      was_ready = true;
      return absl::OkStatus();
    });
  });
  EXPECT_EQ(ErrnoOf(status), ENOENT);
  EXPECT_THAT(MessageOf(status), HasSubstr("none.img"));
  EXPECT_FALSE(was_ready);
}

TEST_F(MountRequestTest, ALogThatCannotBeWrittenIsNamed) {
  request_.log_path = folder_ / "none" / "log";
  const absl::Status status = ServeMount(request_, [] { return absl::OkStatus(); });
  EXPECT_EQ(ErrnoOf(status), ENOENT);
  EXPECT_THAT(MessageOf(status), HasSubstr("/none/log: log file"));
}

}  // namespace
}  // namespace mdvol
