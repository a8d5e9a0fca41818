// Dumped states: crash states of distinct metadata as image files, for the kernel to assemble.
//
// FOLDER/NAME/0.img, 1.img, … are the members; FOLDER/NAME/volume is what mdvol has read;
// FOLDER/NAME/open has the numbers of those atoms, a line each, of which another may read something
// else and be right: the write hole of a degraded array. FOLDER/states has a line for each state:
// NAME, the scenario, the numbers of the images that mdvol has taken for members, separated by
// commas, "force" or "plain" (how it assembled them), and "sound", or "rotten" when parity need not
// agree everywhere.
//
// Images that mdvol has left out are not on that list. Kernels before 6.8 take a failed member back
// that is one event behind, whatever the others say of it.

#ifndef MDVOL_TESTS_CRASH_STATE_DUMP_H_
#define MDVOL_TESTS_CRASH_STATE_DUMP_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "tests/crash/enumeration.h"

namespace mdvol::crash {

struct DumpedState {
  uint64_t state_hash = 0;
  std::string violation;
};

// options.dump_count states spread over the scenarios into options.dump_folder, which must exist;
// each is checked first, and given to `visit`. Errors: a file could not be written, a scenario has
// too few states.
absl::Status DumpStates(const EnumerationOptions& options,
                        const std::function<void(const DumpedState&)>& visit);

}  // namespace mdvol::crash

#endif  // MDVOL_TESTS_CRASH_STATE_DUMP_H_
