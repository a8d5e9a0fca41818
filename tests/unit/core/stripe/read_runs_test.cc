// ReadRuns: streams are told from random reads, in order and out of it.

#include "core/stripe/read_runs.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "gtest/gtest.h"
#include "tests/support/seed.h"

namespace mdvol {
namespace {

using testing::Prng;
using testing::TestSeed;

constexpr uint64_t kMs = 1000000;

TEST(ReadRunsTest, ReadsInARowAreARunFromTheSecondOn) {
  ReadRuns runs;
  EXPECT_EQ(runs.Note(kMiB, 4096, kMs).requests, 0u);
  ReadRun run = runs.Note(kMiB + 4096, 4096, 3 * kMs);
  EXPECT_EQ(run.requests, 2u);
  EXPECT_EQ(run.bytes, 8192u);
  EXPECT_EQ(run.gap_ns, 2 * kMs);
  run = runs.Note(kMiB + 8192, 65536, 4 * kMs);
  EXPECT_EQ(run.requests, 3u);
  EXPECT_EQ(run.bytes, 8192u + 65536u);
  EXPECT_EQ(run.active_runs, 1u);
}

TEST(ReadRunsTest, ARunThatNobodyContinuesIsForgotten) {
  ReadRuns runs;
  runs.Note(0, 4096, 0);
  runs.Note(4096, 4096, 0);
  EXPECT_EQ(runs.Note(8192, 4096, 5000 * kMs).requests, 0u);
}

TEST(ReadRunsTest, ReadsOfAStreamMayComeOutOfOrder) {
  Prng prng(TestSeed("ReadRunsOutOfOrder"));
  for (const uint64_t length : {uint64_t{4096}, 64 * kKiB, kMiB}) {
    ReadRuns runs;
    std::vector<uint64_t> under_way;
    uint64_t next = 0;
    int strangers = 0;
    for (int i = 0; i < 2000; ++i) {
      while (under_way.size() < 8) {
        under_way.push_back(next);
        next += length;
      }
      const size_t at = prng.Below(under_way.size());
      const ReadRun run = runs.Note(under_way[at], length, kMs);
      under_way.erase(under_way.begin() + static_cast<ptrdiff_t>(at));
      strangers += run.requests <= 50 ? 1 : 0;
    }
    EXPECT_LE(strangers, 400) << length;
  }
}

TEST(ReadRunsTest, RandomReadsAreNoRunNotOnASmallVolumeEither) {
  Prng prng(TestSeed("ReadRunsRandom"));
  for (const uint64_t span : {16 * kMiB, 64 * kMiB, uint64_t{64} << 30}) {
    ReadRuns runs;
    int runs_of_eight = 0;
    for (int i = 0; i < 20000; ++i) {
      const ReadRun run = runs.Note(RoundDown(prng.Below(span), 4096), 4096, kMs);
      runs_of_eight += run.requests >= 8 ? 1 : 0;
    }
    EXPECT_LE(runs_of_eight, 100) << span;
  }
}

TEST(ReadRunsTest, SeveralStreamsAndManyRandomReadsBesideThem) {
  Prng prng(TestSeed("ReadRunsMixed"));
  ReadRuns runs;
  std::vector<uint64_t> streams = {0, uint64_t{1} << 30, uint64_t{2} << 30, uint64_t{3} << 30};
  ReadRun run;
  for (int i = 0; i < 500; ++i) {
    for (uint64_t& at : streams) {
      run = runs.Note(at, 8192, static_cast<uint64_t>(i) * kMs);
      at += 8192;
      EXPECT_TRUE(i == 0 || run.requests == static_cast<uint32_t>(i) + 1) << i;
      for (int k = 0; k < 30 && i >= 2; ++k) {
        runs.Note((uint64_t{4} << 30) + RoundDown(prng.Below(uint64_t{1} << 40), 4096), 4096,
                  static_cast<uint64_t>(i) * kMs);
      }
    }
  }
  // Counted anew every now and then; two of the random ones may have met by chance.
  const uint32_t active = runs.Note(streams[0], 8192, 700 * kMs).active_runs;
  EXPECT_GE(active, 4u);
  EXPECT_LE(active, 6u);
}

}  // namespace
}  // namespace mdvol
