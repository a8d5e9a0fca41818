// A member's write queue with the threads that serve it: what passes, what waits, who is joined,
// what becomes of errors, and that nobody is forgotten.

#include "core/device/admission_device.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "core/base/units.h"
#include "core/device/io_batch.h"
#include "core/device/memory_device.h"
#include "core/device/sync_io.h"
#include "tests/support/fake_clock.h"
#include "tests/unit/core/device/held_device.h"
#include "tests/unit/core/device/test_devices.h"

namespace mdvol {
namespace {

using testing::FakeClock;
using testing::HeldDevice;
using testing::RequestFor;
using testing::SeenRequest;
using testing::ZeroRequest;

constexpr uint64_t kBlock = 4 * kKiB;
constexpr uint64_t kSizeBytes = 8 * kMiB;
constexpr uint64_t kDataBytes = kMiB;  // where the data area begins

// Says what it is told to, and remembers what it was told.
class ToldJudge final : public AdmissionJudge {
 public:
  AdmissionRuling Judge(const AdmissionFacts& facts) override {
    absl::MutexLock lock(&mutex_);
    facts_ = facts;
    return {limits_, false, facts.note + 1};
  }
  uint64_t version() const override { return version_.load(); }

  void Tell(const AdmissionLimits& limits) {
    {
      absl::MutexLock lock(&mutex_);
      limits_ = limits;
    }
    version_.fetch_add(1);
  }
  AdmissionFacts facts() {
    absl::MutexLock lock(&mutex_);
    return facts_;
  }

 private:
  absl::Mutex mutex_;
  AdmissionLimits limits_ ABSL_GUARDED_BY(mutex_);
  AdmissionFacts facts_ ABSL_GUARDED_BY(mutex_);
  std::atomic<uint64_t> version_{1};
};

struct Member {
  explicit Member(Clock& clock) {
    auto below = std::make_unique<HeldDevice>(NewMemoryDevice("d", kSizeBytes));
    held = below.get();
    auto told = std::make_unique<ToldJudge>();
    judge = told.get();
    device = NewAdmissionDevice(std::move(below), std::move(told), clock);
    device->SetRange(kDataBytes, kSizeBytes);
  }

  std::unique_ptr<AdmissionDevice> device;
  HeldDevice* held;
  ToldJudge* judge;
};

// A write of one block in a thread of its own, the block filled with `fill`.
class Writer {
 public:
  Writer(Member& member, uint64_t block, int fill = 1, IoKind kind = IoKind::kWrite)
      : bytes_(kBlock, static_cast<std::byte>(fill)) {
    thread_ = std::thread([this, &member, block, kind] {
      IoRequest request = kind == IoKind::kZero
                              ? ZeroRequest(kDataBytes + block * kBlock, kBlock)
                              : RequestFor(kind, kDataBytes + block * kBlock, bytes_);
      member.device->Submit(request);
      member.device->Wait(request);
      error_ = request.error;
    });
  }
  ~Writer() { Join(); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  int Join() {
    if (thread_.joinable()) {
      thread_.join();
    }
    return error_;
  }

 private:
  std::vector<std::byte> bytes_;
  int error_ = -1;
  std::thread thread_;
};

class AdmissionDeviceTest : public ::testing::Test {
 protected:
  using Writers = std::vector<std::unique_ptr<Writer>>;

  static void AwaitWaiting(Member& member, size_t count) {
    while (member.device->WaitingWrites() != count) {
      std::this_thread::yield();
    }
  }

  void Start(Writers& writers, Member& member, const std::vector<uint64_t>& blocks) {
    for (const uint64_t block : blocks) {
      writers.push_back(std::make_unique<Writer>(member, block, static_cast<int>(block + 1)));
    }
  }

  static SeenRequest Seen(uint64_t block, uint64_t blocks) {
    return {IoKind::kWrite, kDataBytes + block * kBlock, blocks * kBlock,
            static_cast<uint32_t>(blocks)};
  }

  std::byte ByteOf(Member& member, uint64_t block) {
    std::byte byte{};
    EXPECT_TRUE(ReadMember(*member.device, kDataBytes + block * kBlock, &byte, 1).ok());
    return byte;
  }

  static constexpr uint64_t kMsNs = 1'000'000;
  FakeClock clock_;
};

// One write at a time, and the first is held at the member.
class OneAtATimeTest : public AdmissionDeviceTest {
 protected:
  OneAtATimeTest() {
    member_.judge->Tell({.most_writes = 1});
    member_.held->Hold();
    Start(writers_, member_, {100});
    member_.held->AwaitSeen(1);
  }
  ~OneAtATimeTest() override { member_.held->LetAll(); }

  void StartWaiting(const std::vector<uint64_t>& blocks) {
    const size_t before = member_.device->WaitingWrites();
    for (size_t i = 0; i < blocks.size(); ++i) {
      Start(writers_, member_, {blocks[i]});
      AwaitWaiting(member_, before + i + 1);
    }
  }
  void JoinAll() {
    member_.held->LetAll();
    for (const auto& writer : writers_) {
      EXPECT_EQ(writer->Join(), 0);
    }
  }

  Member member_{clock_};
  Writers writers_;
};

TEST_F(AdmissionDeviceTest, ALoneWriteGoesInAsItIs) {
  Member member(clock_);
  Writer writer(member, 3, 7);
  EXPECT_EQ(writer.Join(), 0);
  EXPECT_EQ(member.held->Seen(), std::vector<SeenRequest>{Seen(3, 1)});
  EXPECT_EQ(ByteOf(member, 3), std::byte{7});
  EXPECT_EQ(member.device->WaitingWrites(), 0U);
}

TEST_F(OneAtATimeTest, WritesOfManyCallersBecomeOneRequest) {
  StartWaiting({7, 5, 6, 9});
  JoinAll();
  EXPECT_EQ(member_.held->Seen(), (std::vector<SeenRequest>{Seen(100, 1), Seen(5, 3), Seen(9, 1)}));
  for (const uint64_t block : {5U, 6U, 7U, 9U, 100U}) {
    EXPECT_EQ(ByteOf(member_, block), static_cast<std::byte>(block + 1));
  }
  EXPECT_EQ(member_.held->Strangers(), 0U);
  EXPECT_EQ(member_.held->MostWritesAtOnce(), 1U);
}

TEST_F(OneAtATimeTest, ZeroingIsAWriteAndIsJoinedWithItsLike) {
  for (const uint64_t block : {8U, 9U}) {
    const size_t before = member_.device->WaitingWrites();
    writers_.push_back(std::make_unique<Writer>(member_, block, 0, IoKind::kZero));
    AwaitWaiting(member_, before + 1);
  }
  StartWaiting({10});
  JoinAll();
  EXPECT_EQ(member_.held->Seen()[1],
            (SeenRequest{IoKind::kZero, kDataBytes + 8 * kBlock, 2 * kBlock, 2}));
  EXPECT_EQ(member_.held->Seen()[2], Seen(10, 1));
}

// Whoever comes by passes on what waits: neither a resync's writes as a user's nor the reverse.
TEST_F(OneAtATimeTest, ARunIsAResyncsOrUsersWhoeverSubmitsIt) {
  std::vector<std::byte> bytes(kBlock);
  const auto request_of = [&bytes](uint64_t block) {
    return RequestFor(IoKind::kWrite, kDataBytes + block * kBlock, bytes);
  };
  IoRequest user_5 = request_of(5);
  IoRequest user_6 = request_of(6);
  std::unique_ptr<IoRequest> sync_7;
  std::unique_ptr<IoRequest> sync_8;
  {
    const SyncIoScope as_sync;
    sync_7 = std::make_unique<IoRequest>(request_of(7));
    sync_8 = std::make_unique<IoRequest>(request_of(8));
    for (IoRequest* const request : {&user_5, &user_6}) {
      member_.device->Submit(*request);
    }
  }
  for (IoRequest* const request : {sync_7.get(), sync_8.get()}) {
    member_.device->Submit(*request);
  }
  member_.held->LetAll();
  {
    const SyncIoScope as_sync;
    member_.device->Wait(user_5);
  }
  member_.device->Wait(*sync_7);
  member_.device->Wait(user_6);
  member_.device->Wait(*sync_8);
  SeenRequest sync = Seen(7, 2);
  sync.is_sync = true;
  EXPECT_EQ(member_.held->Seen(), (std::vector<SeenRequest>{Seen(100, 1), Seen(5, 2), sync}));
}

TEST_F(OneAtATimeTest, AnErrorOfAJoinedRequestIsPinnedToThePartThatCausedIt) {
  member_.held->set_fails([](const IoRequest& request) {
    const uint64_t bad = kDataBytes + 6 * kBlock;
    return request.offset_bytes <= bad && bad < request.offset_bytes + request.length_bytes ? ENOSPC
                                                                                            : 0;
  });
  StartWaiting({5, 6, 7});
  member_.held->LetAll();
  EXPECT_EQ(writers_[0]->Join(), 0);
  EXPECT_EQ(writers_[1]->Join(), 0);
  EXPECT_EQ(writers_[2]->Join(), ENOSPC);
  EXPECT_EQ(writers_[3]->Join(), 0);
  EXPECT_EQ(ByteOf(member_, 5), std::byte{6});
  EXPECT_EQ(ByteOf(member_, 7), std::byte{8});
  EXPECT_EQ(member_.held->Seen(),
            (std::vector<SeenRequest>{Seen(100, 1),
                                      Seen(5, 3),
                                      Seen(5, 1),
                                      Seen(6, 1),
                                      Seen(7, 1),
                                      {IoKind::kRead, kDataBytes + 5 * kBlock, 1, 1},
                                      {IoKind::kRead, kDataBytes + 7 * kBlock, 1, 1}}));
  EXPECT_EQ(member_.held->Strangers(), 0U);
}

TEST_F(OneAtATimeTest, AnErrorOfALoneRequestIsItsCallers) {
  member_.held->set_fails([](const IoRequest&) { return EIO; });
  StartWaiting({5});
  member_.held->LetAll();
  EXPECT_EQ(writers_[1]->Join(), EIO);
}

// T8, in its strictest form: a flush is for what has ended before it, and waits for nobody.
TEST_F(OneAtATimeTest, AFlushGoesPastAllThatWait) {
  StartWaiting({5, 8});
  EXPECT_EQ(testing::Flush(*member_.device), 0);
  EXPECT_EQ(member_.held->Seen().back().kind, IoKind::kFlush);
  EXPECT_EQ(member_.device->WaitingWrites(), 2U);
  JoinAll();
}

TEST_F(OneAtATimeTest, AFlushComesAfterEachWriteThatHasEndedBeforeIt) {
  StartWaiting({5});
  member_.held->Let(2);
  EXPECT_EQ(writers_[1]->Join(), 0);
  EXPECT_EQ(testing::Flush(*member_.device), 0);
  const std::vector<SeenRequest> seen = member_.held->Seen();
  EXPECT_EQ(seen[1], Seen(5, 1));
  EXPECT_EQ(seen[2].kind, IoKind::kFlush);
  JoinAll();
}

// What user writes wait for must not wait behind user writes.
TEST_F(OneAtATimeTest, MetadataGoPastAllThatWait) {
  StartWaiting({5, 8});
  std::vector<std::byte> super(kBlock);
  IoRequest request = RequestFor(IoKind::kWrite, 4096, super);
  member_.device->Submit(request);
  EXPECT_EQ(member_.held->Seen().back(), (SeenRequest{IoKind::kWrite, 4096, kBlock, 1}));
  EXPECT_EQ(member_.device->WaitingWrites(), 2U);
  member_.held->LetAll();
  member_.device->Wait(request);
  EXPECT_EQ(request.error, 0);
  JoinAll();
}

TEST_F(OneAtATimeTest, ReadsGoPastAllThatWaitAndAreSeen) {
  StartWaiting({5, 8});
  std::vector<std::byte> bytes(kBlock);
  IoRequest own = RequestFor(IoKind::kRead, kDataBytes, bytes);
  own.serves_reader = false;
  IoRequest user = RequestFor(IoKind::kRead, kDataBytes, bytes);
  member_.device->Submit(own);
  clock_.Advance(kMsNs);
  StartWaiting({11});
  EXPECT_EQ(member_.judge->facts().reads.in_flight, 0U);
  EXPECT_EQ(member_.judge->facts().reads.since_last_ns, UINT64_MAX);
  member_.device->Submit(user);
  EXPECT_EQ(member_.held->Seen().back().kind, IoKind::kRead);
  clock_.Advance(kMsNs);
  StartWaiting({14});
  EXPECT_EQ(member_.judge->facts().reads.in_flight, 1U);
  EXPECT_EQ(member_.judge->facts().reads.since_last_ns, 0U);
  EXPECT_EQ(member_.judge->facts().writes_in_flight, 1U);
  EXPECT_EQ(member_.judge->facts().writes_waiting, 3U);
  EXPECT_GT(member_.judge->facts().note, 0U);
  member_.held->LetAll();
  member_.device->Wait(own);
  member_.device->Wait(user);
  JoinAll();
}

TEST_F(OneAtATimeTest, WhoWaitsIsLetOnByANewRulingAtTheNextEnd) {
  StartWaiting({5, 7, 9});
  member_.judge->Tell({.most_writes = 8});
  member_.held->Let(1);
  member_.held->AwaitSeen(4);
  EXPECT_EQ(member_.held->WritesAtOnce(), 3U);
  EXPECT_EQ(member_.device->WaitingWrites(), 0U);
  JoinAll();
}

TEST_F(OneAtATimeTest, ANewRulingIsAskedForByTheNextWrite) {
  member_.judge->Tell({.most_writes = 2});
  Start(writers_, member_, {5});
  member_.held->AwaitSeen(2);
  EXPECT_EQ(member_.held->WritesAtOnce(), 2U);
  JoinAll();
}

// Two callers, each with a write at one of two members that the other's write is waiting for: who
// goes to sleep ends first what he has at the members.
TEST_F(AdmissionDeviceTest, NobodySleepsOnWhatOthersSleepFor) {
  for (int round = 0; round < 200; ++round) {
    Member a(clock_);
    Member b(clock_);
    a.judge->Tell({.most_writes = 1});
    b.judge->Tell({.most_writes = 1});
    const auto run = [](Member& first, Member& second, uint64_t block) {
      std::vector<std::byte> bytes(kBlock);
      IoRequest one = RequestFor(IoKind::kWrite, kDataBytes + block * kBlock, bytes);
      IoRequest two = RequestFor(IoKind::kWrite, kDataBytes + block * kBlock, bytes);
      first.device->Submit(one);
      second.device->Submit(two);
      second.device->Wait(two);
      first.device->Wait(one);
      EXPECT_EQ(one.error + two.error, 0);
    };
    std::thread other([&] { run(b, a, 4); });
    run(a, b, 2);
    other.join();
    EXPECT_EQ(a.held->Strangers() + b.held->Strangers(), 0U);
  }
}

// T4 with threads: as many at once as may be, exactly, and all of them end.
TEST_F(AdmissionDeviceTest, ExactlyAsManyAreAtTheMemberAsMayBe) {
  for (const uint32_t k : {1U, 2U, 3U, 5U, 8U, 13U}) {
    Member member(clock_);
    member.judge->Tell({.most_writes = k});
    member.held->Hold();
    Writers writers;
    for (uint64_t i = 0; i < k + 4; ++i) {
      Start(writers, member, {3 * i});
    }
    member.held->AwaitSeen(k);  // who is let through may still be on the way
    AwaitWaiting(member, 4);
    EXPECT_EQ(member.held->WritesAtOnce(), k);
    member.held->LetAll();
    for (const auto& writer : writers) {
      EXPECT_EQ(writer->Join(), 0);
    }
    EXPECT_EQ(member.held->MostWritesAtOnce(), k);
  }
}

TEST_F(AdmissionDeviceTest, ABatchOfSeveralMembersPassesThrough) {
  Member a(clock_);
  Member b(clock_);
  std::vector<std::byte> bytes(4 * kBlock, std::byte{9});
  IoBatch batch;
  for (uint64_t i = 0; i < 4; ++i) {
    batch.AddWrite((i % 2 == 0 ? a : b).device.get(), kDataBytes + i * 2 * kBlock,
                   bytes.data() + i * kBlock, kBlock);
  }
  EXPECT_TRUE(batch.Run());
  EXPECT_EQ(ByteOf(a, 4), std::byte{9});
  EXPECT_EQ(ByteOf(b, 6), std::byte{9});
}

TEST_F(AdmissionDeviceTest, ABatchSaysWhomItsReadsAreFor) {
  Member member(clock_);
  std::vector<std::byte> bytes(kBlock);
  for (const auto reads : {IoBatch::Reads::kForOthers, IoBatch::Reads::kForReaders}) {
    for (const size_t extents : {1U, 2U}) {
      clock_.Advance(1000 * kMsNs);
      IoBatch batch(reads);
      for (size_t i = 0; i < extents; ++i) {
        batch.AddRead(member.device.get(), kDataBytes + 2 * i * kBlock, bytes.data(), kBlock);
      }
      EXPECT_TRUE(batch.Run());
      member.judge->Tell({});
      EXPECT_EQ(testing::Write(*member.device, kDataBytes, bytes), 0);
      const bool is_seen = member.judge->facts().reads.since_last_ns == 0;
      EXPECT_EQ(is_seen, reads == IoBatch::Reads::kForReaders) << extents;
    }
  }
}

TEST_F(AdmissionDeviceTest, EverythingPassesBeforeTheDataAreaIsKnown) {
  Member member(clock_);
  member.judge->Tell({.most_writes = 1});
  member.device->SetRange(0, 0);
  member.held->Hold();
  Writers writers;
  Start(writers, member, {1, 3, 5});
  member.held->AwaitSeen(3);
  EXPECT_EQ(member.held->WritesAtOnce(), 3U);
  member.held->LetAll();
}

}  // namespace
}  // namespace mdvol
