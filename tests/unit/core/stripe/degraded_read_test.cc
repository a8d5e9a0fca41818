// What the degraded_read policies make the engine do: how much it reads of the members for each
// byte of the volume, and that the bytes are right whatever is decided, kept, written and lost.

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <functional>
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

std::shared_ptr<DegradedRead> Adaptive() {
  std::vector<double> numbers;
  for (const PolicyOptionInfo& option : AdaptiveReads::kOptions) {
    numbers.push_back(option.standard);
  }
  return std::make_shared<AdaptiveReads>(numbers);
}
std::shared_ptr<DegradedRead> Bypass() { return std::make_shared<BypassReads>(PolicyNumbers{}); }
std::shared_ptr<DegradedRead> ThroughCache() {
  return std::make_shared<StripeCacheReads>(PolicyNumbers{});
}

// Answers at random, sense or nonsense.
class RandomReads final : public DegradedRead {
 public:
  explicit RandomReads(uint64_t seed) : seed_(seed) {}
  DegradedReadDecision Decide(const DegradedReadFacts& /*facts*/) override {
    Prng prng(seed_.fetch_add(1));
    DegradedReadDecision decision;
    decision.apart = prng.OneIn(3);
    decision.all_survivors = prng.OneIn(2);
    decision.keep = !prng.OneIn(4);
    const uint64_t aheads[] = {0, 1, 4096, 5000, 16384, uint64_t{1} << 40, ~uint64_t{0}};
    decision.ahead_bytes = aheads[prng.Below(std::size(aheads))];
    decision.next_stripe = prng.OneIn(2);
    decision.retention_ns = prng.OneIn(2) ? prng.Next() >> prng.Below(64) : 0;
    decision.until_delivered = prng.OneIn(2);
    return decision;
  }

 private:
  std::atomic<uint64_t> seed_;
};

// The report's array with smaller chunks: what is counted is relative to them.
constexpr uint64_t kChunk = 32 * kKiB;
constexpr uint64_t kStripes = 20;

class DegradedReadTest : public ::testing::TestWithParam<Layout> {
 protected:
  DegradedReadTest()
      : rig_({.layout = GetParam(),
              .members = 10,
              .chunk_bytes = kChunk,
              .stripes = kStripes,
              .seed = 77}) {
    rig_.engine().cache().Resize(DefaultStripeCacheLanes(10));
  }

  void Use(std::shared_ptr<DegradedRead> policy) { rig_.policies().degraded_read.Set(policy); }

  // Member bytes for each byte of a stream over the whole volume.
  double StreamAmplification(uint64_t length) {
    rig_.TakeTraffic();
    for (uint64_t at = 0; at < rig_.geometry().volume_bytes(); at += length) {
      EXPECT_EQ(rig_.Read(at, std::min(length, rig_.geometry().volume_bytes() - at)).error, 0);
    }
    return Amplification();
  }

  double Amplification() {
    return static_cast<double>(rig_.TakeTraffic().read_bytes) /
           static_cast<double>(rig_.geometry().volume_bytes());
  }

  // How many of the stripes have lost data, at one or two lost slots.
  double StripesWithLostData(std::vector<uint32_t> lost) {
    double count = 0;
    for (uint64_t stripe = 0; stripe < kStripes; ++stripe) {
      const StripeRoles roles = rig_.geometry().RolesOf(stripe);
      count += std::any_of(lost.begin(), lost.end(), [&](uint32_t slot) {
        return roles.RoleOf(slot).kind == ChunkKind::kData;
      });
    }
    return count;
  }

  StripeRig rig_;
};

constexpr uint64_t kLengths[] = {
    4096, 8192, 16384, kChunk, 65536, 3 * kChunk, 8 * kChunk, 13 * kChunk + 4096, 10000, 512};

// Section 4.4 of the model in docs/policies.md: stripes with a lost data chunk cost n - 1 blocks
// for the lost one and one for each live one; others d.
TEST_P(DegradedReadTest, BypassReadsAllSurvivorsOfEveryLostChunk) {
  rig_.Lose(2);
  Use(Bypass());
  const double hit = StripesWithLostData({2}) / kStripes;
  const double expected = (hit * (7 + 9) + (1 - hit) * 8) / 8;
  for (const uint64_t length : {uint64_t{4096}, kChunk, 8 * kChunk, 24 * kChunk}) {
    EXPECT_NEAR(StreamAmplification(length), expected, 1e-9) << length;
  }
}

TEST_P(DegradedReadTest, TheStripeCacheReadsAllSurvivorsOnce) {
  rig_.Lose(2);
  Use(ThroughCache());
  const double hit = StripesWithLostData({2}) / kStripes;
  const double expected = (hit * 9 + (1 - hit) * 8) / 8;
  for (const uint64_t length : kLengths) {
    rig_.engine().cache().DropAll();
    EXPECT_NEAR(StreamAmplification(length), expected, 1e-9) << length;
  }
  EXPECT_NEAR(StreamAmplification(4096), 0, 1e-9) << "all of it is kept";
}

TEST_P(DegradedReadTest, AnAdaptiveStreamReadsEachByteOnceAndAStripeMoreAtTheEndsAtMost) {
  const double stripe = 1.0 / kStripes;
  for (const uint32_t second : {2u, 3u}) {
    rig_.Lose(2);
    rig_.Lose(second);
    Use(Adaptive());
    for (const uint64_t length : kLengths) {
      const double amplification = StreamAmplification(length);
      EXPECT_LE(amplification, 1 + stripe) << length;
      EXPECT_GE(amplification, 0.999) << length;
      EXPECT_LE(rig_.engine().cache().active(), 2 * kChunk / kLaneBytes) << length;
      rig_.engine().cache().DropAll();
      rig_.clock().Advance(uint64_t{10} << 30);  // another stream
    }
  }
}

TEST_P(DegradedReadTest, AnAdaptiveStreamOfManyRequestsAtOnceReadsEachByteOnce) {
  rig_.Lose(4);
  Use(Adaptive());
  for (const uint64_t length : {uint64_t{4096}, uint64_t{16384}, kChunk, 4 * kChunk}) {
    // Before the stream is known for one each thread would read a stripe for itself: it begins
    // alone.
    uint64_t begin = 0;
    std::vector<std::byte> first(length);
    while (begin < 2 * rig_.geometry().stripe_bytes()) {
      EXPECT_EQ(rig_.engine().Read(rig_.view(), begin, first).error, 0);
      begin += length;
    }
    rig_.TakeTraffic();
    std::atomic<uint64_t> next = begin;
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        std::vector<std::byte> bytes(length);
        for (;;) {
          const uint64_t at = next.fetch_add(length);
          if (at >= rig_.geometry().volume_bytes()) {
            return;
          }
          EXPECT_EQ(rig_.engine().Read(rig_.view(), at, bytes).error, 0);
          EXPECT_EQ(rig_.model().FirstDifference(at, bytes), std::nullopt);
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    EXPECT_LE(Amplification() * static_cast<double>(rig_.geometry().volume_bytes()) /
                  static_cast<double>(rig_.geometry().volume_bytes() - begin),
              1 + 2.0 / kStripes)
        << length;
    rig_.engine().cache().DropAll();
    rig_.clock().Advance(uint64_t{10} << 30);
  }
}

TEST_P(DegradedReadTest, AnAdaptiveReadAtRandomTakesOneBlockOrNMinusTwo) {
  rig_.Lose(1);
  Use(Adaptive());
  for (int i = 0; i < 200; ++i) {
    const uint64_t at = RoundDown(rig_.prng().Below(rig_.geometry().volume_bytes()), 4096);
    rig_.TakeTraffic();
    EXPECT_EQ(rig_.Read(at, 4096).error, 0);
    const bool lost = rig_.geometry().Locate(at).slot == 1;
    EXPECT_EQ(rig_.TakeTraffic().read_bytes, (lost ? 8u : 1u) * 4096);
    rig_.clock().Advance(uint64_t{2} << 30);
  }
  EXPECT_TRUE(rig_.engine().cache().empty());
}

TEST_P(DegradedReadTest, ASmallCacheIsNoDearerThanNone) {
  rig_.Lose(1);
  Use(Adaptive());
  rig_.engine().cache().Resize(0);
  const double none = StreamAmplification(4096);
  rig_.engine().cache().Resize(23);  // less than three stripes
  EXPECT_LE(StreamAmplification(4096), none);
  const double hit = StripesWithLostData({1}) / kStripes;
  EXPECT_NEAR(none, (hit * (7 + 8) + (1 - hit) * 8) / 8, 1e-9);
}

TEST_P(DegradedReadTest, WhatAStreamLeftIsDroppedAHundredMillisecondsLater) {
  rig_.Lose(rig_.geometry().RolesOf(0).DataSlot(5));
  Use(Adaptive());
  bool wants_upkeep = false;
  for (uint64_t at = 0; at < 8 * 4096; at += 4096) {
    const EngineResult result = rig_.Read(at, 4096);
    EXPECT_FALSE(wants_upkeep && result.wants_upkeep) << "once";
    wants_upkeep |= result.wants_upkeep;
  }
  EXPECT_TRUE(wants_upkeep);
  StripeCache& cache = rig_.engine().cache();
  EXPECT_EQ(cache.active(), kChunk / kLaneBytes - 1) << "a first read is no stream";
  rig_.clock().Advance(99'999'999);
  EXPECT_EQ(cache.Expire(rig_.clock().NowNs()), rig_.clock().NowNs() + 1);
  EXPECT_EQ(cache.active(), kChunk / kLaneBytes - 1);
  rig_.clock().Advance(1);
  EXPECT_EQ(cache.Expire(rig_.clock().NowNs()), StripeCache::kNever);
  EXPECT_EQ(cache.active(), 0u);
}

// Sectors that cannot be read, on live members and under the cache: the rest makes up for them, and
// they are mended.
TEST_P(DegradedReadTest, ReadErrorsAreMadeUpForAndMendedUnderEveryPolicy) {
  for (const auto& policy : {Bypass(), ThroughCache(), Adaptive()}) {
    rig_.engine().cache().DropAll();
    rig_.Lose(1);
    Use(policy);
    for (const uint64_t at : {uint64_t{0}, 5 * kChunk + 4096, 11 * kChunk + 8192}) {
      rig_.fault(3).AddRule({.op = FaultOp::kRead,
                             .kind = FaultKind::kError,
                             .offset_bytes = rig_.DataOffset(3) + at,
                             .length_bytes = kSectorBytes,
                             .until = FaultUntil::kWrite});
    }
    size_t mended = 0;
    for (uint64_t at = 0; at < rig_.geometry().volume_bytes(); at += 8192) {
      const EngineResult result = rig_.Read(at, 8192);
      EXPECT_EQ(result.error, 0);
      mended += result.mended_slots.size();
    }
    EXPECT_GE(mended, 1u);
    EXPECT_TRUE(rig_.MembersAgree());
    rig_.clock().Advance(uint64_t{10} << 30);
  }
}

// Chosen so that each layout family is among them.
INSTANTIATE_TEST_SUITE_P(Layouts, DegradedReadTest,
                         ::testing::Values(Layout::kLeftSymmetric, Layout::kRightAsymmetric,
                                           Layout::kParityFirst, Layout::kDdfNContinue,
                                           Layout::kLeftSymmetric6),
                         [](const auto& param) {
                           std::string name(LayoutName(param.param));
                           std::erase(name, '-');
                           return name;
                         });

// ---- Small writes ----

class KeptWriteTest : public ::testing::Test {
 protected:
  explicit KeptWriteTest(uint32_t members = 8)
      : rig_({.members = members, .chunk_bytes = 16 * kKiB, .stripes = 4, .seed = 5}) {
    rig_.engine().cache().Resize(64);
    rig_.engine().set_least_slow_read_ns(0);
  }

  uint64_t BlocksRead() { return rig_.TakeTraffic().read_bytes / kLaneBytes; }
  uint64_t BytesReadToWrite(uint64_t offset_bytes, uint64_t length_bytes) {
    rig_.TakeTraffic();
    const EngineResult result = rig_.Write(offset_bytes, length_bytes);
    EXPECT_EQ(result.error, 0);
    return rig_.TakeTraffic().read_bytes;
  }

  StripeRig rig_;
};

TEST_F(KeptWriteTest, TheNextWriteToTheSameLaneReadsNothing) {
  EXPECT_EQ(BytesReadToWrite(4096, 4096), 3u * 4096);
  EXPECT_EQ(BytesReadToWrite(4096, 4096), 0u);
  EXPECT_EQ(BytesReadToWrite(4096 + 100, 7), 0u) << "a part of it";
  EXPECT_EQ(BytesReadToWrite(16 * kKiB + 4096, 4096), 4096u) << "another chunk's block there";
  EXPECT_EQ(BytesReadToWrite(16 * kKiB + 4096, 4096), 0u);
  EXPECT_EQ(BytesReadToWrite(8192, 4096), 3u * 4096) << "another lane";
  EXPECT_EQ(BytesReadToWrite(4096, 8192), 0u);
  EXPECT_TRUE(rig_.MembersAgree());
}

TEST_F(KeptWriteTest, OfABlockThatWasWrittenInPartOnlyWhatIsKnownIsKept) {
  EXPECT_EQ(BytesReadToWrite(4096 + 512, 512), 3u * 512);
  EXPECT_EQ(BytesReadToWrite(4096 + 512, 512), 3u * 512) << "the rest of the block is not known";
  EXPECT_EQ(BytesReadToWrite(4096, 4096), 3u * 4096);
  EXPECT_EQ(BytesReadToWrite(4096 + 512, 512), 0u);
  EXPECT_TRUE(rig_.MembersAgree());
}

TEST_F(KeptWriteTest, WhatElseChangesAStripeDropsItsLanes) {
  const uint64_t stripe = rig_.geometry().stripe_bytes();
  const std::vector<std::function<void()>> changes = {
      [&] { EXPECT_EQ(rig_.Write(0, stripe).error, 0); },
      [&] { EXPECT_EQ(rig_.Zero(0, stripe).error, 0); },
      [&] { rig_.engine().RecomputeParity(rig_.view(), 0, 1); },
      [&] {
        SyncFindings findings;
        rig_.engine().RepairStripes(rig_.view(), 0, 1, RepairMode::kLocate, &findings);
      },
      [&] { rig_.engine().MembersChanged(rig_.view()); },
  };
  for (const auto& change : changes) {
    rig_.Write(4096, 4096);
    EXPECT_EQ(BytesReadToWrite(4096, 4096), 0u);
    change();
    EXPECT_EQ(BytesReadToWrite(4096, 4096), 3u * 4096);
  }
  EXPECT_TRUE(rig_.MembersAgree());
}

TEST_F(KeptWriteTest, AfterAMemberRefusedAWriteNothingIsKept) {
  rig_.Write(4096, 4096);
  rig_.fault(rig_.geometry().RolesOf(0).DataSlot(0))
      .AddRule({.op = FaultOp::kWrite, .kind = FaultKind::kError, .nth = 1});
  const EngineResult result = rig_.Write(4096, 4096);
  EXPECT_EQ(result.error, 0);
  EXPECT_EQ(result.member_errors.size(), 1u);
  EXPECT_TRUE(rig_.engine().cache().empty());
  rig_.Lose(rig_.geometry().RolesOf(0).DataSlot(0));
  EXPECT_EQ(rig_.Read(0, rig_.geometry().stripe_bytes()).error, 0);
  EXPECT_TRUE(rig_.MembersAgree());
}

TEST_F(KeptWriteTest, ALostBlockThatIsKeptFollowsItsWrites) {
  rig_.Lose(rig_.geometry().RolesOf(0).DataSlot(1));
  rig_.policies().degraded_read.Set(ThroughCache());
  EXPECT_EQ(rig_.Read(16 * kKiB, 4096).error, 0);
  EXPECT_EQ(rig_.Write(16 * kKiB + 50, 2000).error, 0);
  EXPECT_EQ(rig_.Write(0, 4096).error, 0);
  rig_.TakeTraffic();
  EXPECT_EQ(rig_.Read(16 * kKiB, 4096).error, 0);
  EXPECT_EQ(rig_.Read(0, 4096).error, 0);
  EXPECT_EQ(BlocksRead(), 0u);
  EXPECT_TRUE(rig_.MembersAgree());
}

TEST_F(KeptWriteTest, WhatIsReadQuicklyIsNotKept) {
  rig_.engine().set_least_slow_read_ns(1000);
  uint64_t read_ns = 300;
  for (uint32_t slot = 0; slot < 8; ++slot) {
    rig_.hook(slot).set_hook([&](const IoRequest& request) {
      rig_.clock().Advance(request.kind == IoKind::kRead ? read_ns : 0);
    });
  }
  EXPECT_EQ(BytesReadToWrite(4096, 4096), 3u * 4096);
  EXPECT_EQ(BytesReadToWrite(4096, 4096), 0u) << "it is not known yet";
  for (uint64_t i = 0; i < 40; ++i) {
    rig_.engine().cache().DropAll();
    EXPECT_EQ(BytesReadToWrite(4096, 4096), 3u * 4096);
  }
  EXPECT_TRUE(rig_.engine().cache().empty());
  EXPECT_EQ(BytesReadToWrite(4096, 4096), 3u * 4096);
  read_ns = 2000;
  for (uint64_t i = 0; i < 10; ++i) {
    rig_.Write(4096, 4096);
  }
  EXPECT_EQ(BytesReadToWrite(4096, 4096), 0u);
  rig_.clock().Advance(11'000'000'000);
  rig_.engine().cache().Expire(rig_.clock().NowNs());
  EXPECT_TRUE(rig_.engine().cache().empty()) << "not for ever";
}

TEST_F(KeptWriteTest, WithoutRoomEverythingIsRead) {
  rig_.engine().cache().Resize(1);
  EXPECT_EQ(BytesReadToWrite(4096, 8192), 3u * 8192);
  EXPECT_EQ(BytesReadToWrite(4096, 8192), 3u * 8192);
  EXPECT_TRUE(rig_.MembersAgree());
}

// ---- Against the byte-array model ----

class DegradedRandomTest : public ::testing::Test {
 protected:
  explicit DegradedRandomTest() : prng_(TestSeed("DegradedRandom")) {}

  std::shared_ptr<DegradedRead> AnyPolicy() {
    switch (prng_.Below(5)) {
      case 0:
        return Bypass();
      case 1:
        return ThroughCache();
      case 2:
        return Adaptive();
      case 3:
        return nullptr;
      default:
        return std::make_shared<RandomReads>(prng_.Next());
    }
  }

  // Streams and single operations; now and then everything else changes.
  void Step(StripeRig& rig) {
    const uint64_t volume = rig.geometry().volume_bytes();
    const uint64_t stripes = rig.geometry().stripe_count();
    const uint64_t at = prng_.Below(volume);
    const uint64_t longest = prng_.OneIn(2) ? 3 * kLaneBytes : 2 * rig.geometry().stripe_bytes();
    const uint64_t length = std::min(prng_.Between(1, longest), volume - at);
    switch (prng_.Below(16)) {
      case 0:
        rig.policies().degraded_read.Set(AnyPolicy());
        break;
      case 1: {
        const uint32_t sizes[] = {0, 1, 17, 17, 64, 1000};
        rig.engine().cache().Resize(sizes[prng_.Below(std::size(sizes))]);
        break;
      }
      case 2:
        rig.clock().Advance(prng_.Below(200'000'000));
        rig.engine().cache().Expire(rig.clock().NowNs());
        break;
      case 3:
        EXPECT_EQ(rig.Zero(at, length).error, 0);
        break;
      case 4: {
        SyncFindings findings;
        rig.engine().RepairStripes(rig.view(), 0, stripes, RepairMode::kParity, &findings);
        EXPECT_EQ(findings.mismatch_sectors, 0u);
        rig.engine().RecomputeParity(rig.view(), prng_.Below(stripes), 1);
        break;
      }
      case 5:
      case 6:
      case 7:
      case 8:
        EXPECT_EQ(rig.Write(at, length).error, 0);
        break;
      case 9:
      case 10:
      case 11:
        for (uint64_t i = 0; i < 40 && at + i * 4096 + 4096 <= volume; ++i) {
          EXPECT_EQ(rig.Read(at + i * 4096, 4096).error, 0);
        }
        break;
      default:
        EXPECT_EQ(rig.Read(at, length).error, 0);
    }
  }

  Prng prng_;
};

TEST_F(DegradedRandomTest, HoldsTheBytesWhateverIsDecidedKeptWrittenAndLost) {
  for (int round = 0; round < (FullRun() ? 400 : 40); ++round) {
    const uint64_t chunks[] = {4 * kKiB, 16 * kKiB, 64 * kKiB};
    const RigOptions options = {.layout = AllLayouts()[prng_.Below(AllLayouts().size())],
                                .members = static_cast<uint32_t>(prng_.Between(4, 9)),
                                .chunk_bytes = chunks[prng_.Below(std::size(chunks))],
                                .stripes = 6,
                                .alignment_bytes = prng_.OneIn(2) ? 1u : 4096u,
                                .seed = prng_.Next()};
    SCOPED_TRACE(::testing::Message() << options);
    StripeRig rig(options);
    rig.engine().cache().Resize(prng_.OneIn(2) ? 17 : 500);
    rig.engine().set_least_slow_read_ns(prng_.OneIn(2) ? 0 : 1);
    rig.policies().degraded_read.Set(AnyPolicy());
    const uint64_t losses = prng_.Below(3);
    const auto first = static_cast<uint32_t>(prng_.Below(options.members));
    for (int i = 0; i < 60 && !HasFailure(); ++i) {
      if (losses >= 1 && i == 15) {
        if (prng_.OneIn(3)) {
          rig.BeginRecovery(first, RoundDown(prng_.Below(rig.geometry().component_bytes()), 512));
          rig.engine().MembersChanged(rig.view());
        } else {
          rig.Lose(first);
        }
      }
      if (losses >= 2 && i == 35) {
        rig.Lose((first + 1) % options.members);
      }
      Step(rig);
    }
    ASSERT_TRUE(rig.MembersAgree());
    ASSERT_TRUE(rig.ReadsWithout({}));
    ASSERT_FALSE(HasFailure());
  }
}

}  // namespace
}  // namespace mdvol
