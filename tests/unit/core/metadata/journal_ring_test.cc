// The ring's ledger, by example and against a device that remembers what was put where.

#include "core/metadata/journal_ring.h"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "gtest/gtest.h"
#include "tests/support/seed.h"

namespace mdvol {
namespace {

using ::mdvol::testing::Prng;
using ::mdvol::testing::TestSeed;
using Span = JournalRing::Span;

constexpr uint64_t kBlock = kJournalBlockBytes;

// Where a start leaves it: one empty block at `block`.
JournalRing Started(uint64_t blocks, uint64_t block = 0, uint64_t seq = 100) {
  return {blocks * kBlock, {block * kBlock, seq}, {(block + 1) % blocks * kBlock, seq + 1}};
}

TEST(JournalRingTest, StartsWithItsEmptyBlock) {
  const JournalRing ring = Started(64, 63);
  EXPECT_EQ(ring.tail(), (JournalPlace{63 * kBlock, 100}));
  EXPECT_EQ(ring.head(), (JournalPlace{0, 101}));
  EXPECT_EQ(ring.Passable(), ring.tail());
  EXPECT_EQ(ring.free_blocks(), 63u);
  EXPECT_EQ(ring.most_blocks_per_append(), 8u);
  EXPECT_FALSE(ring.WantsReclaim());
}

TEST(JournalRingTest, RecordsFollowEachOther) {
  JournalRing ring = Started(64, 60);
  EXPECT_EQ(ring.Place(3, false)->at, (JournalPlace{61 * kBlock, 101}));
  EXPECT_EQ(ring.Place(5, false)->at, (JournalPlace{0, 102}));
  EXPECT_EQ(ring.Place(1, false)->at, (JournalPlace{5 * kBlock, 103}));
  EXPECT_EQ(ring.head(), (JournalPlace{6 * kBlock, 104}));
  EXPECT_EQ(ring.free_blocks(), 64u - 10);
}

TEST(JournalRingTest, OneBlockStaysFree) {
  JournalRing ring = Started(64);
  EXPECT_FALSE(ring.Place(63, true).has_value());
  EXPECT_TRUE(ring.Place(62, true).has_value());
  EXPECT_EQ(ring.free_blocks(), 1u);
  EXPECT_FALSE(ring.Place(1, true).has_value());
}

TEST(JournalRingTest, TheReserveIsKept) {
  JournalRing ring = Started(64);
  EXPECT_FALSE(ring.Place(55, false).has_value());
  EXPECT_TRUE(ring.Place(54, false).has_value());
  EXPECT_FALSE(ring.Place(1, false).has_value());
  EXPECT_TRUE(ring.Place(8, true).has_value());
  EXPECT_FALSE(ring.Place(1, true).has_value());
}

TEST(JournalRingTest, WhatIsTakenBackIsGivenOutAgain) {
  JournalRing ring = Started(64);
  const Span a = *ring.Place(5, false);
  const Span b = *ring.Place(5, false);
  ring.Unplace(b);
  EXPECT_EQ(ring.head(), b.at);
  ring.Unplace(a);
  EXPECT_EQ(ring.Place(7, false)->at, a.at);
}

TEST(JournalRingTest, TheTailStopsAtTheOldestHeldRecord) {
  JournalRing ring = Started(64);
  std::vector<Span> spans;
  for (int i = 0; i < 4; ++i) {
    spans.push_back(*ring.Place(4, false));
  }
  EXPECT_EQ(ring.Passable(), ring.tail()) << "nothing of it is durable yet";
  for (const Span& span : spans) ring.NoteDurable(span);
  const uint64_t third = ring.Hold(spans[2]);
  const uint64_t second = ring.Hold(spans[1]);
  const uint64_t second_too = ring.Hold(spans[1]);
  EXPECT_EQ(ring.Passable(), spans[1].at);
  ring.Release(second);
  EXPECT_EQ(ring.Passable(), spans[1].at);
  ring.MoveTail(ring.Passable());
  EXPECT_EQ(ring.tail(), spans[1].at);
  ring.Release(second_too);
  EXPECT_EQ(ring.Passable(), spans[2].at);
  ring.Release(third);
  EXPECT_EQ(ring.Passable(), spans[3].at) << "the last record stays: the tail names one";
  ring.MoveTail(spans[3].at);
  EXPECT_EQ(ring.free_blocks(), 60u);
}

TEST(JournalRingTest, WantsReclaimWhenAQuarterCouldBePassed) {
  JournalRing ring = Started(64);
  const Span a = *ring.Place(15, false);
  const Span b = *ring.Place(1, false);
  const Span c = *ring.Place(1, false);
  ring.NoteDurable(a);
  ring.NoteDurable(b);
  EXPECT_FALSE(ring.WantsReclaim()) << "16 of 64";
  ring.NoteDurable(c);
  EXPECT_TRUE(ring.WantsReclaim()) << "17 of 64";
  const uint64_t ticket = ring.Hold(a);
  EXPECT_FALSE(ring.WantsReclaim());
  ring.Release(ticket);
  ring.MoveTail(ring.Passable());
  EXPECT_FALSE(ring.WantsReclaim());
}

TEST(JournalRingTest, LargeRingsAreBounded) {
  const JournalRing ring = Started(kTiB / kBlock);
  EXPECT_EQ(ring.most_blocks_per_append(), 4096u);
}

TEST(JournalRingTest, TheLeastSizesHoldLanesOfTheArray) {
  EXPECT_EQ(JournalRing::LeastBytes(6), 16 * 7 * kBlock);
  EXPECT_EQ(JournalRing::LeastNewBytes(6), 4 * kMiB);
  EXPECT_EQ(JournalRing::LeastNewBytes(100), 64 * 101 * kBlock);
  for (uint32_t raid_disks = 4; raid_disks <= kMaxJournalRaidDisks; ++raid_disks) {
    JournalRing ring = Started(JournalRing::LeastBytes(raid_disks) / kBlock);
    EXPECT_GE(ring.most_blocks_per_append(), uint64_t{raid_disks} + 1);
    EXPECT_TRUE(ring.Place(raid_disks + 1, false).has_value());
  }
}

TEST(JournalRingDeathTest, MisuseIsOurOwnBug) {
  JournalRing ring = Started(64);
  const Span a = *ring.Place(2, false);
  const Span b = *ring.Place(2, false);
  EXPECT_DEATH(ring.Hold(a), "") << "not durable";
  EXPECT_DEATH(ring.NoteDurable(b), "") << "out of order";
  EXPECT_DEATH(ring.Unplace(a), "") << "not the last";
  EXPECT_DEATH(ring.MoveTail(a.at), "") << "not durable";
  EXPECT_DEATH(ring.Release(1), "") << "never given";
  EXPECT_DEATH(ring.Place(0, false), "");
  EXPECT_DEATH(Started(15), "");
  EXPECT_DEATH(JournalRing(64 * kBlock, {0, 5}, {0, 5}), "") << "no record at the tail";
}

// ---- Against a device ----

// What each block of the ring holds, and where the tail on disk points.
class Device {
 public:
  explicit Device(uint64_t blocks, const JournalPlace& tail) : owner_(blocks) {
    owner_[tail.offset_bytes / kBlock] = tail.seq;
    live_.push_back({tail, 1});
  }

  // Writes a record; false if it overwrites what is live, or repeats a number at its place.
  bool Write(const Span& span) {
    bool is_right = span.at.seq == live_.back().at.seq + 1 &&
                    seen_.insert({span.at.offset_bytes, span.at.seq}).second;
    for (uint64_t i = 0; i < span.blocks; ++i) {
      uint64_t& owner = owner_[(span.at.offset_bytes / kBlock + i) % owner_.size()];
      is_right = is_right && owner < live_.front().at.seq;
      owner = span.at.seq;
    }
    live_.push_back(span);
    return is_right;
  }

  // The last record is zeroed.
  void Erase() {
    const Span span = live_.back();
    live_.pop_back();
    seen_.erase({span.at.offset_bytes, span.at.seq});
    for (uint64_t i = 0; i < span.blocks; ++i) {
      owner_[(span.at.offset_bytes / kBlock + i) % owner_.size()] = 0;
    }
  }

  // False if `tail` is no record that is there whole.
  bool MoveTail(const JournalPlace& tail) {
    while (!live_.empty() && live_.front().at.seq < tail.seq) live_.pop_front();
    return !live_.empty() && live_.front().at == tail;
  }

  uint64_t used_blocks() const {
    uint64_t used = 0;
    for (const Span& span : live_) used += span.blocks;
    return used;
  }

 private:
  std::vector<uint64_t> owner_;  // seq of the record that a block belongs to
  std::deque<Span> live_;        // from the tail on
  std::set<std::pair<uint64_t, uint64_t>> seen_;
};

class Walk {
 public:
  Walk(Prng& prng, uint64_t blocks, uint64_t first)
      : prng_(prng),
        blocks_(blocks),
        ring_(Started(blocks, first)),
        device_(blocks, ring_.tail()) {}

  void Step() {
    switch (prng_.Below(6)) {
      case 0:
      case 1:
        return Place();
      case 2:
        return Settle();
      case 3:
        return Release();
      case 4:
        return MoveTail();
      default:
        return Fail();
    }
  }

 private:
  void Place() {
    const uint64_t wanted = prng_.Between(1, ring_.most_blocks_per_append());
    const bool may_use_reserve = prng_.OneIn(4);
    const uint64_t needed = wanted + (may_use_reserve ? 0 : ring_.most_blocks_per_append());
    const auto span = ring_.Place(wanted, may_use_reserve);
    ASSERT_EQ(span.has_value(), blocks_ > device_.used_blocks() + needed);
    if (!span.has_value()) return;
    ASSERT_TRUE(device_.Write(*span));
    placed_.push_back(*span);
    ASSERT_EQ(ring_.free_blocks(), blocks_ - device_.used_blocks());
  }

  // The flight ends: all that is placed is durable, and held by one to three.
  void Settle() {
    for (const Span& span : placed_) ring_.NoteDurable(span);
    for (const Span& span : placed_) {
      last_ = span.at;
      for (uint64_t n = prng_.Between(1, 3); n > 0; --n) {
        tickets_.push_back({ring_.Hold(span), span.at});
      }
    }
    placed_.clear();
  }

  void Fail() {
    for (; !placed_.empty(); placed_.pop_back()) {
      ring_.Unplace(placed_.back());
      device_.Erase();
    }
  }

  void Release() {
    for (uint64_t n = prng_.Below(6); n > 0 && !tickets_.empty(); --n) {
      const auto ticket = tickets_.begin() + static_cast<int64_t>(prng_.Below(tickets_.size()));
      ring_.Release(ticket->first);
      tickets_.erase(ticket);
    }
  }

  // As far as it may, or (a reclaim that began earlier) as far as it might when last asked.
  void MoveTail() {
    const JournalPlace passable = ring_.Passable();
    JournalPlace expected = last_.value_or(ring_.tail());
    for (const auto& [ticket, place] : tickets_) {
      if (place.seq < expected.seq) expected = place;
    }
    ASSERT_EQ(passable, expected);
    ASSERT_GE(passable.seq, asked_.value_or(passable).seq) << "never moves back";
    const JournalPlace target = prng_.OneIn(2) ? asked_.value_or(passable) : passable;
    asked_ = passable;
    if (target.seq < ring_.tail().seq) return;
    ASSERT_TRUE(device_.MoveTail(target));
    ring_.MoveTail(target);
    ASSERT_EQ(ring_.tail(), target);
    ASSERT_EQ(ring_.free_blocks(), blocks_ - device_.used_blocks());
  }

  Prng& prng_;
  uint64_t blocks_;
  JournalRing ring_;
  Device device_;
  std::deque<Span> placed_;
  std::vector<std::pair<uint64_t, JournalPlace>> tickets_;
  std::optional<JournalPlace> last_;
  std::optional<JournalPlace> asked_;
};

TEST(JournalRingTest, NothingLiveIsEverOverwritten) {
  Prng prng(TestSeed("JournalRingTest.NothingLiveIsEverOverwritten"));
  for (int round = 0; round < 60 && !HasFatalFailure(); ++round) {
    const uint64_t blocks = prng.Between(16, 200);
    Walk walk(prng, blocks, prng.Below(blocks));
    for (int step = 0; step < 1500 && !HasFatalFailure(); ++step) walk.Step();
  }
}

}  // namespace
}  // namespace mdvol
