// Several callers on one stripe: groups, requests that cross stripes of which some are busy, zeroes
// and writes together, readers that reconstruct. A gate in front of a member holds a leader up, so
// that the others are known to be there before it goes on.

#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "core/base/units.h"
#include "gtest/gtest.h"
#include "tests/support/stripes/stripe_rig.h"

namespace mdvol {
namespace {

using testing::RigOptions;
using testing::StripeRig;

constexpr uint64_t kChunk = 16 * kKiB;

// Holds up the first request that fits, until it is opened.
class Gate {
 public:
  explicit Gate(std::function<bool(const IoRequest&)> fits) : fits_(std::move(fits)) {}

  void Pass(const IoRequest& request) {
    absl::MutexLock lock(&mutex_);
    if (taken_ || !fits_(request)) {
      return;
    }
    taken_ = true;
    mutex_.Await(absl::Condition(&open_));
  }

  void AwaitSomebody() {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(&taken_));
  }

  void Open() {
    absl::MutexLock lock(&mutex_);
    open_ = true;
  }

 private:
  const std::function<bool(const IoRequest&)> fits_;
  absl::Mutex mutex_;
  bool taken_ = false;
  bool open_ = false;
};

class EngineGroupTest : public ::testing::Test {
 protected:
  EngineGroupTest()
      : rig_({.layout = Layout::kParityLast,
              .members = 6,
              .chunk_bytes = kChunk,
              .stripes = 6,
              .seed = 5}) {}
  ~EngineGroupTest() override { JoinAll(); }

  // Holds up the next write to stripe `stripe` on the slot.
  void PutGate(uint32_t slot, uint64_t stripe) {
    const uint64_t begin = rig_.DataOffset(slot) + stripe * kChunk;
    gate_ = std::make_unique<Gate>([begin](const IoRequest& request) {
      return request.kind != IoKind::kRead && request.offset_bytes < begin + kChunk &&
             request.offset_bytes + request.length_bytes > begin;
    });
    rig_.hook(slot).set_hook([this](const IoRequest& request) { gate_->Pass(request); });
  }

  // Starts a writer of the range; the model has it at once. Nothing may overlap.
  void StartWrite(uint64_t offset_bytes, uint64_t length_bytes) {
    const auto random = rig_.RandomBytes(length_bytes);
    auto data = std::make_shared<std::vector<std::byte>>(random.begin(), random.end());
    rig_.model().Write(offset_bytes, *data);
    Start([this, offset_bytes, data] {
      const EngineResult result = rig_.engine().Write(rig_.view(), offset_bytes, *data);
      EXPECT_EQ(result.error, 0);
      EXPECT_TRUE(result.member_errors.empty());
      ++finished_;
    });
  }
  void StartZero(uint64_t offset_bytes, uint64_t length_bytes) {
    rig_.model().Zero(offset_bytes, length_bytes);
    Start([this, offset_bytes, length_bytes] {
      EXPECT_EQ(rig_.engine().Zero(rig_.view(), offset_bytes, length_bytes).error, 0);
      ++finished_;
    });
  }
  void Start(std::function<void()> body) { threads_.emplace_back(std::move(body)); }

  void AwaitWaiting(uint64_t stripe, size_t count) {
    while (rig_.engine().locks().CountWaiting(stripe) < count) {
      std::this_thread::yield();
    }
  }

  void JoinAll() {
    for (std::thread& thread : threads_) {
      thread.join();
    }
    threads_.clear();
  }

  uint64_t StripeAt(uint64_t stripe) const { return stripe * rig_.geometry().stripe_bytes(); }

  StripeRig rig_;
  std::unique_ptr<Gate> gate_;
  std::atomic<int> finished_ = 0;
  std::vector<std::thread> threads_;
};

TEST_F(EngineGroupTest, WritersThatWaitedAreWrittenAsOneStripe) {
  PutGate(0, 1);
  StartWrite(StripeAt(1), 512);  // the leader, held up
  gate_->AwaitSomebody();
  for (uint64_t k = 0; k < 4; ++k) {
    // At odd offsets: chunks and sectors of several writers.
    StartWrite(StripeAt(1) + k * kChunk + (k == 0 ? 512 : 0),
               kChunk / 2 - (k == 0 ? 512 : 0) + 100);
    StartWrite(StripeAt(1) + k * kChunk + kChunk / 2 + 100, kChunk / 2 - 100);
  }
  AwaitWaiting(1, 8);
  rig_.TakeTraffic();
  gate_->Open();
  JoinAll();
  const StripeRig::Traffic traffic = rig_.TakeTraffic();
  EXPECT_EQ(finished_, 9);
  // Of the leader: one write that was held up before it was counted, and those after it. Of the
  // group: one plan. Column by column all of the stripe is overwritten but for 512 bytes of D0.
  EXPECT_LE(traffic.read_bytes, 3 * 512u);
  EXPECT_LE(traffic.writes, 2 * 6u);
  EXPECT_TRUE(rig_.MembersAgree());
}

TEST_F(EngineGroupTest, ARequestDoesNotWaitForABusyStripeWhileLeadingOthers) {
  PutGate(0, 2);
  StartWrite(StripeAt(2), 512);
  gate_->AwaitSomebody();
  // Crosses the busy stripe in the middle.
  StartWrite(StripeAt(0) + 1000, StripeAt(2) - 1000 + kChunk + 600);
  // (It overlaps nothing: the leader wrote the first sector of stripe 2 before; it is newer.)
  AwaitWaiting(2, 1);
  // What it needs not wait for has been given up again: others can have it, all of it is written.
  StartWrite(StripeAt(0), 1000);
  StartWrite(StripeAt(3), 4096);
  while (finished_ < 2) {
    std::this_thread::yield();
  }
  gate_->Open();
  JoinAll();
  EXPECT_TRUE(rig_.MembersAgree());
}

TEST_F(EngineGroupTest, AGroupOfZeroesAndWritesKeepsTheirOrder) {
  PutGate(0, 1);
  StartWrite(StripeAt(1), 512);
  gate_->AwaitSomebody();
  StartZero(StripeAt(1), rig_.geometry().stripe_bytes());
  AwaitWaiting(1, 1);
  StartWrite(StripeAt(1) + kChunk + 77, 5000);  // after the zeroes
  AwaitWaiting(1, 2);
  StartZero(StripeAt(1) + kChunk + 1077, 1000);  // and zeroes after that
  AwaitWaiting(1, 3);
  gate_->Open();
  JoinAll();
  EXPECT_TRUE(rig_.MembersAgree());
}

TEST_F(EngineGroupTest, ZeroesOverSeveralStripesShareThemWithWriters) {
  PutGate(1, 2);
  StartWrite(StripeAt(2) + kChunk, 512);
  gate_->AwaitSomebody();
  StartZero(StripeAt(1), 3 * rig_.geometry().stripe_bytes());
  AwaitWaiting(2, 1);
  StartWrite(StripeAt(2) + 100, 10);
  AwaitWaiting(2, 2);
  gate_->Open();
  JoinAll();
  EXPECT_TRUE(rig_.MembersAgree());
}

TEST_F(EngineGroupTest, AReaderThatReconstructsSeesNoHalfWrittenStripe) {
  rig_.Lose(0);
  // P is written with the rest of the batch; the gate on it holds the stripe inconsistent.
  PutGate(4, 1);
  StartWrite(StripeAt(1) + kChunk, kChunk);
  gate_->AwaitSomebody();
  std::vector<std::byte> read(kChunk);
  Start([&] {
    EXPECT_EQ(rig_.engine().Read(rig_.view(), StripeAt(1), read).error, 0);
    ++finished_;
  });
  AwaitWaiting(1, 1);
  EXPECT_EQ(finished_, 0);
  gate_->Open();
  JoinAll();
  EXPECT_FALSE(rig_.model().FirstDifference(StripeAt(1), read).has_value());
}

TEST_F(EngineGroupTest, HealthyReadsTakeNoLock) {
  PutGate(4, 1);
  StartWrite(StripeAt(1) + kChunk, kChunk);
  gate_->AwaitSomebody();
  EXPECT_EQ(rig_.Read(StripeAt(1) + 2 * kChunk, kChunk).error, 0);
  gate_->Open();
  JoinAll();
}

TEST_F(EngineGroupTest, RecomputingLeadsWhatIsFreeAndWaitsForTheRest) {
  PutGate(4, 2);
  StartWrite(StripeAt(2), 4096);
  gate_->AwaitSomebody();
  for (const uint64_t stripe : {0u, 1u, 2u, 3u}) {
    rig_.FlipBit(5, stripe * kChunk + 99);
  }
  Start([&] {
    const EngineResult result = rig_.engine().RecomputeParity(rig_.view(), 0, 6);
    EXPECT_EQ(result.error, 0);
    ++finished_;
  });
  AwaitWaiting(2, 1);
  // The stripes before the busy one are done and free again.
  StartWrite(StripeAt(1), 512);
  while (finished_ < 1) {
    std::this_thread::yield();
  }
  gate_->Open();
  JoinAll();
  EXPECT_EQ(finished_, 3);
  EXPECT_TRUE(rig_.MembersAgree());
}

// ENOSPC concerns those who wrote in its columns, nobody else in the group.
TEST_F(EngineGroupTest, AnErrorOfColumnsGoesToWhoWroteThere) {
  PutGate(0, 1);
  StartWrite(StripeAt(1), 512);
  gate_->AwaitSomebody();
  rig_.fault(1).AddRule({.op = FaultOp::kWrite,
                         .kind = FaultKind::kError,
                         .error_number = ENOSPC,
                         .offset_bytes = rig_.DataOffset(1) + kChunk + 8192,
                         .length_bytes = 512});
  std::vector<std::byte> data(4096, std::byte{0x5a});
  EngineResult hit;
  EngineResult same_columns;
  EngineResult elsewhere;
  const auto start = [&](EngineResult* result, uint64_t offset_bytes) {
    Start([this, result, offset_bytes, &data] {
      *result = rig_.engine().Write(rig_.view(), offset_bytes, data);
    });
  };
  start(&hit, StripeAt(1) + kChunk + 8192);
  AwaitWaiting(1, 1);
  start(&same_columns, StripeAt(1) + 3 * kChunk + 8192);
  AwaitWaiting(1, 2);
  start(&elsewhere, StripeAt(1) + kChunk);
  AwaitWaiting(1, 3);
  gate_->Open();
  JoinAll();
  EXPECT_EQ(hit.error, ENOSPC);
  EXPECT_EQ(same_columns.error, ENOSPC);
  EXPECT_EQ(elsewhere.error, 0);
  EXPECT_TRUE(hit.member_errors.empty() && elsewhere.member_errors.empty());
  // Put back before anybody else has the stripe.
  EXPECT_TRUE(hit.owed_stripes.empty() && same_columns.owed_stripes.empty());
  EXPECT_TRUE(rig_.InconsistentStripes().empty());
}

// Everybody in the group must wait for the member's failure (I3).
TEST_F(EngineGroupTest, AMemberErrorGoesToTheWholeGroup) {
  PutGate(0, 1);
  StartWrite(StripeAt(1), 512);
  gate_->AwaitSomebody();
  rig_.fault(1).AddRule({.op = FaultOp::kWrite, .kind = FaultKind::kError, .error_number = EIO});
  std::vector<std::byte> data(4096, std::byte{0x5a});
  EngineResult results[2];
  for (uint64_t i = 0; i < 2; ++i) {
    Start([&, i] {
      results[i] =
          rig_.engine().Write(rig_.view(), StripeAt(1) + (1 + i) * kChunk + i * 8192, data);
    });
    AwaitWaiting(1, i + 1);
  }
  gate_->Open();
  JoinAll();
  for (const EngineResult& result : results) {
    EXPECT_EQ(result.error, 0);
    ASSERT_FALSE(result.member_errors.empty());
    EXPECT_EQ(result.member_errors[0].slot, 1u);
  }
}

}  // namespace
}  // namespace mdvol
