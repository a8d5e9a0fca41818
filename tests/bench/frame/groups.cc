// See groups.h.

#include "tests/bench/frame/groups.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace mdvol::bench {
namespace {

// The order in which names are first seen; policies rotate between repeats, so each kind of name
// has an order of its own.
class Ranks {
 public:
  size_t Of(const std::string& name) {
    return ranks_.try_emplace(name, ranks_.size()).first->second;
  }

 private:
  std::map<std::string, size_t> ranks_;
};

}  // namespace

std::vector<Group> GroupRecords(const std::vector<Record>& records) {
  using Key = std::tuple<size_t, size_t, size_t, size_t>;
  Ranks scenarios;
  Ranks workloads;
  Ranks metrics;
  Ranks policies;
  std::map<Key, Group> groups;
  for (const Record& record : records) {
    const Key key{scenarios.Of(record.scenario), workloads.Of(record.workload),
                  metrics.Of(record.metric), policies.Of(record.policy)};
    Group& group = groups.try_emplace(key, Group{&record, {}}).first->second;
    group.values.push_back(record.value);
  }
  std::vector<Group> ordered;
  ordered.reserve(groups.size());
  for (auto& [key, group] : groups) {
    ordered.push_back(std::move(group));
  }
  return ordered;
}

}  // namespace mdvol::bench
