// See sync_action.h.

#include "core/sync/sync_action.h"

#include <array>

namespace mdvol {
namespace {

// In the order of the enum.
constexpr std::array<std::string_view, 6> kWords{"idle",    "frozen", "resync",
                                                 "recover", "check",  "repair"};

}  // namespace

std::string_view SyncActionWord(SyncAction action) { return kWords[static_cast<size_t>(action)]; }

std::optional<SyncAction> ParseSyncAction(std::string_view word) {
  for (size_t i = 0; i < kWords.size(); ++i) {
    if (kWords[i] == word) {
      return static_cast<SyncAction>(i);
    }
  }
  return std::nullopt;
}

}  // namespace mdvol
