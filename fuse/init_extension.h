// InitExtension: in the answer to FUSE_INIT, asks the kernel for what libfuse before 3.17 has no
// word for: shared mappings of files that were opened with O_DIRECT (FUSE_DIRECT_IO_ALLOW_MMAP,
// Linux 6.6).
//
// Why it matters: writes of several threads through O_DIRECT run side by side only when such an
// open is answered with FOPEN_DIRECT_IO, and the kernel then refuses to map it unless this was
// agreed. A block device does both.
//
// Works by standing between libfuse and /dev/fuse: the first request that passes is FUSE_INIT, the
// first reply its answer. After that both ways cost one call through a pointer.

#ifndef MDVOL_FUSE_INIT_EXTENSION_H_
#define MDVOL_FUSE_INIT_EXTENSION_H_

#include "fuse/libfuse.h"

namespace mdvol {

// What stands in OperationsContext, the user data of the session.
struct InitExtension {
  bool request_seen = false;
  bool reply_sent = false;
  bool kernel_offers_direct_mmap = false;
};

// After fuse_session_mount, before the first request. Does nothing where libfuse can ask itself.
// Returns 0 or a negative errno, as libfuse.
int ExtendInit(fuse_session* session);

}  // namespace mdvol

#endif  // MDVOL_FUSE_INIT_EXTENSION_H_
