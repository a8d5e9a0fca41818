// Guards: what an array has against the write hole, and what may then be lost together with the
// power. Plants: bugs that the rig pretends the product had, to show that it would find them.

#ifndef MDVOL_TESTS_CRASH_GUARD_H_
#define MDVOL_TESTS_CRASH_GUARD_H_

#include <cstdint>
#include <vector>

#include "tests/crash/scenario.h"

namespace mdvol::crash {

enum class Guard : uint8_t {
  kNone,     // dirty marks and bits are suppressed; no member is lost
  kBitmap,   // the product as it is; no member is lost before the resync has ended
  kJournal,  // any one member may be lost as well
};

enum class Plant : uint8_t { kNone, kEarlyBitClear, kLateSuperblock };

inline bool SuppressesMarks(Guard guard) { return guard == Guard::kNone; }
inline bool LosesAMember(Guard guard) { return guard == Guard::kJournal; }

// The scenarios that say something about the guard: without any those of arrays that are whole and
// clean at first, with a journal those of arrays that have one.
inline std::vector<const Scenario*> ScenariosOf(Guard guard) {
  std::vector<const Scenario*> scenarios;
  for (const Scenario& scenario : AllScenarios()) {
    const bool is_simple = scenario.most_lost == 0 && scenario.prepare == nullptr;
    if (scenario.has_journal == (guard == Guard::kJournal) &&
        (guard != Guard::kNone || is_simple)) {
      scenarios.push_back(&scenario);
    }
  }
  return scenarios;
}

}  // namespace mdvol::crash

#endif  // MDVOL_TESTS_CRASH_GUARD_H_
