// Where the bytes of a volume are and what the bytes of a member are, as `mdvol map` prints it. The
// value is made from members or from a mount's status.json; printing it is pure.

#ifndef MDVOL_FUSE_CLI_ARRAY_MAP_H_
#define MDVOL_FUSE_CLI_ARRAY_MAP_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/geometry/geometry.h"
#include "core/metadata/member_areas.h"

namespace mdvol {

struct MappedMember {
  std::string name;
  std::string path;
  std::optional<uint32_t> slot;  // absent for a spare, or one that was left out
  uint64_t data_offset_bytes = 0;
  std::optional<MemberAreas> areas;     // known when the member itself was read
  std::optional<uint32_t> number = {};  // md's; of a failed member it tells its slot
};

struct ArrayMap {
  ArrayGeometry geometry;
  std::vector<MappedMember> members;

  // Null for a slot whose member is missing.
  const MappedMember* InSlot(uint32_t slot) const;
};

// Reads the members and takes the assembly decision, as a read-only mount that may be degraded
// would.
absl::StatusOr<ArrayMap> MapOfMembers(const std::vector<std::string>& paths);

// From the text of MNT/status.json. Errors say what is wrong with it; no path.
absl::StatusOr<ArrayMap> MapOfStatusJson(std::string_view status_json);

// A line per extent, "volume OFF LEN stripe S member NAME slot K offset MOFF role data|P|Q": the
// extents of the range in volume order, and after those of a stripe its P and its Q, whose OFF and
// LEN are the part of the range in that stripe. A missing member has '-' for its offset. EINVAL
// when the range does not lie in the volume.
absl::Status MapVolumeRange(const ArrayMap& map, const ByteRange& range, std::ostream& out);

// The same lines for a range of a member, absolute on it. For P and Q, OFF and LEN are the stripe's
// part of the volume. `member` is a path, a name or a slot number. EINVAL when there is no such
// member or the range is not all data area; the message names what is there instead.
absl::Status MapMemberRange(const ArrayMap& map, const std::string& member, const ByteRange& range,
                            std::ostream& out);

}  // namespace mdvol

#endif  // MDVOL_FUSE_CLI_ARRAY_MAP_H_
