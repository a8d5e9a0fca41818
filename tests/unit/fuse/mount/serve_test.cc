// The daemon's work with real members on a real mount: what fails, or ends early, leaves no mount
// and a clean array. Who owns the volume.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/config/config.h"
#include "fuse/cli/cli.h"
#include "fuse/mount.h"
#include "fuse/unmount.h"
#include "tests/unit/fuse/mount/mounted.h"

namespace mdvol {
namespace {

using ::testing::HasSubstr;

std::string RunMdvol(std::vector<const char*> words) {
  words.insert(words.begin(), "mdvol");
  std::ostringstream out;
  std::ostringstream err;
  const int exit_code = RunCli(static_cast<int>(words.size()), words.data(), out, err);
  EXPECT_EQ(exit_code, 0) << err.str();
  return out.str();
}

class ServeMountTest : public ::testing::Test {
 protected:
  ServeMountTest() {
    std::vector<const char*> words{"create", "--size", "4M", "--chunk", "64K"};
    for (const std::string& path : paths_) {
      words.push_back(path.c_str());
    }
    RunMdvol(words);
    request_.config.array.members = paths_;
    request_.mountpoint = mountpoint_.path();
    request_.log_path = images_.path() + "/log";
    request_.version = "test";
  }
  ~ServeMountTest() override {
    for (const auto& file : std::filesystem::directory_iterator(images_.path())) {
      std::filesystem::remove(file);
    }
  }

  // In a process of its own, for it changes signals. The errno of its outcome; 255: none.
  int Serve(const std::function<absl::Status()>& when_ready) {
    const absl::StatusOr<MountRequest> request = ResolveMountRequest(request_);
    EXPECT_TRUE(request.ok()) << MessageOf(request.status());
    const pid_t child = ::fork();
    if (child == 0) {
      ::_exit(request.ok() ? ErrnoOf(ServeMount(*request, when_ready)) : 255);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
  }

  bool IsMounted() const {
    const auto mount = FindMount(mountpoint_.path());
    return mount.ok() && mount->has_value();
  }

  std::string Log() const {
    std::stringstream text;
    text << std::ifstream(request_.log_path).rdbuf();
    return text.str();
  }

  std::string Examine(const std::string& path) { return RunMdvol({"examine", path.c_str()}); }

  testing::ScratchFolder images_;
  testing::ScratchFolder mountpoint_;
  std::vector<std::string> paths_{images_.path() + "/d0", images_.path() + "/d1",
                                  images_.path() + "/d2", images_.path() + "/d3"};
  MountRequest request_;
};

TEST_F(ServeMountTest, NobodyToReportToLeavesNoMountAndACleanArray) {
  const std::string volume = mountpoint_.path() + "/volume";
  EXPECT_EQ(Serve([] { return ErrnoStatus(EPIPE, "nobody waits"); }), EPIPE);
  EXPECT_FALSE(IsMounted());
  EXPECT_FALSE(std::filesystem::exists(volume));
  for (const std::string& path : paths_) {
    EXPECT_THAT(Examine(path), HasSubstr("State : clean\n"));
  }
  EXPECT_THAT(Log(), HasSubstr("array stopped: clean"));
}

TEST_F(ServeMountTest, AMountThatIsRefusedLeavesACleanArray) {
  request_.options = {"auto_unmount"};
  const absl::StatusOr<MountRequest> request = ResolveMountRequest(request_);
  ASSERT_TRUE(request.ok());
  MountRequest bad = *request;
  bad.mountpoint = mountpoint_.path() + "/gone";  // As if it were removed meanwhile.
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(ServeMount(bad, [] { return absl::OkStatus(); }).ok() ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_THAT(Examine(paths_[0]), HasSubstr("State : clean\n"));
}

TEST_F(ServeMountTest, TheVolumeBelongsToWhomTheConfigurationSays) {
  request_.config.volume.mode = 0640;
  request_.config.volume.uid = 12345;
  request_.config.volume.gid = 54321;
  request_.config.volume.name = "image";
  const std::string folder = mountpoint_.path();
  // What is asked in the serving process would wait for itself.
  const pid_t looker = ::fork();
  if (looker == 0) {
    struct stat image {};
    struct stat control {};
    for (int i = 0; i < 1000 && ::stat((folder + "/image").c_str(), &image) != 0; ++i) {
      ::usleep(10'000);
    }
    const bool is_right = ::stat((folder + "/md/level").c_str(), &control) == 0 &&
                          image.st_uid == 12345 && image.st_gid == 54321 &&
                          image.st_mode == (S_IFREG | 0640) && control.st_uid == ::geteuid();
    ::_exit(Unmount(folder, UnmountKind::kIfUnused).ok() && is_right ? 0 : 1);
  }
  EXPECT_EQ(Serve([] { return absl::OkStatus(); }), 0);
  int status = -1;
  ::waitpid(looker, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace mdvol
