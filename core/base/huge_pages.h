// PreferHugePages: asks for fewer, larger pages under a large buffer that is walked in many places
// at once. A hint: nothing depends on it.

#ifndef MDVOL_CORE_BASE_HUGE_PAGES_H_
#define MDVOL_CORE_BASE_HUGE_PAGES_H_

#include "core/base/aligned_buffer.h"

namespace mdvol {

// To be called before the buffer is used. Its contents stay as they are.
void PreferHugePages(AlignedBuffer& buffer);

}  // namespace mdvol

#endif  // MDVOL_CORE_BASE_HUGE_PAGES_H_
