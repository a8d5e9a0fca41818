// A new folder of a test's own: tests run side by side, so a fixed name would be somebody else's as
// well.

#ifndef MDVOL_TESTS_SUPPORT_TEMPORARY_FOLDER_H_
#define MDVOL_TESTS_SUPPORT_TEMPORARY_FOLDER_H_

#include <filesystem>
#include <string>
#include <string_view>

namespace mdvol::testing {

// Removed with all that is in it.
class TemporaryFolder {
 public:
  // Below `parent`: by default where the environment wants temporary files.
  explicit TemporaryFolder(
      const std::filesystem::path& parent = std::filesystem::temp_directory_path());
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  // Absolute and without symbolic links.
  const std::filesystem::path& path() const { return path_; }
  std::string Path(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_SUPPORT_TEMPORARY_FOLDER_H_
