// Attributes: the files below MNT/md as tables of {name, show, store}. An attribute is a file of
// one value with the name, the words and the units of the kernel's /sys/block/mdX/md.
//
// A table is constant data; the functions in it see the array only through a Subject and keep
// nothing, so they may run in any thread, several at once.

#ifndef MDVOL_FUSE_CONTROL_ATTRIBUTE_H_
#define MDVOL_FUSE_CONTROL_ATTRIBUTE_H_

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "core/array/array.h"
#include "core/array/events.h"
#include "core/array/snapshot.h"
#include "core/device/fault_device.h"
#include "core/sync/sync_engine.h"
#include "fuse/control/fault_table.h"
#include "fuse/control/suspension.h"
#include "fuse/render/status_json.h"
#include "policies/selection.h"

namespace mdvol {

// What the control files are about. Everything referred to outlives them.
struct ControlContext {
  Array& array;
  EventLog& events;
  PolicySelection& policies;
  // Members that are not in it have no `fault` file.
  FaultTable& faults;
  // How many handles of the volume are open; null: none ever.
  std::function<uint32_t()> opener_count;
  StatusContext status;
  // Null: the array is shown as idle, and nothing can be started.
  SyncEngine* sync = nullptr;
  // Null: nothing can be suspended.
  Suspension* suspension = nullptr;
  // Opens a path and adds it to the array; null: nothing can be added.
  std::function<absl::Status(const std::string& path, AddMode mode)> add_member = {};
};

// One access: the array as of now and, below dev-NAME, the member.
struct Subject {
  ControlContext& context;
  const ArraySnapshot& array;
  const SyncStatus& sync;
  const MemberSnapshot* member = nullptr;
};

struct Attribute {
  std::string_view name;
  std::string (*show)(const Subject& subject);
  // Null: read-only. `value` has lost its newline.
  absl::Status (*store)(const Subject& subject, std::string_view value) = nullptr;
  // Null: always there.
  bool (*is_present)(const Subject& subject) = nullptr;
};

// md/ itself, in the order of a listing.
std::span<const Attribute> ArrayAttributes();
// Those of md/ that tell about resync, check and repair.
std::span<const Attribute> SyncAttributes();
// md/bitmap/.
std::span<const Attribute> BitmapAttributes();
// md/dev-NAME/.
std::span<const Attribute> MemberAttributes();

// The keys of a [[fault]] table, as ParseFaultKeys of core/config reads them, on one line.
std::string FormatFaultRule(const FaultRule& rule);

}  // namespace mdvol

#endif  // MDVOL_FUSE_CONTROL_ATTRIBUTE_H_
