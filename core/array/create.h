// Carrying a create plan out: wipes old signatures, writes bad-block logs, bitmaps and superblocks,
// each flushed before the next kind, superblocks last, so that a member is either not of the array
// at all or complete.
//
// Images are made, allocated and, after an error, removed by the caller, which alone knows which
// members it made.

#ifndef MDVOL_CORE_ARRAY_CREATE_H_
#define MDVOL_CORE_ARRAY_CREATE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/device/member_device.h"
#include "core/metadata/create_plan.h"

namespace mdvol {

// Signatures of data that `create` must not overwrite without --force: md metadata of any place or
// version (0.90 included), file systems, partition tables, LVM, swap. Empty when nothing was
// recognised; otherwise a phrase such as "an ext4 file system" or "md metadata 1.2 of array …".
absl::StatusOr<std::string> FindSignature(MemberDevice& device);

// Writes the metadata of `plan` to the members; devices[i] belongs to plan.members[i], null for
// "missing". The magics that FindSignatures knows are zeroed outside the new data area; inside it
// only those of old md superblocks, and not even they when the array starts clean: what lies there
// is then content that parity covers already.
absl::Status WriteCreatePlan(const CreatePlan& plan,
                             const std::vector<std::unique_ptr<MemberDevice>>& devices);

}  // namespace mdvol

#endif  // MDVOL_CORE_ARRAY_CREATE_H_
