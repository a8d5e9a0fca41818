// See member_word.h.

#include "fuse/member_word.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "core/array/member_name.h"
#include "core/base/status.h"
#include "core/base/units.h"

namespace mdvol {
namespace {

bool IsSameFile(const std::string& a, const std::string& b) {
  std::error_code error;
  return std::filesystem::equivalent(a, b, error);
}

bool HasPath(const MemberTitles& member, const std::string& word, PathMatch match) {
  return member.path == word || (match == PathMatch::kFile && IsSameFile(member.path, word));
}

// A name is found by the file's name too: by what was made of it.
bool HasName(const MemberTitles& member, const std::string& word) {
  return member.name == word ||
         (word.find('/') == std::string::npos && member.name == MemberNameOf(word));
}

// Whose number `word` is: who has that slot, or had it.
std::optional<size_t> FindByNumber(const std::vector<MemberTitles>& members,
                                   const std::string& word) {
  const absl::StatusOr<uint64_t> number = ParseUnsigned(word);
  if (!number.ok()) {
    return std::nullopt;
  }
  auto found = std::find_if(members.begin(), members.end(),
                            [&](const MemberTitles& member) { return member.slot == *number; });
  if (found == members.end()) {
    found = std::find_if(members.begin(), members.end(), [&](const MemberTitles& member) {
      return !member.slot.has_value() && member.number == *number;
    });
  }
  if (found == members.end()) {
    return std::nullopt;
  }
  return static_cast<size_t>(found - members.begin());
}

}  // namespace

absl::StatusOr<std::optional<size_t>> FindMemberByWord(const std::vector<MemberTitles>& members,
                                                       const std::string& word, PathMatch match) {
  std::optional<size_t> found = FindByNumber(members, word);
  for (size_t i = 0; i < members.size(); ++i) {
    if (!HasPath(members[i], word, match) && !HasName(members[i], word)) {
      continue;
    }
    if (found.has_value() && *found != i) {
      return ErrnoStatus(EINVAL, "'" + word + "' means two members, " + members[*found].path +
                                     " and " + members[i].path + ": give a path");
    }
    found = i;
  }
  return found;
}

}  // namespace mdvol
