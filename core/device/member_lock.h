// Holding a member so that nobody else does (I8): flock on images, and finding out whether a loop
// device serves the same bytes to somebody else. Block devices are held by opening them O_EXCL.

#ifndef MDVOL_CORE_DEVICE_MEMBER_LOCK_H_
#define MDVOL_CORE_DEVICE_MEMBER_LOCK_H_

#include <string>

#include "absl/status/status.h"
#include "core/device/file_device.h"

namespace mdvol {

// Takes the flock of an open image, shared or exclusive, without waiting; it goes with the last
// descriptor. EBUSY when it is held in a way that excludes ours, by another process or by this one.
absl::Status LockImage(int fd, const std::string& path, bool is_shared);

// EBUSY when a path, looked at before and after it was opened, led to two different files: what was
// decided from the first look may be wrong for the second.
absl::Status CheckNotReplaced(const FileIdentity& before, const FileIdentity& opened,
                              const std::string& path);

// Where the kernel shows its loop devices. Tests have their own.
struct LoopRoots {
  std::string sys_block = "/sys/block";
  std::string dev = "/dev";
};

// The name of a loop device ("loop3") whose backing file is the given one, under whatever name; ""
// when there is none, or none that we may see. Where the loop device can be asked itself (root,
// group disk) the answer is exact. Otherwise it comes from the path in sysfs; of a backing file
// that has been deleted this is the path it had, and a file there now is taken for it, to be on the
// safe side.
std::string FindLoopDeviceOver(const FileIdentity& file, const LoopRoots& roots = {});

// EBUSY when FindLoopDeviceOver finds one.
absl::Status RefuseIfBehindLoopDevice(const FileIdentity& file, const std::string& path,
                                      const LoopRoots& roots = {});

}  // namespace mdvol

#endif  // MDVOL_CORE_DEVICE_MEMBER_LOCK_H_
