// What is agreed with the kernel when a mount begins (FUSE_INIT), all in one place.

#ifndef MDVOL_FUSE_NEGOTIATE_H_
#define MDVOL_FUSE_NEGOTIATE_H_

#include "fuse/libfuse.h"
#include "fuse/operations.h"

namespace mdvol {

// The largest read and write that the kernel sends.
inline constexpr unsigned kMaxRequestBytes = 1024 * 1024;

void Negotiate(fuse_conn_info& connection, OperationsContext& context);

}  // namespace mdvol

#endif  // MDVOL_FUSE_NEGOTIATE_H_
