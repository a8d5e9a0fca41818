// MNT/iostat: what each member was asked for in its data area since the start: one header line,
// then a line per member, columns split by blanks. Requests are counted as they reach the member,
// after merging; means have one decimal. Pure.

#ifndef MDVOL_FUSE_RENDER_IOSTAT_H_
#define MDVOL_FUSE_RENDER_IOSTAT_H_

#include <string>

#include "core/array/snapshot.h"

namespace mdvol {

std::string RenderIostat(const ArraySnapshot& array);

}  // namespace mdvol

#endif  // MDVOL_FUSE_RENDER_IOSTAT_H_
