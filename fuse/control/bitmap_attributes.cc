// See attribute.h: md/bitmap/. The folder is there without a bitmap too, with the kernel's words
// for none.

#include <algorithm>
#include <array>
#include <limits>

#include "absl/strings/str_format.h"
#include "core/base/status.h"
#include "fuse/control/attribute.h"
#include "fuse/control/values.h"

namespace mdvol {
namespace {

std::string ShowLocation(const Subject& subject) {
  return subject.array.bitmap.has_value()
             ? absl::StrFormat("%+d\n", subject.array.bitmap->offset_sectors)
             : TextLine("none");
}

std::string ShowChunkSize(const Subject& subject) {
  return NumberLine(subject.array.bitmap.has_value() ? subject.array.bitmap->chunk_bytes : 0);
}

std::string ShowTimeBase(const Subject& subject) {
  return NumberLine(subject.array.bitmap.has_value() ? subject.array.bitmap->time_base_s : 0);
}

// Seconds, which md takes with a fraction. Ours are whole: the next one counts, and at least one.
absl::Status StoreTimeBase(const Subject& subject, std::string_view value) {
  bool is_whole = false;
  MDVOL_ASSIGN_OR_RETURN(
      uint64_t seconds, ParseScaled(value, 0, std::numeric_limits<uint32_t>::max() - 1, &is_whole));
  seconds += is_whole ? 0 : 1;
  return subject.context.array.SetBitmapTimeBase(
      static_cast<uint32_t>(std::max<uint64_t>(seconds, 1)));
}

std::string ShowCanClear(const Subject& subject) {
  if (!subject.array.bitmap.has_value()) {
    return "\n";
  }
  return TextLine(subject.array.bitmap->can_clear ? "true" : "false");
}

constexpr std::array kAttributes{
    Attribute{"location", ShowLocation},
    Attribute{"chunksize", ShowChunkSize},
    Attribute{"time_base", ShowTimeBase, StoreTimeBase},
    Attribute{"can_clear", ShowCanClear},
    Attribute{"metadata", [](const Subject&) { return TextLine("internal"); }},
};

}  // namespace

std::span<const Attribute> BitmapAttributes() { return kAttributes; }

}  // namespace mdvol
