// What comes of a control file that throws.

#include "fuse/control/guarded_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <new>
#include <stdexcept>
#include <string>

#include "core/base/status.h"
#include "tests/support/fake_clock.h"

namespace mdvol {
namespace {

using ::testing::HasSubstr;

// "long" throws what a text of an impossible length does, "memory" what there is too little of.
class ThrowingFiles final : public ControlFiles {
 public:
  absl::StatusOr<ControlEntry> Find(std::string_view path) const override {
    MaybeThrow(path);
    return ControlEntry{std::string(path), ControlKind::kFile, true, true};
  }
  absl::StatusOr<std::vector<ControlEntry>> List(std::string_view path) const override {
    MaybeThrow(path);
    return std::vector<ControlEntry>(2);
  }
  absl::StatusOr<std::string> Show(std::string_view path) const override {
    MaybeThrow(path);
    return "shown\n";
  }
  absl::Status Store(std::string_view path, std::string_view value) override {
    MaybeThrow(path);
    return ErrnoStatus(EBUSY, std::string(value));
  }

 private:
  static void MaybeThrow(std::string_view path) {
    if (path == "long") {
      throw std::length_error("too long");
    }
    if (path == "memory") {
      throw std::bad_alloc();
    }
  }
};

class GuardedFilesTest : public ::testing::Test {
 protected:
  testing::FakeClock clock_;
  EventLog events_{clock_};
  ThrowingFiles files_;
  GuardedFiles guarded_{files_, events_};
};

TEST_F(GuardedFilesTest, WhatDoesNotThrowIsPassedOn) {
  EXPECT_EQ(guarded_.Find("file")->name, "file");
  EXPECT_EQ(guarded_.List("file")->size(), 2U);
  EXPECT_EQ(*guarded_.Show("file"), "shown\n");
  EXPECT_EQ(MessageOf(guarded_.Store("file", "value")), "value");
  EXPECT_TRUE(events_.All().empty());
}

TEST_F(GuardedFilesTest, AnExceptionIsAnErrorAndAnEvent) {
  EXPECT_EQ(ErrnoOf(guarded_.Show("long").status()), EIO);
  ASSERT_EQ(events_.All().size(), 1U);
  EXPECT_EQ(events_.All().front().level, EventLevel::kError);
  EXPECT_THAT(FormatEvent(events_.All().front()), HasSubstr("control file failed: long: too long"));
  EXPECT_EQ(ErrnoOf(guarded_.Find("memory").status()), ENOMEM);
  EXPECT_EQ(ErrnoOf(guarded_.List("memory").status()), ENOMEM);
  EXPECT_EQ(events_.All().size(), 2U);
}

TEST_F(GuardedFilesTest, WhoReadsAgainAndAgainIsToldOfOnce) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(ErrnoOf(guarded_.Show("long").status()), EIO);
  }
  EXPECT_EQ(events_.All().size(), 1U);
}

TEST_F(GuardedFilesTest, AChangeThatThrowsIsNotGoneOnFrom) {
  EXPECT_THROW(guarded_.Store("long", "").IgnoreError(), std::length_error);
}

}  // namespace
}  // namespace mdvol
