// Tests of telling files apart that go by several names.

#include "fuse/cli/member_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "core/base/status.h"
#include "tests/unit/fuse/cli/cli_fixture.h"

namespace mdvol {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class MemberPathsTest : public testing::CliFixture {};

TEST_F(MemberPathsTest, OneFileByTwoNamesIsFound) {
  Write(Path("a"), "");
  std::filesystem::create_symlink("a", Path("symbolic"));
  std::filesystem::create_hard_link(Path("a"), Path("hard"));
  std::filesystem::create_directory(Path("folder"));
  for (const std::string& other :
       {Path("a"), Path("./a"), Path("folder/../a"), Path("symbolic"), Path("hard")}) {
    const absl::Status status = CheckDistinctFiles({Path("x"), Path("a"), other});
    EXPECT_EQ(ErrnoOf(status), EINVAL) << other;
    EXPECT_THAT(MessageOf(status), HasSubstr(other));
    EXPECT_THAT(MessageOf(status), HasSubstr("given twice"));
  }
}

TEST_F(MemberPathsTest, FilesThatDoNotExistAreComparedByName) {
  EXPECT_FALSE(CheckDistinctFiles({Path("x"), Path("./x")}).ok());
  EXPECT_TRUE(CheckDistinctFiles({Path("x"), Path("y")}).ok());
}

TEST_F(MemberPathsTest, DistinctFilesPassAndMissingMayComeAgain) {
  Write(Path("a"), "same");
  Write(Path("b"), "same");
  EXPECT_TRUE(CheckDistinctFiles({"missing", Path("a"), "missing", Path("b"), Path("c")}).ok());
  EXPECT_TRUE(CheckDistinctFiles({}).ok());
}

TEST(ShortNamesTest, AreBaseNamesUnlessTwoMembersShareOne) {
  EXPECT_THAT(ShortNames({"x/d0", "/y/d1", "d2"}), ElementsAre("d0", "d1", "d2"));
  EXPECT_THAT(ShortNames({"x/d0", "y/d0", "d2"}), ElementsAre("x/d0", "y/d0", "d2"));
  EXPECT_THAT(ShortNames({}), IsEmpty());
}

}  // namespace
}  // namespace mdvol
