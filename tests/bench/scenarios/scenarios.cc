// The table of all scenarios.

#include <array>

#include "tests/bench/scenarios/all.h"

namespace mdvol::bench {
namespace {

constexpr std::array<Scenario, 5> kScenarios{{
    {"resync-pacing", "random reads of 4 KiB alone and during a resync",
     PolicyFamily::kResyncPacing, &RunResyncPacing},
    {"wide-resync", "a check over few and over many members, and the size of its requests",
     PolicyFamily::kResyncRequest, &RunWideResync},
    {"write-admission", "a flood of writes, alone and with a reader beside it",
     PolicyFamily::kWriteAdmission, &RunWriteAdmission},
    {"degraded-read", "reads of all block sizes while members are missing",
     PolicyFamily::kDegradedRead, &RunDegradedRead},
    {"parity-workers", "small synchronous writes of many users, and full stripes",
     PolicyFamily::kParityWorkers, &RunParityWorkers},
}};

}  // namespace

std::span<const Scenario> AllScenarios() { return kScenarios; }

const Scenario* FindScenario(std::string_view name) {
  for (const Scenario& scenario : kScenarios) {
    if (scenario.name == name) {
      return &scenario;
    }
  }
  return nullptr;
}

}  // namespace mdvol::bench
