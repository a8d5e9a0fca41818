// See plugin_loader.h.

#include "policies/plugin_loader.h"

#include <dlfcn.h>

#include <cstring>
#include <memory>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/path.h"
#include "core/base/status.h"
#include "policies/plugin.h"
#include "policies/plugin_file.h"
#include "policies/probe.h"

namespace mdvol {
namespace {

constexpr std::string_view kRebuild =
    ": rebuild it against the installed headers of this version of mdvol";
constexpr size_t kMostPolicies = 64;
constexpr size_t kMostOptions = 32;
constexpr size_t kLongestLine = 300;

// With a slash in it, else dlopen would search the system's folders.
std::string PathForLoader(const std::string& path) {
  std::string absolute = AbsolutePath(path);
  return absolute.find('/') == std::string::npos ? "./" + absolute : absolute;
}

// Mostly "PATH: what"; the path is said anyway.
std::string LoaderError(const std::string& path) {
  const char* const error = ::dlerror();
  const std::string text = error == nullptr ? "cannot be loaded" : error;
  return text.starts_with(path + ": ") ? text.substr(path.size() + 2) : text;
}

// Some text that fits a line; what it holds goes to terminals and into lists.
bool IsLine(const char* text) {
  if (text == nullptr) {
    return false;
  }
  const std::string_view line(text, ::strnlen(text, kLongestLine + 1));
  for (const char c : line) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) {
      return false;
    }
  }
  return !line.empty() && line.size() <= kLongestLine;
}

absl::Status CheckHeader(const PolicyPlugin& plugin) {
  if (std::memcmp(plugin.magic, kPluginMagic, sizeof(kPluginMagic)) != 0) {
    return UsageError(std::string(kPluginSymbol) + " is not the table of a policy plugin" +
                      std::string(kRebuild));
  }
  if (plugin.abi != kPluginAbi) {
    return UsageError("is for version " + std::to_string(plugin.abi) +
                      " of the plugin interface, and this mdvol has version " +
                      std::to_string(kPluginAbi) + std::string(kRebuild));
  }
  if (plugin.layout != PluginLayout() || plugin.policy_bytes != sizeof(PluginPolicy)) {
    return UsageError("was built against other headers or another C++ library than this mdvol" +
                      std::string(kRebuild));
  }
  if (plugin.policies == nullptr || plugin.policy_count == 0 ||
      plugin.policy_count > kMostPolicies) {
    return UsageError("has no table of policies, or one that is not between 1 and " +
                      std::to_string(kMostPolicies) + " long: see policies/plugin.h");
  }
  return absl::OkStatus();
}

absl::Status CheckPolicy(const PluginPolicy& policy, size_t number) {
  const std::string which = "its policy number " + std::to_string(number + 1);
  if (IndexOf(policy.family) >= kPolicyFamilyCount) {
    return UsageError(which + " is of no family: see core/policy/families.h");
  }
  if (!IsLine(policy.name) || !IsLine(policy.summary) || policy.make == nullptr) {
    return UsageError(which + " has no name, no summary of one line, or no maker: see " +
                      "policies/plugin.h");
  }
  if (policy.option_count > kMostOptions ||
      (policy.options == nullptr && policy.option_count != 0)) {
    return UsageError(which + " has no table of its options, or more than " +
                      std::to_string(kMostOptions) + " options: see policies/plugin.h");
  }
  std::set<std::string_view> names;
  for (const PolicyOptionInfo& option : std::span(policy.options, policy.option_count)) {
    if (!IsLine(option.name) || !IsLine(option.what) || !names.insert(option.name).second) {
      return UsageError(which + ": an option has no name, no description of one line, or the " +
                        "name of another: see PolicyOptionInfo in core/policy/policy.h");
    }
  }
  return absl::OkStatus();
}

absl::Status AddPolicies(const PolicyPlugin& plugin, Registry& registry) {
  MDVOL_RETURN_IF_ERROR(CheckHeader(plugin));
  Registry more = registry;
  for (size_t i = 0; i < plugin.policy_count; ++i) {
    const PluginPolicy& policy = plugin.policies[i];
    MDVOL_RETURN_IF_ERROR(CheckPolicy(policy, i));
    MDVOL_RETURN_IF_ERROR(more.Add({policy.family,
                                    policy.name,
                                    policy.summary,
                                    {policy.options, policy.option_count},
                                    policy.make}));
  }
  registry = std::move(more);
  return absl::OkStatus();
}

// Of the standard numbers, and of those at either end.
absl::Status MakeEach(const PolicyPlugin& plugin) {
  for (const PluginPolicy& policy : std::span(plugin.policies, plugin.policy_count)) {
    for (const auto end :
         {&PolicyOptionInfo::standard, &PolicyOptionInfo::least, &PolicyOptionInfo::most}) {
      std::vector<double> numbers;
      for (const PolicyOptionInfo& option : std::span(policy.options, policy.option_count)) {
        numbers.push_back(option.*end);
      }
      if (policy.make(numbers) == nullptr) {
        return UsageError("policy " + std::string(PolicyFamilyName(policy.family)) + " " +
                          policy.name + ": its maker makes nothing: see policies/plugin.h");
      }
    }
  }
  return absl::OkStatus();
}

struct Opened {
  void* handle;
  const PolicyPlugin* plugin;
};

absl::StatusOr<Opened> Open(const std::string& path) {
  // All symbols at once: one that is missing shows now and not while the array runs.
  void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return UsageError(LoaderError(path) + ": build it anew, with all that it needs");
  }
  const void* const symbol = ::dlsym(handle, kPluginSymbol);
  if (symbol == nullptr) {
    ::dlclose(handle);
    return UsageError("has no " + std::string(kPluginSymbol) +
                      " and so is no policy plugin: see policies/plugin.h");
  }
  return Opened{handle, static_cast<const PolicyPlugin*>(symbol)};
}

absl::Status TryOut(const std::string& path, Registry& registry) {
  MDVOL_ASSIGN_OR_RETURN(const Opened opened, Open(path));
  MDVOL_RETURN_IF_ERROR(AddPolicies(*opened.plugin, registry));
  MDVOL_RETURN_IF_ERROR(MakeEach(*opened.plugin));
  ::dlclose(opened.handle);
  return absl::OkStatus();
}

absl::Status LoadChecked(const std::string& path, Registry& registry, int probe_limit_ms) {
  MDVOL_RETURN_IF_ERROR(CheckSharedObject(path));
  Registry tried = registry;
  MDVOL_RETURN_IF_ERROR(
      RunInProbe([&path, &tried] { return TryOut(path, tried); }, probe_limit_ms));
  MDVOL_ASSIGN_OR_RETURN(const Opened opened, Open(path));
  return AddPolicies(*opened.plugin, registry);
}

}  // namespace

absl::Status LoadPlugin(const std::string& path, Registry& registry, int probe_limit_ms) {
  const std::string absolute = PathForLoader(path);
  return Annotate(LoadChecked(absolute, registry, probe_limit_ms), "policy plugin " + absolute);
}

absl::Status LoadPlugins(std::span<const std::string> paths, Registry& registry) {
  for (const std::string& path : paths) {
    MDVOL_RETURN_IF_ERROR(LoadPlugin(path, registry));
  }
  return absl::OkStatus();
}

}  // namespace mdvol
