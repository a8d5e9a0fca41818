// Runs code that nobody has vouched for in a child process first: whatever it does there, crash,
// hang, throw or leave, the caller gets a status.

#ifndef MDVOL_POLICIES_PROBE_H_
#define MDVOL_POLICIES_PROBE_H_

#include <functional>

#include "absl/status/status.h"

namespace mdvol {

// What `work` returns in a child; or, when it never returns, a usage error that says how the child
// ended. Its output goes nowhere, it leaves no core file, and it is gone afterwards, together with
// the children that it may have had. Only while the process has one thread.
absl::Status RunInProbe(const std::function<absl::Status()>& work, int limit_ms);

}  // namespace mdvol

#endif  // MDVOL_POLICIES_PROBE_H_
