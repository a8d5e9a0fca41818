// examples/array.toml parses, as it stands and with each of its examples switched on, and shows
// every key that the parser knows.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/config/config.h"

namespace mdvol {
namespace {

constexpr char kExample[] = MDVOL_SOURCE_DIR "/examples/array.toml";

std::vector<std::string> ExampleLines() {
  std::ifstream file(kExample);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line);
  }
  return lines;
}

// "#key = value" and "#[section]", but not "# prose".
bool IsSwitchedOff(const std::string& line) {
  return line.size() > 1 && line[0] == '#' && line[1] != ' ';
}

std::string Join(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += line + "\n";
  }
  return text;
}

TEST(ConfigExampleTest, ParsesAsItStands) {
  const auto config = LoadConfig(kExample);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->array.members.size(), 4U);
  EXPECT_EQ(config->array.members[0], std::string(MDVOL_SOURCE_DIR) + "/examples/d0.img");
}

TEST(ConfigExampleTest, ParsesWithEverythingSwitchedOnThatGoesTogether) {
  std::vector<std::string> lines = ExampleLines();
  for (std::string& line : lines) {
    const bool excludes_the_rest = line.starts_with("#kind = \"none\"");  // of the member model
    const bool is_of_another_kind = line.starts_with("#delay_us");
    if (IsSwitchedOff(line) && !excludes_the_rest && !is_of_another_kind) {
      line.erase(0, 1);
    }
  }
  const auto config = ParseConfig(Join(lines), "array.toml");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->member_model.parallelism, 1U);
  EXPECT_EQ(config->policy.plugins, std::vector<std::string>{"my_policy.so"});
  EXPECT_EQ(config->policy.options.size(), 1U);
  EXPECT_EQ(config->faults.size(), 1U);
}

TEST(ConfigExampleTest, ParsesWithTheExclusiveKeysSwitchedOn) {
  std::vector<std::string> lines = ExampleLines();
  bool is_in_fault = false;
  for (std::string& line : lines) {
    is_in_fault = is_in_fault || line == "#[[fault]]";
    if (line.starts_with("#kind = \"none\"") || (is_in_fault && IsSwitchedOff(line))) {
      line.erase(0, 1);
    }
    if (line == "kind = \"eio\"") {
      line = "kind = \"delay\"";
    }
  }
  const auto config = ParseConfig(Join(lines), "array.toml");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->member_model.kind, MemberModelKind::kNone);
  ASSERT_EQ(config->faults.size(), 1U);
  EXPECT_EQ(config->faults[0].rule.delay_ns, 100'000'000U);
}

// The keys that the example shows, active or not, each with a comment on the line above it or above
// its neighbours.
TEST(ConfigExampleTest, ShowsEveryKeyWithAComment) {
  std::set<std::string> shown;
  std::string section;
  bool has_comment = false;
  for (std::string line : ExampleLines()) {
    if (line.empty() || line.starts_with("# ") || line == "#") {
      has_comment = line.starts_with("# ");
      continue;
    }
    if (IsSwitchedOff(line)) {
      line.erase(0, 1);
    }
    if (line[0] == '[') {
      section =
          line.substr(line.find_first_not_of('['), line.find(']') - line.find_first_not_of('['));
      if (section.starts_with("policy.options.")) {
        shown.insert("policy.options.FAMILY.NAME");
      }
      continue;
    }
    EXPECT_TRUE(has_comment) << line;
    shown.insert(section + "." + line.substr(0, line.find(' ')));
  }
  shown.erase("policy.options.resync_pacing.my_policy.window");
  const std::vector<std::string> known = ConfigKeys();
  EXPECT_EQ(shown, std::set<std::string>(known.begin(), known.end()));
}

}  // namespace
}  // namespace mdvol
