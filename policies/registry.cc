// See registry.h. Each entry says what the engine does under that name, not what it is meant for.

#include "policies/registry.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <string>

#include "core/base/status.h"
#include "policies/adaptive_pacing.h"
#include "policies/adaptive_reads.h"
#include "policies/adaptive_writes.h"
#include "policies/bypass.h"
#include "policies/deadline_6_6.h"
#include "policies/extent.h"
#include "policies/inline_parity.h"
#include "policies/md_3_19.h"
#include "policies/md_4_2.h"
#include "policies/md_6_16.h"
#include "policies/plug.h"
#include "policies/raid5d.h"
#include "policies/stripe_cache_reads.h"
#include "policies/unlimited.h"
#include "policies/unthrottled.h"

namespace mdvol {
namespace {

constexpr std::array kPolicies{
    Entry<AdaptiveReads>("adaptive",
                         "a random read costs what it must, a stream over lost chunks reads each "
                         "byte once",
                         AdaptiveReads::kOptions),
    Entry<BypassReads>("bypass",
                       "live chunks straight from their members, lost ones from all others, "
                       "nothing kept: md before 4.1"),
    Entry<StripeCacheReads>("stripe-cache",
                            "every read through the stripe cache, 4 KiB of each member at a time: "
                            "md since 4.1"),
    Entry<AdaptivePacing>("adaptive",
                          "takes from users what latency_share grants, all while there are none; "
                          "large windows, rests measured by what they cost",
                          kAdaptivePacingOptions),
    Entry<Md319Pacing>("md-3.19",
                       "beside users sleeps half a second at a time above sync_speed_min: md until "
                       "4.0"),
    Entry<Md42Pacing>("md-4.2",
                      "beside users, as far as it sees them, lets what is in flight end, then goes "
                      "on: md from 4.1 to 6.15"),
    Entry<Md616Pacing>(
        "md-6.16", "beside users lets sync_io_depth lanes end before the next go: md since 6.16",
        kMd616Options),
    Entry<UnthrottledPacing>("unthrottled",
                             "goes as fast as the members allow, whatever else they are asked for"),
    Entry<ExtentRequests>("extent",
                          "one large request to each member per window, all members side by side"),
    Entry<Plug16Requests>(
        "plug-16", "4 KiB of each member in turn, joined by a plug of 16 requests: md before 5.16"),
    Entry<Plug64Requests>("plug-64", "the same with a plug of 64 requests: md since 5.16"),
    Entry<AdaptiveWrites>("adaptive",
                          "keeps room at a member for readers while there are some, by what they "
                          "wait; whoever waits is joined with its neighbours",
                          AdaptiveWrites::kOptions),
    Entry<UnlimitedWrites>("unlimited", "all slots of a member's queue are open to writes",
                           UnlimitedWrites::kOptions),
    Entry<Deadline66>("deadline-6.6",
                      "keeps a quarter of the slots from writes, word by word: mq-deadline of 6.6",
                      Deadline66::kOptions),
    Entry<InlineParity>(
        "inline", "the thread that carries a write computes its parity; no thread of its own"),
    Entry<SingleParity>("single", "one thread computes all parity, 4 KiB at a time: md's raid5d"),
    Entry<HandleStripeParity>(
        "handle-stripe",
        "each pass over 4 KiB goes to a pool, all wait for all: md's first try of 2009",
        kPoolOptions),
    Entry<RunOpsParity>(
        "run-ops", "the arithmetic of each 4 KiB goes to a pool and back: md's second try of 2009",
        kPoolOptions),
};

bool IsOptionName(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

bool IsSound(const PolicyOptionInfo& option) {
  return option.name != nullptr && option.what != nullptr && IsOptionName(option.name) &&
         std::isfinite(option.least) && std::isfinite(option.most) &&
         option.least <= option.standard && option.standard <= option.most;
}

// As names go into file names and messages: no blanks, no slash.
bool IsPolicyName(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

}  // namespace

std::optional<size_t> PolicyEntry::FindOption(std::string_view option_name) const {
  for (size_t i = 0; i < options.size(); ++i) {
    if (option_name == options[i].name) {
      return i;
    }
  }
  return std::nullopt;
}

std::span<const PolicyEntry> BuiltInPolicies() { return kPolicies; }

Registry::Registry() {
  for (const PolicyEntry& entry : kPolicies) {
    entries_[IndexOf(entry.family)].push_back(entry);
  }
}

absl::Status Registry::Add(const PolicyEntry& entry) {
  const std::string family(PolicyFamilyName(entry.family));
  const std::string name(entry.name);
  if (!IsPolicyName(entry.name) || entry.make == nullptr) {
    return UsageError("policy " + family + ": '" + name +
                      "' is no name for a policy: use letters, digits, '-', '_' and '.'");
  }
  for (const PolicyOptionInfo& option : entry.options) {
    if (!IsSound(option)) {
      return UsageError("policy " + family + " " + name + ": option '" +
                        (option.name == nullptr ? "" : option.name) +
                        "' is malformed: see PolicyOptionInfo");
    }
  }
  if (Find(entry.family, entry.name) != nullptr) {
    return ErrnoStatus(
        EEXIST, "policy " + family + ": there is a '" + name + "' already: choose another name");
  }
  entries_[IndexOf(entry.family)].push_back(entry);
  return absl::OkStatus();
}

std::span<const PolicyEntry> Registry::Of(PolicyFamily family) const {
  return entries_[IndexOf(family)];
}

const PolicyEntry* Registry::Find(PolicyFamily family, std::string_view name) const {
  for (const PolicyEntry& entry : Of(family)) {
    if (entry.name == name) {
      return &entry;
    }
  }
  return nullptr;
}

std::string Registry::Names(PolicyFamily family) const {
  std::string names;
  for (const PolicyEntry& entry : Of(family)) {
    names += names.empty() ? "" : ", ";
    names += entry.name;
  }
  return names;
}

}  // namespace mdvol
