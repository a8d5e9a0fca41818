// Tidy paths name the file that the kernel opens.

#include "core/base/path.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace mdvol {
namespace {

class PathTest : public ::testing::Test {
 protected:
  // here/x.img, here/link -> ../there/inner, there/x.img, there/inner/
  void SetUp() override {
    std::filesystem::create_directories(root_ / "here" / "folder");
    std::filesystem::create_directories(root_ / "there" / "inner");
    std::filesystem::create_symlink("../there/inner", root_ / "here" / "link");
    std::ofstream(root_ / "here" / "x.img") << "here";
    std::ofstream(root_ / "there" / "x.img") << "there";
    before_ = std::filesystem::current_path();
    std::filesystem::current_path(root_ / "here");
  }
  void TearDown() override { std::filesystem::current_path(before_); }

  const testing::TemporaryFolder temporary_;
  const std::filesystem::path root_ = temporary_.path();
  std::filesystem::path before_;
};

TEST_F(PathTest, DotsAndDoubleSlashesGo) {
  EXPECT_EQ(TidyPath("a//b/./c"), "a/b/c");
  EXPECT_EQ(TidyPath("./a"), "a");
  EXPECT_EQ(TidyPath("//a"), "/a");
  EXPECT_EQ(TidyPath("/"), "/");
  EXPECT_EQ(TidyPath("."), ".");
  EXPECT_EQ(TidyPath(""), "");
  EXPECT_EQ(TidyPath("..."), "...");
}

TEST_F(PathTest, UpFromAFolderIsStruckOut) {
  EXPECT_EQ(TidyPath("folder/../x.img"), "x.img");
  EXPECT_EQ(TidyPath("folder/.."), ".");
  EXPECT_EQ(TidyPath((root_ / "here" / ".." / "there" / "x.img").string()),
            (root_ / "there" / "x.img").string());
  EXPECT_EQ(TidyPath("/../.."), "/");
}

TEST_F(PathTest, UpFromALinkIsLeftToTheKernel) {
  EXPECT_EQ(TidyPath("link/../x.img"), "link/../x.img");
  EXPECT_EQ(TidyPath("link/../inner/../x.img"), "link/../x.img");
  const std::string path = AbsolutePath("./link/..//x.img");
  EXPECT_EQ(path, (root_ / "here").string() + "/link/../x.img");
  EXPECT_TRUE(std::filesystem::equivalent(path, root_ / "there" / "x.img"));
}

TEST_F(PathTest, UpFromWhatIsNoFolderIsLeftToTheKernel) {
  EXPECT_EQ(TidyPath("none/../x.img"), "none/../x.img");
  EXPECT_EQ(TidyPath("x.img/../x.img"), "x.img/../x.img");
  EXPECT_EQ(TidyPath("../../x.img"), "../../x.img");
}

TEST_F(PathTest, ASlashAtTheEndAsksForAFolder) {
  EXPECT_EQ(TidyPath("x.img/"), "x.img/");
  EXPECT_EQ(TidyPath("x.img/."), "x.img/");
  EXPECT_EQ(TidyPath("folder/"), "folder/");
}

TEST_F(PathTest, AnAbsolutePathStartsHere) {
  EXPECT_EQ(AbsolutePath("x.img"), (root_ / "here" / "x.img").string());
  EXPECT_EQ(AbsolutePath("../there/x.img"), (root_ / "there" / "x.img").string());
  EXPECT_EQ(AbsolutePath("/a/./b"), "/a/b");
  EXPECT_EQ(AbsolutePath(""), "");
}

}  // namespace
}  // namespace mdvol
