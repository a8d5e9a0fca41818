// Merging, order, errors and allocations of batches, and random batches against plain arrays.

#include "core/device/io_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/aligned_buffer.h"
#include "core/base/units.h"
#include "core/device/memory_device.h"
#include "tests/support/seed.h"
#include "tests/unit/core/device/allocation_count.h"
#include "tests/unit/core/device/test_devices.h"

namespace mdvol {
namespace {

using testing::AllocationCount;
using testing::LoggedCall;
using testing::LoggingDevice;
using testing::Prng;
using testing::TestSeed;

constexpr uint64_t kSizeBytes = 4 * kMiB;

class IoBatchTest : public ::testing::Test {
 protected:
  IoBatchTest() : data_(kSizeBytes), back_(kSizeBytes) {
    Prng(1).Fill(data_.span());
    for (const char* name : {"a", "b", "c"}) {
      devices_.push_back(std::make_unique<LoggingDevice>(NewMemoryDevice(name, kSizeBytes), &log_));
    }
  }

  LoggingDevice* device(size_t i) { return devices_[i].get(); }
  std::byte* data(size_t offset_bytes) { return data_.data() + offset_bytes; }
  std::byte* back(size_t offset_bytes) { return back_.data() + offset_bytes; }

  // What was submitted, in order.
  std::vector<LoggedCall> Submitted() const {
    std::vector<LoggedCall> submitted;
    std::copy_if(log_.begin(), log_.end(), std::back_inserter(submitted),
                 [](const LoggedCall& call) { return call.step == 'S'; });
    return submitted;
  }

  bool DeviceHolds(size_t i, uint64_t offset_bytes, const std::byte* bytes, size_t length_bytes) {
    std::vector<std::byte> held(length_bytes);
    EXPECT_TRUE(ReadMember(*device(i), offset_bytes, held.data(), length_bytes).ok());
    return std::memcmp(held.data(), bytes, length_bytes) == 0;
  }

  std::vector<LoggedCall> log_;
  std::vector<std::unique_ptr<LoggingDevice>> devices_;
  AlignedBuffer data_;
  AlignedBuffer back_;
  IoBatch batch_;
};

TEST_F(IoBatchTest, AnEmptyBatchSucceeds) {
  EXPECT_TRUE(batch_.empty());
  EXPECT_TRUE(batch_.Run());
  EXPECT_TRUE(log_.empty());
}

TEST_F(IoBatchTest, RunsASingleExtentOfEachKind) {
  batch_.AddWrite(device(0), 8192, data(0), 4096);
  EXPECT_TRUE(batch_.Run());
  batch_.Clear();
  batch_.AddRead(device(0), 8192, back(0), 4096);
  EXPECT_TRUE(batch_.Run());
  EXPECT_EQ(std::memcmp(data(0), back(0), 4096), 0);
  batch_.Clear();
  batch_.AddFlush(device(0));
  EXPECT_TRUE(batch_.Run());
  batch_.Clear();
  batch_.AddZero(device(0), 8192, 4096);
  EXPECT_TRUE(batch_.Run());
  EXPECT_TRUE(DeviceHolds(0, 8192, std::vector<std::byte>(4096).data(), 4096));
  EXPECT_EQ(batch_.error(0), 0);
}

TEST_F(IoBatchTest, ASingleExtentKeepsItsError) {
  device(0)->set_fails([](const IoRequest&) { return ENOSPC; });
  EXPECT_EQ(batch_.AddWrite(device(0), 0, data(0), 4096), 0u);
  EXPECT_FALSE(batch_.Run());
  EXPECT_EQ(batch_.error(0), ENOSPC);
  EXPECT_EQ(log_.size(), 2u);  // not tried again
  device(0)->set_fails(nullptr);
  EXPECT_TRUE(batch_.Run());
  EXPECT_EQ(batch_.error(0), 0);
}

TEST_F(IoBatchTest, SubmitsAllBeforeItWaitsForAny) {
  for (size_t i = 0; i < 3; ++i) {
    batch_.AddRead(device(i), 4096 * i, back(8192 * i), 4096);
  }
  EXPECT_TRUE(batch_.Run());
  std::string steps;
  for (const LoggedCall& call : log_) {
    steps += call.step;
    steps += call.device;
  }
  EXPECT_EQ(steps, "SaSbScWaWbWc");
}

TEST_F(IoBatchTest, MergesInWhateverOrderExtentsWereAdded) {
  std::vector<size_t> order = {0, 1, 2, 3, 4};
  do {
    log_.clear();
    batch_.Clear();
    // Places in memory are the reverse of those on the device, so that buffers stay apart.
    for (const size_t i : order) {
      batch_.AddRead(device(0), 4096 * i, back(4096 * (4 - i)), 4096);
    }
    ASSERT_TRUE(batch_.Run());
    ASSERT_EQ(Submitted(), (std::vector<LoggedCall>{{"a", 'S', IoKind::kRead, 0, 5 * 4096, 5, 5}}));
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(IoBatchTest, WhatIsApartBeginsARequest) {
  batch_.AddRead(device(0), 0, back(0), 4096);
  batch_.AddRead(device(0), 4096, back(4096), 4096, IoBatch::Joining::kApart);
  batch_.AddRead(device(0), 8192, back(8192), 4096);
  EXPECT_TRUE(batch_.Run());
  EXPECT_EQ(Submitted(), (std::vector<LoggedCall>{{"a", 'S', IoKind::kRead, 0, 4096, 1, 1},
                                                  {"a", 'S', IoKind::kRead, 4096, 8192, 1, 2}}));
}

TEST_F(IoBatchTest, JoinsBuffersThatTouchInMemory) {
  batch_.AddWrite(device(0), 0, data(0), 4096);
  batch_.AddWrite(device(0), 4096, data(4096), 4096);
  batch_.AddWrite(device(0), 8192, data(0), 4096);
  EXPECT_TRUE(batch_.Run());
  EXPECT_EQ(Submitted(), (std::vector<LoggedCall>{{"a", 'S', IoKind::kWrite, 0, 12288, 2, 3}}));
  EXPECT_TRUE(DeviceHolds(0, 0, data(0), 8192));
  EXPECT_TRUE(DeviceHolds(0, 8192, data(0), 4096));
}

TEST_F(IoBatchTest, GapsKindsAndMembersSeparateRequests) {
  batch_.AddRead(device(1), 0, back(0), 4096);
  batch_.AddWrite(device(1), 4096, data(4096), 4096);
  batch_.AddRead(device(1), 8192, back(8192), 4096);
  batch_.AddRead(device(1), 12288, back(12288), 512);
  batch_.AddZero(device(1), 12800, 1000);
  batch_.AddZero(device(1), 13800, 24);
  batch_.AddRead(device(0), 4096, back(4096), 4096);
  batch_.AddRead(device(0), 12288, back(20480), 4096);
  EXPECT_TRUE(batch_.Run());
  EXPECT_EQ(Submitted(), (std::vector<LoggedCall>{{"b", 'S', IoKind::kRead, 0, 4096, 1, 1},
                                                  {"b", 'S', IoKind::kWrite, 4096, 4096, 1, 1},
                                                  {"b", 'S', IoKind::kRead, 8192, 4608, 1, 2},
                                                  {"b", 'S', IoKind::kZero, 12800, 1024, 0, 2},
                                                  {"a", 'S', IoKind::kRead, 4096, 4096, 1, 1},
                                                  {"a", 'S', IoKind::kRead, 12288, 4096, 1, 1}}));
}

TEST_F(IoBatchTest, FlushesComeLastAndOncePerMember) {
  batch_.AddFlush(device(0));
  batch_.AddWrite(device(1), 0, data(0), 4096);
  batch_.AddFlush(device(1));
  batch_.AddWrite(device(0), 0, data(0), 4096);
  batch_.AddFlush(device(0));
  EXPECT_TRUE(batch_.Run());
  EXPECT_EQ(Submitted(), (std::vector<LoggedCall>{{"a", 'S', IoKind::kWrite, 0, 4096, 1, 1},
                                                  {"b", 'S', IoKind::kWrite, 0, 4096, 1, 1},
                                                  {"a", 'S', IoKind::kFlush, 0, 0, 0, 2},
                                                  {"b", 'S', IoKind::kFlush, 0, 0, 0, 1}}));
}

TEST_F(IoBatchTest, AFailedFlushFailsAllThatAskedForItAndIsNotRepeated) {
  int flushes = 0;
  device(0)->set_fails([&](const IoRequest& request) {
    return request.kind == IoKind::kFlush && flushes++ == 0 ? EIO : 0;
  });
  const size_t first = batch_.AddFlush(device(0));
  const size_t write = batch_.AddWrite(device(0), 0, data(0), 4096);
  const size_t second = batch_.AddFlush(device(0));
  const size_t other = batch_.AddFlush(device(1));
  EXPECT_FALSE(batch_.Run());
  EXPECT_EQ(batch_.error(first), EIO);
  EXPECT_EQ(batch_.error(second), EIO);
  EXPECT_EQ(batch_.error(write), 0);
  EXPECT_EQ(batch_.error(other), 0);
  EXPECT_EQ(flushes, 1);
}

TEST_F(IoBatchTest, PinsAnErrorToTheExtentsThatCausedIt) {
  // Bad bytes at 8192 and 20480: requests that touch one fail.
  device(0)->set_fails([](const IoRequest& request) {
    for (const uint64_t bad : {uint64_t{8192}, uint64_t{20480}}) {
      if (request.offset_bytes <= bad && bad < request.offset_bytes + request.length_bytes) {
        return EILSEQ;
      }
    }
    return 0;
  });
  for (size_t i = 0; i < 8; ++i) {
    batch_.AddRead(device(0), 4096 * i, back(4096 * i), 4096);
    batch_.AddRead(device(1), 4096 * i, back(kMiB + 4096 * i), 4096);
  }
  EXPECT_FALSE(batch_.Run());
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(batch_.error(2 * i), i == 2 || i == 5 ? EILSEQ : 0) << i;
    EXPECT_EQ(batch_.error(2 * i + 1), 0) << i;
  }
}

TEST_F(IoBatchTest, AMergeThatFailsOnlyAsAWholeSucceedsInPieces) {
  device(0)->set_fails([](const IoRequest& request) { return request.pieces > 1 ? EINVAL : 0; });
  batch_.AddWrite(device(0), 4096, data(4096), 4096);
  batch_.AddWrite(device(0), 0, data(0), 4096);
  EXPECT_TRUE(batch_.Run());
  EXPECT_TRUE(DeviceHolds(0, 0, data(0), 8192));
}

TEST_F(IoBatchTest, MergesMoreThanAThousandPieces) {
  constexpr size_t kPieces = 3000;
  for (size_t i = kPieces; i-- > 0;) {
    batch_.AddWrite(device(0), 512 * i, data(512 * (kPieces - 1 - i)), 512);
  }
  EXPECT_TRUE(batch_.Run());
  EXPECT_EQ(
      Submitted(),
      (std::vector<LoggedCall>{{"a", 'S', IoKind::kWrite, 0, 512 * kPieces, kPieces, kPieces}}));
  EXPECT_TRUE(DeviceHolds(0, 512 * 2999, data(0), 512));
  EXPECT_TRUE(DeviceHolds(0, 0, data(512 * 2999), 512));
}

TEST_F(IoBatchTest, ExtentsOfNoLengthDoNothing) {
  batch_.AddRead(device(0), 0, back(0), 8192);
  batch_.AddWrite(device(0), 4096, data(0), 0);
  batch_.AddZero(device(0), kSizeBytes + 1, 0);
  EXPECT_TRUE(batch_.Run());
  EXPECT_EQ(Submitted().size(), 1u);
  batch_.Clear();
  batch_.AddRead(device(0), kSizeBytes + 1, back(0), 0);
  EXPECT_TRUE(batch_.Run());
}

TEST_F(IoBatchTest, IsAsNewAfterClear) {
  device(0)->set_fails(
      [](const IoRequest& request) { return request.offset_bytes == 0 ? EIO : 0; });
  for (size_t i = 0; i < 40; ++i) {
    batch_.AddRead(device(i % 3), 8192 * i, back(8192 * i), 4096);
  }
  EXPECT_FALSE(batch_.Run());
  batch_.Clear();
  EXPECT_TRUE(batch_.empty());
  EXPECT_EQ(batch_.size(), 0u);
  log_.clear();
  batch_.AddRead(device(2), 8192, back(0), 4096);
  batch_.AddRead(device(1), 4096, back(4096), 4096);
  EXPECT_EQ(batch_.size(), 2u);
  EXPECT_TRUE(batch_.Run());
  EXPECT_EQ(Submitted(), (std::vector<LoggedCall>{{"c", 'S', IoKind::kRead, 8192, 4096, 1, 1},
                                                  {"b", 'S', IoKind::kRead, 4096, 4096, 1, 1}}));
}

// Random batches against plain arrays.
TEST_F(IoBatchTest, DoesWhatItsExtentsSay) {
  Prng prng(TestSeed("IoBatch"));
  std::vector<std::vector<std::byte>> models(3, std::vector<std::byte>(kSizeBytes));
  for (int round = 0; round < 200; ++round) {
    batch_.Clear();
    struct Expectation {
      size_t device;
      uint64_t offset_bytes;
      size_t length_bytes;
      bool is_read;
    };
    std::vector<Expectation> extents;
    for (size_t d = 0; d < 3; ++d) {
      uint64_t offset_bytes = prng.Below(kMiB);
      for (uint64_t n = prng.Below(20); n > 0; --n) {
        offset_bytes += prng.OneIn(3) ? prng.Below(5000) : 0;
        const size_t length_bytes = prng.Between(1, 9000);
        extents.push_back({d, offset_bytes, length_bytes, false});
        offset_bytes += length_bytes;
      }
    }
    std::shuffle(extents.begin(), extents.end(), prng);
    prng.Fill(data_.span().first(64 * kKiB));
    for (size_t i = 0; i < extents.size(); ++i) {
      Expectation& extent = extents[i];
      const auto modelled =
          models[extent.device].begin() + static_cast<ptrdiff_t>(extent.offset_bytes);
      switch (prng.Below(3)) {
        case 0:
          extent.is_read = true;
          batch_.AddRead(device(extent.device), extent.offset_bytes, back(i * 9001),
                         extent.length_bytes);
          break;
        case 1: {
          const std::byte* const from = data(prng.Below(50 * kKiB));
          batch_.AddWrite(device(extent.device), extent.offset_bytes, from, extent.length_bytes);
          std::copy_n(from, extent.length_bytes, modelled);
          break;
        }
        default:
          batch_.AddZero(device(extent.device), extent.offset_bytes, extent.length_bytes);
          std::fill_n(modelled, extent.length_bytes, std::byte{0});
          break;
      }
    }
    ASSERT_TRUE(batch_.Run());
    for (size_t i = 0; i < extents.size(); ++i) {
      const Expectation& extent = extents[i];
      ASSERT_EQ(batch_.error(i), 0);
      ASSERT_TRUE(!extent.is_read ||
                  std::memcmp(back(i * 9001), models[extent.device].data() + extent.offset_bytes,
                              extent.length_bytes) == 0);
    }
  }
  for (size_t d = 0; d < 3; ++d) {
    EXPECT_TRUE(DeviceHolds(d, 0, models[d].data(), kSizeBytes));
  }
}

TEST_F(IoBatchTest, ARandomReadAllocatesNothing) {
  const auto memory = NewMemoryDevice("memory", kSizeBytes);
  size_t before = 0;
  for (int round = 0; round < 2; ++round) {  // locks may allocate when they are first used
    before = AllocationCount();
    IoBatch batch;
    batch.AddRead(memory.get(), 4096, back(0), 4096);
    EXPECT_TRUE(batch.Run());
  }
  EXPECT_EQ(AllocationCount(), before);
}

TEST_F(IoBatchTest, ARepeatedBatchAllocatesNothing) {
  const auto first = NewMemoryDevice("first", kSizeBytes);
  const auto second = NewMemoryDevice("second", kSizeBytes);
  size_t before = 0;
  for (int round = 0; round < 3; ++round) {
    before = AllocationCount();
    batch_.Clear();
    // Long merges of buffers that stay apart, and many requests of their own.
    for (size_t i = 0; i < 50; ++i) {
      MemberDevice* const device = i % 2 == 0 ? first.get() : second.get();
      batch_.AddRead(device, 4096 * (i / 2), back(8192 * (50 - i)), 4096);
      batch_.AddRead(device, kMiB + 8192 * i, back(kMiB + 8192 * i), 4096);
    }
    EXPECT_TRUE(batch_.Run());
  }
  EXPECT_EQ(AllocationCount(), before);
}

using IoBatchDeathTest = IoBatchTest;

TEST_F(IoBatchDeathTest, ExtentsThatOverlapAreABug) {
  batch_.AddWrite(device(0), 4096, data(0), 4096);
  batch_.AddWrite(device(0), 0, data(0), 4097);
  EXPECT_DEATH(batch_.Run(), "internal error");
  batch_.Clear();
  batch_.AddRead(device(0), 0, back(0), 8192);
  batch_.AddZero(device(0), 4096, 512);
  EXPECT_DEATH(batch_.Run(), "internal error");
}

}  // namespace
}  // namespace mdvol
