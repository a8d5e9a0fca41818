// A resync policy of one's own, built out of tree: the resync and everybody else take turns. It
// goes as fast as it may for work_ms, then leaves the members alone for rest_ms, and so on. Whoever
// reads during a rest finds the disks as if there were no resync, however busy they are otherwise;
// the resync takes (work_ms + rest_ms) / work_ms times as long, whether anybody reads or not.
//
// Build and use it as docs/policies.md says under "Out-of-tree policies".

#include <algorithm>
#include <cstdint>

#include "policies/plugin.h"

namespace {

// What can be set: name, standard, least, most, whole numbers only, what it is.
constexpr mdvol::PolicyOptionInfo kOptions[] = {
    {"work_ms", 250, 10, 60000, true, "how long the resync goes on"},
    {"rest_ms", 750, 0, 60000, true, "how long it then leaves the members alone"},
};

class TurnsPacing final : public mdvol::ResyncPacing {
 public:
  // The numbers are in the order of kOptions, and within its bounds.
  explicit TurnsPacing(mdvol::PolicyNumbers numbers)
      : work_ns_(static_cast<uint64_t>(numbers[0]) * 1000000),
        rest_ns_(static_cast<uint64_t>(numbers[1]) * 1000000) {}

  // Asked before each step of the resync: 0 lets it go, else it waits so long and asks again.
  mdvol::ResyncDecision Decide(const mdvol::ResyncFacts& facts) noexcept override {
    const double elapsed_ns = static_cast<double>(facts.now_ns - facts.mark_ns);
    const double done_bytes = static_cast<double>(facts.bytes_since_mark);
    mdvol::ResyncDecision decision;
    // sync_speed_min is a promise: below it there is no rest.
    if (done_bytes < static_cast<double>(facts.speed_min) * elapsed_ns / 1e9) {
      return decision;
    }
    const uint64_t turn_ns = facts.now_ns % (work_ns_ + rest_ns_);
    decision.wait_ns = turn_ns < work_ns_ ? 0 : work_ns_ + rest_ns_ - turn_ns;
    // And sync_speed_max is another.
    const double due_ns =
        done_bytes * 1e9 / static_cast<double>(std::max<uint64_t>(facts.speed_max, 1));
    if (due_ns > elapsed_ns) {
      decision.wait_ns = std::max(decision.wait_ns, static_cast<uint64_t>(due_ns - elapsed_ns));
    }
    return decision;
  }

 private:
  const uint64_t work_ns_;
  const uint64_t rest_ns_;
};

constexpr mdvol::PluginPolicy kPolicies[] = {
    mdvol::PluginEntry<TurnsPacing>(
        "turns", "goes as fast as it may for a while, then leaves the members alone for a while",
        kOptions),
};

}  // namespace

MDVOL_POLICY_PLUGIN(kPolicies);
