// `mdvol policies`: every family, its policies, one line each; the default of a family comes first
// and is marked.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iomanip>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "fuse/cli/verbs.h"
#include "policies/registry.h"

namespace mdvol {
namespace {

struct PoliciesOptions {
  bool json = false;
};

void PrintText(std::ostream& out) {
  const Registry registry;
  size_t width = 0;
  for (const PolicyEntry& entry : BuiltInPolicies()) {
    width = std::max(width, entry.name.size());
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

void PrintJson(std::ostream& out) {
  const Registry registry;
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
  out << families.dump(2) << '\n';
}

}  // namespace

void AddPolicies(CLI::App& app, VerbContext& context) {
  auto options = std::make_shared<PoliciesOptions>();
  CLI::App* const verb =
      app.add_subcommand("policies", "Lists the policies of each family; * marks the default");
  verb->add_flag("--json", options->json, "Machine-readable");
  verb->callback([options, &context] {
    context.run = [options, &context] {
      if (options->json) {
        PrintJson(context.out);
      } else {
        PrintText(context.out);
      }
      return absl::OkStatus();
    };
  });
}

}  // namespace mdvol
