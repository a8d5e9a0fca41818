// Everything at once: writers that share stripes, readers, flushes, discards, members that fail,
// states that are set, the maintenance thread, snapshots. Afterwards every byte, every parity and
// every superblock must be right. Runs under ThreadSanitizer too.

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "core/base/units.h"
#include "tests/support/full.h"
#include "tests/support/test_array/test_array.h"

namespace mdvol {
namespace {

using testing::ArraySpec;
using testing::FullRun;
using testing::Opening;
using testing::Prng;
using testing::TestArray;
using testing::TestSeed;

constexpr uint64_t kWriters = 3;
constexpr uint64_t kChunk = 4096;

class Stress {
 public:
  Stress(const ArraySpec& spec, uint64_t seed) : array_(spec), seed_(seed) {
    Opening opening;
    opening.options.safe_mode_delay_ms = 1;
    MDVOL_EXPECT_OK(array_.Open(opening));
    content_ = array_.model().bytes();
    if (spec.bitmap) {
      MDVOL_EXPECT_OK(array_->SetBitmapTimeBase(1));
    }
    array_->StartMaintenance();
  }

  TestArray& array() { return array_; }

  // Runs `disturb` beside everybody else, and comes back when all are done.
  void Run(int rounds, const std::function<void(Prng&)>& disturb) {
    std::vector<std::thread> threads;
    for (uint64_t id = 0; id < kWriters; ++id) {
      threads.emplace_back([this, id, rounds] { Writer(id, rounds); });
    }
    threads.emplace_back([this] { Reader(); });
    threads.emplace_back([this] { Meddler(); });
    std::vector<std::thread> disturbers;
    disturbers.emplace_back([&] {
      Prng prng(seed_ + 77);
      disturb(prng);
    });
    while (writing_ > 0) {
      array_.clock().Advance(50000000);
      absl::SleepFor(absl::Milliseconds(1));
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    disturbers[0].join();
  }

  void ExpectAllRight() {
    std::vector<std::byte> bytes(content_.size());
    MDVOL_EXPECT_OK(array_->Read(0, bytes));
    EXPECT_EQ(bytes == content_, true);
    MDVOL_EXPECT_OK(array_->Stop());
    const ArraySnapshot snapshot = array_->Snapshot();
    array_.Crash();
    array_.model().Write(0, content_);
    std::vector<size_t> live;
    for (const MemberSnapshot& member : snapshot.members) {
      if (!member.faulty && member.slot.has_value()) {
        live.push_back(member.index);
      }
    }
    EXPECT_EQ(array_.CheckDisks(live), "");
    EXPECT_EQ(array_.CheckSupers(), "");
    for (const size_t disk : live) {
      EXPECT_EQ(array_.super(disk).events, snapshot.events);
      EXPECT_EQ(array_.super(disk).resync_offset, kResyncDone);
      for (const MemberSnapshot& member : snapshot.members) {
        EXPECT_EQ(array_.super(disk).dev_roles[member.dev_number] == kRoleFaulty, member.faulty);
      }
    }
    MDVOL_EXPECT_OK(array_.Open());
    EXPECT_EQ(array_.CheckVolume(), "");
    EXPECT_EQ(array_->Snapshot().degraded, array_.spec().raid_disks - live.size());
  }

 private:
  // Writer `id` owns every chunk of the volume whose number is id modulo the number of writers, so
  // that all of them meet in every stripe.
  void Writer(uint64_t id, int rounds) {
    Prng prng(seed_ + id);
    const uint64_t chunks = content_.size() / kChunk;
    for (int round = 0; round < rounds; ++round) {
      const uint64_t chunk = prng.Below(chunks / kWriters) * kWriters + id;
      const uint64_t begin = prng.OneIn(3) ? 0 : prng.Below(kChunk);
      const uint64_t length = begin == 0 ? kChunk : prng.Between(1, kChunk - begin);
      const uint64_t offset = chunk * kChunk + begin;
      std::vector<std::byte> data(length);
      if (prng.OneIn(8)) {
        MDVOL_EXPECT_OK(array_->Zero(offset, length));
      } else {
        prng.Fill(data);
        MDVOL_EXPECT_OK(array_->Write(offset, data));
      }
      std::copy(data.begin(), data.end(), content_.begin() + static_cast<ptrdiff_t>(offset));
      if (prng.OneIn(4)) {
        std::vector<std::byte> read(kChunk);
        MDVOL_EXPECT_OK(array_->Read(chunk * kChunk, read));
        EXPECT_TRUE(std::equal(read.begin(), read.end(),
                               content_.begin() + static_cast<ptrdiff_t>(chunk * kChunk)));
      }
      if (prng.OneIn(16)) {
        MDVOL_EXPECT_OK(array_->Flush());
      }
    }
    --writing_;
  }

  void Reader() {
    Prng prng(seed_ + 50);
    std::vector<std::byte> bytes(60000);
    while (writing_ > 0) {
      const uint64_t length = prng.Between(1, bytes.size());
      MDVOL_EXPECT_OK(
          array_->Read(prng.Below(content_.size() - length), std::span(bytes).first(length)));
      (void)array_->NextData(prng.Below(content_.size()));
      (void)array_->NextHole(prng.Below(content_.size()));
    }
  }

  void Meddler() {
    Prng prng(seed_ + 60);
    while (writing_ > 0) {
      switch (prng.Below(5)) {
        case 0:
          (void)array_->SetState("clean");  // EBUSY when writers are quicker
          break;
        case 1:
          MDVOL_EXPECT_OK(array_->SetState("active"));
          break;
        case 2:
          MDVOL_EXPECT_OK(array_->SetRmwLevel(static_cast<uint32_t>(prng.Below(3))));
          break;
        case 3:
          array_->SetSafeModeDelay(static_cast<uint32_t>(prng.Between(1, 3)));
          break;
        default: {
          const ArraySnapshot snapshot = array_->Snapshot();
          EXPECT_LE(snapshot.degraded, 2U);
          EXPECT_GE(snapshot.events, last_events_);
          last_events_ = snapshot.events;
        }
      }
      absl::SleepFor(absl::Microseconds(200));
    }
  }

  TestArray array_;
  const uint64_t seed_;
  std::vector<std::byte> content_;  // each writer touches its own chunks
  std::atomic<uint64_t> writing_ = kWriters;
  uint64_t last_events_ = 0;
};

class ArrayStressTest : public ::testing::TestWithParam<ArraySpec> {};

INSTANTIATE_TEST_SUITE_P(
    Specs, ArrayStressTest,
    ::testing::Values(ArraySpec{.stripes = 12}, ArraySpec{.stripes = 12, .bitmap = false},
                      ArraySpec{.raid_disks = 4, .stripes = 12, .alignment_bytes = 4096}));

constexpr int kRounds = 250;

uint64_t Seeds() { return FullRun() ? 40 : 2; }

TEST_P(ArrayStressTest, AWholeArrayStaysRight) {
  for (uint64_t seed = 0; seed < Seeds(); ++seed) {
    Stress stress(GetParam(), TestSeed("StressWhole") + seed);
    stress.Run(kRounds, [](Prng&) {});
    stress.ExpectAllRight();
  }
}

TEST_P(ArrayStressTest, TwoMembersAreFailedByHand) {
  for (uint64_t seed = 0; seed < Seeds(); ++seed) {
    Stress stress(GetParam(), TestSeed("StressByHand") + seed);
    stress.Run(kRounds, [&](Prng& prng) {
      for (int i = 0; i < 2; ++i) {
        absl::SleepFor(absl::Milliseconds(prng.Below(30)));
        const size_t disk = prng.Below(GetParam().raid_disks);
        MDVOL_EXPECT_OK(stress.array()->FailMember(disk, "by hand"));
      }
    });
    stress.ExpectAllRight();
  }
}

// I3: members that refuse data, or flushes, while everybody writes.
TEST_P(ArrayStressTest, TwoMembersFailByThemselves) {
  for (uint64_t seed = 0; seed < Seeds(); ++seed) {
    Stress stress(GetParam(), TestSeed("StressFaults") + seed);
    stress.Run(kRounds, [&](Prng& prng) {
      const size_t first = prng.Below(GetParam().raid_disks);
      const size_t second =
          (first + prng.Between(1, GetParam().raid_disks - 1)) % GetParam().raid_disks;
      for (const size_t disk : {first, second}) {
        absl::SleepFor(absl::Milliseconds(prng.Below(30)));
        stress.array().fault(disk).AddRule(
            {.op = prng.OneIn(3) ? FaultOp::kFlush : FaultOp::kWrite});
      }
    });
    stress.ExpectAllRight();
  }
}

// Read errors that come and are mended, all the time.
TEST_P(ArrayStressTest, ReadErrorsAreMended) {
  for (uint64_t seed = 0; seed < Seeds(); ++seed) {
    Stress stress(GetParam(), TestSeed("StressReadErrors") + seed);
    stress.Run(kRounds, [&](Prng& prng) {
      for (int i = 0; i < 20; ++i) {
        const size_t disk = prng.Below(GetParam().raid_disks);
        const ByteRange& data = stress.array().areas(disk).data;
        stress.array().fault(disk).ClearRules();
        stress.array().fault(disk).AddRule(
            {.op = FaultOp::kRead,
             .offset_bytes = data.begin + prng.Below(data.size() / kChunk) * kChunk,
             .length_bytes = kChunk,
             .until = FaultUntil::kWrite});
        absl::SleepFor(absl::Milliseconds(1));
      }
      for (size_t disk = 0; disk < GetParam().raid_disks; ++disk) {
        stress.array().fault(disk).ClearRules();
      }
    });
    stress.ExpectAllRight();
  }
}

}  // namespace
}  // namespace mdvol
