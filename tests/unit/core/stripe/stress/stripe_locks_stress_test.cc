// StripeLocks under load: 16 threads over few stripes, in every role at once. Run under TSan too.
//
// What the lock guards is plain memory: a breach of exclusion is a wrong sum, and a race to TSan. A
// lost wake-up is a test that never ends.

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "core/stripe/stripe_locks.h"
#include "gtest/gtest.h"
#include "tests/support/full.h"
#include "tests/support/seed.h"

namespace mdvol {
namespace {

using testing::FullRun;
using testing::Prng;
using testing::TestSeed;

constexpr int kThreads = 16;
constexpr uint64_t kStripes = 3;

// Not atomic on purpose.
struct Guarded {
  uint64_t value = 0;
  uint64_t copy = 0;  // equal to value whenever nobody leads
};

struct Shared {
  StripeLocks locks;
  Guarded stripes[kStripes];
  std::atomic<uint64_t> led = 0;
  std::atomic<uint64_t> followed = 0;
  std::atomic<uint64_t> tried_in_vain = 0;
};

void Change(Guarded& stripe, uint64_t by) {
  EXPECT_EQ(stripe.value, stripe.copy);
  stripe.value += by;
  stripe.copy += by;
}

// Adds one to the stripe for every write of the group, and answers with the leader's thread.
void LeadGroup(Shared& shared, uint64_t stripe, const WriteGroup& group, const StripeWrite& self) {
  for (StripeWrite* write : group) {
    EXPECT_EQ(write->stripe, stripe);
    EXPECT_EQ(write->error, 0) << "answered twice";
    write->error = 1;
    Change(shared.stripes[stripe], 1);
  }
  ++shared.led;
  shared.followed += group.size() - 1;
  shared.locks.Finish(stripe, group, &self);
}

void Join(Shared& shared, uint64_t stripe) {
  StripeWrite write;
  write.stripe = stripe;
  WriteGroup group;
  if (shared.locks.Join(write, &group)) {
    LeadGroup(shared, stripe, group, write);
  }
  EXPECT_EQ(write.error, 1) << "released without an answer";
}

// As the engine does: takes what is free from `first` on, never waits while leading.
uint64_t TryAll(Shared& shared, uint64_t first) {
  uint64_t taken = 0;
  while (first + taken < kStripes && shared.locks.TryLead(first + taken)) {
    ++taken;
  }
  shared.tried_in_vain += first + taken < kStripes ? 1 : 0;
  for (uint64_t stripe = first; stripe < first + taken; ++stripe) {
    Change(shared.stripes[stripe], 1);
  }
  for (uint64_t stripe = first; stripe < first + taken; ++stripe) {
    shared.locks.Finish(stripe, {}, nullptr);
  }
  return taken;
}

void ReadShared(Shared& shared, uint64_t stripe) {
  shared.locks.LockShared(stripe);
  EXPECT_EQ(shared.stripes[stripe].value, shared.stripes[stripe].copy);
  uint64_t held = 1;
  while (stripe + held < kStripes && shared.locks.TryLockShared(stripe + held)) {
    EXPECT_EQ(shared.stripes[stripe + held].value, shared.stripes[stripe + held].copy);
    ++held;
  }
  for (uint64_t i = 0; i < held; ++i) {
    shared.locks.UnlockShared(stripe + i);
  }
}

uint64_t RunThread(Shared& shared, uint64_t seed, int rounds) {
  Prng prng(seed);
  uint64_t changes = 0;
  for (int i = 0; i < rounds; ++i) {
    const uint64_t stripe = prng.Below(kStripes);
    switch (prng.Below(5)) {
      case 0:
      case 1:
        Join(shared, stripe);
        ++changes;
        break;
      case 2:
        ReadShared(shared, stripe);
        break;
      case 3:
        shared.locks.Lead(stripe);
        Change(shared.stripes[stripe], 1);
        shared.locks.Finish(stripe, {}, nullptr);
        ++changes;
        break;
      default:
        changes += TryAll(shared, stripe);
    }
  }
  return changes;
}

TEST(StripeLocksStressTest, NobodyIsLostAndNobodyMeetsALeader) {
  const uint64_t seed = TestSeed("StripeLocksStress");
  const int rounds = FullRun() ? 100000 : 4000;
  Shared shared;
  std::vector<uint64_t> changes(kThreads);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] { changes[t] = RunThread(shared, seed + t, rounds); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  uint64_t wanted = 0;
  for (const uint64_t count : changes) {
    wanted += count;
  }
  uint64_t done = 0;
  for (uint64_t stripe = 0; stripe < kStripes; ++stripe) {
    done += shared.stripes[stripe].value;
    EXPECT_TRUE(shared.locks.TryLead(stripe)) << "an entry was left behind";
  }
  EXPECT_EQ(done, wanted);
  EXPECT_GT(shared.led, 0u);
}

// Writers alone: all must come through, and most as followers while their leader dawdles.
TEST(StripeLocksStressTest, WritersFormGroups) {
  Shared shared;
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        Join(shared, 0);
        std::this_thread::yield();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(shared.stripes[0].value, kThreads * 1000u);
  EXPECT_EQ(shared.led + shared.followed, kThreads * 1000u);
}

}  // namespace
}  // namespace mdvol
