// When requests end, worked out by hand; and that loads run at the rates that are predicted.

#include "core/device/disk_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <queue>
#include <vector>

#include "core/base/units.h"
#include "tests/support/seed.h"

namespace mdvol {
namespace {

using testing::Prng;
using testing::TestSeed;

constexpr uint64_t kUs = 1000;
constexpr uint64_t kMs = 1000 * kUs;
constexpr IoKind kRead = IoKind::kRead;

// 1 MB/s: a byte takes a microsecond.
constexpr DiskModelParameters kPlain{100 * kUs, 0, 1'000'000, 2};
constexpr DiskModelParameters kArm{0, 500 * kUs, 1'000'000, 1};

TEST(DiskModelTest, ALoneRequestTakesLatencyAndTransfer) {
  DiskModel model(kPlain);
  EXPECT_EQ(model.Admit(1000, kRead, 7, 50), 1000 + 150 * kUs);
  EXPECT_EQ(model.Admit(kMs, IoKind::kWrite, 0, 50), kMs + 150 * kUs);
}

TEST(DiskModelTest, LatenciesOverlapAndTransfersQueueForTheBus) {
  DiskModel model(kPlain);
  EXPECT_EQ(model.Admit(0, kRead, 0, 1000), 1100 * kUs);
  EXPECT_EQ(model.Admit(0, kRead, 5000, 10), 1110 * kUs);  // positioned at 100, the bus at 1100
  EXPECT_EQ(model.Admit(0, kRead, 9000, 10), 1210 * kUs);  // no channel before 1100
  EXPECT_EQ(model.Admit(0, kRead, 9000, 10), 1220 * kUs);  // the second channel from 1110
}

TEST(DiskModelTest, WithOneChannelRequestsFollowEachOther) {
  DiskModel model({100 * kUs, 0, 1'000'000, 1});
  EXPECT_EQ(model.Admit(0, kRead, 0, 10), 110 * kUs);
  EXPECT_EQ(model.Admit(0, kRead, 0, 10), 220 * kUs);
  EXPECT_EQ(model.Admit(215 * kUs, kRead, 0, 10), 330 * kUs);
  EXPECT_EQ(model.Admit(500 * kUs, kRead, 0, 10), 610 * kUs);
}

TEST(DiskModelTest, PositioningIsFreeWhereTheHeadStandsAndCheapForSmallGapsAhead) {
  DiskModel model(kArm);
  EXPECT_EQ(model.Admit(0, kRead, 0, 100), 100 * kUs);                     // the start of the disk
  EXPECT_EQ(model.Admit(kMs, IoKind::kWrite, 100, 100), kMs + 100 * kUs);  // goes on
  EXPECT_EQ(model.Admit(2 * kMs, kRead, 230, 10), 2 * kMs + 40 * kUs);     // a gap of 30
  EXPECT_EQ(model.Admit(3 * kMs, kRead, 739, 1), 3 * kMs + 500 * kUs);     // a gap of 499
  EXPECT_EQ(model.Admit(4 * kMs, kRead, 5000, 1), 4 * kMs + 501 * kUs);    // a gap of 4260
  EXPECT_EQ(model.Admit(5 * kMs, kRead, 5000, 1), 5 * kMs + 501 * kUs);    // one byte back
}

TEST(DiskModelTest, WithoutABandwidthEveryGapCostsASeek) {
  DiskModel model({0, 500 * kUs, 0, 1});
  EXPECT_EQ(model.Admit(0, kRead, 0, kMiB), 0u);
  EXPECT_EQ(model.Admit(0, kRead, kMiB + 1, kMiB), 500 * kUs);
}

TEST(DiskModelTest, AnswersComeInTheOrderOfAdmission) {
  DiskModel model({0, 500 * kUs, 1'000'000, 2});
  EXPECT_EQ(model.Admit(0, kRead, 9000, 100), 600 * kUs);
  EXPECT_EQ(model.Admit(0, kRead, 9100, 100), 700 * kUs);  // positioned at 0, but second
}

TEST(DiskModelTest, ZeroingCostsNoTransferAndMovesTheHead) {
  DiskModel model(kArm);
  EXPECT_EQ(model.Admit(0, IoKind::kZero, 9000, 1000), 500 * kUs);
  EXPECT_EQ(model.Admit(kMs, IoKind::kWrite, 10000, 100), kMs + 100 * kUs);
  EXPECT_EQ(model.Admit(kMs, IoKind::kZero, 10100, 100), kMs + 100 * kUs);  // in its turn
}

TEST(DiskModelTest, AFlushWaitsForTheQueueAndCostsNothing) {
  DiskModel model(kPlain);
  EXPECT_EQ(model.Admit(70, IoKind::kFlush, 0, 0), 70u);
  model.Admit(0, kRead, 0, 1000);
  const uint64_t last_ns = model.Admit(0, IoKind::kWrite, 0, 1000);
  EXPECT_EQ(model.Admit(0, IoKind::kFlush, 0, 0), last_ns);
  EXPECT_EQ(model.Admit(last_ns + 1, IoKind::kFlush, 0, 0), last_ns + 1);
  EXPECT_EQ(model.Admit(last_ns + 1, kRead, 0, 0), last_ns + 1 + 100 * kUs);
}

TEST(DiskModelTest, HugeRequestsOnSlowDisksDoNotOverflow) {
  DiskModel model({0, 60'000 * kMs, 1, 1});
  uint64_t before_ns = 0;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t end_ns = model.Admit(0, kRead, uint64_t{1} << 62, uint64_t{1} << 62);
    EXPECT_GT(end_ns, before_ns);
    before_ns = end_ns;
  }
  EXPECT_LT(before_ns, uint64_t{std::numeric_limits<int64_t>::max()});
}

TEST(DiskModelTest, StretchingMultipliesAllTimes) {
  DiskModel plain(kHddModel);
  DiskModel slow(Stretched(kHddModel, 4));
  DiskModel fast(Stretched(kHddModel, 0.25));
  Prng prng(TestSeed("DiskModelStretched"));
  uint64_t plain_ns = 0;
  uint64_t slow_ns = 0;
  uint64_t fast_ns = 0;
  for (int i = 0; i < 200; ++i) {
    const uint64_t offset_bytes = prng.Below(kGiB);
    const uint64_t length_bytes = prng.Below(kMiB);
    plain_ns = plain.Admit(0, kRead, offset_bytes, length_bytes);
    slow_ns = slow.Admit(0, kRead, offset_bytes, length_bytes);
    fast_ns = fast.Admit(0, kRead, offset_bytes, length_bytes);
  }
  EXPECT_NEAR(static_cast<double>(slow_ns), 4.0 * static_cast<double>(plain_ns), 2000);
  EXPECT_NEAR(static_cast<double>(fast_ns), 0.25 * static_cast<double>(plain_ns), 2000);
  EXPECT_EQ(Stretched(kSsdModel, 1), kSsdModel);
  EXPECT_EQ(Stretched({10, 20, 0, 3}, 2), (DiskModelParameters{20, 40, 0, 3}));
  EXPECT_EQ(Stretched({0, 0, 1, 1}, 1000).bandwidth_bytes_per_s, 1u);  // 0 would be no limit
}

// Requests per second of a closed load: `depth` callers, each with a new request once its last has
// ended.
template <typename NextOffset>
double RateOf(const DiskModelParameters& parameters, uint64_t length_bytes, uint32_t depth,
              NextOffset next_offset) {
  constexpr int kCount = 20'000;
  DiskModel model(parameters);
  std::priority_queue<uint64_t, std::vector<uint64_t>, std::greater<>> free_ns;
  for (uint32_t i = 0; i < depth; ++i) {
    free_ns.push(0);
  }
  uint64_t end_ns = 0;
  for (int i = 0; i < kCount; ++i) {
    const uint64_t now_ns = free_ns.top();
    free_ns.pop();
    end_ns = model.Admit(now_ns, kRead, next_offset(), length_bytes);
    free_ns.push(end_ns);
  }
  return kCount * 1e9 / static_cast<double>(end_ns);
}

TEST(DiskModelTest, RandomReadsRunAtThePredictedRate) {
  Prng prng(TestSeed("DiskModelRandomRate"));
  for (const DiskModelParameters& parameters : {kHddModel, kSsdModel, kNvmeModel}) {
    for (const uint64_t length_bytes : {4 * kKiB, 64 * kKiB, kMiB}) {
      for (const uint32_t depth : {1u, 2u, 4u, 64u}) {
        for (const uint64_t span_bytes : {kGiB, 256 * kMiB}) {
          const double rate = RateOf(parameters, length_bytes, depth, [&] {
            return prng.Below(span_bytes / length_bytes) * length_bytes;
          });
          const double predicted = PredictRandomRate(parameters, length_bytes, span_bytes, depth);
          EXPECT_NEAR(rate / predicted, 1, 0.01)
              << "seek " << parameters.seek_ns << " length " << length_bytes << " depth " << depth;
        }
      }
    }
  }
}

TEST(DiskModelTest, StreamsRunAtThePredictedRate) {
  for (const DiskModelParameters& parameters : {kHddModel, kSsdModel, kNvmeModel}) {
    for (const uint32_t depth : {1u, 2u, 4u, 64u}) {
      uint64_t end_bytes = 0;
      const double rate = RateOf(parameters, kMiB, depth, [&] {
        end_bytes += kMiB;
        return end_bytes - kMiB;
      });
      const double predicted = PredictStreamRate(parameters, kMiB, depth);
      EXPECT_NEAR(rate * kMiB / predicted, 1, 0.01) << parameters.seek_ns << " depth " << depth;
    }
  }
}

TEST(DiskModelTest, PredictionsOfThePresetsAreWhatTheirNumbersSay) {
  EXPECT_NEAR(1e9 / PredictRandomRate(kSsdModel, 4096, kGiB, 1), 108'192, 1);
  EXPECT_NEAR(PredictRandomRate(kSsdModel, 4096, kGiB, 64), 2e9 / 108'192, 1);
  EXPECT_NEAR(PredictStreamRate(kSsdModel, kMiB, 1), 1e9 * kMiB / (100'000 + 2'097'152), 1e3);
  EXPECT_NEAR(PredictStreamRate(kSsdModel, kMiB, 2), 500e6, 1);
  EXPECT_NEAR(PredictStreamRate(kHddModel, kMiB, 1), 180e6, 1);
  EXPECT_NEAR(PredictRandomRate(kHddModel, 4096, 1024 * kGiB, 8), 1e9 / 8'022'756, 0.01);
  EXPECT_TRUE(std::isinf(PredictRandomRate({}, 4096, kGiB, 1)));
}

TEST(DiskModelTest, MeanPositioningIsThatOfRandomOffsets) {
  Prng prng(TestSeed("DiskModelPositioning"));
  for (const uint64_t span_bytes : {1000u, 500u, 5000u, 300u, 60u}) {
    DiskModel model(kArm);
    double sum_ns = 0;
    uint64_t end_ns = 0;
    for (int i = 0; i < 100'000; ++i) {
      const uint64_t start_ns = end_ns;
      end_ns = model.Admit(start_ns, kRead, prng.Below(span_bytes), 0);
      sum_ns += static_cast<double>(end_ns - start_ns);
    }
    EXPECT_NEAR(sum_ns / 1e5 / MeanPositioningNs(kArm, span_bytes), 1, 0.03) << span_bytes;
  }
  EXPECT_EQ(MeanPositioningNs(kSsdModel, kGiB), 0);
  EXPECT_EQ(MeanPositioningNs({0, 500, 0, 1}, kGiB), 500);
}

// A stream of large requests under random small ones: what small requests wait for is in the
// queue, so each adds its own service and a seek back to the stream.
TEST(DiskModelTest, MixturesCostTheSeeksThatTheyCause) {
  DiskModel model(kHddModel);
  uint64_t now_ns = 0;
  uint64_t stream_bytes = 100 * kGiB;
  const uint64_t transfer_ns = kMiB * 1000 / 180;
  for (int i = 0; i < 100; ++i) {
    const uint64_t stream_ns = model.Admit(now_ns, kRead, stream_bytes, kMiB);
    const uint64_t small_ns = model.Admit(now_ns, kRead, 4096, 4096);
    EXPECT_NEAR(static_cast<double>(stream_ns - now_ns), 8e6 + static_cast<double>(transfer_ns), 2);
    EXPECT_NEAR(static_cast<double>(small_ns - stream_ns), 8e6 + 22'756, 2);
    now_ns = small_ns;
    stream_bytes += kMiB;
  }
}

}  // namespace
}  // namespace mdvol
