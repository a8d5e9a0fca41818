// Loads policy plugins (policies/plugin.h). Whatever is wrong with one, be it that it is no shared
// object, was built against other headers, or crashes, hangs or ends the process as soon as it is
// looked at, comes back as one line.
//
// A plugin is first loaded in a child process, which checks its table, makes and destroys each of
// its policies, unloads it, and has to do all that within a time limit. Only one that passes is
// loaded here, for good: its policies may be in use until the end. What a policy does when the
// engine asks it is beyond a probe.

#ifndef MDVOL_POLICIES_PLUGIN_LOADER_H_
#define MDVOL_POLICIES_PLUGIN_LOADER_H_

#include <span>
#include <string>

#include "absl/status/status.h"
#include "policies/registry.h"

namespace mdvol {

inline constexpr int kPluginProbeLimitMs = 10000;

// Adds the policies of the plugin to the registry, behind those that are there. A usage error names
// the file; the registry is then as it was. To be called while the process has one thread, because
// it forks. What a plugin loaded here has of threads does not survive a fork.
absl::Status LoadPlugin(const std::string& path, Registry& registry,
                        int probe_limit_ms = kPluginProbeLimitMs);

// One after the other, until one fails.
absl::Status LoadPlugins(std::span<const std::string> paths, Registry& registry);

}  // namespace mdvol

#endif  // MDVOL_POLICIES_PLUGIN_LOADER_H_
