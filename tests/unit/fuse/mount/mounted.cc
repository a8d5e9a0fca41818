// See mounted.h.

#include "tests/unit/fuse/mount/mounted.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "fuse/control/control_tree.h"
#include "fuse/daemon.h"
#include "fuse/outcome.h"
#include "fuse/unmount.h"

namespace mdvol::testing {
namespace {

absl::Status Serve(const SessionOptions& options, const std::shared_ptr<FakeArrayState>& state,
                   const ReportReady& report_ready) {
  state->pid = ::getpid();
  BlockStopSignals();
  MDVOL_ASSIGN_OR_RETURN(const auto outcome, OutcomeSource::Listen());
  FakeArray array(state);
  EventLog events(SystemClock());
  const Registry registry;
  PolicySet set;
  PolicySelection policies(registry, set);
  const VolumeFileOptions owner{::geteuid(), ::getegid(), 0600, options.writeback};
  VolumeFile volume(array, owner, SystemClock());
  FaultTable no_faults;
  ControlTree control({array,
                       events,
                       policies,
                       no_faults,
                       [&volume] { return volume.opener_count(); },
                       {::getpid(), "test", &policies, outcome->name()}});
  Tree tree({"volume", owner.uid, owner.gid}, volume, &control, SystemClock());
  MDVOL_ASSIGN_OR_RETURN(const auto session, Session::Mount(options, tree));
  MDVOL_RETURN_IF_ERROR(report_ready());
  session->Run();
  const absl::Status stopped = array.Stop();
  outcome->Tell(OutcomeOf(stopped, array));
  return stopped;
}

}  // namespace

ScratchFolder::ScratchFolder() {
  std::string path = ::testing::TempDir() + "mdvol_mount_XXXXXX";
  EXPECT_NE(::mkdtemp(path.data()), nullptr);
  path_ = std::filesystem::canonical(path);
}

ScratchFolder::~ScratchFolder() { ::rmdir(path_.c_str()); }

MountedTest::MountedTest() = default;

MountedTest::~MountedTest() {
  if (is_mounted()) {
    static_cast<void>(Unmount(folder_.path(), UnmountKind::kLazy));
  }
  if (server() != 0) {
    ::kill(server(), SIGKILL);
    ::waitpid(server(), nullptr, 0);
  }
}

void MountedTest::Mount(const SessionOptions& options) {
  SessionOptions all = options;
  all.mountpoint = folder_.path();
  all.name = "host:big";
  const absl::Status status = RunInBackground(
      [&](const ReportReady& report_ready) { return Serve(all, state_, report_ready); });
  ASSERT_TRUE(status.ok()) << MessageOf(status);
}

int MountedTest::WaitForServer() {
  int status = -1;
  EXPECT_EQ(::waitpid(server(), &status, 0), server());
  state_->pid = 0;
  return status;
}

bool MountedTest::UnmountCleanly() {
  const absl::Status status = Unmount(folder_.path(), UnmountKind::kIfUnused);
  EXPECT_TRUE(status.ok()) << MessageOf(status);
  return status.ok() && WaitForServer() == 0 && !is_mounted() && state_->stopped;
}

bool MountedTest::is_mounted() const {
  const auto mount = FindMount(folder_.path());
  return mount.ok() && mount->has_value();
}

UniqueFd MountedTest::Open(int flags) const { return Open(volume(), flags); }

UniqueFd MountedTest::Open(const std::string& path, int flags) const {
  return UniqueFd(::open(path.c_str(), flags | O_CLOEXEC));
}

std::string MountedTest::ReadFile(std::string_view name) const {
  const UniqueFd file = Open(Path(name), O_RDONLY);
  std::string text;
  std::array<char, 1000> buffer;
  ssize_t count = 0;
  while ((count = ::read(file.get(), buffer.data(), buffer.size())) > 0) {
    text.append(buffer.data(), static_cast<size_t>(count));
  }
  return count == 0 ? text : "errno " + std::to_string(errno);
}

int MountedTest::WriteFile(std::string_view name, std::string_view value) const {
  const UniqueFd file = Open(Path(name), O_WRONLY | O_TRUNC);
  if (!file.valid()) {
    return errno;
  }
  return ::write(file.get(), value.data(), value.size()) < 0 ? errno : 0;
}

}  // namespace mdvol::testing
