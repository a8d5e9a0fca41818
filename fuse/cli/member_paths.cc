// See member_paths.h.

#include "fuse/cli/member_paths.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "core/array/member_name.h"
#include "core/base/status.h"
#include "core/device/file_device.h"

namespace mdvol {
namespace {

bool AreOneFile(const std::string& a, const std::string& b) {
  const auto a_identity = IdentifyFile(a);
  const auto b_identity = IdentifyFile(b);
  if (a_identity.ok() && b_identity.ok()) {
    return *a_identity == *b_identity;
  }
  std::error_code error;
  return !a_identity.ok() && !b_identity.ok() &&
         std::filesystem::weakly_canonical(a, error) == std::filesystem::weakly_canonical(b, error);
}

}  // namespace

absl::Status CheckDistinctFiles(const std::vector<std::string>& paths) {
  for (size_t i = 0; i < paths.size(); ++i) {
    for (size_t j = i + 1; j < paths.size(); ++j) {
      if (paths[i] == kMissingWord || paths[j] == kMissingWord) {
        continue;
      }
      if (paths[i] == paths[j] || AreOneFile(paths[i], paths[j])) {
        return ErrnoStatus(EINVAL, paths[j] + ": given twice: it is the same file as " + paths[i] +
                                       ", name each member once");
      }
    }
  }
  return absl::OkStatus();
}

std::vector<std::string> ShortNames(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (const std::string& path : paths) {
    names.push_back(MemberNameOf(path));
  }
  const std::vector<std::string> base_names = names;
  for (size_t i = 0; i < names.size(); ++i) {
    if (std::count(base_names.begin(), base_names.end(), base_names[i]) > 1) {
      names[i] = AsOneWord(paths[i]);
    }
  }
  return names;
}

}  // namespace mdvol
