// Short and long forms of one test.
//
// A test that enumerates or repeats takes its bounds from FullRun(): false in everyday runs, true
// when MDVOL_TEST_FULL is set to anything but 0 (`tests/run.sh --full`). Both forms check the same
// property.

#ifndef MDVOL_TESTS_SUPPORT_FULL_H_
#define MDVOL_TESTS_SUPPORT_FULL_H_

#include <cstdlib>
#include <cstring>

namespace mdvol::testing {

inline bool FullRun() {
  const char* const value = std::getenv("MDVOL_TEST_FULL");
  return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_SUPPORT_FULL_H_
