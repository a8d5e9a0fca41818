// Crashes: random work, cut off between any two requests of any member, with and without the
// operating system. The next start must find everything that was durable, nothing that was never
// written, and parity that fits. (A first small enumeration.)

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "tests/support/full.h"
#include "tests/support/test_array/log_checks.h"
#include "tests/support/test_array/test_array.h"

namespace mdvol {
namespace {

using testing::ArraySpec;
using testing::CheckOrder;
using testing::CrashAt;
using testing::Disks;
using testing::FullRun;
using testing::Prng;
using testing::RecordedRequests;
using testing::TestArray;
using testing::TestSeed;

constexpr uint64_t kMsNs = 1000000;

// One call, and how long the log was before and after.
struct Operation {
  bool is_flush = false;
  uint64_t offset_bytes = 0;
  std::vector<std::byte> data;
  size_t begin = 0;
  size_t end = 0;
};

// Does random work and remembers it.
class Worker {
 public:
  Worker(TestArray& array, uint64_t seed) : array_(array), prng_(seed) {}

  void Work(int operations, int failures) {
    before_ = array_.disks().Copy();
    array_.recording().Clear();
    for (int i = 0; i < operations; ++i) {
      if (failures > 0 && prng_.OneIn(static_cast<uint64_t>(operations - i))) {
        --failures;
        const size_t disk = prng_.Below(array_.spec().raid_disks);
        MDVOL_EXPECT_OK(array_->FailMember(disk, "by hand"));
      }
      Step();
    }
    log_ = array_.recording().requests();
    array_.Crash();
  }

  const Disks& before() const { return before_; }
  const RecordedRequests& log() const { return log_; }
  const std::vector<Operation>& operations() const { return operations_; }
  Prng& prng() { return prng_; }

 private:
  void Step() {
    Operation operation;
    operation.begin = array_.recording().size();
    const uint64_t volume = array_.geometry().volume_bytes();
    switch (prng_.Below(8)) {
      case 0:
      case 1:
        MDVOL_EXPECT_OK(array_->Flush());
        operation.is_flush = true;
        break;
      case 2:
        array_.clock().Advance(prng_.Below(4) * 100 * kMsNs);
        array_->RunMaintenance();
        return;
      case 3:
        array_.clock().Advance(5000 * kMsNs);
        array_->RunMaintenance();
        return;
      case 4:
        operation.data.resize(prng_.Between(1, 40000));
        operation.offset_bytes = prng_.Below(volume - operation.data.size());
        MDVOL_EXPECT_OK(array_->Zero(operation.offset_bytes, operation.data.size()));
        break;
      default:
        operation.data.resize(prng_.OneIn(3) ? prng_.Between(1, 40000) : prng_.Between(1, 3000));
        operation.offset_bytes = prng_.Below(volume - operation.data.size());
        prng_.Fill(operation.data);
        MDVOL_EXPECT_OK(array_->Write(operation.offset_bytes, operation.data));
    }
    operation.end = array_.recording().size();
    operations_.push_back(std::move(operation));
  }

  TestArray& array_;
  Prng prng_;
  Disks before_;
  RecordedRequests log_;
  std::vector<Operation> operations_;
};

// What a volume may hold after a crash: for each byte what it must be, or one of those.
class Allowed {
 public:
  Allowed(const Worker& worker, const std::vector<std::byte>& initial, size_t time, bool power_loss)
      : must_(initial), may_(initial.size()) {
    const auto& operations = worker.operations();
    for (size_t i = 0; i < operations.size(); ++i) {
      const Operation& operation = operations[i];
      if (operation.is_flush || operation.begin >= time) {
        continue;
      }
      bool is_settled = !power_loss && operation.end <= time;
      for (size_t j = i + 1; j < operations.size() && power_loss; ++j) {
        is_settled |= operations[j].is_flush && operations[j].end <= time;
      }
      for (size_t k = 0; k < operation.data.size(); ++k) {
        const size_t at = operation.offset_bytes + k;
        if (is_settled) {
          must_[at] = operation.data[k];
          may_[at].clear();
        } else {
          may_[at].push_back(operation.data[k]);
        }
      }
    }
  }

  bool IsHot(size_t at) const { return !may_[at].empty(); }
  bool Allows(size_t at, std::byte value) const {
    return value == must_[at] ||
           std::find(may_[at].begin(), may_[at].end(), value) != may_[at].end();
  }

 private:
  std::vector<std::byte> must_;
  std::vector<std::vector<std::byte>> may_;
};

std::vector<std::byte> ReadAll(TestArray& array) {
  std::vector<std::byte> bytes(array.geometry().volume_bytes());
  MDVOL_EXPECT_OK(array->Read(0, bytes));
  return bytes;
}

// All times at which a crash makes a difference, or a sample of them.
std::vector<size_t> CrashTimes(Worker& worker, size_t sample) {
  std::vector<size_t> times;
  for (size_t time = 0; time <= worker.log().size(); ++time) {
    if (time == worker.log().size() || worker.log()[time].kind != IoKind::kRead) {
      times.push_back(time);
    }
  }
  while (!FullRun() && times.size() > sample) {
    times.erase(times.begin() + static_cast<ptrdiff_t>(worker.prng().Below(times.size())));
  }
  return times;
}

class ArrayCrashTest : public ::testing::TestWithParam<ArraySpec> {};

INSTANTIATE_TEST_SUITE_P(Specs, ArrayCrashTest,
                         ::testing::Values(ArraySpec{.stripes = 8, .bitmap_chunk_bytes = 4096},
                                           ArraySpec{.stripes = 8, .bitmap = false},
                                           ArraySpec{.layout = Layout::kDdfNContinue,
                                                     .raid_disks = 4,
                                                     .stripes = 12,
                                                     .bitmap_chunk_bytes = 8192,
                                                     .minor = 0}));

TEST_P(ArrayCrashTest, AWholeArrayHoldsWhatWasDurable) {
  const uint64_t seed = TestSeed("CrashWhole");
  for (uint64_t round = 0; round < (FullRun() ? 20 : 4); ++round) {
    TestArray array(GetParam());
    MDVOL_ASSERT_OK(array.Open());
    MDVOL_ASSERT_OK(array.Fill());
    MDVOL_ASSERT_OK(array.Stop());
    MDVOL_ASSERT_OK(array.Open());
    const std::vector<std::byte> initial = array.model().bytes();
    Worker worker(array, seed + round);
    worker.Work(14, 0);
    for (const size_t time : CrashTimes(worker, 40)) {
      for (const bool power_loss : {false, true}) {
        TestArray after(array, CrashAt(worker.before(), worker.log(), time,
                                       power_loss ? &worker.prng() : nullptr));
        MDVOL_ASSERT_OK(after.Open());
        ASSERT_EQ(after->Snapshot().degraded, 0U);
        ASSERT_FALSE(after->NextDoubt(0).has_value());
        ASSERT_EQ(after.InconsistentStripes(), std::vector<uint64_t>()) << time;
        const Allowed allowed(worker, initial, time, power_loss);
        const std::vector<std::byte> bytes = ReadAll(after);
        for (size_t at = 0; at < bytes.size(); ++at) {
          ASSERT_TRUE(allowed.Allows(at, bytes[at])) << "byte " << at << ", time " << time;
        }
        MDVOL_ASSERT_OK(after.Stop());
        ASSERT_EQ(after.super(0).resync_offset, kResyncDone);
      }
    }
  }
}

// Degraded and dirty, the stripes that were being written may have lost the bytes of missing
// members (that hole is what a journal is for); all others hold what was durable.
TEST_P(ArrayCrashTest, ADegradedArrayHoldsWhatWasDurableInStripesAtRest) {
  const uint64_t seed = TestSeed("CrashDegraded");
  for (uint64_t round = 0; round < (FullRun() ? 20 : 4); ++round) {
    TestArray array(GetParam());
    MDVOL_ASSERT_OK(array.Open());
    MDVOL_ASSERT_OK(array.Fill());
    MDVOL_ASSERT_OK(array.Stop());
    MDVOL_ASSERT_OK(array.Open());
    const std::vector<std::byte> initial = array.model().bytes();
    Worker worker(array, seed + round);
    worker.Work(14, round % 2 == 0 ? 1 : 2);
    const uint64_t stripe_bytes = array.geometry().stripe_bytes();
    for (const size_t time : CrashTimes(worker, 40)) {
      for (const bool power_loss : {false, true}) {
        TestArray after(array, CrashAt(worker.before(), worker.log(), time,
                                       power_loss ? &worker.prng() : nullptr));
        MDVOL_ASSERT_OK(after.Open({}, {.force = true}));
        const Allowed allowed(worker, initial, time, power_loss);
        const std::vector<std::byte> bytes = ReadAll(after);
        for (size_t begin = 0; begin < bytes.size(); begin += stripe_bytes) {
          bool is_hot = false;
          for (size_t at = begin; at < begin + stripe_bytes; ++at) {
            is_hot |= allowed.IsHot(at);
          }
          for (size_t at = begin; at < begin + stripe_bytes && !is_hot; ++at) {
            ASSERT_TRUE(allowed.Allows(at, bytes[at])) << "byte " << at << ", time " << time;
          }
        }
        MDVOL_ASSERT_OK(after.Stop());
      }
    }
  }
}

// Crash upon crash: work, crash, start, work again.
TEST_P(ArrayCrashTest, CrashesMayFollowEachOther) {
  const uint64_t seed = TestSeed("CrashAgain");
  for (uint64_t round = 0; round < (FullRun() ? 100 : 10); ++round) {
    Prng prng(seed + round);
    TestArray array(GetParam());
    for (int life = 0; life < 5; ++life) {
      MDVOL_ASSERT_OK(array.Open());
      ASSERT_EQ(array.CheckVolume(), "") << life;
      ASSERT_TRUE(array.InconsistentStripes().empty()) << life;
      for (uint64_t i = 0; i < prng.Below(8); ++i) {
        const uint64_t length = prng.Between(1, 20000);
        const uint64_t offset = prng.Below(array.geometry().volume_bytes() - length);
        MDVOL_ASSERT_OK(prng.OneIn(4) ? array.Zero(offset, length) : array.Write(offset, length));
        if (prng.OneIn(4)) {
          array.clock().Advance(prng.Below(6000) * kMsNs);
          array->RunMaintenance();
        }
      }
      if (prng.OneIn(4)) {
        MDVOL_ASSERT_OK(array.Stop());
      } else {
        array.Crash();
      }
    }
  }
}

}  // namespace
}  // namespace mdvol
