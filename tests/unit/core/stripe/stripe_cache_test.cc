// StripeCache by itself: room, order, time. What the engine makes of it is in
// degraded_read_test.cc.

#include "core/stripe/stripe_cache.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "core/base/units.h"
#include "gtest/gtest.h"

namespace mdvol {
namespace {

constexpr uint32_t kDisks = 4;
constexpr std::array<bool, kDisks> kIsData = {true, true, false, false};

class StripeCacheTest : public ::testing::Test {
 protected:
  void SetUp() override { cache_.Resize(17); }

  // Pins, fills and unpins one lane.
  void Keep(uint64_t stripe, uint32_t lane, const StripeCache::Keep& keep = {}) {
    StripeCache::LaneList lanes;
    ASSERT_EQ(cache_.Pin(stripe, {lane, 1}, keep, &lanes), 1u);
    for (uint32_t slot = 0; slot < kDisks; ++slot) {
      if (lanes[0]->Claim(slot)) {
        lanes[0]->Publish(slot);
      }
    }
    cache_.Unpin(stripe, lanes, keep);
  }

  bool IsKept(uint64_t stripe, uint32_t lane) {
    StripeCache::Lane* const kept = cache_.PinKept(stripe, lane);
    if (kept != nullptr) {
      cache_.Unpin(stripe, {&kept, 1}, {});
    }
    return kept != nullptr;
  }

  StripeCache cache_{kDisks};
};

TEST_F(StripeCacheTest, TheDefaultIsWhat256MiBHoldButNoMoreThanFourThousandLanes) {
  EXPECT_EQ(DefaultStripeCacheLanes(4), 4096u);
  EXPECT_EQ(DefaultStripeCacheLanes(16), 4096u);
  EXPECT_EQ(DefaultStripeCacheLanes(32), 2048u);
  EXPECT_EQ(DefaultStripeCacheLanes(255), 257u);
}

TEST_F(StripeCacheTest, WithoutLanesNothingIsKept) {
  StripeCache none(kDisks);
  StripeCache::LaneList lanes;
  EXPECT_EQ(none.Pin(1, {0, 4}, {}, &lanes), 0u);
  EXPECT_TRUE(lanes.empty());
  none.Drop(1);
  none.DropAll();
  EXPECT_EQ(none.Expire(0), StripeCache::kNever);
}

TEST_F(StripeCacheTest, KeepsWhatWasPublishedUntilItIsDropped) {
  StripeCache::LaneList lanes;
  ASSERT_EQ(cache_.Pin(5, {3, 1}, {}, &lanes), 1u);
  EXPECT_EQ(lanes[0]->number(), 3u);
  EXPECT_TRUE(lanes[0]->Claim(1));
  EXPECT_FALSE(lanes[0]->Claim(1)) << "it is pending";
  EXPECT_FALSE(lanes[0]->IsValid(1));
  lanes[0]->bytes(1)[7] = std::byte{42};
  lanes[0]->Publish(1);
  EXPECT_FALSE(lanes[0]->Claim(1)) << "it is valid";
  EXPECT_TRUE(lanes[0]->Claim(2));
  lanes[0]->Abandon(2);
  cache_.Unpin(5, lanes, {});
  StripeCache::Lane* const kept = cache_.PinKept(5, 3);
  ASSERT_NE(kept, nullptr);
  EXPECT_TRUE(kept->IsValid(1));
  EXPECT_EQ(kept->bytes(1)[7], std::byte{42});
  EXPECT_TRUE(kept->Claim(2)) << "nobody has it";
  kept->Abandon(2);
  cache_.Unpin(5, {&kept, 1}, {});
  EXPECT_EQ(cache_.active(), 1u);
  cache_.Drop(5);
  EXPECT_EQ(cache_.active(), 0u);
  EXPECT_FALSE(IsKept(5, 3));
}

TEST_F(StripeCacheTest, ALaneThatComesAgainHoldsNothing) {
  Keep(5, 3);
  cache_.Drop(5);
  StripeCache::LaneList lanes;
  ASSERT_EQ(cache_.Pin(6, {3, 1}, {}, &lanes), 1u);
  for (uint32_t slot = 0; slot < kDisks; ++slot) {
    EXPECT_FALSE(lanes[0]->IsValid(slot));
  }
  cache_.Unpin(6, lanes, {});
}

// Within a shard; every sixteenth stripe is in the same.
TEST_F(StripeCacheTest, WhatWasNotUsedForTheLongestTimeMakesRoom) {
  for (uint64_t i = 0; i < 17; ++i) {
    Keep(16 * i, 0);
  }
  EXPECT_TRUE(IsKept(0, 0)) << "and is the newest now";
  Keep(16 * 17, 0);
  EXPECT_EQ(cache_.active(), 17u);
  EXPECT_TRUE(IsKept(0, 0));
  EXPECT_FALSE(IsKept(16, 0));
}

TEST_F(StripeCacheTest, AnotherShardMakesRoomToo) {
  for (uint64_t i = 0; i < 17; ++i) {
    Keep(16 * i, 0);
  }
  Keep(1, 0);
  EXPECT_TRUE(IsKept(1, 0));
  EXPECT_EQ(cache_.active(), 17u);
}

TEST_F(StripeCacheTest, PinnedLanesStayAndTheRestGetsWhatIsLeft) {
  StripeCache::LaneList lanes;
  EXPECT_EQ(cache_.Pin(3, {0, 32}, {}, &lanes), 17u);
  StripeCache::LaneList more;
  EXPECT_EQ(cache_.Pin(4, {0, 1}, {}, &more), 0u);
  EXPECT_EQ(cache_.Pin(3, {16, 4}, {}, &more), 1u) << "one that is there";
  cache_.Unpin(3, more, {});
  cache_.Unpin(3, lanes, {});
  more.clear();
  EXPECT_EQ(cache_.Pin(4, {0, 1}, {}, &more), 1u);
  cache_.Unpin(4, more, {});
  EXPECT_EQ(cache_.active(), 17u);
}

TEST_F(StripeCacheTest, ASmallerSizeHoldsAtOnceAndForPinnedLanesLater) {
  cache_.Resize(100);
  for (uint32_t i = 0; i < 60; ++i) {
    Keep(i % 7, i);
  }
  StripeCache::LaneList lanes;
  ASSERT_EQ(cache_.Pin(9, {0, 20}, {}, &lanes), 20u);
  cache_.Resize(17);
  EXPECT_EQ(cache_.active(), 20u) << "those that are pinned";
  cache_.Unpin(9, lanes, {});
  EXPECT_EQ(cache_.active(), 17u);
  cache_.Resize(0);
  EXPECT_EQ(cache_.active(), 0u);
}

TEST_F(StripeCacheTest, LanesAreDroppedWhenTheirStripeWasNotUsedForAsLongAsTheyWereToBeKept) {
  EXPECT_FALSE(cache_.WantsTimer());
  Keep(1, 0, {.now_ns = 1000, .retention_ns = 100});
  Keep(2, 0, {.now_ns = 1050, .retention_ns = 100});
  Keep(3, 0, {.now_ns = 1000, .retention_ns = 0});
  EXPECT_TRUE(cache_.WantsTimer());
  EXPECT_FALSE(cache_.WantsTimer()) << "once";
  EXPECT_EQ(cache_.Expire(1099), 1100u);
  EXPECT_EQ(cache_.active(), 3u);
  EXPECT_FALSE(cache_.WantsTimer()) << "a call is due";
  EXPECT_EQ(cache_.Expire(1100), 1150u);
  EXPECT_FALSE(IsKept(1, 0));
  EXPECT_TRUE(IsKept(2, 0));
  Keep(2, 1, {.now_ns = 1140, .retention_ns = 100});
  EXPECT_EQ(cache_.Expire(1150), 1240u) << "the stripe is in use";
  EXPECT_TRUE(IsKept(2, 0));
  EXPECT_EQ(cache_.Expire(1240), StripeCache::kNever);
  EXPECT_TRUE(IsKept(3, 0));
  EXPECT_EQ(cache_.active(), 1u);
  EXPECT_FALSE(cache_.WantsTimer());
  Keep(4, 0, {.now_ns = 2000, .retention_ns = 100});
  EXPECT_TRUE(cache_.WantsTimer());
}

TEST_F(StripeCacheTest, LazyLanesAreDroppedInTimeButAskForNoCall) {
  const StripeCache::Keep lazy{.now_ns = 1000, .retention_ns = 500, .is_lazy = true};
  Keep(1, 0, lazy);
  EXPECT_FALSE(cache_.WantsTimer());
  EXPECT_EQ(cache_.Expire(1499), StripeCache::kNever);
  EXPECT_TRUE(IsKept(1, 0));
  EXPECT_EQ(cache_.Expire(1500), StripeCache::kNever);
  EXPECT_FALSE(IsKept(1, 0));
  Keep(2, 0, lazy);
  Keep(2, 1, {.now_ns = 1000, .retention_ns = 100});
  EXPECT_TRUE(cache_.WantsTimer()) << "the least of all that say";
  EXPECT_EQ(cache_.Expire(1050), 1100u);
}

TEST_F(StripeCacheTest, PinnedLanesOutliveTheirTime) {
  const StripeCache::Keep keep{.now_ns = 1000, .retention_ns = 100};
  StripeCache::LaneList lanes;
  ASSERT_EQ(cache_.Pin(1, {0, 1}, keep, &lanes), 1u);
  EXPECT_EQ(cache_.Expire(5000), 5100u);
  EXPECT_EQ(cache_.active(), 1u);
  cache_.Unpin(1, lanes, keep);
  EXPECT_EQ(cache_.Expire(5100), StripeCache::kNever);
  EXPECT_EQ(cache_.active(), 0u);
}

TEST_F(StripeCacheTest, ALaneIsDroppedWhenAllItsDataHasBeenDelivered) {
  const StripeCache::Keep keep{.until_delivered = true};
  StripeCache::LaneList lanes;
  ASSERT_EQ(cache_.Pin(1, {0, 2}, keep, &lanes), 2u);
  for (StripeCache::Lane* const lane : lanes) {
    for (uint32_t slot = 0; slot < kDisks; ++slot) {
      ASSERT_TRUE(lane->Claim(slot));
      lane->Publish(slot);
    }
  }
  lanes[0]->NoteDelivered(0);
  lanes[1]->NoteDelivered(1);
  lanes[1]->NoteDelivered(0);
  EXPECT_TRUE(lanes[0]->IsValid(0)) << "for others";
  cache_.Unpin(1, lanes, keep, kIsData);
  EXPECT_EQ(cache_.active(), 1u);
  EXPECT_TRUE(IsKept(1, 0));
  EXPECT_FALSE(IsKept(1, 1));
}

TEST_F(StripeCacheTest, WhoWaitsForABlockIsWokenWhenItIsThereAndWhenItWillNotCome) {
  for (const bool comes : {true, false}) {
    StripeCache::LaneList lanes;
    ASSERT_EQ(cache_.Pin(1, {0, 1}, {}, &lanes), 1u);
    ASSERT_TRUE(lanes[0]->Claim(0));
    std::atomic<bool> has_begun = false;
    std::thread waiter([&] {
      has_begun = true;
      cache_.WaitWhilePending(1, *lanes[0], 0);
      EXPECT_EQ(lanes[0]->IsValid(0), comes);
    });
    while (!has_begun) {
      std::this_thread::yield();
    }
    comes ? lanes[0]->Publish(0) : lanes[0]->Abandon(0);
    cache_.Announce(1);
    waiter.join();
    cache_.Unpin(1, lanes, {});
    cache_.Drop(1);
  }
}

}  // namespace
}  // namespace mdvol
