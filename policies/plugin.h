// What a policy plugin is made of: the one header that an out-of-tree policy includes, beside its
// family's. A plugin is a shared object with one symbol, a constant table of its policies:
//
//   class TurnsPacing final : public mdvol::ResyncPacing {
//    public:
//     explicit TurnsPacing(mdvol::PolicyNumbers numbers);
//     mdvol::ResyncDecision Decide(const mdvol::ResyncFacts& facts) noexcept override;
//   };
//   constexpr mdvol::PolicyOptionInfo kOptions[] = {{"rest_ms", 750, 0, 60000, true, "…"}};
//   constexpr mdvol::PluginPolicy kPolicies[] = {
//       mdvol::PluginEntry<TurnsPacing>("turns", "one line for people", kOptions)};
//   MDVOL_POLICY_PLUGIN(kPolicies);
//
// The table begins with an ABI number and a fingerprint of the interface's layout, so that a plugin
// which is stale is known for it before anything of it is called. Strings and options must live as
// long as the plugin does, which is never unloaded.
//
// What decides is noexcept: nothing may be thrown into the engine. A plugin that throws all the
// same, or crashes, takes the daemon with it; to the array that is a crash of the machine, after
// which no byte is lost. Only the standard library is used here and in the families' headers.

#ifndef MDVOL_POLICIES_PLUGIN_H_
#define MDVOL_POLICIES_PLUGIN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <version>

#include "core/policy/degraded_read.h"
#include "core/policy/families.h"
#include "core/policy/parity_workers.h"
#include "core/policy/policy.h"
#include "core/policy/resync_pacing.h"
#include "core/policy/resync_request.h"
#include "core/policy/write_admission.h"

namespace mdvol {

// To be raised with every change of an interface that its sizes do not show: virtual functions, the
// order of members, what a number means.
inline constexpr uint32_t kPluginAbi = 1;

inline constexpr char kPluginMagic[8] = {'m', 'd', 'v', 'o', 'l', 'p', 'o', 'l'};
inline constexpr char kPluginSymbol[] = "mdvol_policy_plugin";

// One policy.
struct PluginPolicy {
  PolicyFamily family;
  const char* name;
  const char* summary;  // what it does, one line
  const PolicyOptionInfo* options;
  size_t option_count;
  // As many numbers as there are options, each within its bounds. What it makes is of the family's
  // own class.
  std::unique_ptr<Policy> (*make)(PolicyNumbers numbers);
};

// The symbol. The first two members stay where they are in every version; nothing behind them means
// anything under another ABI number, and nothing behind the layout under another layout.
struct PolicyPlugin {
  char magic[8];
  uint32_t abi;
  uint32_t policy_bytes;  // sizeof(PluginPolicy)
  uint64_t layout;        // PluginLayout()
  const PluginPolicy* policies;
  size_t policy_count;
};

// A fingerprint of all types that go through the interface, those that facts point to included.
// Different numbers: different headers, another standard library or other switches of it, such as
// _GLIBCXX_DEBUG.
constexpr uint64_t PluginLayout() {
#if defined(_LIBCPP_VERSION)
  constexpr size_t kLibrary = 2;
#else
  constexpr size_t kLibrary = 1;
#endif
  constexpr size_t kSizes[] = {
      kLibrary,
      kPolicyFamilyCount,
      sizeof(Policy),
      sizeof(PolicyOptionInfo),
      sizeof(PolicyNumbers),
      sizeof(PluginPolicy),
      sizeof(DegradedRead),
      sizeof(DegradedReadFacts),
      sizeof(DegradedReadDecision),
      sizeof(ResyncPacing),
      sizeof(ResyncFacts),
      sizeof(ResyncMemberFacts),
      sizeof(ResyncDecision),
      sizeof(ResyncRequest),
      sizeof(ResyncRequestFacts),
      sizeof(RequestCuts),
      sizeof(WriteAdmission),
      sizeof(WriteAdmissionFacts),
      sizeof(WriteAdmissionDecision),
      sizeof(ParityWorkers),
      sizeof(ParityWorkersFacts),
      sizeof(ParityWorkersDecision),
  };
  uint64_t hash = 14695981039346656037U;  // FNV-1a, number by number
  for (const size_t size : kSizes) {
    hash = (hash ^ size) * 1099511628211U;
  }
  return hash;
}

template <typename Function>
struct IsNoexceptMember : std::false_type {};
template <typename Class, typename Result, typename... Arguments>
struct IsNoexceptMember<Result (Class::*)(Arguments...) noexcept> : std::true_type {};
template <typename Class, typename Result, typename... Arguments>
struct IsNoexceptMember<Result (Class::*)(Arguments...) const noexcept> : std::true_type {};

// The entry of a policy class that has a constructor from PolicyNumbers.
template <typename Kind>
constexpr PluginPolicy PluginEntry(const char* name, const char* summary,
                                   std::span<const PolicyOptionInfo> options = {}) {
  static_assert(std::is_base_of_v<Policy, Kind>, "derive it from a family's class");
  if constexpr (requires { &Kind::Decide; }) {
    static_assert(IsNoexceptMember<decltype(&Kind::Decide)>::value, "Decide() must be noexcept");
  }
  if constexpr (requires { &Kind::Cut; }) {
    static_assert(IsNoexceptMember<decltype(&Kind::Cut)>::value, "Cut() must be noexcept");
  }
  return {Kind::kFamily,
          name,
          summary,
          options.data(),
          options.size(),
          [](PolicyNumbers numbers) noexcept -> std::unique_ptr<Policy> {
            return std::make_unique<Kind>(numbers);
          }};
}

constexpr PolicyPlugin MakePlugin(std::span<const PluginPolicy> policies) {
  PolicyPlugin plugin = {
      {}, kPluginAbi, sizeof(PluginPolicy), PluginLayout(), policies.data(), policies.size()};
  for (size_t i = 0; i < sizeof(kPluginMagic); ++i) {
    plugin.magic[i] = kPluginMagic[i];
  }
  return plugin;
}

}  // namespace mdvol

// Defines the symbol, at global scope and once in a plugin: from an array of PluginPolicy with
// static lifetime.
#define MDVOL_POLICY_PLUGIN(policies)                                                              \
  extern "C" __attribute__((visibility("default"))) const mdvol::PolicyPlugin mdvol_policy_plugin; \
  constinit const mdvol::PolicyPlugin mdvol_policy_plugin = mdvol::MakePlugin(policies)

#endif  // MDVOL_POLICIES_PLUGIN_H_
