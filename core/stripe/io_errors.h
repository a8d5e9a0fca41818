// What errnos of member writes mean to the engine.

#ifndef MDVOL_CORE_STRIPE_IO_ERRORS_H_
#define MDVOL_CORE_STRIPE_IO_ERRORS_H_

#include <cerrno>

namespace mdvol {

// The file system under an image is full: the caller's problem, not the member's (I13).
inline bool IsFull(int error) { return error == ENOSPC || error == EDQUOT; }

}  // namespace mdvol

#endif  // MDVOL_CORE_STRIPE_IO_ERRORS_H_
