// FileDevice: a member kept in an image file or a block device, opened so that nobody else can hold
// it (I8).
//
// Images are flock'ed (exclusive for writing, shared for read-only), block devices opened O_EXCL,
// and both are refused while a loop device serves their bytes to somebody else: the loop device's
// own word where it may be asked, else the path that sysfs shows for its backing file. I/O is pread
// and pwrite (preadv and pwritev for several buffers) in the caller's thread, the sync back end.
// Thread-safe.

#ifndef MDVOL_CORE_DEVICE_FILE_DEVICE_H_
#define MDVOL_CORE_DEVICE_FILE_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "core/device/member_device.h"

namespace mdvol {

struct FileDeviceOptions {
  bool read_only = false;
  // O_DIRECT; alignment_bytes() is then what the kernel says that offsets, lengths and addresses
  // need, the logical block size as a rule. It is reported as it is, be it more than the 4096 that
  // an array can keep to: whoever assembles one refuses the member.
  bool direct = false;
  bool lock = true;  // off only for looking without touching (examine of a mounted array)
};

// Errors name the path and the remedy: missing, neither a file nor a block device, permission, held
// by another process (EBUSY), backing a loop device (EBUSY), O_DIRECT refused by its file system
// (EINVAL).
absl::StatusOr<std::unique_ptr<MemberDevice>> OpenFileDevice(const std::string& path,
                                                             const FileDeviceOptions& options);

// Creates a sparse image of `size_bytes` that must not exist yet, locked as OpenFileDevice locks.
// `umask` applies to 0666 as for any new file.
absl::StatusOr<std::unique_ptr<MemberDevice>> CreateImage(const std::string& path,
                                                          uint64_t size_bytes);

// Allocates the space of a range of an image without changing what it reads as, so that a later
// write there cannot fail for want of space (I13). A device or file system that cannot is no error.
absl::Status AllocateRange(const std::string& path, uint64_t offset_bytes, uint64_t length_bytes);

// Which file a path names, for finding the same member given twice.
struct FileIdentity {
  uint64_t device = 0;  // st_rdev for block devices, st_dev otherwise
  uint64_t inode = 0;   // 0 for block devices
  bool is_block_device = false;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};
absl::StatusOr<FileIdentity> IdentifyFile(const std::string& path);

}  // namespace mdvol

#endif  // MDVOL_CORE_DEVICE_FILE_DEVICE_H_
