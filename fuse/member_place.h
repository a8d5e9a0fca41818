// Where a member may not be kept: on the volume of an mdvol mount, its own or another one. A daemon
// whose member is its own volume waits for itself when it writes there, for good and out of reach
// of kill; so do two that hold each other's, and one of them is as easily made as the other. File
// systems of others, FUSE ones included, are as good a place as any.
//
// Told without touching the mount, for whoever asks may be the daemon that would have to answer:
// the path is followed by hand, and what lies under it is read from mountinfo and sysfs. Not found
// are ways that leave no trace there: a network, another mount namespace, an overlay.

#ifndef MDVOL_FUSE_MEMBER_PLACE_H_
#define MDVOL_FUSE_MEMBER_PLACE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "fuse/unmount.h"

namespace mdvol {

// EINVAL when the file or device at `path` rests on an mdvol mount: it lies in one, by whichever
// links; or it is, or lies on a file system on, a block device that is made of such a file, as loop
// devices, their partitions and what the device mapper and md put upon them are. The file need not
// be there yet.
absl::Status CheckMemberPlace(const std::string& path);

// What CheckMemberPlace knows of the machine. Tests have their own.
struct PlaceFacts {
  std::vector<MountInfo> mounts;
  std::string sys = "/sys";
};

// The mountpoint of the mdvol mount that `path` rests on; "" when there is none.
std::string FindMountUnder(const std::string& path, const PlaceFacts& facts);

}  // namespace mdvol

#endif  // MDVOL_FUSE_MEMBER_PLACE_H_
