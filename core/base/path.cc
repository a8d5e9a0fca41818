// See path.h.

#include "core/base/path.h"

#include <sys/stat.h>

#include <filesystem>
#include <system_error>

namespace mdvol {
namespace {

bool IsFolderItself(const std::string& path) {
  struct stat facts = {};
  return ::lstat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

std::string_view LastComponent(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);
}

// Of `path`, which is tidy, has no slash at the end, and is not empty.
void TakeLastOff(std::string& path) {
  const size_t slash = path.find_last_of('/');
  path.resize(slash == std::string::npos ? 0 : slash == 0 ? 1 : slash);
}

void Append(std::string& path, std::string_view component) {
  if (!path.empty() && path.back() != '/') {
    path += '/';
  }
  path += component;
}

void GoUp(std::string& path) {
  if (path == "/") {
    return;
  }
  if (!path.empty() && LastComponent(path) != ".." && IsFolderItself(path)) {
    TakeLastOff(path);
    return;
  }
  Append(path, "..");
}

}  // namespace

std::string TidyPath(std::string_view path) {
  std::string tidy = path.starts_with('/') ? "/" : "";
  std::string_view component;
  for (std::string_view rest = path; !rest.empty();) {
    const size_t slash = rest.find('/');
    component = rest.substr(0, slash);
    rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
    if (component == "..") {
      GoUp(tidy);
    } else if (!component.empty() && component != ".") {
      Append(tidy, component);
    }
  }
  const bool asks_for_folder = path.ends_with('/') || component == ".";
  if (tidy.empty()) {
    return path.empty() ? "" : ".";
  }
  return asks_for_folder && tidy.back() != '/' ? tidy + '/' : tidy;
}

std::string AbsolutePath(std::string_view path) {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  return TidyPath(error || path.empty() ? std::string(path) : (here / path).string());
}

}  // namespace mdvol
