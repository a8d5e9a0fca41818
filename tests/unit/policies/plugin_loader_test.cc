// What the plugin loader takes and what it refuses: each way in which a shared object can be broken
// ends in one line, in this process nothing has happened.

#include "policies/plugin_loader.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/policy/resync_pacing.h"
#include "policies/plugin.h"
#include "tests/support/temporary_folder.h"

namespace mdvol {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr PolicyFamily kPacing = PolicyFamily::kResyncPacing;

// The path of each plugin is a new one, and so is its file: what is loaded stays loaded.
class PluginLoaderTest : public ::testing::Test {
 protected:
  void TearDown() override { ::unsetenv("MDVOL_TEST_PLUGIN"); }

  std::string Path(const std::string& name) const { return folder_ / name; }

  std::string CopyOf(const char* plugin) {
    const std::string path = Path(std::to_string(copies_++) + ".so");
    std::filesystem::copy_file(plugin, path);
    return path;
  }

  std::string Write(const std::string& bytes) {
    const std::string path = Path(std::to_string(copies_++) + ".so");
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  // The message; the registry must be as it was.
  std::string Refusal(const std::string& path, int limit_ms = kPluginProbeLimitMs) {
    const size_t before = registry_.Of(kPacing).size();
    const absl::Status status = LoadPlugin(path, registry_, limit_ms);
    EXPECT_TRUE(IsUsageError(status)) << status;
    EXPECT_EQ(registry_.Of(kPacing).size(), before);
    EXPECT_THAT(MessageOf(status), HasSubstr("policy plugin " + path + ": "));
    EXPECT_THAT(MessageOf(status), Not(HasSubstr("\n")));
    return MessageOf(status);
  }

  std::string RefusalOfKind(const char* kind, int limit_ms = kPluginProbeLimitMs) {
    ::setenv("MDVOL_TEST_PLUGIN", kind, 1);
    return Refusal(CopyOf(MDVOL_BROKEN_PLUGIN), limit_ms);
  }

  Registry registry_;
  const testing::TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
  int copies_ = 0;
};

std::string BytesOf(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

TEST_F(PluginLoaderTest, PoliciesOfASoundPluginComeBehindTheOthers) {
  const std::string first(registry_.Of(kPacing).front().name);
  const size_t before = registry_.Of(kPacing).size();
  const absl::Status status = LoadPlugin(CopyOf(MDVOL_BROKEN_PLUGIN), registry_);
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(registry_.Of(kPacing).size(), before + 2);
  EXPECT_EQ(registry_.Of(kPacing).front().name, first);
  const PolicyEntry* const entry = registry_.Find(kPacing, "sound");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->summary, "sound unless asked to be otherwise");
  ASSERT_EQ(entry->options.size(), 2U);
  const std::vector<double> numbers = {1, 2};
  const auto policy = entry->make(numbers);
  ASSERT_NE(policy, nullptr);
  EXPECT_EQ(static_cast<ResyncPacing&>(*policy).Decide({}).wait_ns, 0U);
}

TEST_F(PluginLoaderTest, APluginIsFoundRelativeToTheFolderOfTheProcess) {
  const std::string path = CopyOf(MDVOL_BROKEN_PLUGIN);
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  const absl::Status status =
      LoadPlugin(std::filesystem::path(path).filename().string(), registry_);
  std::filesystem::current_path(before);
  EXPECT_TRUE(status.ok()) << status;
}

TEST_F(PluginLoaderTest, TheSamePoliciesAreNotTakenTwice) {
  ASSERT_TRUE(LoadPlugin(CopyOf(MDVOL_BROKEN_PLUGIN), registry_).ok());
  EXPECT_THAT(Refusal(CopyOf(MDVOL_BROKEN_PLUGIN)), HasSubstr("there is a 'sound' already"));
}

TEST_F(PluginLoaderTest, OfSeveralPluginsTheFirstThatFailsIsNamed) {
  const std::string paths[] = {CopyOf(MDVOL_BROKEN_PLUGIN), Path("none.so"), Path("never.so")};
  EXPECT_THAT(MessageOf(LoadPlugins(paths, registry_)), HasSubstr("none.so"));
}

TEST_F(PluginLoaderTest, FilesThatAreNoSharedObjects) {
  EXPECT_THAT(Refusal(Path("none.so")), HasSubstr("No such file or directory"));
  EXPECT_THAT(Refusal(folder_.string()), HasSubstr("not a regular file"));
  ASSERT_EQ(::mkfifo(Path("pipe.so").c_str(), 0600), 0);
  EXPECT_THAT(Refusal(Path("pipe.so")), HasSubstr("not a regular file"));
  EXPECT_THAT(Refusal(Write("")), HasSubstr("no shared object"));
  EXPECT_THAT(Refusal(Write("#!/bin/sh\nexit 0\n")), HasSubstr("no shared object"));
  EXPECT_THAT(Refusal("/proc/self/exe"), ContainsRegex("position-independent executable|shared"));
}

TEST_F(PluginLoaderTest, ASharedObjectThatWasCutShortIsNotTouched) {
  const std::string bytes = BytesOf(MDVOL_BROKEN_PLUGIN);
  for (const size_t length : {size_t{5}, size_t{63}, size_t{64}, size_t{200}, size_t{4096},
                              bytes.size() / 4, bytes.size() / 3}) {
    EXPECT_THAT(Refusal(Write(bytes.substr(0, length))), HasSubstr("cut short")) << length;
  }
}

TEST_F(PluginLoaderTest, ASharedObjectForAnotherMachine) {
  std::string bytes = BytesOf(MDVOL_BROKEN_PLUGIN);
  bytes[offsetof(ElfW(Ehdr), e_machine)] ^= 1;
  EXPECT_THAT(Refusal(Write(bytes)), HasSubstr("another processor architecture"));
  bytes = BytesOf(MDVOL_BROKEN_PLUGIN);
  bytes[EI_CLASS] ^= ELFCLASS32 ^ ELFCLASS64;
  EXPECT_THAT(Refusal(Write(bytes)), HasSubstr("another processor architecture"));
  bytes = BytesOf(MDVOL_BROKEN_PLUGIN);
  bytes[EI_DATA] ^= ELFDATA2LSB ^ ELFDATA2MSB;
  EXPECT_THAT(Refusal(Write(bytes)), HasSubstr("another processor architecture"));
  bytes = BytesOf(MDVOL_BROKEN_PLUGIN);
  bytes[offsetof(ElfW(Ehdr), e_type)] = ET_REL;
  EXPECT_THAT(Refusal(Write(bytes)), HasSubstr("-shared"));
}

TEST_F(PluginLoaderTest, ASharedObjectThatIsNoPlugin) {
  EXPECT_THAT(Refusal(CopyOf(MDVOL_EMPTY_PLUGIN)),
              HasSubstr(".so: has no mdvol_policy_plugin and so is no policy plugin: see"));
}

// Its symbol has another name, wherever it is named; its hash table no longer finds it.
TEST_F(PluginLoaderTest, ASharedObjectThatLacksASymbol) {
  std::string bytes = BytesOf(MDVOL_BROKEN_PLUGIN);
  const std::string symbol = kPluginSymbol;
  for (size_t at = bytes.find(symbol); at != std::string::npos; at = bytes.find(symbol, at + 1)) {
    bytes[at] = 'x';
  }
  EXPECT_THAT(Refusal(Write(bytes)),
              HasSubstr(".so: undefined symbol: xdvol_policy_plugin: build it anew"));
}

TEST_F(PluginLoaderTest, TablesThatAreStaleOrBroken) {
  const std::pair<const char*, const char*> kinds[] = {
      {"magic", "not the table of a policy plugin: rebuild"},
      {"older abi", "is for version 0 of the plugin interface, and this mdvol has version 1: reb"},
      {"newer abi", "is for version 2 of the plugin interface, and this mdvol has version 1: reb"},
      {"layout", "other headers or another C\\+\\+ library than this mdvol: rebuild"},
      {"entry size", "other headers"},
      {"null table", "no table of policies"},
      {"empty table", "between 1 and 64"},
      {"huge table", "between 1 and 64"},
      {"wild table", "crashes when it is loaded"},
      {"no family", "number 2 is of no family"},
      {"null name", "number 2 has no name"},
      {"wild name", "crashes when it is loaded"},
      {"bad name", "'two words' is no name for a policy"},
      {"taken name", "there is a 'unthrottled' already"},
      {"own name twice", "there is a 'sound' already"},
      {"null summary", "no summary of one line"},
      {"two lines", "no summary of one line"},
      {"null maker", "no maker"},
      {"maker of nothing", "sound-too: its maker makes nothing"},
      {"null options", "no table of its options"},
      {"many options", "more than 32 options"},
      {"option null name", "an option has no name"},
      {"option bad name", "option '../x' is malformed"},
      {"option twice", "the name of another"},
      {"option null text", "no description"},
      {"option bounds", "option 'two_ms' is malformed"},
  };
  for (const auto& [kind, message] : kinds) {
    EXPECT_THAT(RefusalOfKind(kind), ContainsRegex(message)) << kind;
  }
}

TEST_F(PluginLoaderTest, CodeThatMisbehavesDoesSoInAChildOnly) {
  for (const std::string place : {"initialiser ", "maker ", "maker of most ", "destructor "}) {
    EXPECT_THAT(RefusalOfKind((place + "crashes").c_str()), HasSubstr("crashes when it is loaded"));
    EXPECT_THAT(RefusalOfKind((place + "aborts").c_str()), HasSubstr("signal 6, Aborted"));
    EXPECT_THAT(RefusalOfKind((place + "throws").c_str()), HasSubstr("signal 6, Aborted"));
    EXPECT_THAT(RefusalOfKind((place + "exits").c_str()), HasSubstr("exit code 0"));
    EXPECT_THAT(RefusalOfKind((place + "hangs").c_str(), 300), HasSubstr("hangs when it is load"));
  }
  EXPECT_THAT(RefusalOfKind("unloading crashes"), HasSubstr("crashes when it is loaded"));
  EXPECT_THAT(RefusalOfKind("unloading hangs", 300), HasSubstr("hangs when it is loaded"));
}

}  // namespace
}  // namespace mdvol
