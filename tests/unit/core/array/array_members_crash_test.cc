// Members come and go, and a crash comes between any two requests of it, with and without the
// operating system: the next start has every byte, asks for no --run, and finishes what was begun.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "core/array/member_loader.h"
#include "core/base/units.h"
#include "core/stripe/sync_types.h"
#include "tests/support/full.h"
#include "tests/support/test_array/log_checks.h"
#include "tests/support/test_array/test_array.h"

namespace mdvol {
namespace {

using testing::ArraySpec;
using testing::CrashAt;
using testing::Disks;
using testing::FullRun;
using testing::Prng;
using testing::TestArray;
using testing::TestSeed;

// What the volume held from the log's entry `from` on; before that and since `begin` a write to
// `written` was under way.
struct Content {
  size_t begin = 0;
  size_t from = 0;
  ColumnRange written;
  std::vector<std::byte> bytes;
};

class ArrayMembersCrashTest : public ::testing::TestWithParam<ArraySpec> {
 protected:
  void SetUp() override {
    MDVOL_ASSERT_OK(array_.Open());
    MDVOL_ASSERT_OK(array_.Fill());
    MDVOL_ASSERT_OK(array_.Stop());
    for (int i = 0; i < 2; ++i) {
      added_.push_back(array_.AddDisk());
    }
    MDVOL_ASSERT_OK(array_.Open({0, 1, 2, 3, 4, 5}));
    before_ = array_.disks().Copy();
    array_.recording().Clear();
    contents_.push_back({0, 0, {}, array_.model().bytes()});
  }

  void Write(uint64_t offset_bytes, uint64_t length_bytes) {
    Content content;
    content.begin = array_.recording().size();
    content.written = {offset_bytes, offset_bytes + length_bytes};
    MDVOL_ASSERT_OK(array_.Write(offset_bytes, length_bytes));
    MDVOL_ASSERT_OK(array_->Flush());
    content.from = array_.recording().size();
    content.bytes = array_.model().bytes();
    contents_.push_back(std::move(content));
  }

  // What must be there at a time: false where a write was under way in the stripe.
  const Content& ContentAt(size_t time, ColumnRange* hot) const {
    size_t i = contents_.size() - 1;
    while (contents_[i].begin >= time && i > 0) {
      --i;
    }
    *hot = {};
    if (contents_[i].from > time) {
      const uint64_t stripe_bytes = array_.geometry().stripe_bytes();
      *hot = {RoundDown(contents_[i].written.begin, stripe_bytes),
              RoundUp(contents_[i].written.end, stripe_bytes)};
      --i;
    }
    return contents_[i];
  }

  void Expect(TestArray& after, size_t time) {
    ColumnRange hot;
    const Content& content = ContentAt(time, &hot);
    std::vector<std::byte> bytes(content.bytes.size());
    MDVOL_ASSERT_OK(after->Read(0, bytes));
    for (size_t at = 0; at < bytes.size(); ++at) {
      ASSERT_TRUE(bytes[at] == content.bytes[at] || (hot.begin <= at && at < hot.end))
          << "byte " << at << ", time " << time;
    }
  }

  // Crashes everywhere, or at a sample of places.
  void CrashEverywhere(size_t sample) {
    const auto log = array_.recording().requests();
    array_.Crash();
    Prng prng(TestSeed("MembersCrash"));
    for (size_t time = 0; time <= log.size(); ++time) {
      const bool is_read = time < log.size() && log[time].kind == IoKind::kRead;
      if (is_read || (!FullRun() && !prng.OneIn(std::max<size_t>(1, log.size() / sample / 2)))) {
        continue;
      }
      TestArray after(array_, CrashAt(before_, log, time, prng.OneIn(2) ? &prng : nullptr));
      std::vector<size_t> members;
      for (size_t i = 0; i < after.disks().size(); ++i) {
        if (FindSuperblock(after.disks()[i]).ok()) {
          members.push_back(i);
        }
      }
      absl::Status status = after.Open(members);
      ASSERT_FALSE(absl::StrContains(MessageOf(status), "--run")) << time << ": " << status;
      if (!status.ok()) {
        MDVOL_ASSERT_OK(after.Open(members, {.force = true}));  // dirty and degraded
      }
      Expect(after, time);
      MDVOL_ASSERT_OK(after.Recover());
      Expect(after, time);
      EXPECT_LE(after->Snapshot().degraded, 1U);
      MDVOL_ASSERT_OK(after.Stop());
      ASSERT_EQ(after.CheckSupersOf(members), "") << time;
    }
  }

  TestArray array_{GetParam()};
  std::vector<size_t> added_;
  Disks before_;
  std::vector<Content> contents_;
};

INSTANTIATE_TEST_SUITE_P(Specs, ArrayMembersCrashTest,
                         ::testing::Values(ArraySpec(), ArraySpec{.bitmap = false}));

TEST_P(ArrayMembersCrashTest, AddFailRebuildRemove) {
  ASSERT_TRUE(array_.AddMember(added_[0]).ok());
  Write(0, 30000);
  MDVOL_ASSERT_OK(array_->FailMember(2, "by hand"));
  Write(100000, 30000);
  MDVOL_ASSERT_OK(array_.Recover());
  Write(200000, 30000);
  MDVOL_ASSERT_OK(array_->RemoveMember(2));
  ASSERT_TRUE(array_.AddMember(2).ok());
  Write(50000, 3000);
  MDVOL_ASSERT_OK(array_->RemoveMember(*array_.MemberOf(2)));
  ASSERT_TRUE(array_.AddMember(added_[1]).ok());
  CrashEverywhere(100);
}

TEST_P(ArrayMembersCrashTest, RemoveWriteReAdd) {
  MDVOL_ASSERT_OK(array_->FailMember(4, "by hand"));
  MDVOL_ASSERT_OK(array_->RemoveMember(4));
  Write(100000, 30000);
  ASSERT_TRUE(array_.AddMember(4).ok());
  Write(0, 30000);
  MDVOL_ASSERT_OK(array_.Recover());
  Write(200000, 30000);
  CrashEverywhere(100);
}

TEST_P(ArrayMembersCrashTest, ReplaceWhileWriting) {
  ASSERT_TRUE(array_.AddMember(added_[0]).ok());
  MDVOL_ASSERT_OK(array_->SetReplacement(3, std::nullopt));
  MDVOL_ASSERT_OK(array_->BeginRecovery());
  for (uint64_t first = 0; first < 32; first += 8) {
    SyncFindings findings;
    MDVOL_ASSERT_OK(array_->RecoverStripes({first, 8}, &findings));
    Write(first * 10000, 20000);
    MDVOL_ASSERT_OK(array_->CheckpointRecovery());
  }
  MDVOL_ASSERT_OK(array_->EndRecovery());
  Write(0, 50000);
  MDVOL_ASSERT_OK(array_->RemoveMember(3));
  CrashEverywhere(100);
}

}  // namespace
}  // namespace mdvol
