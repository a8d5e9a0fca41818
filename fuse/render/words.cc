// See words.h.

#include "fuse/render/words.h"

#include <algorithm>

namespace mdvol {

std::string MemberStateWords(const MemberSnapshot& member) {
  std::string words;
  const auto add = [&words](bool is_set, std::string_view word) {
    if (is_set) {
      words += words.empty() ? "" : ",";
      words += word;
    }
  };
  add(member.faulty, "faulty");
  add(member.in_sync, "in_sync");
  add(member.write_mostly, "write_mostly");
  add(!member.faulty && !member.in_sync, "spare");  // md's word for a recovering one, too
  add(member.want_replacement, "want_replacement");
  add(member.replacement, "replacement");
  return words;
}

std::string_view MemberRoleWord(const MemberSnapshot& member) {
  if (member.faulty) {
    return "faulty";
  }
  if (member.in_sync) {
    return "active";
  }
  if (member.replaces.has_value()) {
    return "replacement";
  }
  return member.slot.has_value() ? "rebuilding" : "spare";
}

std::string_view ConsistencyPolicyWord(const ArraySnapshot& array) {
  return array.bitmap.has_value() ? "bitmap" : "resync";
}

std::string Printable(std::string text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  std::replace_if(text.begin(), text.end(), is_control, '?');
  return text;
}

std::string MetadataVersion(const ArraySnapshot& array) {
  return "1." + std::to_string(array.minor);
}

std::string DeviceNameOf(std::string_view set_name) {
  const size_t colon = set_name.find(':');
  std::string name(colon == std::string_view::npos ? set_name : set_name.substr(colon + 1));
  if (name.empty()) {
    return "md0";
  }
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return c == '/' || static_cast<unsigned char>(c) <= ' '; }, '_');
  return "md_" + name;
}

std::vector<const MemberSnapshot*> MembersByIndex(const ArraySnapshot& array) {
  std::vector<const MemberSnapshot*> members;
  for (const MemberSnapshot& member : array.members) {
    members.push_back(&member);
  }
  std::sort(members.begin(), members.end(),
            [](const auto* a, const auto* b) { return a->index < b->index; });
  return members;
}

const MemberSnapshot* MemberInSlot(const ArraySnapshot& array, uint32_t slot) {
  const auto found =
      std::find_if(array.members.begin(), array.members.end(),
                   [slot](const MemberSnapshot& m) { return m.slot == slot && !m.faulty; });
  return found == array.members.end() ? nullptr : &*found;
}

}  // namespace mdvol
