// See attribute.h: what md/ says of resync, check and repair. An array without a sync engine is
// idle, has never synced, and shows md's defaults.

#include <array>

#include "core/base/units.h"
#include "core/metadata/superblock.h"
#include "fuse/control/attribute.h"
#include "fuse/control/values.h"

namespace mdvol {
namespace {

std::string ShowResyncStart(const Subject& subject) {
  return subject.array.resync_bytes == kResyncDone
             ? TextLine("none")
             : NumberLine(subject.array.resync_bytes / kSectorBytes);
}

constexpr std::array kAttributes{
    Attribute{"sync_action", [](const Subject&) { return TextLine("idle"); }},
    Attribute{"last_sync_action", [](const Subject&) { return TextLine("none"); }},
    // Sectors.
    Attribute{"mismatch_cnt", [](const Subject& s) { return NumberLine(s.array.mismatch_cnt); }},
    Attribute{"sync_completed", [](const Subject&) { return TextLine("none"); }},
    Attribute{"sync_speed", [](const Subject&) { return TextLine("none"); }},
    // KiB per second and member; "(system)" where nobody has set it for this array.
    Attribute{"sync_speed_min", [](const Subject&) { return TextLine("1000 (system)"); }},
    Attribute{"sync_speed_max", [](const Subject&) { return TextLine("200000 (system)"); }},
    Attribute{"sync_min", [](const Subject&) { return TextLine("0"); }},
    Attribute{"sync_max", [](const Subject&) { return TextLine("max"); }},
    Attribute{"resync_start", ShowResyncStart},
};

}  // namespace

std::span<const Attribute> SyncAttributes() { return kAttributes; }

}  // namespace mdvol
