// Enumeration: crashes everywhere in all scenarios until enough distinct states have been seen, and
// each of them checked. The same options see the same states, however many threads do it.

#ifndef MDVOL_TESTS_CRASH_ENUMERATION_H_
#define MDVOL_TESTS_CRASH_ENUMERATION_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/crash/guard.h"

namespace mdvol::crash {

struct EnumerationOptions {
  Guard guard = Guard::kBitmap;
  Plant plant = Plant::kNone;
  uint64_t states = 100000;  // at least so many; 0: those that are dumped
  uint64_t seed = 1;
  unsigned threads = 1;
  std::vector<const Scenario*> scenarios;
  std::string dump_folder;  // empty: none
  size_t dump_count = 0;
};

struct EnumerationResult {
  uint64_t states = 0;  // distinct by the bytes of all members
  uint64_t violations = 0;
  std::vector<std::string> examples;  // of violations, a few, each with how to see it again
  uint64_t runs = 0;                  // recorded, and their crash points
  uint64_t points = 0;
};

// Errors: a scenario could not be played.
absl::StatusOr<EnumerationResult> Enumerate(const EnumerationOptions& options);

// The record of a scenario as the guard and the plant want it.
absl::StatusOr<RecordedRun> RecordFor(const Scenario& scenario, Guard guard, Plant plant,
                                      uint64_t seed);

}  // namespace mdvol::crash

#endif  // MDVOL_TESTS_CRASH_ENUMERATION_H_
