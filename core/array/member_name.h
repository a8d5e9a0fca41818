// The names of members: NAME in md/dev-NAME, iostat, mdstat, status.json and events, made of a
// member's path. Pure.

#ifndef MDVOL_CORE_ARRAY_MEMBER_NAME_H_
#define MDVOL_CORE_ARRAY_MEMBER_NAME_H_

#include <string>
#include <string_view>

namespace mdvol {

// `text` as one word of UTF-8 wherever it is shown: control characters, blanks, backslashes and
// bytes that are not UTF-8 become \ooo (octal), as in /proc/mounts.
std::string AsOneWord(std::string_view text);

// The last part of `path` as one word. What would make it too long for a file name is left out at
// its end.
std::string MemberNameOf(std::string_view path);

}  // namespace mdvol

#endif  // MDVOL_CORE_ARRAY_MEMBER_NAME_H_
