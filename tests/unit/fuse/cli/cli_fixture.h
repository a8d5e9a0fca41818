// The command line, run in process in a folder of its own.

#ifndef MDVOL_TESTS_UNIT_FUSE_CLI_CLI_FIXTURE_H_
#define MDVOL_TESTS_UNIT_FUSE_CLI_CLI_FIXTURE_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "fuse/cli/cli.h"
#include "tests/support/temporary_folder.h"

namespace mdvol::testing {

struct CliResult {
  int exit_code = -1;
  std::string out;
  std::string err;
};

inline CliResult RunMdvol(const std::vector<std::string>& arguments) {
  std::vector<const char*> argv{"mdvol"};
  for (const std::string& argument : arguments) {
    argv.push_back(argument.c_str());
  }
  std::ostringstream out;
  std::ostringstream err;
  const int exit_code = RunCli(static_cast<int>(argv.size()), argv.data(), out, err);
  return {exit_code, out.str(), err.str()};
}

// "mdvol: …" and nothing more.
inline ::testing::AssertionResult IsOneErrorLine(const std::string& err) {
  if (err.starts_with("mdvol: ") && std::count(err.begin(), err.end(), '\n') == 1 &&
      err.back() == '\n') {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << "not one line of error: " << err;
}

class CliFixture : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

  // The paths of `prefix`0, `prefix`1, …
  std::vector<std::string> Paths(const std::string& prefix, size_t count) const {
    std::vector<std::string> paths;
    for (size_t i = 0; i < count; ++i) {
      paths.push_back(Path(prefix + std::to_string(i)));
    }
    return paths;
  }

  // An array of four new images of 4 MiB data with chunks of 64 KiB.
  std::vector<std::string> CreateArray(const std::string& prefix,
                                       std::vector<std::string> options = {}) {
    options.insert(options.begin(), {"create", "--size", "4M", "--chunk", "64K"});
    const std::vector<std::string> paths = Paths(prefix, 4);
    options.insert(options.end(), paths.begin(), paths.end());
    const CliResult result = RunMdvol(options);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return paths;
  }

  static void Write(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  static void Overwrite(const std::string& path, uint64_t offset, const std::string& bytes) {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(offset));
    file << bytes;
    ASSERT_TRUE(file.good());
  }

  static std::string Read(const std::string& path) {
    std::string bytes(std::filesystem::file_size(path), '\0');
    std::ifstream(path, std::ios::binary)
        .read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return bytes;
  }

  // Everything in the folder: names, kinds, bytes, times of change.
  std::map<std::string, std::string> Everything() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
      std::string facts;
      if (entry.is_symlink()) {
        facts = "link to " + std::filesystem::read_symlink(entry).string();
      } else if (entry.is_regular_file()) {
        facts = std::to_string(entry.last_write_time().time_since_epoch().count()) + " " +
                Read(entry.path().string());
      }
      all[entry.path().string()] = std::move(facts);
    }
    return all;
  }

 private:
  const testing::TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
};

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_UNIT_FUSE_CLI_CLI_FIXTURE_H_
