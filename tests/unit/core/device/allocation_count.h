// How often this thread has called operator new; for tests of paths that must not allocate.

#ifndef MDVOL_TESTS_UNIT_CORE_DEVICE_ALLOCATION_COUNT_H_
#define MDVOL_TESTS_UNIT_CORE_DEVICE_ALLOCATION_COUNT_H_

#include <cstddef>

namespace mdvol::testing {

size_t AllocationCount();

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_UNIT_CORE_DEVICE_ALLOCATION_COUNT_H_
