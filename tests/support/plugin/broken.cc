// A policy plugin that is broken in the way that MDVOL_TEST_PLUGIN names, when it is loaded, in its
// table, or in what it makes; sound when the variable is not there. Its table is not constant, as
// that of an honest plugin is, and it babbles.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string_view>

#include <unistd.h>

#include "policies/plugin.h"

namespace {

std::string_view Kind() {
  const char* const kind = std::getenv("MDVOL_TEST_PLUGIN");
  return kind == nullptr ? "" : kind;
}

// What can be wrong with code, wherever it is: true if it has come back.
void Misbehave(std::string_view place) {
  const std::string_view kind = Kind();
  if (kind.size() <= place.size() || kind.substr(0, place.size()) != place) {
    return;
  }
  const std::string_view what = kind.substr(place.size());
  if (what == "crashes") {
    std::raise(SIGSEGV);
  } else if (what == "aborts") {
    std::abort();
  } else if (what == "exits") {
    std::exit(0);
  } else if (what == "hangs") {
    while (true) {
      ::pause();
    }
  } else if (what == "throws") {
    throw std::runtime_error("thrown");
  } else if (what == "forks" && ::fork() == 0) {
    ::sleep(1000);
  }
}

mdvol::PolicyOptionInfo options[] = {{"one_ms", 1, 0, 10, true, "the first"},
                                     {"two_ms", 2, 0, 20, true, "the second"}};

class BrokenPacing final : public mdvol::ResyncPacing {
 public:
  explicit BrokenPacing(mdvol::PolicyNumbers numbers) {
    Misbehave("maker ");
    if (numbers[0] == options[0].most) {
      Misbehave("maker of most ");
    }
  }
  ~BrokenPacing() override { Misbehave("destructor "); }
  mdvol::ResyncDecision Decide(const mdvol::ResyncFacts& /*facts*/) noexcept override {
    Misbehave("decision ");
    return {};
  }
};

mdvol::PluginPolicy policies[] = {
    mdvol::PluginEntry<BrokenPacing>("sound", "sound unless asked to be otherwise", options),
    mdvol::PluginEntry<BrokenPacing>("sound-too", "the same again", options),
};

}  // namespace

extern "C" mdvol::PolicyPlugin mdvol_policy_plugin;
mdvol::PolicyPlugin mdvol_policy_plugin = mdvol::MakePlugin(policies);

namespace {

void BreakTable(std::string_view kind) {
  mdvol::PolicyPlugin& plugin = mdvol_policy_plugin;
  if (kind == "magic") {
    plugin.magic[7] = 'x';
  } else if (kind == "older abi") {
    --plugin.abi;
  } else if (kind == "newer abi") {
    ++plugin.abi;
    plugin.policies = reinterpret_cast<const mdvol::PluginPolicy*>(8);
  } else if (kind == "layout") {
    plugin.layout ^= 1;
  } else if (kind == "entry size") {
    plugin.policy_bytes += 8;
  } else if (kind == "null table") {
    plugin.policies = nullptr;
  } else if (kind == "empty table") {
    plugin.policy_count = 0;
  } else if (kind == "huge table") {
    plugin.policy_count = SIZE_MAX;
  } else if (kind == "wild table") {
    plugin.policies = reinterpret_cast<const mdvol::PluginPolicy*>(8);
  }
}

void BreakPolicy(std::string_view kind) {
  mdvol::PluginPolicy& second = policies[1];
  if (kind == "no family") {
    second.family = static_cast<mdvol::PolicyFamily>(17);
  } else if (kind == "null name") {
    second.name = nullptr;
  } else if (kind == "wild name") {
    second.name = reinterpret_cast<const char*>(8);
  } else if (kind == "bad name") {
    second.name = "two words";
  } else if (kind == "taken name") {
    second.name = "unthrottled";
  } else if (kind == "own name twice") {
    second.name = "sound";
  } else if (kind == "null summary") {
    second.summary = nullptr;
  } else if (kind == "two lines") {
    second.summary = "one\ntwo";
  } else if (kind == "null maker") {
    second.make = nullptr;
  } else if (kind == "maker of nothing") {
    second.make = [](mdvol::PolicyNumbers) { return std::unique_ptr<mdvol::Policy>(); };
  } else if (kind == "null options") {
    second.options = nullptr;
  } else if (kind == "many options") {
    second.option_count = 1000;
  }
}

void BreakOption(std::string_view kind) {
  mdvol::PolicyOptionInfo& option = options[1];
  if (kind == "option null name") {
    option.name = nullptr;
  } else if (kind == "option bad name") {
    option.name = "../x";
  } else if (kind == "option twice") {
    option.name = "one_ms";
  } else if (kind == "option null text") {
    option.what = nullptr;
  } else if (kind == "option bounds") {
    option.least = 3;
  }
}

// Runs when the plugin is loaded, behind the tables' own initialisation; and when it is unloaded.
struct Loaded {
  Loaded() {
    if (!Kind().empty()) {
      std::puts("babble");
      std::fputs("babble\n", stderr);
    }
    Misbehave("initialiser ");
    BreakTable(Kind());
    BreakPolicy(Kind());
    BreakOption(Kind());
  }
  ~Loaded() { Misbehave("unloading "); }
} loaded;

}  // namespace
