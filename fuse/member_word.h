// What a word means that stands for a member, wherever one is named: on the command line and in
// [[fault]] sections. One rule, because a word that fails one member here and another there fails
// the wrong one some day.

#ifndef MDVOL_FUSE_MEMBER_WORD_H_
#define MDVOL_FUSE_MEMBER_WORD_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace mdvol {

// What a member can be called by.
struct MemberTitles {
  std::string name;  // as MemberNameOf made it
  std::string path;
  std::optional<uint32_t> slot;
  // Number in `detail`, which means a member without a slot where the slot of that number is empty:
  // mostly the one that failed there. Absent: not to be called by it.
  std::optional<uint32_t> number;
};

enum class PathMatch : uint8_t {
  kText,  // touches no file
  kFile,  // other spellings and links of a path too
};

// The index of the member that `word` means: a path, a slot number, or a name (the file's name as
// it is, too). An error, EINVAL, when it means two different members, which files called "0" or "1"
// can bring about; absent when it means none.
absl::StatusOr<std::optional<size_t>> FindMemberByWord(const std::vector<MemberTitles>& members,
                                                       const std::string& word, PathMatch match);

}  // namespace mdvol

#endif  // MDVOL_FUSE_MEMBER_WORD_H_
