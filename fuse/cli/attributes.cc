// See attributes.h.

#include "fuse/cli/attributes.h"

#include <filesystem>

#include "core/base/status.h"

namespace mdvol {

absl::StatusOr<std::string> AttributePath(const std::string& name) {
  const std::filesystem::path path(name);
  bool is_inside = !path.empty() && !path.is_absolute();
  for (const std::filesystem::path& part : path) {
    is_inside = is_inside && part != "..";
  }
  if (!is_inside) {
    return UsageError("\"" + name + "\": give a path below MOUNTPOINT/md, as rmw_level");
  }
  return "md/" + name;
}

}  // namespace mdvol
