// ControlTree: all files of the mount besides the volume, by path.
//
//   mdstat status.json events iostat          one text each
//   md/ATTRIBUTE md/bitmap/ATTRIBUTE           tables (attribute.h)
//   md/rdN -> dev-NAME                         one per slot with a member that works
//   md/dev-NAME/ATTRIBUTE                      one folder per member
//   md/policy/FAMILY.KEY                       an option of the active policy, a number
//   md/policy/FAMILY                           "[active] other …", a name switches
//
// Every access takes a snapshot of the array and answers from it. Thread-safe; holds no lock.

#ifndef MDVOL_FUSE_CONTROL_CONTROL_TREE_H_
#define MDVOL_FUSE_CONTROL_CONTROL_TREE_H_

#include <string>
#include <string_view>
#include <vector>

#include "fuse/control/attribute.h"
#include "fuse/control/control_files.h"

namespace mdvol {

class ControlTree final : public ControlFiles {
 public:
  explicit ControlTree(ControlContext context) : context_(std::move(context)) {}

  absl::StatusOr<ControlEntry> Find(std::string_view path) const override;
  absl::StatusOr<std::vector<ControlEntry>> List(std::string_view path) const override;
  absl::StatusOr<std::string> Show(std::string_view path) const override;
  absl::Status Store(std::string_view path, std::string_view value) override;

 private:
  // Stores into an attribute change what the context refers to, never the context.
  mutable ControlContext context_;
};

}  // namespace mdvol

#endif  // MDVOL_FUSE_CONTROL_CONTROL_TREE_H_
