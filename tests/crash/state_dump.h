// Dumped states: crash states of distinct metadata as image files, for the kernel to assemble.
//
// FOLDER/NAME/0.img, 1.img, … are the members; FOLDER/NAME/volume is what the volume has to read
// as; FOLDER/states has a line for each: NAME, the scenario, the number of slots, the images that
// are members separated by commas, "force" or "plain" (how mdvol assembled them), "whole" when
// every byte of `volume` has to be there, else "holes" (stripes in which writes were pending in a
// degraded array), and "sound", or "rotten" when parity need not agree everywhere.

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
