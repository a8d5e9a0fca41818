// Laying the command line over a configuration file, and the checks that need both. Pure.

#ifndef MDVOL_CORE_CONFIG_MERGE_H_
#define MDVOL_CORE_CONFIG_MERGE_H_

#include "absl/status/status.h"
#include "core/config/config.h"

namespace mdvol {

// `base` with everything that `overrides` says. A list in `overrides` (members, plugins, faults)
// replaces the whole list, but policy choices are per family, and policy options per key.
Config MergeConfig(Config base, const Config& overrides);

// What no single line is to blame for: no members at all. A usage error with the remedy.
absl::Status CheckConfig(const Config& config);

}  // namespace mdvol

#endif  // MDVOL_CORE_CONFIG_MERGE_H_
