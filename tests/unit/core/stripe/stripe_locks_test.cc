// StripeLocks, turn by turn: who leads, who follows, who waits for whom, in which order. Threads
// are started one by one, each only when the one before it is known to wait.

#include "core/stripe/stripe_locks.h"

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace mdvol {
namespace {

constexpr uint64_t kStripe = 70;  // shares its shard with kStripe + 64

// What happened in which order.
class Log {
 public:
  void Add(const std::string& what) {
    const std::lock_guard<std::mutex> lock(mutex_);
    entries_.push_back(what);
  }
  std::vector<std::string> entries() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return entries_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> entries_;
};

class StripeLocksTest : public ::testing::Test {
 protected:
  ~StripeLocksTest() override { JoinAll(); }

  // Starts a thread that will have to wait for the stripe, and returns when it does.
  void StartWaiter(std::function<void()> body) {
    const size_t before = locks_.CountWaiting(kStripe);
    threads_.emplace_back(std::move(body));
    while (locks_.CountWaiting(kStripe) == before) {
      std::this_thread::yield();
    }
  }
  void JoinAll() {
    for (std::thread& thread : threads_) {
      thread.join();
    }
    threads_.clear();
  }

  // Writes through the stripe and logs what it became.
  void WriteAndLog(StripeWrite& write, const std::string& name) {
    WriteGroup group;
    if (locks_.Join(write, &group)) {
      log_.Add(name + " leads " + std::to_string(group.size()));
      for (StripeWrite* other : group) {
        other->error = 7;
      }
      locks_.Finish(kStripe, group, &write);
    } else {
      log_.Add(name + " answered " + std::to_string(write.error));
    }
  }

  void ExpectFree() {
    EXPECT_TRUE(locks_.TryLead(kStripe)) << "an entry was left behind";
    locks_.Finish(kStripe, {}, nullptr);
  }

  StripeLocks locks_;
  Log log_;
  std::vector<std::thread> threads_;
};

TEST_F(StripeLocksTest, ALoneWriterLeadsAtOnce) {
  StripeWrite write;
  write.stripe = kStripe;
  WriteGroup group = {nullptr, nullptr};  // what is left from before does not matter
  ASSERT_TRUE(locks_.Join(write, &group));
  ASSERT_EQ(group.size(), 1u);
  EXPECT_EQ(group[0], &write);
  EXPECT_FALSE(locks_.TryLead(kStripe));
  EXPECT_FALSE(locks_.TryLockShared(kStripe));
  locks_.Finish(kStripe, group, &write);
  EXPECT_TRUE(locks_.TryLead(kStripe));
  locks_.Finish(kStripe, {}, nullptr);
}

TEST_F(StripeLocksTest, StripesOfOneShardDoNotMeet) {
  ASSERT_TRUE(locks_.TryLead(kStripe));
  EXPECT_TRUE(locks_.TryLead(kStripe + 64));
  locks_.LockShared(kStripe + 128);
  locks_.UnlockShared(kStripe + 128);
  locks_.Finish(kStripe + 64, {}, nullptr);
  locks_.Finish(kStripe, {}, nullptr);
}

TEST_F(StripeLocksTest, ReadersShareButNotWithALeader) {
  locks_.LockShared(kStripe);
  locks_.LockShared(kStripe);
  EXPECT_TRUE(locks_.TryLockShared(kStripe));
  EXPECT_FALSE(locks_.TryLead(kStripe));
  locks_.UnlockShared(kStripe);
  locks_.UnlockShared(kStripe);
  EXPECT_FALSE(locks_.TryLead(kStripe)) << "one share is left";
  locks_.UnlockShared(kStripe);
  EXPECT_TRUE(locks_.TryLead(kStripe)) << "the entry should have gone with the last share";
  EXPECT_FALSE(locks_.TryLockShared(kStripe));
  locks_.Finish(kStripe, {}, nullptr);
  EXPECT_TRUE(locks_.TryLockShared(kStripe));
  locks_.UnlockShared(kStripe);
}

TEST_F(StripeLocksTest, WritersThatWaitedBecomeOneGroupOldestFirst) {
  constexpr size_t kWriters = 5;
  StripeWrite first;
  first.stripe = kStripe;
  WriteGroup first_group;
  ASSERT_TRUE(locks_.Join(first, &first_group));
  std::vector<StripeWrite> writes(kWriters);
  size_t led = 0;
  for (StripeWrite& write : writes) {
    write.stripe = kStripe;
    StartWaiter([&] {
      WriteGroup group;
      if (locks_.Join(write, &group)) {
        ++led;
        ASSERT_EQ(group.size(), kWriters);
        for (size_t i = 0; i < kWriters; ++i) {
          EXPECT_EQ(group[i], &writes[i]) << "not oldest first";
          group[i]->error = 9;
        }
        locks_.Finish(kStripe, group, &write);
      }
      EXPECT_EQ(write.error, 9);
    });
  }
  EXPECT_FALSE(locks_.TryLead(kStripe));
  locks_.Finish(kStripe, first_group, &first);
  JoinAll();
  EXPECT_EQ(led, 1u);
  ExpectFree();
}

TEST_F(StripeLocksTest, FollowersDoNotReturnBeforeTheLeaderHasFinished) {
  ASSERT_TRUE(locks_.TryLead(kStripe));
  StripeWrite leader;
  StripeWrite follower;
  leader.stripe = follower.stripe = kStripe;
  std::atomic<bool> finished = false;
  StartWaiter([&] {
    WriteGroup group;
    ASSERT_TRUE(locks_.Join(leader, &group));
    EXPECT_EQ(group.size(), 2u);
    EXPECT_EQ(locks_.CountWaiting(kStripe), 0u);
    for (int i = 0; i < 1000; ++i) {
      std::this_thread::yield();  // time for the follower to go wrong
    }
    finished = true;
    locks_.Finish(kStripe, group, &leader);
  });
  StartWaiter([&] {
    WriteGroup group;
    EXPECT_FALSE(locks_.Join(follower, &group));
    EXPECT_TRUE(finished);
  });
  locks_.Finish(kStripe, {}, nullptr);
  JoinAll();
  ExpectFree();
}

TEST_F(StripeLocksTest, FirstComeFirstServed) {
  locks_.LockShared(kStripe);
  StripeWrite early;
  StripeWrite late;
  early.stripe = late.stripe = kStripe;
  const auto read = [&](const std::string& name) {
    locks_.LockShared(kStripe);
    log_.Add(name);
    locks_.UnlockShared(kStripe);
  };
  StartWaiter([&] { WriteAndLog(early, "writer"); });
  // Behind a writer even readers wait, or the writer might wait for ever.
  EXPECT_FALSE(locks_.TryLockShared(kStripe));
  StartWaiter([&] { read("reader"); });
  StartWaiter([&] {
    locks_.Lead(kStripe);
    EXPECT_FALSE(locks_.TryLockShared(kStripe));
    log_.Add("resync");
    locks_.Finish(kStripe, {}, nullptr);
  });
  StartWaiter([&] { read("last reader"); });
  log_.Add("first reader");
  locks_.UnlockShared(kStripe);
  JoinAll();
  EXPECT_EQ(log_.entries(), (std::vector<std::string>{"first reader", "writer leads 1", "reader",
                                                      "resync", "last reader"}));
  ExpectFree();
}

TEST_F(StripeLocksTest, WritersJoinTheGroupPastReadersButOnlyOnce) {
  ASSERT_TRUE(locks_.TryLead(kStripe));
  std::vector<StripeWrite> writes(2);
  StripeWrite late;
  std::thread late_thread;
  for (StripeWrite* write : {&writes[0], &writes[1], &late}) {
    write->stripe = kStripe;
  }
  StartWaiter([&] {
    WriteGroup group;
    ASSERT_TRUE(locks_.Join(writes[0], &group));
    EXPECT_EQ(group.size(), 2u);
    log_.Add("writers");
    // Comes while the group is at work: no member of it, and behind the reader.
    late_thread = std::thread([&] { WriteAndLog(late, "late writer"); });
    while (locks_.CountWaiting(kStripe) < 2) {
      std::this_thread::yield();
    }
    locks_.Finish(kStripe, group, &writes[0]);
  });
  StartWaiter([&] {
    locks_.LockShared(kStripe);
    log_.Add("reader");
    locks_.UnlockShared(kStripe);
  });
  std::thread second([&] {
    WriteGroup group;
    EXPECT_FALSE(locks_.Join(writes[1], &group));
  });
  while (locks_.CountWaiting(kStripe) < 3) {
    std::this_thread::yield();
  }
  locks_.Finish(kStripe, {}, nullptr);
  second.join();
  JoinAll();
  late_thread.join();
  EXPECT_EQ(log_.entries(), (std::vector<std::string>{"writers", "reader", "late writer leads 1"}));
  ExpectFree();
}

TEST_F(StripeLocksTest, ReadersThatWaitComeInTogether) {
  ASSERT_TRUE(locks_.TryLead(kStripe));
  std::atomic<int> inside = 0;
  for (int i = 0; i < 3; ++i) {
    StartWaiter([&] {
      locks_.LockShared(kStripe);
      ++inside;
      while (inside < 3) {
        std::this_thread::yield();  // for ever, unless all of them are let in
      }
      locks_.UnlockShared(kStripe);
    });
  }
  locks_.Finish(kStripe, {}, nullptr);
  JoinAll();
  ExpectFree();
}

using StripeLocksDeathTest = StripeLocksTest;

TEST_F(StripeLocksDeathTest, ALeaderThatForgetsAFollowerIsABug) {
  StripeWrite write;
  write.stripe = kStripe;
  WriteGroup group;
  ASSERT_TRUE(locks_.Join(write, &group));
  EXPECT_DEATH(locks_.Finish(kStripe, {}, &write), "check failed");
  locks_.Finish(kStripe, group, &write);
}

TEST_F(StripeLocksDeathTest, GivingBackWhatIsNotHeldIsABug) {
  locks_.LockShared(kStripe);
  EXPECT_DEATH(locks_.Finish(kStripe, {}, nullptr), "check failed");
  locks_.UnlockShared(kStripe);
  ASSERT_TRUE(locks_.TryLead(kStripe));
  EXPECT_DEATH(locks_.UnlockShared(kStripe), "check failed");
  locks_.Finish(kStripe, {}, nullptr);
}

}  // namespace
}  // namespace mdvol
