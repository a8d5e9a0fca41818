// What a sync engine does or is told to do, in md's words.

#ifndef MDVOL_CORE_SYNC_SYNC_ACTION_H_
#define MDVOL_CORE_SYNC_SYNC_ACTION_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace mdvol {

enum class SyncAction : uint8_t {
  kIdle,
  kFrozen,   // nothing runs, and nothing starts by itself
  kResync,   // parity is made to agree with data
  kRecover,  // members are filled with what they should hold
  kCheck,    // data, P and Q are compared
  kRepair,   // the same, and what is wrong is mended
};

// "idle", "frozen", "resync", "recover", "check", "repair".
std::string_view SyncActionWord(SyncAction action);
std::optional<SyncAction> ParseSyncAction(std::string_view word);

}  // namespace mdvol

#endif  // MDVOL_CORE_SYNC_SYNC_ACTION_H_
