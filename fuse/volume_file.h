// VolumeFile: the rules of MNT/volume, i.e. how a Volume looks through the calls that a file knows.
// Wherever a file and a block device differ, the block device wins: the size is fixed, a write that
// starts at the end is ENOSPC, one that crosses it is short, a truncation is EPERM unless it asks
// for the present size, or for 0 as O_TRUNC does, which is accepted and changes nothing.
//
// Knows no libfuse: errors are absl::Status with the errno to reply. Every call runs in the
// caller's thread and goes straight to the Volume. Thread-safe; no lock is held while the Volume
// works. The volume and the clock must outlive the file.

#ifndef MDVOL_FUSE_VOLUME_FILE_H_
#define MDVOL_FUSE_VOLUME_FILE_H_

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "core/array/volume.h"
#include "core/base/clock.h"

namespace mdvol {

struct VolumeFileOptions {
  uid_t uid = 0;
  gid_t gid = 0;
  mode_t permissions = 0600;
  // The kernel keeps what was written for a while (write-back): then the members cannot tell where
  // holes are.
  bool writeback = false;
};

// What a setattr asks for; absent means "leave it". Who may ask is the kernel's business
// (default_permissions).
struct AttributeChange {
  std::optional<mode_t> permissions;
  std::optional<uid_t> uid;
  std::optional<gid_t> gid;
  std::optional<uint64_t> size_bytes;
  std::optional<timespec> accessed;
  std::optional<timespec> modified;
};

class VolumeFile {
 public:
  VolumeFile(Volume& volume, const VolumeFileOptions& options, Clock& clock);

  // All but the inode number.
  struct stat Attributes() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Mode, owner and times are kept in memory, as those of a device node are. EPERM for another
  // size; nothing is changed then.
  absl::Status SetAttributes(const AttributeChange& change) ABSL_LOCKS_EXCLUDED(mutex_);
  struct statvfs FileSystemAttributes() const;

  // `flags` as open(2) has them. EROFS when a read-only volume is opened for writing, so that
  // losetup and mount fall back to read-only by themselves. Every Open that succeeds needs one
  // Release.
  absl::Status Open(int flags);
  void Release() { opener_count_.fetch_sub(1, std::memory_order_relaxed); }
  uint32_t opener_count() const { return opener_count_.load(std::memory_order_relaxed); }

  // The number of bytes at the front of `out` that were read: fewer than asked for only at the end.
  absl::StatusOr<size_t> Read(uint64_t offset_bytes, std::span<std::byte> out);
  // The number of bytes written: fewer than given only at the end, ENOSPC when that would be none.
  // `data` must be private to the caller (I4); when it is not aligned, it is copied once.
  absl::StatusOr<size_t> Write(uint64_t offset_bytes, std::span<const std::byte> data);
  absl::Status Sync() { return volume_.Flush(); }
  // FALLOC_FL_PUNCH_HOLE and FALLOC_FL_ZERO_RANGE, with the bounds of the kernel's
  // blkdev_fallocate: a start at or past the end is EINVAL; an end past it is cut off with
  // FALLOC_FL_KEEP_SIZE and EINVAL without. Other modes are EOPNOTSUPP.
  absl::Status Allocate(int mode, uint64_t offset_bytes, uint64_t length_bytes);
  // SEEK_DATA and SEEK_HOLE; ENXIO at or past the end and when no data follows. With write-back all
  // is data, as of a block device.
  absl::StatusOr<uint64_t> Seek(int64_t offset_bytes, int whence);

 private:
  Volume& volume_;
  Clock& clock_;
  const bool is_all_data_;
  std::atomic<uint32_t> opener_count_ = 0;
  // Apart from the other attributes, because every write sets it.
  std::atomic<uint64_t> written_us_;

  mutable absl::Mutex mutex_;
  mode_t permissions_ ABSL_GUARDED_BY(mutex_);
  uid_t uid_ ABSL_GUARDED_BY(mutex_);
  gid_t gid_ ABSL_GUARDED_BY(mutex_);
  timespec accessed_ ABSL_GUARDED_BY(mutex_);
  timespec modified_ ABSL_GUARDED_BY(mutex_);         // as SetAttributes left it …
  uint64_t modified_set_us_ ABSL_GUARDED_BY(mutex_);  // … at this time; a later write wins
  uint64_t changed_us_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mdvol

#endif  // MDVOL_FUSE_VOLUME_FILE_H_
