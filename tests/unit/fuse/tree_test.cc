// Inode numbers, modes, listings and open control files, over fake control files.

#include "fuse/tree.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "fuse/open_control_file.h"
#include "tests/support/fake_array.h"
#include "tests/support/fake_clock.h"

namespace mdvol {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// A few files; a test can take one away and see what was stored.
class FakeControl final : public ControlFiles {
 public:
  absl::StatusOr<ControlEntry> Find(std::string_view path) const override {
    const auto found = entries.find(path);
    if (found == entries.end()) {
      return ErrnoStatus(ENOENT, "none");
    }
    return found->second;
  }
  absl::StatusOr<std::vector<ControlEntry>> List(std::string_view path) const override {
    std::vector<ControlEntry> listed;
    for (const auto& [name, entry] : entries) {
      const bool is_inside = path.empty() ? name.find('/') == std::string::npos
                                          : name.starts_with(std::string(path) + '/');
      if (is_inside) {
        listed.push_back(entry);
      }
    }
    return listed;
  }
  absl::StatusOr<std::string> Show(std::string_view path) const override {
    return std::string(path) + " " + std::to_string(++show_count);
  }
  absl::Status Store(std::string_view path, std::string_view value) override {
    stored.emplace_back(path, value);
    return absl::OkStatus();
  }

  std::map<std::string, ControlEntry, std::less<>> entries{
      {"mdstat", {"mdstat", ControlKind::kFile, false, true}},
      {"md", {"md", ControlKind::kFolder, false, true}},
      {"md/rmw_level", {"rmw_level", ControlKind::kFile, true, true}},
      {"md/rd0", {"rd0", ControlKind::kLink, false, false}}};
  mutable int show_count = 0;
  std::vector<std::pair<std::string, std::string>> stored;
};

class TreeTest : public ::testing::Test {
 protected:
  TreeTest()
      : volume_(array_, {1, 2, 0600}, clock_),
        tree_({"volume", 3, 4}, volume_, &control_, clock_) {}

  uint64_t InodeOf(uint64_t parent, const std::string& name) {
    const auto entry = tree_.Lookup(parent, name);
    EXPECT_TRUE(entry.ok()) << name;
    return entry.ok() ? entry->attributes.st_ino : 0;
  }

  std::unique_ptr<OpenControlFile> Open(uint64_t inode, int flags) {
    auto file = OpenControlFile::Open(tree_, inode, flags);
    EXPECT_TRUE(file.ok());
    return *std::move(file);
  }

  testing::FakeClock clock_;
  testing::FakeArray array_;
  VolumeFile volume_;
  FakeControl control_;
  Tree tree_;
};

TEST_F(TreeTest, TheVolumeHasAFixedNumberAndItsOwnAttributes) {
  const auto entry = tree_.Lookup(kRootInode, "volume");
  ASSERT_TRUE(entry.ok());
  EXPECT_EQ(entry->attributes.st_ino, kVolumeInode);
  EXPECT_EQ(entry->attributes.st_uid, 1U);
  EXPECT_EQ(entry->attributes.st_mode, static_cast<mode_t>(S_IFREG | 0600));
  EXPECT_TRUE(entry->lasting);
  EXPECT_EQ(tree_.Attributes(kVolumeInode)->st_ino, kVolumeInode);
}

TEST_F(TreeTest, ControlFilesBelongToTheMountingUser) {
  const auto entry = tree_.Lookup(kRootInode, "mdstat");
  ASSERT_TRUE(entry.ok());
  EXPECT_EQ(entry->attributes.st_mode, static_cast<mode_t>(S_IFREG | 0444));
  EXPECT_EQ(entry->attributes.st_uid, 3U);
  EXPECT_EQ(entry->attributes.st_gid, 4U);
}

TEST_F(TreeTest, ModesTellWhatCanBeDone) {
  const uint64_t md = InodeOf(kRootInode, "md");
  EXPECT_EQ(tree_.Attributes(kRootInode)->st_mode, static_cast<mode_t>(S_IFDIR | 0555));
  EXPECT_EQ(tree_.Attributes(md)->st_mode, static_cast<mode_t>(S_IFDIR | 0555));
  EXPECT_EQ(tree_.Attributes(InodeOf(md, "rmw_level"))->st_mode,
            static_cast<mode_t>(S_IFREG | 0644));
  EXPECT_EQ(tree_.Attributes(InodeOf(md, "rd0"))->st_mode, static_cast<mode_t>(S_IFLNK | 0777));
}

TEST_F(TreeTest, NumbersStayAndAreNeverUsedTwice) {
  const uint64_t md = InodeOf(kRootInode, "md");
  const uint64_t link = InodeOf(md, "rd0");
  const ControlEntry entry = control_.entries["md/rd0"];
  control_.entries.erase("md/rd0");
  EXPECT_EQ(ErrnoOf(tree_.Lookup(md, "rd0").status()), ENOENT);
  EXPECT_EQ(ErrnoOf(tree_.Attributes(link).status()), ENOENT);
  EXPECT_NE(InodeOf(kRootInode, "mdstat"), link);
  control_.entries["md/rd0"] = entry;
  EXPECT_EQ(InodeOf(md, "rd0"), link);
  EXPECT_FALSE(tree_.Lookup(md, "rd0")->lasting);
}

TEST_F(TreeTest, ListsFoldersWithNumbersAndTypes) {
  const auto list = [this](uint64_t inode) {
    std::vector<std::pair<std::string, mode_t>> entries;
    const auto listed = tree_.List(inode);
    EXPECT_TRUE(listed.ok());
    for (const TreeEntry& entry : *listed) {
      EXPECT_NE(entry.attributes.st_ino, 0U);
      entries.emplace_back(entry.name, entry.attributes.st_mode & S_IFMT);
    }
    return entries;
  };
  EXPECT_THAT(list(kRootInode),
              ElementsAre(Pair(".", S_IFDIR), Pair("..", S_IFDIR), Pair("volume", S_IFREG),
                          Pair("md", S_IFDIR), Pair("mdstat", S_IFREG)));
  const uint64_t md = InodeOf(kRootInode, "md");
  EXPECT_THAT(list(md), ElementsAre(Pair(".", S_IFDIR), Pair("..", S_IFDIR), Pair("rd0", S_IFLNK),
                                    Pair("rmw_level", S_IFREG)));
  EXPECT_EQ(tree_.List(md)->at(1).attributes.st_ino, kRootInode);
}

TEST_F(TreeTest, WhatDoesNotExistIsNotFound) {
  EXPECT_EQ(ErrnoOf(tree_.Lookup(kRootInode, "x").status()), ENOENT);
  EXPECT_EQ(ErrnoOf(tree_.Lookup(99, "x").status()), ENOENT);
  EXPECT_EQ(ErrnoOf(tree_.Attributes(99).status()), ENOENT);
  EXPECT_EQ(ErrnoOf(tree_.List(99).status()), ENOENT);
  EXPECT_EQ(ErrnoOf(tree_.PathOf(kVolumeInode).status()), ENOENT);
}

TEST_F(TreeTest, WithoutControlFilesTheVolumeIsAlone) {
  Tree alone({"disk", 3, 4}, volume_, nullptr, clock_);
  EXPECT_TRUE(alone.Lookup(kRootInode, "disk").ok());
  EXPECT_EQ(ErrnoOf(alone.Lookup(kRootInode, "volume").status()), ENOENT);
  EXPECT_EQ(alone.List(kRootInode)->size(), 3U);
}

TEST_F(TreeTest, AHandleKeepsTheContentOfOneMoment) {
  const auto file = Open(InodeOf(kRootInode, "mdstat"), O_RDONLY);
  EXPECT_EQ(**file->Content(0), "mdstat 1");
  EXPECT_EQ(**file->Content(3), "mdstat 1");
  EXPECT_EQ(**file->Content(0), "mdstat 2");
  const auto other = Open(InodeOf(kRootInode, "mdstat"), O_RDONLY);
  EXPECT_EQ(**other->Content(5), "mdstat 3");
  EXPECT_EQ(**file->Content(5), "mdstat 2");
}

TEST_F(TreeTest, EachWriteIsOneStore) {
  const auto file = Open(InodeOf(InodeOf(kRootInode, "md"), "rmw_level"), O_WRONLY);
  EXPECT_TRUE(file->Store("1\n").ok());
  EXPECT_TRUE(file->Store("0").ok());
  EXPECT_THAT(control_.stored, ElementsAre(Pair("md/rmw_level", "1\n"), Pair("md/rmw_level", "0")));
  EXPECT_EQ(ErrnoOf(file->Store(std::string(4097, 'x'))), EINVAL);
  EXPECT_TRUE(file->Store(std::string(4096, 'x')).ok());
}

TEST_F(TreeTest, AReadOnlyControlFileDoesNotOpenForWriting) {
  const uint64_t inode = InodeOf(kRootInode, "mdstat");
  for (const int flags : {O_WRONLY, O_RDWR}) {
    EXPECT_EQ(ErrnoOf(OpenControlFile::Open(tree_, inode, flags).status()), EACCES);
  }
}

}  // namespace
}  // namespace mdvol
