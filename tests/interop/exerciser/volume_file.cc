// See volume_file.h.

#include "tests/interop/exerciser/volume_file.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/base/status.h"

namespace mdvol::testing {
namespace {

std::string Where(const char* what, const Extent& extent) {
  return std::string(what) + " of " + std::to_string(extent.length_bytes) + " bytes at " +
         std::to_string(extent.offset_bytes);
}

// A block device transfers all or fails, but for the 2 GiB that one call can carry; the kernel may
// still split, so a short transfer goes on and only an end of file counts as an error.
template <typename Call>
absl::Status TransferAll(const char* what, const Extent& extent, const Call& call) {
  uint64_t done_bytes = 0;
  while (done_bytes < extent.length_bytes) {
    const ssize_t result = call(done_bytes);
    if (result < 0 && errno == EINTR) continue;
    if (result < 0) return SystemError(errno, Where(what, extent));
    if (result == 0) return ErrnoStatus(EIO, Where(what, extent) + ": nothing was transferred");
    done_bytes += static_cast<uint64_t>(result);
  }
  return absl::OkStatus();
}

absl::Status NoDirect() { return ErrnoStatus(EINVAL, "the volume does not open with O_DIRECT"); }

}  // namespace

absl::StatusOr<VolumeFile> VolumeFile::Open(const std::string& path, bool read_only) {
  const int access = (read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC;
  UniqueFd buffered(::open(path.c_str(), access));
  if (!buffered.valid()) return SystemError(errno, path + ": cannot be opened");
  // A plain file, on a file system without O_DIRECT, can still be compared.
  UniqueFd direct(::open(path.c_str(), access | O_DIRECT));
  struct stat status {};
  if (::fstat(buffered.get(), &status) != 0) {
    return SystemError(errno, path + ": cannot be examined");
  }
  return VolumeFile(std::move(buffered), std::move(direct), static_cast<uint64_t>(status.st_size));
}

absl::Status VolumeFile::Read(uint64_t offset_bytes, std::span<std::byte> out, bool direct) const {
  if (direct && !direct_.valid()) return NoDirect();
  const int fd = direct ? direct_.get() : buffered_.get();
  return TransferAll("read", {offset_bytes, out.size()}, [&](uint64_t done_bytes) {
    return ::pread(fd, out.data() + done_bytes, out.size() - done_bytes,
                   static_cast<off_t>(offset_bytes + done_bytes));
  });
}

absl::Status VolumeFile::Write(uint64_t offset_bytes, std::span<const std::byte> data,
                               bool direct) const {
  if (direct && !direct_.valid()) return NoDirect();
  const int fd = direct ? direct_.get() : buffered_.get();
  return TransferAll("write", {offset_bytes, data.size()}, [&](uint64_t done_bytes) {
    return ::pwrite(fd, data.data() + done_bytes, data.size() - done_bytes,
                    static_cast<off_t>(offset_bytes + done_bytes));
  });
}

absl::Status VolumeFile::Punch(const Extent& extent) const {
  return Allocate(FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, "punch-hole", extent);
}

absl::Status VolumeFile::ZeroRange(const Extent& extent) const {
  return Allocate(FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, "zero-range", extent);
}

absl::Status VolumeFile::Allocate(int mode, const char* what, const Extent& extent) const {
  while (::fallocate(buffered_.get(), mode, static_cast<off_t>(extent.offset_bytes),
                     static_cast<off_t>(extent.length_bytes)) != 0) {
    if (errno != EINTR) return SystemError(errno, Where(what, extent));
  }
  return absl::OkStatus();
}

absl::Status VolumeFile::Sync() const {
  if (::fsync(buffered_.get()) != 0) return SystemError(errno, "fsync");
  return absl::OkStatus();
}

}  // namespace mdvol::testing
