// Invalidator: every range reaches the kernel, from a thread of its own.

#include "fuse/invalidator.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace mdvol {
namespace {

using Ranges = std::vector<std::pair<uint64_t, uint64_t>>;

// What has been told to forget, and a gate that holds the telling up.
class Kernel {
 public:
  void Forget(uint64_t offset_bytes, uint64_t length_bytes) {
    absl::MutexLock lock(&mutex_);
    forgotten_.emplace_back(offset_bytes, length_bytes);
    const auto is_open = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return open_; };
    mutex_.Await(absl::Condition(&is_open));
  }
  void Open() {
    absl::MutexLock lock(&mutex_);
    open_ = true;
  }
  Ranges Await(size_t count) {
    absl::MutexLock lock(&mutex_);
    const auto are_there = [this, count]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
      return forgotten_.size() >= count;
    };
    mutex_.Await(absl::Condition(&are_there));
    return forgotten_;
  }

 private:
  absl::Mutex mutex_;
  bool open_ ABSL_GUARDED_BY(mutex_) = false;
  Ranges forgotten_ ABSL_GUARDED_BY(mutex_);
};

class InvalidatorTest : public ::testing::Test {
 protected:
  void Start() {
    invalidator_.Start([this](uint64_t offset_bytes, uint64_t length_bytes) {
      kernel_.Forget(offset_bytes, length_bytes);
    });
  }

  Kernel kernel_;
  Invalidator invalidator_;
};

TEST_F(InvalidatorTest, WhatWasAddedBeforeTheStartIsToldToo) {
  invalidator_.Add(4096, 512);
  kernel_.Open();
  Start();
  EXPECT_EQ(kernel_.Await(1), (Ranges{{4096, 512}}));
}

TEST_F(InvalidatorTest, NeighboursBecomeOneRangeAndNobodyWaitsForTheKernel) {
  Start();
  invalidator_.Add(0, 512);
  kernel_.Await(1);  // it hangs in the kernel now
  invalidator_.Add(8192, 4096);
  invalidator_.Add(12288, 4096);
  invalidator_.Add(65536, 1);
  kernel_.Open();
  EXPECT_EQ(kernel_.Await(3), (Ranges{{0, 512}, {8192, 8192}, {65536, 1}}));
}

TEST_F(InvalidatorTest, TooManyRangesBecomeOneThatCoversThem) {
  for (uint64_t i = 0; i <= 4096; ++i) {
    invalidator_.Add(1'000'000 + i * 1024, 512);
  }
  kernel_.Open();
  Start();
  EXPECT_EQ(kernel_.Await(1), (Ranges{{1'000'000, 4096 * 1024 + 512}}));
}

TEST_F(InvalidatorTest, AStopDropsWhatWaits) {
  Start();
  invalidator_.Add(0, 512);
  kernel_.Await(1);
  invalidator_.Add(8192, 512);
  kernel_.Open();
  invalidator_.Stop();
  EXPECT_LE(kernel_.Await(1).size(), 2U);
}

}  // namespace
}  // namespace mdvol
