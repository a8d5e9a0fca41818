// See array_map.h.

#include "fuse/cli/array_map.h"

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/array/member_loader.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "core/device/file_device.h"
#include "core/metadata/assembly.h"
#include "fuse/cli/member_paths.h"
#include "fuse/member_word.h"
#include "fuse/unmount.h"

namespace mdvol {
namespace {

struct Extent {
  ByteRange volume;
  uint64_t stripe = 0;
  uint32_t slot = 0;
  uint64_t data_offset_bytes = 0;  // in the member's data area
  ChunkKind kind = ChunkKind::kData;
};

const char* RoleWord(ChunkKind kind) {
  switch (kind) {
    case ChunkKind::kData:
      return "data";
    case ChunkKind::kP:
      return "P";
    case ChunkKind::kQ:
      return "Q";
  }
  return "";
}

void Print(const MappedMember* member, const Extent& extent, std::ostream& out) {
  out << "volume " << extent.volume.begin << ' ' << extent.volume.size() << " stripe "
      << extent.stripe << " member " << (member == nullptr ? kMissingWord : member->name)
      << " slot " << extent.slot << " offset ";
  if (member == nullptr) {
    out << '-';
  } else {
    out << member->data_offset_bytes + extent.data_offset_bytes;
  }
  out << " role " << RoleWord(extent.kind) << '\n';
}

void Print(const ArrayMap& map, const Extent& extent, std::ostream& out) {
  Print(map.InSlot(extent.slot), extent, out);
}

// A member that has failed still holds what it held in its slot, when nobody else is there.
std::optional<uint32_t> SlotOf(const ArrayMap& map, const MappedMember& member) {
  const bool had_slot = !member.slot.has_value() && member.number.has_value() &&
                        *member.number < map.geometry.raid_disks() &&
                        map.InSlot(*member.number) == nullptr;
  return had_slot ? member.number : member.slot;
}

// P and Q of the columns that `part`, which lies in one stripe, touches.
void PrintParity(const ArrayMap& map, uint64_t stripe, const ByteRange& part, std::ostream& out) {
  const ArrayGeometry& geometry = map.geometry;
  const uint64_t chunk_bytes = geometry.chunk_bytes();
  const bool is_in_one_chunk = part.begin / chunk_bytes == (part.end - 1) / chunk_bytes;
  const uint64_t column = is_in_one_chunk ? part.begin % chunk_bytes : 0;
  const StripeRoles roles = geometry.RolesOf(stripe);
  const uint64_t data_offset_bytes = stripe * chunk_bytes + column;
  Print(map, {part, stripe, roles.p_slot(), data_offset_bytes, ChunkKind::kP}, out);
  Print(map, {part, stripe, roles.q_slot(), data_offset_bytes, ChunkKind::kQ}, out);
}

absl::StatusOr<const MappedMember*> FindMember(const ArrayMap& map, const std::string& text) {
  std::vector<MemberTitles> titles;
  for (const MappedMember& member : map.members) {
    titles.push_back({member.name, member.path, member.slot, member.number});
  }
  const absl::StatusOr<std::optional<size_t>> found =
      FindMemberByWord(titles, text, PathMatch::kFile);
  if (!found.ok()) {
    return UsageError("--member: " + MessageOf(found.status()));
  }
  if (!found->has_value()) {
    return UsageError(
        absl::StrCat("--member ", text, ": no such member: give a path, a name or a slot number"));
  }
  return &map.members[**found];
}

// What lies at an offset of a member that is not in its data area.
std::string PlaceName(const MappedMember& member, uint64_t offset_bytes) {
  const auto is_in = [offset_bytes](const ByteRange& area) {
    return area.begin <= offset_bytes && offset_bytes < area.end;
  };
  if (member.areas.has_value() && is_in(member.areas->super)) {
    return "in its superblock";
  }
  if (member.areas.has_value() && is_in(member.areas->bitmap)) {
    return "in its bitmap";
  }
  if (member.areas.has_value() && is_in(member.areas->bad_blocks)) {
    return "in its bad-block log";
  }
  return "outside of its data area";
}

absl::StatusOr<ArrayGeometry> GeometryOf(const Superblock& super) {
  return ArrayGeometry::Make(static_cast<Layout>(super.layout.get()), super.raid_disks,
                             uint64_t{super.chunksize.get()} * kSectorBytes,
                             super.size.get() * kSectorBytes);
}

// Throws nlohmann's exceptions where keys are absent or of another type.
absl::StatusOr<ArrayMap> MapOfJson(const nlohmann::json& status) {
  MDVOL_ASSIGN_OR_RETURN(const Layout layout, ParseLayout(status.at("layout").get<std::string>()));
  MDVOL_ASSIGN_OR_RETURN(const ArrayGeometry geometry,
                         ArrayGeometry::Make(layout, status.at("raid_disks").get<uint32_t>(),
                                             status.at("chunk_bytes").get<uint64_t>(),
                                             status.at("component_bytes").get<uint64_t>()));
  ArrayMap map{geometry, {}};
  for (const nlohmann::json& entry : status.at("members")) {
    MappedMember& member = map.members.emplace_back();
    member.name = entry.at("name").get<std::string>();
    member.path = entry.contains("path_escaped")
                      ? UnescapeOctal(entry.at("path_escaped").get<std::string>())
                      : entry.at("path").get<std::string>();
    member.data_offset_bytes = entry.at("data_offset_bytes").get<uint64_t>();
    if (entry.contains("dev_number")) {
      member.number = entry.at("dev_number").get<uint32_t>();
    }
    const bool is_faulty = entry.at("role").get<std::string>() == "faulty";
    if (entry.at("slot").is_number_unsigned() && !is_faulty) {
      member.slot = entry.at("slot").get<uint32_t>();
    }
  }
  return map;
}

}  // namespace

const MappedMember* ArrayMap::InSlot(uint32_t slot) const {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [slot](const MappedMember& m) { return m.slot == slot; });
  return found == members.end() ? nullptr : &*found;
}

absl::StatusOr<ArrayMap> MapOfMembers(const std::vector<std::string>& paths) {
  MDVOL_RETURN_IF_ERROR(CheckDistinctFiles(paths));
  std::vector<MemberReport> reports;
  std::vector<MappedMember> members;
  const std::vector<std::string> names = ShortNames(paths);
  for (size_t i = 0; i < paths.size(); ++i) {
    MDVOL_ASSIGN_OR_RETURN(
        auto device, OpenFileDevice(paths[i], {.read_only = true, .direct = false, .lock = false}));
    MDVOL_ASSIGN_OR_RETURN(const LoadedMember loaded, LoadMember(std::move(device)));
    reports.push_back(loaded.report);
    members.push_back({names[i], paths[i], std::nullopt, loaded.areas.data.begin, loaded.areas,
                       loaded.report.super.dev_number.get()});
  }
  const AssemblyDecision decision =
      DecideAssembly(reports, {.force = false, .run = true, .read_only = true});
  MDVOL_RETURN_IF_ERROR(decision.status);
  for (uint32_t slot = 0; slot < decision.slots.size(); ++slot) {
    if (const std::optional<size_t> index = decision.slots[slot]; index.has_value()) {
      members[*index].slot = slot;
    }
  }
  MDVOL_ASSIGN_OR_RETURN(const ArrayGeometry geometry,
                         GeometryOf(reports[decision.reference].super));
  return ArrayMap{geometry, std::move(members)};
}

absl::StatusOr<ArrayMap> MapOfStatusJson(std::string_view status_json) {
  try {
    return MapOfJson(nlohmann::json::parse(status_json));
  } catch (const nlohmann::json::exception& error) {
    return ErrnoStatus(EINVAL, absl::StrCat("is not what a mount shows there (", error.what(),
                                            "): name a mountpoint of mdvol"));
  }
}

absl::Status MapVolumeRange(const ArrayMap& map, const ByteRange& range, std::ostream& out) {
  const ArrayGeometry& geometry = map.geometry;
  const uint64_t volume_bytes = geometry.volume_bytes();
  if (range.begin >= volume_bytes || range.end > volume_bytes || range.end <= range.begin) {
    return UsageError(absl::StrCat("--offset ", range.begin, "+", range.size(), ": the volume has ",
                                   volume_bytes, " bytes"));
  }
  ByteRange part{range.begin, range.begin};  // of the range, in the stripe at hand
  while (part.end < range.end) {
    const VolumeLocation location = geometry.Locate(part.end);
    const uint64_t length =
        std::min(range.end - part.end, geometry.chunk_bytes() - location.chunk_offset_bytes);
    const ByteRange extent{part.end, part.end + length};
    Print(map, {extent, location.stripe, location.slot, location.data_offset_bytes}, out);
    part.end = extent.end;
    if (part.end == range.end || part.end % geometry.stripe_bytes() == 0) {
      PrintParity(map, location.stripe, part, out);
      part.begin = part.end;
    }
  }
  return absl::OkStatus();
}

absl::Status MapMemberRange(const ArrayMap& map, const std::string& member_text,
                            const ByteRange& range, std::ostream& out) {
  const ArrayGeometry& geometry = map.geometry;
  MDVOL_ASSIGN_OR_RETURN(const MappedMember* const member, FindMember(map, member_text));
  const std::optional<uint32_t> slot = SlotOf(map, *member);
  if (!slot.has_value()) {
    return UsageError(
        absl::StrCat(member->path, ": holds no slot of the array, so nothing of the volume"));
  }
  const uint64_t begin = member->data_offset_bytes;
  const uint64_t end = begin + geometry.component_bytes();
  if (range.begin < begin || range.end > end || range.end <= range.begin) {
    const bool begins_inside = range.begin >= begin && range.begin < end;
    return UsageError(absl::StrCat(
        "--offset ", range.begin, "+", range.size(), " of ", member->path, " is ",
        begins_inside ? "partly outside of its data area" : PlaceName(*member, range.begin),
        ", its data are the bytes ", begin, " to ", end));
  }
  for (uint64_t at = range.begin - begin; at < range.end - begin;) {
    const MemberLocation location = geometry.LocateOnMember(*slot, at);
    const uint64_t length =
        std::min(range.end - begin - at, geometry.chunk_bytes() - location.chunk_offset_bytes);
    ByteRange volume{location.volume_offset_bytes, location.volume_offset_bytes + length};
    if (location.role.kind != ChunkKind::kData) {
      volume.begin = location.stripe * geometry.stripe_bytes();
      volume.end = volume.begin + geometry.stripe_bytes();
    }
    Print(member, {volume, location.stripe, *slot, at, location.role.kind}, out);
    at += length;
  }
  return absl::OkStatus();
}

}  // namespace mdvol
