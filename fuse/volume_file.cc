// See volume_file.h.

#include "fuse/volume_file.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "core/base/aligned_buffer.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "fuse/thread_buffer.h"

namespace mdvol {
namespace {

constexpr uint32_t kBlockBytes = 4096;
constexpr mode_t kPermissionBits = 07777;
constexpr uint64_t kMicrosPerSecond = 1'000'000;

timespec FromMicros(uint64_t micros) {
  timespec time{};
  time.tv_sec = static_cast<time_t>(micros / kMicrosPerSecond);
  time.tv_nsec = static_cast<long>(micros % kMicrosPerSecond) * 1000;
  return time;
}

bool IsAligned(const std::byte* data) {
  return reinterpret_cast<uintptr_t>(data) % kBufferAlignment == 0;
}

}  // namespace

VolumeFile::VolumeFile(Volume& volume, const VolumeFileOptions& options, Clock& clock)
    : volume_(volume),
      clock_(clock),
      is_all_data_(options.writeback),
      written_us_(clock.WallUs()),
      permissions_(options.permissions & kPermissionBits),
      uid_(options.uid),
      gid_(options.gid),
      accessed_(FromMicros(written_us_)),
      modified_(accessed_),
      modified_set_us_(written_us_),
      changed_us_(written_us_) {}

struct stat VolumeFile::Attributes() const {
  struct stat attributes {};
  const uint64_t written_us = written_us_.load(std::memory_order_relaxed);
  absl::MutexLock lock(&mutex_);
  attributes.st_mode = S_IFREG | permissions_;
  attributes.st_nlink = 1;
  attributes.st_uid = uid_;
  attributes.st_gid = gid_;
  attributes.st_size = static_cast<off_t>(volume_.volume_bytes());
  attributes.st_blksize = kBlockBytes;
  // Full, whatever the members leave out: copying tools take a smaller number for holes.
  attributes.st_blocks = static_cast<blkcnt_t>(CeilDiv(volume_.volume_bytes(), kSectorBytes));
  attributes.st_atim = accessed_;
  attributes.st_mtim = written_us > modified_set_us_ ? FromMicros(written_us) : modified_;
  attributes.st_ctim = FromMicros(std::max(written_us, changed_us_));
  return attributes;
}

absl::Status VolumeFile::SetAttributes(const AttributeChange& change) {
  if (change.size_bytes.has_value() && *change.size_bytes != 0 &&
      *change.size_bytes != volume_.volume_bytes()) {
    return ErrnoStatus(
        EPERM, "volume: its size is fixed at " + std::to_string(volume_.volume_bytes()) + " bytes");
  }
  absl::MutexLock lock(&mutex_);
  permissions_ = change.permissions.value_or(permissions_) & kPermissionBits;
  uid_ = change.uid.value_or(uid_);
  gid_ = change.gid.value_or(gid_);
  accessed_ = change.accessed.value_or(accessed_);
  if (change.modified.has_value()) {
    modified_ = *change.modified;
    modified_set_us_ = clock_.WallUs();
  }
  changed_us_ = clock_.WallUs();
  return absl::OkStatus();
}

struct statvfs VolumeFile::FileSystemAttributes() const {
  struct statvfs attributes {};
  attributes.f_bsize = kBlockBytes;
  attributes.f_frsize = kBlockBytes;
  attributes.f_blocks = volume_.volume_bytes() / kBlockBytes;
  attributes.f_files = 1;
  attributes.f_namemax = NAME_MAX;
  return attributes;
}

absl::Status VolumeFile::Open(int flags) {
  if ((flags & O_ACCMODE) != O_RDONLY && volume_.read_only()) {
    return ErrnoStatus(EROFS, "volume: the array is read-only");
  }
  opener_count_.fetch_add(1, std::memory_order_relaxed);
  return absl::OkStatus();
}

absl::StatusOr<size_t> VolumeFile::Read(uint64_t offset_bytes, std::span<std::byte> out) {
  const uint64_t volume_bytes = volume_.volume_bytes();
  if (offset_bytes >= volume_bytes || out.empty()) {
    return 0;
  }
  const size_t length_bytes = std::min<uint64_t>(out.size(), volume_bytes - offset_bytes);
  MDVOL_RETURN_IF_ERROR(volume_.Read(offset_bytes, out.first(length_bytes)));
  return length_bytes;
}

absl::StatusOr<size_t> VolumeFile::Write(uint64_t offset_bytes, std::span<const std::byte> data) {
  if (data.empty()) {
    return 0;
  }
  const uint64_t volume_bytes = volume_.volume_bytes();
  if (offset_bytes >= volume_bytes) {
    return ErrnoStatus(ENOSPC, "volume: a write at its end");
  }
  data = data.first(std::min<uint64_t>(data.size(), volume_bytes - offset_bytes));
  if (!IsAligned(data.data())) {
    const std::span<std::byte> copy = ThreadBuffer(data.size());
    std::memcpy(copy.data(), data.data(), data.size());
    data = copy;
  }
  MDVOL_RETURN_IF_ERROR(volume_.Write(offset_bytes, data));
  written_us_.store(clock_.WallUs(), std::memory_order_relaxed);
  return data.size();
}

absl::Status VolumeFile::Allocate(int mode, uint64_t offset_bytes, uint64_t length_bytes) {
  const bool keep_size = (mode & FALLOC_FL_KEEP_SIZE) != 0;
  const int kind = mode & ~FALLOC_FL_KEEP_SIZE;
  const bool is_punch = kind == FALLOC_FL_PUNCH_HOLE && keep_size;
  if (!is_punch && kind != FALLOC_FL_ZERO_RANGE) {
    return ErrnoStatus(EOPNOTSUPP, "volume: fallocate can punch holes and zero ranges only");
  }
  const uint64_t volume_bytes = volume_.volume_bytes();
  uint64_t end_bytes = 0;
  if (length_bytes == 0 || offset_bytes >= volume_bytes ||
      !AddFits(offset_bytes, length_bytes, &end_bytes)) {
    return ErrnoStatus(EINVAL, "volume: fallocate of nothing, or past the end");
  }
  if (end_bytes > volume_bytes) {
    if (!keep_size) {
      return ErrnoStatus(EINVAL, "volume: fallocate past the end, where the volume cannot grow");
    }
    end_bytes = volume_bytes;
  }
  MDVOL_RETURN_IF_ERROR(volume_.Zero(offset_bytes, end_bytes - offset_bytes));
  written_us_.store(clock_.WallUs(), std::memory_order_relaxed);
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> VolumeFile::Seek(int64_t offset_bytes, int whence) {
  if (whence != SEEK_DATA && whence != SEEK_HOLE) {
    return ErrnoStatus(EINVAL, "volume: lseek knows SEEK_DATA and SEEK_HOLE here");
  }
  const uint64_t volume_bytes = volume_.volume_bytes();
  if (offset_bytes < 0 || static_cast<uint64_t>(offset_bytes) >= volume_bytes) {
    return ErrnoStatus(ENXIO, "volume: lseek past the end");
  }
  const auto start = static_cast<uint64_t>(offset_bytes);
  if (is_all_data_) {
    return whence == SEEK_DATA ? start : volume_bytes;
  }
  MDVOL_ASSIGN_OR_RETURN(const uint64_t found,
                         whence == SEEK_DATA ? volume_.NextData(start) : volume_.NextHole(start));
  if (whence == SEEK_DATA && found >= volume_bytes) {
    return ErrnoStatus(ENXIO, "volume: no data up to the end");
  }
  return std::min(found, volume_bytes);  // Every file ends in a hole.
}

}  // namespace mdvol
