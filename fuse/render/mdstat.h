// MNT/mdstat: the array exactly as /proc/mdstat prints it, first and last line included, so that
// whatever reads the one can read the other. Pure. Form: Linux 6.1.

#ifndef MDVOL_FUSE_RENDER_MDSTAT_H_
#define MDVOL_FUSE_RENDER_MDSTAT_H_

#include <string>

#include "core/array/snapshot.h"
#include "core/sync/sync_status.h"

namespace mdvol {

std::string RenderMdstat(const ArraySnapshot& array, const SyncStatus& sync = {});

}  // namespace mdvol

#endif  // MDVOL_FUSE_RENDER_MDSTAT_H_
