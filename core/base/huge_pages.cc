// See huge_pages.h.

#include "core/base/huge_pages.h"

#include <sys/mman.h>

#include "core/base/units.h"

namespace mdvol {

void PreferHugePages(AlignedBuffer& buffer) {
  const uint64_t length = RoundDown(buffer.size(), kBufferAlignment);
  if (length > 0) {
    static_cast<void>(::madvise(buffer.data(), length, MADV_HUGEPAGE));
  }
}

}  // namespace mdvol
