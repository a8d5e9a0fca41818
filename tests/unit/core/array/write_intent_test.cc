// Tests of the write-intent bitmap's life (I1): a bit is durable before the write that it covers
// starts, and is cleared only when all it covered is durable.

#include "core/array/write_intent.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "core/base/units.h"
#include "tests/support/full.h"
#include "tests/support/seed.h"

namespace mdvol {
namespace {

using testing::FullRun;
using testing::Prng;
using testing::TestSeed;

constexpr uint64_t kChunk = 4096;
constexpr uint64_t kBitsOnFirstPage = (4096 - kBitmapSuperBytes) * 8;

std::vector<uint8_t> FileOf(uint64_t bits, std::initializer_list<uint64_t> set = {}) {
  const uint64_t sync_bytes = bits * kChunk;
  BitmapBitsImage image(bits);
  for (const uint64_t bit : set) {
    image.Set(bit, true);
  }
  return SerializeBitmap(NewBitmapSuperblock(Uuid(), sync_bytes, kChunk), image,
                         RoundUp(BitmapBytes(sync_bytes, kChunk), 4096));
}

bool BitIn(const std::vector<uint8_t>& file, uint64_t bit) {
  return ((file[kBitmapSuperBytes + bit / 8] >> (bit % 8)) & 1) != 0;
}

// One member's bitmap: what was written, and what of that is durable.
class FakeDisk {
 public:
  explicit FakeDisk(std::vector<uint8_t> file) : written_(file), durable_(std::move(file)) {}

  bool Store(const std::vector<BitmapPage>& pages, bool flush) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    ++stores_;
    flushes_ += flush ? 1 : 0;
    for (const BitmapPage& page : pages) {
      std::memcpy(written_.data() + page.offset_bytes, page.bytes.data(), page.bytes.size());
      pages_ += 1;
    }
    if (flush) {
      durable_ = written_;
    }
    return true;
  }
  WriteIntent::Store AsStore() {
    return [this](const std::vector<BitmapPage>& pages, bool flush) { return Store(pages, flush); };
  }

  bool Durable(uint64_t bit) const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return BitIn(durable_, bit);
  }
  // Whatever a crash leaves of the written but not flushed pages, the bit is set.
  bool CertainlySet(uint64_t bit) const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return BitIn(durable_, bit) && BitIn(written_, bit);
  }
  bool Written(uint64_t bit) const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return BitIn(written_, bit);
  }
  std::vector<uint8_t> written() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return written_;
  }
  int stores() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return stores_;
  }
  int flushes() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return flushes_;
  }
  int pages() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return pages_;
  }

 private:
  mutable absl::Mutex mutex_;
  std::vector<uint8_t> written_ ABSL_GUARDED_BY(mutex_);
  std::vector<uint8_t> durable_ ABSL_GUARDED_BY(mutex_);
  int stores_ ABSL_GUARDED_BY(mutex_) = 0;
  int flushes_ ABSL_GUARDED_BY(mutex_) = 0;
  int pages_ ABSL_GUARDED_BY(mutex_) = 0;
};

bool Refuse(const std::vector<BitmapPage>& /*pages*/, bool /*flush*/) { return false; }

// Steps of the daemon until an idle bit is due.
void Idle(WriteIntent& intent, FakeDisk& disk, int steps = 3) {
  for (int i = 0; i < steps; ++i) {
    intent.ClearIdle([] { return true; }, disk.AsStore());
  }
}

TEST(WriteIntentTest, ReadsBitsAsTheyAreOnDisk) {
  const WriteIntent intent(FileOf(70000, {0, 7, 8, kBitsOnFirstPage, 69999}));
  EXPECT_EQ(intent.chunk_bytes(), kChunk);
  EXPECT_EQ(intent.bits(), 70000U);
  for (const uint64_t bit :
       {uint64_t{0}, uint64_t{7}, uint64_t{8}, kBitsOnFirstPage, uint64_t{69999}}) {
    EXPECT_TRUE(intent.IsSet(bit)) << bit;
  }
  EXPECT_FALSE(intent.IsSet(1));
  EXPECT_FALSE(intent.IsSet(kBitsOnFirstPage - 1));
  EXPECT_EQ(intent.CountSet(), 5U);
  EXPECT_EQ(intent.CountSetPages(), 3U);
}

TEST(WriteIntentTest, ABitmapThatClaimsMoreThanItHoldsHasWhatItHolds) {
  std::vector<uint8_t> file = FileOf(100, {7});
  BitmapSuperblock super;
  std::memcpy(&super, file.data(), sizeof(super));
  super.sync_size = ~uint64_t{0};
  std::memcpy(file.data(), &super, sizeof(super));
  const WriteIntent intent(std::move(file));
  EXPECT_EQ(intent.bits(), kBitsOnFirstPage);
  EXPECT_TRUE(intent.IsSet(7));
}

TEST(WriteIntentTest, BitsOfCoversEveryByteAndNoMore) {
  const WriteIntent intent(FileOf(10));
  const auto expect = [&](uint64_t begin, uint64_t end, uint64_t first, uint64_t last) {
    const WriteIntent::Range range = intent.BitsOf(begin, end);
    EXPECT_EQ(range.first, first) << begin << " " << end;
    EXPECT_EQ(range.last, last) << begin << " " << end;
  };
  expect(0, 1, 0, 0);
  expect(0, kChunk, 0, 0);
  expect(0, kChunk + 1, 0, 1);
  expect(kChunk - 1, kChunk + 1, 0, 1);
  expect(3 * kChunk, 5 * kChunk, 3, 4);
  expect(9 * kChunk, 12 * kChunk, 9, 9);  // a bitmap that ends before the last stripe does
}

// I1
TEST(WriteIntentTest, StartReturnsOnceTheBitsAreDurable) {
  WriteIntent intent(FileOf(100));
  FakeDisk disk(FileOf(100));
  ASSERT_TRUE(intent.Start({3, 5}, disk.AsStore()));
  for (uint64_t bit = 0; bit < 100; ++bit) {
    EXPECT_EQ(disk.Durable(bit), bit >= 3 && bit <= 5) << bit;
    EXPECT_EQ(intent.IsSet(bit), bit >= 3 && bit <= 5) << bit;
  }
  EXPECT_EQ(intent.CountSet(), 3U);
  intent.End({3, 5});
  EXPECT_TRUE(intent.IsSet(4));
}

TEST(WriteIntentTest, StartStoresOnlyThePagesThatChange) {
  WriteIntent intent(FileOf(100000));
  FakeDisk disk(FileOf(100000));
  ASSERT_TRUE(intent.Start({kBitsOnFirstPage - 1, kBitsOnFirstPage}, disk.AsStore()));
  EXPECT_EQ(disk.pages(), 2);
  ASSERT_TRUE(intent.Start({90000, 90000}, disk.AsStore()));
  EXPECT_EQ(disk.pages(), 3);
  EXPECT_TRUE(disk.Durable(90000));
  EXPECT_EQ(intent.CountSetPages(), 3U);
}

TEST(WriteIntentTest, StartOnDurableBitsStoresNothing) {
  WriteIntent intent(FileOf(100, {1}));
  FakeDisk disk(FileOf(100, {1}));
  ASSERT_TRUE(intent.Start({1, 1}, &Refuse));
  ASSERT_TRUE(intent.Start({1, 2}, disk.AsStore()));
  EXPECT_EQ(disk.stores(), 1);
  ASSERT_TRUE(intent.Start({1, 2}, &Refuse));
}

// I1: what could not be stored is neither believed nor counted.
TEST(WriteIntentTest, AFailedStoreLeavesNothingBehind) {
  WriteIntent intent(FileOf(100));
  FakeDisk disk(FileOf(100));
  EXPECT_FALSE(intent.Start({3, 3}, &Refuse));
  EXPECT_FALSE(intent.IsSet(3));
  EXPECT_EQ(intent.CountSet(), 0U);
  ASSERT_TRUE(intent.Start({7, 7}, disk.AsStore()));
  EXPECT_FALSE(disk.Durable(3));
  ASSERT_TRUE(intent.Start({3, 3}, disk.AsStore()));
  EXPECT_TRUE(disk.Durable(3));
  intent.End({3, 3});
  intent.End({7, 7});
  Idle(intent, disk);
  EXPECT_EQ(intent.CountSet(), 0U);  // so both were counted once
}

// A flight that is held up in its store until the test lets it land.
struct HeldFlight {
  HeldFlight(WriteIntent& intent, FakeDisk& disk, WriteIntent::Range range, bool succeeds = true)
      : thread([this, &intent, &disk, range, succeeds] {
          started = intent.Start(range, [&](const std::vector<BitmapPage>& pages, bool flush) {
            in_the_air.Notify();
            may_land.WaitForNotification();
            return succeeds && disk.Store(pages, flush);
          });
        }) {
    in_the_air.WaitForNotification();
  }
  bool Land() {
    may_land.Notify();
    thread.join();
    return started;
  }

  absl::Notification in_the_air;
  absl::Notification may_land;
  std::atomic<bool> started = false;
  std::thread thread;
};

// I1
TEST(WriteIntentTest, SecondWriterOnABitInTheAirWaitsForItToLand) {
  WriteIntent intent(FileOf(100));
  FakeDisk disk(FileOf(100));
  HeldFlight flight(intent, disk, {3, 3});
  EXPECT_FALSE(intent.IsSet(3));
  absl::Notification started;
  std::thread second([&] {
    EXPECT_TRUE(intent.Start({3, 3}, &Refuse));  // finds the bit durable, stores nothing
    EXPECT_TRUE(disk.Durable(3));
    started.Notify();
  });
  EXPECT_FALSE(started.WaitForNotificationWithTimeout(absl::Milliseconds(30)));
  EXPECT_TRUE(flight.Land());
  second.join();
}

TEST(WriteIntentTest, WritersThatMissedAFlightShareTheNext) {
  WriteIntent intent(FileOf(100));
  FakeDisk disk(FileOf(100));
  HeldFlight flight(intent, disk, {0, 0});
  std::vector<std::thread> threads;
  for (uint64_t bit = 1; bit <= 8; ++bit) {
    threads.emplace_back([&intent, &disk, bit] {
      EXPECT_TRUE(intent.Start({bit, bit}, disk.AsStore()));
      EXPECT_TRUE(disk.Durable(bit));
    });
  }
  absl::SleepFor(absl::Milliseconds(50));
  EXPECT_EQ(disk.stores(), 0);
  EXPECT_TRUE(flight.Land());
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_GE(disk.flushes(), 2);
  EXPECT_LT(disk.flushes(), 9);
}

// I1: the failure was the first writer's alone; the second stores for itself.
TEST(WriteIntentTest, WhoWaitedForAFailedFlightStoresAgain) {
  WriteIntent intent(FileOf(100));
  FakeDisk disk(FileOf(100));
  HeldFlight flight(intent, disk, {3, 3}, /*succeeds=*/false);
  std::thread second([&] {
    EXPECT_TRUE(intent.Start({3, 4}, disk.AsStore()));
    EXPECT_TRUE(disk.Durable(3) && disk.Durable(4));
  });
  EXPECT_FALSE(flight.Land());
  second.join();
  EXPECT_EQ(intent.CountSet(), 2U);
}

// I1: a generation's page must not tell of bits that may not be there, nor take back those that
// are.
TEST(WriteIntentTest, TheSuperblocksPageCarriesDurableBitsOnly) {
  WriteIntent intent(FileOf(100, {9}));
  FakeDisk disk(FileOf(100, {9}));
  HeldFlight flight(intent, disk, {3, 3});
  const BitmapPage page =
      intent.UpdateSuper([](BitmapSuperblock& super) { super.events = uint64_t{77}; });
  EXPECT_EQ(page.offset_bytes, 0U);
  EXPECT_TRUE(BitIn(page.bytes, 9));
  EXPECT_FALSE(BitIn(page.bytes, 3));
  EXPECT_TRUE(flight.Land());
  EXPECT_EQ(intent.super().events, 77U);
  const BitmapPage later = intent.UpdateSuper([](BitmapSuperblock&) {});
  EXPECT_TRUE(BitIn(later.bytes, 3));
}

TEST(WriteIntentTest, ClearsABitTwoStepsAfterItsLastWrite) {
  WriteIntent intent(FileOf(100));
  FakeDisk disk(FileOf(100));
  ASSERT_TRUE(intent.Start({3, 3}, disk.AsStore()));
  intent.End({3, 3});
  Idle(intent, disk, 1);
  EXPECT_TRUE(intent.IsSet(3));
  ASSERT_TRUE(intent.Start({3, 3}, disk.AsStore()));  // ages anew
  intent.End({3, 3});
  Idle(intent, disk, 1);
  EXPECT_TRUE(intent.IsSet(3));
  Idle(intent, disk, 1);
  EXPECT_FALSE(intent.IsSet(3));
  EXPECT_FALSE(disk.Written(3));
  EXPECT_EQ(disk.flushes(), 1);  // clearing may be late, so it is not flushed
  EXPECT_EQ(intent.CountSet(), 0U);
}

TEST(WriteIntentTest, ClearsBitsThatNobodyUsedSinceTheStart) {
  WriteIntent intent(FileOf(100, {1, 50}));
  FakeDisk disk(FileOf(100, {1, 50}));
  Idle(intent, disk, 1);
  EXPECT_EQ(intent.CountSet(), 0U);
  EXPECT_FALSE(disk.Written(50));
}

TEST(WriteIntentTest, DoesNothingWhileNoBitIsDue) {
  WriteIntent intent(FileOf(100));
  FakeDisk disk(FileOf(100));
  int flushes = 0;
  const auto flush = [&] {
    ++flushes;
    return true;
  };
  intent.ClearIdle(flush, &Refuse);
  ASSERT_TRUE(intent.Start({3, 3}, disk.AsStore()));
  for (int i = 0; i < 5; ++i) {
    intent.ClearIdle(flush, &Refuse);  // in flight
  }
  EXPECT_TRUE(intent.IsSet(3));
  EXPECT_EQ(flushes, 0);
}

// I10: while nothing may be cleared, for years perhaps, only what is in use is remembered.
TEST(WriteIntentTest, AgeingForgetsWhatIsIdleAndNothingElse) {
  WriteIntent intent(FileOf(100));
  FakeDisk disk(FileOf(100));
  ASSERT_TRUE(intent.Start({1, 1}, disk.AsStore()));
  ASSERT_TRUE(intent.Start({2, 3}, disk.AsStore()));
  intent.End({2, 3});
  for (int i = 0; i < 3; ++i) {
    intent.Age();
  }
  EXPECT_TRUE(intent.IsSet(1) && intent.IsSet(2) && disk.Durable(3));
  intent.ClearIdle([] { return true; }, disk.AsStore());
  EXPECT_TRUE(intent.IsSet(1));  // it is not over
  EXPECT_FALSE(intent.IsSet(2) || intent.IsSet(3));
  intent.End({1, 1});
}

// More bits than are remembered: none is cleared after a flush that its write came too late for.
TEST(WriteIntentTest, ABitThatIsNotRememberedIsNotClearedTooEarly) {
  constexpr uint64_t kBits = 70000;
  WriteIntent intent(FileOf(kBits));
  FakeDisk disk(FileOf(kBits));
  ASSERT_TRUE(intent.Start({0, kBits - 1}, disk.AsStore()));
  intent.End({0, kBits - 1});
  ASSERT_TRUE(intent.Start({1, 1}, disk.AsStore()));
  const auto write_late = [&] {
    for (uint64_t bit = 0; bit < kBits; ++bit) {
      EXPECT_TRUE(intent.Start({bit, bit}, &Refuse));
      intent.End({bit, bit});
    }
    return true;
  };
  intent.ClearIdle(write_late, disk.AsStore());
  EXPECT_EQ(intent.CountSet(), kBits);
  intent.End({1, 1});
  for (int i = 0; i < 4; ++i) {
    intent.ClearIdle([] { return true; }, disk.AsStore());
  }
  EXPECT_EQ(intent.CountSet(), 0U);
}

// Bits lie where they lie, whatever follows them in the last byte or the last word.
TEST(WriteIntentTest, PaddingBehindTheBitsIsNoBit) {
  for (const uint64_t bits : {1ul, 7ul, 8ul, 63ul, 64ul, 65ul, 130ul}) {
    std::vector<uint8_t> file = FileOf(bits);
    std::fill(file.begin() + kBitmapSuperBytes, file.end(), uint8_t{0xff});
    WriteIntent intent(std::move(file));
    EXPECT_EQ(intent.CountSet(), bits);
    EXPECT_EQ(intent.CountSetPages(), 1U);
    FakeDisk disk(FileOf(bits));
    intent.ClearIdle([] { return true; }, disk.AsStore());
    EXPECT_EQ(intent.CountSet(), 0U) << bits;
    EXPECT_EQ(intent.CountSetPages(), 0U);
  }
}

// I1: the members must be durable before their bits go.
TEST(WriteIntentTest, ClearsNothingWhenTheMembersCannotBeFlushed) {
  WriteIntent intent(FileOf(100, {1}));
  FakeDisk disk(FileOf(100, {1}));
  intent.ClearIdle([] { return false; }, &Refuse);
  EXPECT_TRUE(intent.IsSet(1));
  bool is_set_while_flushing = false;
  intent.ClearIdle(
      [&] {
        is_set_while_flushing = disk.Written(1);
        return true;
      },
      disk.AsStore());
  EXPECT_TRUE(is_set_while_flushing);
  EXPECT_FALSE(disk.Written(1));
}

// I1: what was written after the flush began is not covered by it.
TEST(WriteIntentTest, KeepsTheBitOfAWriteThatCameWhileTheMembersWereFlushed) {
  WriteIntent intent(FileOf(100, {1, 2, 3}));
  FakeDisk disk(FileOf(100, {1, 2, 3}));
  intent.ClearIdle(
      [&] {
        EXPECT_TRUE(intent.Start({1, 1}, &Refuse));  // goes on
        EXPECT_TRUE(intent.Start({2, 2}, &Refuse));  // comes and goes
        intent.End({2, 2});
        return true;
      },
      disk.AsStore());
  EXPECT_TRUE(intent.IsSet(1) && disk.Written(1));
  EXPECT_TRUE(intent.IsSet(2) && disk.Written(2));
  EXPECT_FALSE(intent.IsSet(3) || disk.Written(3));
}

// I1: the clearing page and the setting page of one bit reach the members in that order.
TEST(WriteIntentTest, AWriteThatMeetsTheClearingOfItsBitSetsItAgainDurably) {
  WriteIntent intent(FileOf(100, {1, 2}));
  FakeDisk disk(FileOf(100, {1, 2}));
  absl::Notification clearing;
  absl::Notification may_clear;
  std::thread daemon([&] {
    intent.ClearIdle([] { return true; },
                     [&](const std::vector<BitmapPage>& pages, bool flush) {
                       clearing.Notify();
                       may_clear.WaitForNotification();
                       return disk.Store(pages, flush);
                     });
  });
  clearing.WaitForNotification();
  absl::Notification started;
  std::thread writer([&] {
    EXPECT_TRUE(intent.Start({1, 1}, disk.AsStore()));
    EXPECT_TRUE(disk.CertainlySet(1));
    started.Notify();
  });
  EXPECT_FALSE(started.WaitForNotificationWithTimeout(absl::Milliseconds(30)));
  may_clear.Notify();
  writer.join();
  daemon.join();
  EXPECT_TRUE(disk.CertainlySet(1));
  EXPECT_TRUE(intent.IsSet(1));
  EXPECT_FALSE(disk.Written(2));
}

TEST(WriteIntentTest, ClearAllGivesTheWholeFileWithoutBits) {
  const uint64_t bits = kBitsOnFirstPage + 100;
  WriteIntent intent(FileOf(bits, {0, 5, kBitsOnFirstPage + 3}));
  FakeDisk disk(FileOf(bits, {0, 5, kBitsOnFirstPage + 3}));
  disk.Store(intent.ClearAll(), true);
  EXPECT_EQ(disk.written(), FileOf(bits));
  EXPECT_EQ(intent.CountSet(), 0U);
  EXPECT_EQ(intent.CountSetPages(), 0U);
}

TEST(WriteIntentTest, PagesGiveTheWholeFileWithEveryBitAfterSetAll) {
  const uint64_t bits = kBitsOnFirstPage + 100;
  WriteIntent intent(FileOf(bits, {5}));
  FakeDisk disk(FileOf(bits));
  disk.Store(intent.Pages(), true);
  EXPECT_EQ(disk.written(), FileOf(bits, {5}));
  intent.SetAll();
  disk.Store(intent.Pages(), true);
  EXPECT_EQ(intent.CountSet(), bits);
  EXPECT_EQ(intent.CountSetPages(), 2U);
  for (uint64_t bit = 0; bit < bits; ++bit) {
    ASSERT_TRUE(disk.Durable(bit)) << bit;
  }
  ASSERT_TRUE(intent.Start({0, bits - 1}, &Refuse));
}

TEST(WriteIntentTest, AgreesWithFilesOfTheSameBits) {
  const WriteIntent intent(FileOf(1001, {5, 1000}));
  std::vector<uint8_t> file = FileOf(1001, {5, 1000});
  EXPECT_TRUE(intent.AgreesWith(file));
  file[24] ^= 1;  // other events
  EXPECT_TRUE(intent.AgreesWith(file));
  EXPECT_FALSE(intent.AgreesWith(FileOf(1001, {5})));
  EXPECT_FALSE(intent.AgreesWith(FileOf(1001, {5, 6, 1000})));
  EXPECT_FALSE(intent.AgreesWith({}));
  file[52] ^= 1;  // another chunk
  EXPECT_FALSE(intent.AgreesWith(file));
}

// I1 with everybody at once: writers on the same and on other bits, stores that fail now and then,
// the daemon in between. While a writer is at work its bits are set on the member, whatever a crash
// leaves there.
TEST(WriteIntentTest, NoWriterEverWorksWithoutItsBits) {
  const uint64_t seed = TestSeed("WriteIntentRace");
  constexpr uint64_t kBits = 64;
  const int rounds = FullRun() ? 40000 : 4000;
  WriteIntent intent(FileOf(kBits));
  FakeDisk disk(FileOf(kBits));
  std::atomic<int> violations = 0;
  std::atomic<int> running = 4;
  std::vector<std::thread> threads;
  for (uint64_t id = 0; id < 4; ++id) {
    threads.emplace_back([&, id] {
      Prng prng(seed + id);
      for (int round = 0; round < rounds; ++round) {
        const uint64_t first = prng.Below(kBits);
        const WriteIntent::Range range = {first, std::min(first + prng.Below(4), kBits - 1)};
        const bool fails = prng.OneIn(8);
        const bool started =
            intent.Start(range, [&](const std::vector<BitmapPage>& pages, bool flush) {
              // A store that fails has written, on some members, all the same.
              return disk.Store(pages, flush) && !fails;
            });
        if (!started) {
          continue;
        }
        for (uint64_t bit = range.first; bit <= range.last; ++bit) {
          violations += disk.CertainlySet(bit) ? 0 : 1;
        }
        if (prng.OneIn(4)) {
          std::this_thread::yield();
        }
        for (uint64_t bit = range.first; bit <= range.last; ++bit) {
          violations += disk.CertainlySet(bit) ? 0 : 1;
        }
        intent.End(range);
      }
      --running;
    });
  }
  threads.emplace_back([&] {
    Prng prng(seed + 99);
    while (running > 0) {
      intent.ClearIdle([&] { return !prng.OneIn(8); }, disk.AsStore());
      intent.UpdateSuper([](BitmapSuperblock& super) { super.events = super.events + 1; });
    }
  });
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(violations, 0);
  Idle(intent, disk);
  EXPECT_EQ(intent.CountSet(), 0U);
}

}  // namespace
}  // namespace mdvol
