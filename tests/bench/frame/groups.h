// Records brought together that differ in their repeat alone, in an order for people: by scenario
// and workload as first measured, then metric, then policy, as first measured. A pure function; the
// records must outlive the groups.

#ifndef MDVOL_TESTS_BENCH_FRAME_GROUPS_H_
#define MDVOL_TESTS_BENCH_FRAME_GROUPS_H_

#include <vector>

#include "tests/bench/frame/results.h"

namespace mdvol::bench {

struct Group {
  const Record* about;  // the first of them
  std::vector<double> values;
};

std::vector<Group> GroupRecords(const std::vector<Record>& records);

}  // namespace mdvol::bench

#endif  // MDVOL_TESTS_BENCH_FRAME_GROUPS_H_
