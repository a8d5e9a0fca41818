// See unthrottled.h.

#include "policies/unthrottled.h"

namespace mdvol {
namespace {

constexpr uint64_t kWindows = 2;
constexpr uint64_t kLongNs = 1'000'000'000;

}  // namespace

ResyncDecision UnthrottledPacing::Decide(const ResyncFacts& facts) {
  const uint64_t wait_ns = limit_.WaitNs(facts);
  if (wait_ns > 0) {
    return {.wait_ns = wait_ns};
  }
  if (facts.windows_in_flight >= kWindows) {
    return {.wait_ns = kLongNs, .wait_for_fewer_windows = kWindows};
  }
  return {.wait_ns = 0,
          .wait_for_fewer_windows = 0,
          .window_bytes = SpeedLimit::MostWindowBytes(facts)};
}

}  // namespace mdvol
