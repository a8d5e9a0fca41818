// Paths as the kernel follows them. `x/..` is the folder that holds `x` only where `x` is a folder:
// behind a symbolic link `..` is the parent of what the link leads to, and a path from which both
// were struck out names another file. So nothing is struck out here without a look at it.

#ifndef MDVOL_CORE_BASE_PATH_H_
#define MDVOL_CORE_BASE_PATH_H_

#include <string>
#include <string_view>

namespace mdvol {

// The same file by a tidier path: without `.`, empty components, and every `x/..` whose `x` is a
// folder and no symbolic link. What is left of `..` is for the kernel. Stays relative if it was;
// "." for the current folder, "" for no path. A slash at the end, which asks for a folder, is kept.
std::string TidyPath(std::string_view path);

// TidyPath of `path` seen from the current folder; only tidied where that has no name any more.
std::string AbsolutePath(std::string_view path);

}  // namespace mdvol

#endif  // MDVOL_CORE_BASE_PATH_H_
