// `mdvol policies`: every family, its policies, one line each; the default of a family comes first
// and is marked. With a configuration, those of its plugins too.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iomanip>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "core/base/status.h"
#include "core/config/config.h"
#include "fuse/cli/verbs.h"
#include "policies/plugin_loader.h"
#include "policies/registry.h"

namespace mdvol {
namespace {

struct PoliciesOptions {
  bool json = false;
  std::string config_path;
};

void PrintText(const Registry& registry, std::ostream& out) {
  size_t width = 0;
  for (const PolicyFamilyInfo& info : kPolicyFamilies) {
    for (const PolicyEntry& entry : registry.Of(info.family)) {
      width = std::max(width, entry.name.size());
    }
  }
  for (const PolicyFamilyInfo& info : kPolicyFamilies) {
    out << info.name << ": " << info.decides << '\n';
    for (const PolicyEntry& entry : registry.Of(info.family)) {
      const bool is_default = &entry == &registry.Of(info.family).front();
      out << (is_default ? "  * " : "    ") << std::left << std::setw(static_cast<int>(width))
          << entry.name << "  " << entry.summary << '\n';
    }
  }
}

nlohmann::ordered_json OptionsOf(const PolicyEntry& entry) {
  auto options = nlohmann::ordered_json::array();
  for (const PolicyOptionInfo& option : entry.options) {
    options.push_back({{"name", option.name},
                       {"default", option.standard},
                       {"least", option.least},
                       {"most", option.most},
                       {"what", option.what}});
  }
  return options;
}

void PrintJson(const Registry& registry, std::ostream& out) {
  auto families = nlohmann::ordered_json::array();
  for (const PolicyFamilyInfo& info : kPolicyFamilies) {
    auto policies = nlohmann::ordered_json::array();
    for (const PolicyEntry& entry : registry.Of(info.family)) {
      policies.push_back(
          {{"name", entry.name}, {"summary", entry.summary}, {"options", OptionsOf(entry)}});
    }
    families.push_back({{"family", info.name},
                        {"decides", info.decides},
                        {"default", registry.Of(info.family).front().name},
                        {"policies", policies}});
  }
  // What a plugin says of itself need not be UTF-8.
  out << families.dump(2, ' ', /*ensure_ascii=*/false,
                       nlohmann::ordered_json::error_handler_t::replace)
      << '\n';
}

absl::Status RunPolicies(const PoliciesOptions& options, VerbContext& context) {
  Registry registry;
  if (!options.config_path.empty()) {
    MDVOL_ASSIGN_OR_RETURN(const Config config, LoadConfig(options.config_path));
    MDVOL_RETURN_IF_ERROR(LoadPlugins(config.policy.plugins, registry));
  }
  options.json ? PrintJson(registry, context.out) : PrintText(registry, context.out);
  return absl::OkStatus();
}

}  // namespace

void AddPolicies(CLI::App& app, VerbContext& context) {
  auto options = std::make_shared<PoliciesOptions>();
  CLI::App* const verb =
      app.add_subcommand("policies", "Lists the policies of each family; * marks the default");
  verb->add_option("--config", options->config_path, "With the plugins of this configuration")
      ->type_name("FILE");
  verb->add_flag("--json", options->json, "Machine-readable");
  verb->callback([options, &context] {
    context.run = [options, &context] { return RunPolicies(*options, context); };
  });
}

}  // namespace mdvol
