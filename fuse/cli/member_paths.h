// What the names of members on a command line stand for: found before anything is opened, because
// one file given twice would later show as a riddle (a held lock, a duplicate uuid).

#ifndef MDVOL_FUSE_CLI_MEMBER_PATHS_H_
#define MDVOL_FUSE_CLI_MEMBER_PATHS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace mdvol {

// The word that stands for a member that is not there.
inline constexpr char kMissingWord[] = "missing";

// EINVAL when two of `paths` are one file: the same path, or another spelling, a symbolic or
// a hard link of it. The word "missing" may come again; files that do not exist are compared by
// name.
absl::Status CheckDistinctFiles(const std::vector<std::string>& paths);

// "d0.img" for "x/d0.img", as dev-NAME is made; the whole path where two members would share a
// name.
std::vector<std::string> ShortNames(const std::vector<std::string>& paths);

}  // namespace mdvol

#endif  // MDVOL_FUSE_CLI_MEMBER_PATHS_H_
