// See test_files.h.

#include "tests/unit/core/device/test_files.h"

#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "tests/support/temporary_folder.h"

namespace mdvol::testing {

std::string FolderForDirectIo() {
  for (const char* folder : {".", "/var/tmp", "/tmp"}) {
    const TemporaryFolder temp(folder);
    const std::string path = temp.Path("probe");
    MakeSparseFile(path, 4096);
    if (UniqueFd(::open(path.c_str(), O_RDWR | O_DIRECT | O_CLOEXEC)).valid()) {
      return folder;
    }
  }
  std::fprintf(stderr, "O_DIRECT is refused in the working folder, /var/tmp and /tmp\n");
  std::abort();
}

void MakeSparseFile(const std::string& path, uint64_t size_bytes) {
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  MDVOL_CHECK(fd.valid() && ::ftruncate(fd.get(), static_cast<off_t>(size_bytes)) == 0);
}

void MakeFileWith(const std::string& path, std::string_view contents) {
  std::ofstream(path, std::ios::binary)
      .write(contents.data(), static_cast<std::streamsize>(contents.size()));
}

uint64_t FileSizeOf(const std::string& path) { return std::filesystem::file_size(path); }

std::unique_ptr<LoopDevice> LoopDevice::Attach(const std::string& path) {
  const UniqueFd control(::open("/dev/loop-control", O_RDWR | O_CLOEXEC));
  const UniqueFd backing(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  while (control.valid() && backing.valid()) {
    const int number = ::ioctl(control.get(), LOOP_CTL_GET_FREE);
    if (number < 0) {
      break;
    }
    const std::string name = absl::StrCat("loop", number);
    UniqueFd fd(::open(absl::StrCat("/dev/", name).c_str(), O_RDWR | O_CLOEXEC));
    if (!fd.valid()) {
      break;
    }
    loop_config config = {};
    config.fd = static_cast<uint32_t>(backing.get());
    if (::ioctl(fd.get(), LOOP_CONFIGURE, &config) == 0) {
      return std::unique_ptr<LoopDevice>(new LoopDevice(std::move(fd), name));
    }
    if (errno != EBUSY) {  // else somebody else was given the same number
      break;
    }
  }
  return nullptr;
}

LoopDevice::LoopDevice(UniqueFd fd, std::string name)
    : fd_(std::move(fd)), name_(std::move(name)) {}

LoopDevice::~LoopDevice() { Detach(); }

void LoopDevice::Detach() {
  if (fd_.valid()) {
    ::ioctl(fd_.get(), LOOP_CLR_FD);
    fd_.reset();
  }
}

bool CanMakeLoopDevices() {
  static const bool can = [] {
    const TemporaryFolder temp("/dev/shm");
    MakeSparseFile(temp.Path("probe"), 4096);
    const bool works = LoopDevice::Attach(temp.Path("probe")) != nullptr;
    if (!works) {
      std::printf("NOT RUN: tests on real loop devices (they need root and loop devices)\n");
    }
    return works;
  }();
  return can;
}

}  // namespace mdvol::testing
