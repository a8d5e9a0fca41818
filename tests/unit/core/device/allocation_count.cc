// See allocation_count.h. Replaces the operators for the whole executable, in a file of its own:
// where the compiler sees both sides of a replaced pair it takes them for a mismatch.

#include "tests/unit/core/device/allocation_count.h"

#include <cstdlib>
#include <new>

namespace {

thread_local size_t allocation_count = 0;

}  // namespace

void* operator new(size_t size_bytes) {
  ++allocation_count;
  if (void* const memory = std::malloc(size_bytes != 0 ? size_bytes : 1)) {
    return memory;
  }
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t /*size_bytes*/) noexcept { std::free(memory); }

namespace mdvol::testing {

size_t AllocationCount() { return allocation_count; }

}  // namespace mdvol::testing
