// A real mount over a FakeArray, served by a process of its own, so that a test can be blocked by
// it, or kill it, without blocking itself. The array's bytes and counters are shared with the test.

#ifndef MDVOL_TESTS_UNIT_FUSE_MOUNT_MOUNTED_H_
#define MDVOL_TESTS_UNIT_FUSE_MOUNT_MOUNTED_H_

#include <gtest/gtest.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/unique_fd.h"
#include "fuse/session.h"
#include "tests/support/fake_array.h"

namespace mdvol::testing {

// A folder that is removed at the end.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class MountedTest : public ::testing::Test {
 protected:
  MountedTest();
  // Unmounts if need be, and ends the server.
  ~MountedTest() override;

  // Starts the server; returns when it answers.
  void Mount(const SessionOptions& options = {});
  // True once the mount is gone and the server has ended with exit code 0.
  bool UnmountCleanly();
  // The exit status of the server, as waitpid has it.
  int WaitForServer();
  bool is_mounted() const;

  std::string Path(std::string_view name) const { return folder_.path() + "/" + std::string(name); }
  std::string volume() const { return Path("volume"); }
  UniqueFd Open(int flags) const;
  UniqueFd Open(const std::string& path, int flags) const;
  std::string ReadFile(std::string_view name) const;
  // 0 or an errno.
  int WriteFile(std::string_view name, std::string_view value) const;

  FakeArrayState& array() { return *state_; }
  pid_t server() const { return state_->pid; }

  ScratchFolder folder_;
  std::shared_ptr<FakeArrayState> state_ = NewSharedFakeArrayState();
};

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_UNIT_FUSE_MOUNT_MOUNTED_H_
