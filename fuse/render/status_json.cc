// See status_json.h.

#include "fuse/render/status_json.h"

#include <nlohmann/json.hpp>

#include "core/array/member_name.h"
#include "core/base/units.h"
#include "core/policy/families.h"
#include "fuse/render/words.h"

namespace mdvol {
namespace {

using Json = nlohmann::ordered_json;

template <typename Value>
Json OrNull(const std::optional<Value>& value) {
  return value.has_value() ? Json(*value) : Json(nullptr);
}

Json BadBlocks(const std::vector<ByteRange>& ranges) {
  Json list = Json::array();
  for (const ByteRange& range : ranges) {
    list.push_back({{"offset_bytes", range.begin}, {"length_bytes", range.size()}});
  }
  return list;
}

// JSON is UTF-8, a path need not be. As one word it has an escape from \200 on then, and what else
// is escaped has a lower one.
bool IsUtf8(std::string_view path) {
  const std::string word = AsOneWord(path);
  return word.find("\\2") == std::string::npos && word.find("\\3") == std::string::npos;
}

Json Member(const MemberSnapshot& member) {
  Json json{{"name", member.name},
            {"path", member.path},
            {"dev_number", member.dev_number},
            {"slot", OrNull(member.slot)},
            {"state", MemberStateWords(member)},
            {"role", MemberRoleWord(member)},
            {"uuid", FormatUuidColons(member.uuid)},
            {"data_offset_bytes", member.data_offset_bytes},
            {"recovery_bytes", member.recovery_bytes},
            {"errors", member.errors},
            {"bad_blocks", BadBlocks(member.bad_blocks)}};
  if (!IsUtf8(member.path)) {
    json["path_escaped"] = AsOneWord(member.path);
  }
  return json;
}

Json Members(const ArraySnapshot& array) {
  Json list = Json::array();
  for (const MemberSnapshot* member : MembersByIndex(array)) {
    list.push_back(Member(*member));
  }
  return list;
}

Json Sync(const SyncStatus& sync) {
  return {
      {"action", SyncActionWord(sync.action)},
      {"last_action", sync.last_action.has_value() ? SyncActionWord(*sync.last_action) : "none"},
      {"done_bytes", sync.done_bytes},
      {"total_bytes", sync.total_bytes},
      {"speed_bytes_per_s", sync.speed_bytes},
      {"eta_s", OrNull(sync.eta_s)},
      {"mismatch_cnt", sync.mismatch_sectors}};
}

const char* KindWord(WrongKind kind) {
  switch (kind) {
    case WrongKind::kData:
      return "data";
    case WrongKind::kP:
      return "p";
    case WrongKind::kQ:
      return "q";
    case WrongKind::kSeveral:
      break;
  }
  return "several";
}

// Of the volume, what the lanes hold or, for parity and where nobody can tell, what it protects.
Json Located(const ArraySnapshot& array, const WrongBlock& wrong) {
  const uint64_t stripe_begin = wrong.stripe * array.chunk_bytes * (array.raid_disks - 2);
  const bool is_data = wrong.kind == WrongKind::kData;
  const MemberSnapshot* const member =
      wrong.kind == WrongKind::kSeveral ? nullptr : MemberInSlot(array, wrong.slot);
  const uint64_t data_begin =
      stripe_begin + wrong.data_index * array.chunk_bytes + wrong.columns.begin;
  return {{"stripe", wrong.stripe},
          {"lane", wrong.columns.begin / kLaneBytes},
          {"lanes", CeilDiv(wrong.columns.size(), kLaneBytes)},
          {"member", member == nullptr ? Json(nullptr) : Json(member->name)},
          {"kind", KindWord(wrong.kind)},
          {"volume_offset", is_data ? data_begin : stripe_begin},
          {"volume_length",
           is_data ? wrong.columns.size() : array.chunk_bytes * (array.raid_disks - 2)},
          {"repaired", wrong.repaired}};
}

Json LocatedList(const ArraySnapshot& array, const SyncStatus& sync) {
  Json list = Json::array();
  for (const WrongBlock& wrong : sync.located) {
    list.push_back(Located(array, wrong));
  }
  return list;
}

Json Policies(const PolicySelection* policies) {
  Json active = Json::object();
  if (policies != nullptr) {
    for (const PolicyFamilyInfo& info : kPolicyFamilies) {
      active[std::string(info.name)] = policies->Active(info.family);
    }
  }
  return active;
}

}  // namespace

std::string RenderStatusJson(const ArraySnapshot& array, const StatusContext& context,
                             const SyncStatus& sync) {
  const Json status{{"name", array.name},
                    {"uuid", FormatUuidColons(array.uuid)},
                    {"level", "raid6"},
                    {"layout", LayoutName(array.layout)},
                    {"metadata", MetadataVersion(array)},
                    {"raid_disks", array.raid_disks},
                    {"chunk_bytes", array.chunk_bytes},
                    {"array_bytes", array.array_bytes},
                    {"component_bytes", array.component_bytes},
                    {"state", ArrayStateWord(array.state)},
                    {"dirty", array.dirty},
                    {"degraded", array.degraded},
                    {"consistency_policy", ConsistencyPolicyWord(array)},
                    {"events", array.events},
                    {"created_s", array.created_s},
                    {"updated_s", array.updated_s},
                    {"sync", Sync(sync)},
                    {"members", Members(array)},
                    {"located", LocatedList(array, sync)},
                    {"located_count", sync.located_count},
                    {"policies", Policies(context.policies)},
                    {"pid", context.pid},
                    {"outcome_socket", context.outcome_socket},
                    {"version", context.version}};
  // What a file name or a set name holds need not be UTF-8.
  return status.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace mdvol
