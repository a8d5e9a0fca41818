// Whether a folder can become our mountpoint, and what -o may say. Each refusal is one line with
// the remedy.

#ifndef MDVOL_FUSE_MOUNTPOINT_H_
#define MDVOL_FUSE_MOUNTPOINT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/unique_fd.h"

namespace mdvol {

// The absolute path of `mountpoint`, without symbolic links, ready to be mounted on: an existing
// folder that is no mount yet. A dead mount of ours (its daemon was killed) is taken away first.
absl::StatusOr<std::string> PrepareMountpoint(const std::string& mountpoint);

// The absolute path without symbolic links, also of a mountpoint whose daemon is dead.
absl::StatusOr<std::string> ResolveMountpoint(const std::string& mountpoint);

// To be held while the folder is mounted on, so that of several mounts that begin at the same time
// one goes on: the others are refused with EBUSY, as by PrepareMountpoint. Who may not read the
// folder gets no lock and takes the chance.
absl::StatusOr<UniqueFd> ReserveMountpoint(const std::string& mountpoint);

// Refuses (EINVAL) a mountpoint that would hide a member from whoever uses it next.
absl::Status CheckHidesNoMember(const std::string& mountpoint,
                                const std::vector<std::string>& members);

// Splits "a,b" as after -o and checks each option: those that pass are for libfuse. `is_root` and
// `user_allow_other` (/etc/fuse.conf has the line) say who may use allow_other.
absl::StatusOr<std::vector<std::string>> CheckMountOptions(const std::vector<std::string>& options,
                                                           bool is_root, bool user_allow_other);

// Whether the text of fuse.conf has the line.
bool HasUserAllowOther(std::string_view fuse_conf);
// The same of the installed /etc/fuse.conf; false when there is none.
bool SystemHasUserAllowOther();

}  // namespace mdvol

#endif  // MDVOL_FUSE_MOUNTPOINT_H_
