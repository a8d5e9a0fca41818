// Files for the tests of devices: temporary folders, on tmpfs or on a disk, and loop devices where
// the process may make them (root). All go with the objects.

#ifndef MDVOL_TESTS_UNIT_CORE_DEVICE_TEST_FILES_H_
#define MDVOL_TESTS_UNIT_CORE_DEVICE_TEST_FILES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/unique_fd.h"

namespace mdvol::testing {

// A folder whose file system takes O_DIRECT: the working folder, or else one of the usual places.
std::string FolderForDirectIo();

void MakeSparseFile(const std::string& path, uint64_t size_bytes);
void MakeFileWith(const std::string& path, std::string_view contents);
uint64_t FileSizeOf(const std::string& path);

// A loop device over a file.
class LoopDevice {
 public:
  // nullptr where loop devices cannot be made: no root, or none in this container.
  static std::unique_ptr<LoopDevice> Attach(const std::string& path);
  ~LoopDevice();

  const std::string& name() const { return name_; }  // "loop3"
  std::string path() const { return "/dev/" + std::string(name_); }
  void Detach();

 private:
  LoopDevice(UniqueFd fd, std::string name);

  UniqueFd fd_;
  std::string name_;
};

// Whether LoopDevice works here. The first caller says on standard output if it does not.
bool CanMakeLoopDevices();

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_UNIT_CORE_DEVICE_TEST_FILES_H_
