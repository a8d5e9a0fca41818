// Degraded reads under load: streams of many requests at once over shared lanes, readers and
// writers of their own bytes beside them, while policies are switched, the cache is resized and
// expires, and stripes are repaired. Run under TSan too.
//
// Every byte belongs to one thread, which alone writes it; bytes that nobody writes are read by all
// streams. Whoever reads judges.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "core/base/units.h"
#include "gtest/gtest.h"
#include "policies/adaptive_reads.h"
#include "policies/bypass.h"
#include "policies/stripe_cache_reads.h"
#include "tests/support/full.h"
#include "tests/support/seed.h"
#include "tests/support/stripes/stripe_rig.h"

namespace mdvol {
namespace {

using testing::FullRun;
using testing::Prng;
using testing::RigOptions;
using testing::StripeRig;
using testing::TestSeed;

constexpr uint64_t kCell = 1024;  // four owners to a lane
constexpr size_t kOwners = 3;     // and one quarter that nobody writes

std::shared_ptr<DegradedRead> PolicyOf(uint64_t number) {
  const std::vector<double> numbers = {100, number % 2 == 0 ? 512.0 : 8.0, 2};
  switch (number % 4) {
    case 0:
      return std::make_shared<BypassReads>(PolicyNumbers{});
    case 1:
      return std::make_shared<StripeCacheReads>(PolicyNumbers{});
    default:
      return std::make_shared<AdaptiveReads>(numbers);
  }
}

class DegradedStressTest : public ::testing::TestWithParam<uint32_t> {
 protected:
  DegradedStressTest()
      : prng_(TestSeed("DegradedStress") + GetParam()),
        rig_({.layout = AllLayouts()[prng_.Below(AllLayouts().size())],
              .members = 6,
              .chunk_bytes = 16 * kKiB,
              .stripes = 12,
              .seed = prng_.Next()}),
        shadow_(rig_.model().bytes()) {
    rig_.Lose(1);
    if (GetParam() == 2) {
      rig_.Lose(4);
    }
    rig_.engine().cache().Resize(300);
    rig_.engine().set_least_slow_read_ns(0);
    rig_.policies().degraded_read.Set(PolicyOf(2));
  }

  uint64_t volume() const { return rig_.geometry().volume_bytes(); }

  // Compares what belongs to nobody, or to the owner.
  void Judge(uint64_t at, std::span<const std::byte> read, size_t owner) {
    for (uint64_t i = 0; i < read.size(); ++i) {
      const uint64_t whose = (at + i) / kCell % (kOwners + 1);
      if ((whose == kOwners || whose == owner) && read[i] != shadow_[at + i]) {
        ADD_FAILURE() << "wrong at " << at + i;
        return;
      }
    }
  }

  // Several threads carry one stream, each the request that comes next.
  void Stream(std::atomic<uint64_t>& next, uint64_t length) {
    std::vector<std::byte> bytes(length);
    while (!done_ && !HasFailure()) {
      const uint64_t at = next.fetch_add(length) % RoundDown(volume(), length);
      ASSERT_EQ(rig_.engine().Read(rig_.view(), at, bytes).error, 0);
      Judge(at, bytes, kOwners);
    }
  }

  void Own(size_t owner, uint64_t seed, int rounds) {
    Prng prng(seed);
    std::vector<std::byte> bytes(8 * kCell);
    for (int i = 0; i < rounds && !HasFailure(); ++i) {
      const uint64_t cells = volume() / kCell / (kOwners + 1);
      const uint64_t begin = (prng.Below(cells) * (kOwners + 1) + owner) * kCell;
      if (prng.OneIn(2)) {
        const auto mine = std::span(shadow_).subspan(begin + prng.Below(kCell / 2), kCell / 2);
        prng.Fill(mine);
        const auto at = static_cast<uint64_t>(mine.data() - shadow_.data());
        ASSERT_EQ(rig_.engine().Write(rig_.view(), at, mine).error, 0);
      } else {
        const uint64_t length = std::min<uint64_t>(prng.Between(1, bytes.size()), volume() - begin);
        const auto read = std::span(bytes).first(length);
        ASSERT_EQ(rig_.engine().Read(rig_.view(), begin, read).error, 0);
        Judge(begin, read, owner);
      }
    }
  }

  void Disturb(uint64_t seed) {
    Prng prng(seed);
    for (uint64_t i = 0; !done_; ++i) {
      rig_.policies().degraded_read.Set(PolicyOf(prng.Next()));
      const uint32_t sizes[] = {0, 17, 40, 300};
      rig_.engine().cache().Resize(sizes[prng.Below(std::size(sizes))]);
      rig_.clock().Advance(prng.Below(60'000'000));
      rig_.engine().cache().Expire(rig_.clock().NowNs());
      rig_.engine().RecomputeParity(rig_.view(), prng.Below(12), 1);
      std::this_thread::yield();
    }
  }

  Prng prng_;
  StripeRig rig_;
  std::vector<std::byte> shadow_;
  std::atomic<bool> done_ = false;
};

TEST_P(DegradedStressTest, StreamsAndOwnersSeeTheirBytesWhateverIsSwitched) {
  const int rounds = FullRun() ? 20000 : 1500;
  std::atomic<uint64_t> small = 0;
  std::atomic<uint64_t> large = 0;
  std::vector<std::thread> streams;
  for (int i = 0; i < 3; ++i) {
    streams.emplace_back([&] { Stream(small, 4096); });
    streams.emplace_back([&] { Stream(large, 24 * kKiB); });
  }
  streams.emplace_back([this, seed = prng_.Next()] { Disturb(seed); });
  std::vector<std::thread> owners;
  for (size_t owner = 0; owner < kOwners; ++owner) {
    owners.emplace_back([&, owner, seed = prng_.Next()] { Own(owner, seed, rounds); });
  }
  for (std::thread& thread : owners) {
    thread.join();
  }
  done_ = true;
  for (std::thread& thread : streams) {
    thread.join();
  }
  rig_.model().Write(0, shadow_);
  ASSERT_TRUE(rig_.MembersAgree());
  ASSERT_TRUE(rig_.ReadsWithout({}));
}

INSTANTIATE_TEST_SUITE_P(Lost, DegradedStressTest, ::testing::Values(1u, 2u));

}  // namespace
}  // namespace mdvol
