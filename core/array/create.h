// Carrying a create plan out: makes the images, writes bad-block logs, bitmaps and superblocks, and flushes. On failure the
// images it made are removed again; existing members that had been written are named in the error.

#ifndef MDVOL_CORE_ARRAY_CREATE_H_
#define MDVOL_CORE_ARRAY_CREATE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/device/member_device.h"
#include "core/metadata/create_plan.h"

namespace mdvol {

// Signatures of data that `create` must not overwrite without --force: md metadata of any place or version (0.90
// included), file systems, partition tables, LVM, swap. Empty when nothing was recognised; otherwise a phrase such as
// "an ext4 file system" or "md metadata 1.2 of array …".
absl::StatusOr<std::string> FindSignature(MemberDevice& device);

// Writes the metadata of `plan` to the members; devices[i] belongs to plan.members[i], null for "missing". Old superblocks in
// the two other places are wiped, as are the signatures FindSignature knows. Superblocks go last.
absl::Status WriteCreatePlan(const CreatePlan& plan,
                             const std::vector<std::unique_ptr<MemberDevice>>& devices);

}  // namespace mdvol

#endif  // MDVOL_CORE_ARRAY_CREATE_H_
