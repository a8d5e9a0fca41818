// See status_json.h.

#include "fuse/render/status_json.h"

#include <nlohmann/json.hpp>

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

Json Member(const MemberSnapshot& member) {
  return {{"name", member.name},
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
}

Json Members(const ArraySnapshot& array) {
  Json list = Json::array();
  for (const MemberSnapshot* member : MembersByIndex(array)) {
    list.push_back(Member(*member));
  }
  return list;
}

Json Sync(const ArraySnapshot& array) {
  return {{"action", "idle"},
          {"last_action", "none"},
          {"done_bytes", 0},
          {"total_bytes", 0},
          {"speed_bytes_per_s", 0},
          {"eta_s", nullptr},
          {"mismatch_cnt", array.mismatch_cnt}};
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

std::string RenderStatusJson(const ArraySnapshot& array, const StatusContext& context) {
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
                    {"sync", Sync(array)},
                    {"members", Members(array)},
                    {"located", Json::array()},
                    {"policies", Policies(context.policies)},
                    {"pid", context.pid},
                    {"outcome_socket", context.outcome_socket},
                    {"version", context.version}};
  // What a file name or a set name holds need not be UTF-8.
  return status.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace mdvol
