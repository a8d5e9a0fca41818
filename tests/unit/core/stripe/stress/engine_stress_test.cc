// StripeEngine under load: threads that own disjoint ranges of shared stripes, down to single bytes
// of one sector, write, zero and read them at once; in the end the members are judged. Run under
// TSan too.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "core/base/units.h"
#include "gtest/gtest.h"
#include "tests/support/full.h"
#include "tests/support/seed.h"
#include "tests/support/stripes/parity_by.h"
#include "tests/support/stripes/stripe_rig.h"

namespace mdvol {
namespace {

using testing::FullRun;
using testing::NoDoubt;
using testing::Prng;
using testing::RigOptions;
using testing::StripeRig;
using testing::TestSeed;

constexpr size_t kThreads = 8;

struct Cell {
  uint64_t begin;
  uint64_t end;
};

// Cuts the volume into cells of one byte to two stripes and deals them out.
std::vector<std::vector<Cell>> DealCells(const ArrayGeometry& geometry, Prng& prng) {
  std::vector<std::vector<Cell>> cells(kThreads);
  const uint64_t longest[] = {
      1, 100, 700, 5000, geometry.chunk_bytes() * 2, geometry.stripe_bytes() * 2};
  for (uint64_t at = 0; at < geometry.volume_bytes();) {
    const uint64_t end = std::min(at + prng.Between(1, longest[prng.Below(std::size(longest))]),
                                  geometry.volume_bytes());
    cells[prng.Below(kThreads)].push_back({at, end});
    at = end;
  }
  return cells;
}

// What all threads of a test share. The shadow is the volume as it must be; every thread touches
// its own cells of it alone.
struct Shared {
  StripeRig& rig;
  std::vector<std::byte> shadow;
  bool judges_reads = true;
  std::atomic<uint64_t> member_errors = 0;
  std::atomic<uint64_t> mended = 0;
};

void Count(Shared& shared, const EngineResult& result) {
  EXPECT_EQ(result.error, 0);
  shared.member_errors += result.member_errors.size();
  shared.mended += result.mended_slots.size();
}

void RunOne(Shared& shared, const Cell& cell, Prng& prng) {
  const uint64_t begin = prng.OneIn(2) ? cell.begin : prng.Between(cell.begin, cell.end - 1);
  const uint64_t length = prng.OneIn(2) ? cell.end - begin : prng.Between(1, cell.end - begin);
  const auto mine = std::span(shared.shadow).subspan(begin, length);
  StripeEngine& engine = shared.rig.engine();
  switch (prng.Below(8)) {
    case 0:
      std::fill(mine.begin(), mine.end(), std::byte{0});
      Count(shared, engine.Zero(shared.rig.view(), begin, length));
      break;
    case 1:
    case 2:
    case 3: {
      std::vector<std::byte> read(length);
      Count(shared, engine.Read(shared.rig.view(), begin, read));
      EXPECT_TRUE(!shared.judges_reads || std::equal(read.begin(), read.end(), mine.begin()))
          << begin << "+" << length;
      break;
    }
    default:
      prng.Fill(mine);
      Count(shared, engine.Write(shared.rig.view(), begin, mine));
  }
}

void RunThreads(Shared& shared, uint64_t seed, int rounds, bool recompute) {
  Prng prng(seed);
  const auto cells = DealCells(shared.rig.geometry(), prng);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&shared, &mine = cells[t], seed, t, rounds] {
      Prng own(seed + t + 1);
      for (int i = 0; i < rounds && !mine.empty(); ++i) {
        RunOne(shared, mine[own.Below(mine.size())], own);
      }
    });
  }
  std::atomic<bool> done = false;
  std::thread switcher([&] {
    Prng own(seed);
    while (!done) {
      testing::SwitchParity(shared.rig.policies(), own);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  std::thread resync([&] {
    while (recompute && !done) {
      SyncFindings findings;
      shared.rig.engine().RepairStripes(shared.rig.view(), 0, shared.rig.geometry().stripe_count(),
                                        RepairMode::kParity, &findings);
      EXPECT_EQ(findings.mismatch_sectors, 0u) << "parity was wrong between two writes";
    }
  });
  for (std::thread& thread : threads) {
    thread.join();
  }
  done = true;
  resync.join();
  switcher.join();
  shared.rig.model().Write(0, shared.shadow);
}

RigOptions Options(Prng& prng) {
  return {.layout = AllLayouts()[prng.Below(AllLayouts().size())],
          .members = static_cast<uint32_t>(prng.Between(4, 7)),
          .chunk_bytes = prng.OneIn(2) ? 4 * kKiB : 16 * kKiB,
          .stripes = 4,
          .alignment_bytes = prng.OneIn(2) ? 1u : 512u,
          .seed = prng.Next()};
}

int Rounds() { return FullRun() ? 20000 : 1000; }

TEST(EngineStressTest, DisjointBytesOfSharedStripesStayWhoseTheyAre) {
  Prng prng(TestSeed("EngineStress"));
  for (int losses = 0; losses <= 2; ++losses) {
    const RigOptions options = Options(prng);
    SCOPED_TRACE(::testing::Message() << options << ", losses " << losses);
    StripeRig rig(options);
    for (int i = 0; i < losses; ++i) {
      rig.Lose(static_cast<uint32_t>(i) * 2);
    }
    Shared shared{rig, rig.model().bytes()};
    RunThreads(shared, prng.Next(), Rounds(), losses == 0);
    EXPECT_EQ(shared.member_errors, 0u);
    ASSERT_TRUE(rig.MembersAgree());
    EXPECT_TRUE(rig.ReadsWithout({}));
  }
}

TEST(EngineStressTest, ARecoveringMemberAndBadBlocksAmongThem) {
  Prng prng(TestSeed("EngineStressTroubles"));
  StripeRig rig(Options(prng));
  rig.BeginRecovery(1, rig.geometry().component_bytes() / 2 + 700);
  rig.AddBadBlocks(3, 1024, 5120);
  Shared shared{rig, rig.model().bytes()};
  RunThreads(shared, prng.Next(), Rounds(), false);
  EXPECT_TRUE(rig.MembersAgree());
}

// Sectors go bad while everybody works; each is mended by whoever meets it.
TEST(EngineStressTest, ReadErrorsAreMendedAmongWriters) {
  Prng prng(TestSeed("EngineStressReadErrors"));
  StripeRig rig(Options(prng));
  for (uint64_t at = 0; at < rig.geometry().component_bytes(); at += 2 * kLaneBytes) {
    for (const uint32_t slot : {0u, 2u}) {
      rig.fault(slot).AddRule({.op = FaultOp::kRead,
                               .kind = FaultKind::kError,
                               .offset_bytes = rig.DataOffset(slot) + at,
                               .length_bytes = kSectorBytes,
                               .until = FaultUntil::kWrite});
    }
  }
  Shared shared{rig, rig.model().bytes()};
  RunThreads(shared, prng.Next(), Rounds(), false);
  EXPECT_EQ(shared.member_errors, 0u);
  EXPECT_TRUE(rig.MembersAgree());
}

// A member refuses a write now and then, and stays in everybody's view. When it is failed in the
// end, all that was acknowledged must be there without it.
TEST(EngineStressTest, AMemberThatRefusesWritesIsNotNeeded) {
  Prng prng(TestSeed("EngineStressWriteErrors"));
  for (const bool degraded : {false, true}) {
    StripeRig rig(Options(prng));
    if (degraded) {
      rig.Lose(0);
    }
    rig.fault(2).AddRule({.op = FaultOp::kWrite, .kind = FaultKind::kError, .probability = 0.05});
    Shared shared{rig, rig.model().bytes()};
    shared.judges_reads = false;
    RunThreads(shared, prng.Next(), Rounds(), false);
    EXPECT_GT(shared.member_errors, 0u);
    rig.Lose(2);
    EXPECT_TRUE(rig.MembersAgree());
    EXPECT_TRUE(rig.ReadsWithout({}));
  }
}

}  // namespace
}  // namespace mdvol
