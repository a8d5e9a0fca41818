// See shadow.h.

#include "tests/interop/exerciser/shadow.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/base/check.h"
#include "core/base/status.h"
#include "core/base/unique_fd.h"

namespace mdvol::testing {

absl::StatusOr<Shadow> Shadow::Open(const std::string& path, uint64_t size_bytes) {
  const UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!file.valid()) return SystemError(errno, path + ": cannot be opened");
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return SystemError(errno, path + ": cannot be examined");
  const auto present_bytes = static_cast<uint64_t>(status.st_size);
  if (present_bytes != 0 && present_bytes != size_bytes) {
    return ErrnoStatus(EINVAL, path + ": holds " + std::to_string(present_bytes) +
                                   " bytes, the volume " + std::to_string(size_bytes));
  }
  if (::ftruncate(file.get(), static_cast<off_t>(size_bytes)) != 0) {
    return SystemError(errno, path + ": cannot be made " + std::to_string(size_bytes) + " long");
  }
  void* const start =
      ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (start == MAP_FAILED) return SystemError(errno, path + ": cannot be mapped");
  return Shadow({static_cast<std::byte*>(start), size_bytes});
}

Shadow::Shadow(Shadow&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

Shadow::~Shadow() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

bool RangeLock::TryLock(const Extent& extent) {
  const auto first = [this](const Extent& e) { return e.offset_bytes / granularity_bytes_; };
  const auto last = [this](const Extent& e) {
    return (e.offset_bytes + e.length_bytes - 1) / granularity_bytes_;
  };
  absl::MutexLock lock(&mutex_);
  for (const Extent& other : held_) {
    if (first(extent) <= last(other) && first(other) <= last(extent)) return false;
  }
  held_.push_back(extent);
  return true;
}

void RangeLock::Unlock(const Extent& extent) {
  absl::MutexLock lock(&mutex_);
  const auto found = std::find_if(held_.begin(), held_.end(), [&extent](const Extent& other) {
    return other.offset_bytes == extent.offset_bytes && other.length_bytes == extent.length_bytes;
  });
  MDVOL_CHECK(found != held_.end());
  held_.erase(found);
}

std::vector<Extent> RangeLock::TakeAll() {
  absl::MutexLock lock(&mutex_);
  return std::exchange(held_, {});
}

}  // namespace mdvol::testing
