// Whether a faulty member could come back into its slot: what the array will ask of its file when
// it is added again, asked while the member is still listed, so that a refusal changes nothing.

#ifndef MDVOL_FUSE_CONTROL_RE_ADD_CHECK_H_
#define MDVOL_FUSE_CONTROL_RE_ADD_CHECK_H_

#include "absl/status/status.h"
#include "core/array/snapshot.h"

namespace mdvol {

// `faulty` is a member of `array`. Looks at its file, and at one of a member in sync for what the
// bitmap knows, without locks and without writing. Errors are those of Array::AddMember. Adding it
// asks again, and has the last word: things may have changed meanwhile.
absl::Status CheckReAdd(const MemberSnapshot& faulty, const ArraySnapshot& array);

}  // namespace mdvol

#endif  // MDVOL_FUSE_CONTROL_RE_ADD_CHECK_H_
