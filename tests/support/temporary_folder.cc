// Made by mkdtemp, so that no two are one.

#include "tests/support/temporary_folder.h"

#include <stdlib.h>

#include <system_error>

#include "core/base/check.h"

namespace mdvol::testing {

TemporaryFolder::TemporaryFolder(const std::filesystem::path& parent) {
  std::string pattern = parent / "mdvol-test-XXXXXX";
  MDVOL_CHECK(::mkdtemp(pattern.data()) != nullptr);
  path_ = std::filesystem::canonical(pattern);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace mdvol::testing
