// The members of an array for a mount: each is a file or block device, modelled as a disk if the
// configuration says so, under a fault device, a counting device and the queue of write admission.
// Opened before the start, and added while the array runs.

#ifndef MDVOL_FUSE_MEMBERS_H_
#define MDVOL_FUSE_MEMBERS_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/array/array.h"
#include "core/array/member_loader.h"
#include "core/array/snapshot.h"
#include "core/base/clock.h"
#include "core/config/config.h"
#include "core/device/disk_model.h"
#include "core/device/fault_device.h"
#include "core/policy/policy_set.h"
#include "fuse/control/fault_table.h"

namespace mdvol {

// Owned by the members' devices.
using FaultsByPath = std::map<std::string, std::weak_ptr<FaultDevice>>;

struct OpenedMembers {
  std::vector<LoadedMember> members;
  FaultsByPath faults_by_path;
};

// The disk that members are to be like; none where the configuration has no model. A number that is
// not given costs nothing: no latency, no seek, unlimited bandwidth, and one request at a time.
std::optional<DiskModelParameters> ModelParameters(const MemberModelConfig& config);

// Opens and loads all of them or none. Errors name the path. `policies` outlives the members.
absl::StatusOr<OpenedMembers> OpenMembers(const Config& config, const PolicySet& policies,
                                          Clock& clock);

// The faults by the indices that the running array gave its members.
void FillFaultTable(const FaultsByPath& faults_by_path, const ArraySnapshot& array,
                    FaultTable& table);

// Sets the faults of the configuration, whose members are named as member_word.h says. A usage
// error names a member that does not exist, or a word that means two.
absl::Status SetConfiguredFaults(const Config& config, const ArraySnapshot& array,
                                 const FaultsByPath& faults_by_path);

// Opens the file or device at `path` as the array's configuration says and hands it to the array.
absl::Status AddMemberFile(const std::string& path, AddMode mode, const Config& config,
                           const PolicySet& policies, Clock& clock, Array& array,
                           FaultTable& table);

}  // namespace mdvol

#endif  // MDVOL_FUSE_MEMBERS_H_
