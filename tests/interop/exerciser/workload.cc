// See workload.h.

#include "tests/interop/exerciser/workload.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "core/base/aligned_buffer.h"
#include "core/base/status.h"
#include "tests/interop/exerciser/request.h"
#include "tests/support/seed.h"

namespace mdvol::testing {
namespace {

// The first error of any thread; the others stop when they see it.
class FirstError {
 public:
  void Set(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    if (status_.ok()) status_ = status;
    is_set_.store(true, std::memory_order_relaxed);
  }
  bool is_set() const { return is_set_.load(std::memory_order_relaxed); }
  absl::Status Get() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return status_;
  }

 private:
  std::atomic<bool> is_set_{false};
  absl::Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

absl::Status CompareBytes(std::span<const std::byte> found, const std::byte* expected,
                          uint64_t offset_bytes) {
  if (std::memcmp(found.data(), expected, found.size()) == 0) return absl::OkStatus();
  size_t i = 0;
  while (found[i] == expected[i]) ++i;
  size_t wrong = 0;
  for (size_t k = i; k < found.size(); ++k) {
    if (found[k] != expected[k]) ++wrong;
  }
  return ErrnoStatus(EIO, "volume offset " + std::to_string(offset_bytes + i) + " reads " +
                              std::to_string(static_cast<int>(found[i])) + ", written was " +
                              std::to_string(static_cast<int>(expected[i])) + " (" +
                              std::to_string(wrong) + " wrong bytes in the " +
                              std::to_string(found.size()) + " bytes read at " +
                              std::to_string(offset_bytes) + ")");
}

// One thread of RunWorkload.
class Worker {
 public:
  Worker(const VolumeFile& volume, const Shadow& shadow, const WorkloadOptions& options,
         uint64_t seed, RangeLock& locks)
      : volume_(volume),
        shadow_(shadow),
        options_(options),
        prng_(seed),
        locks_(locks),
        buffer_(LongestRequestBytes(options.stripe_bytes) + kBufferAlignment) {}

  absl::Status DoOne() {
    const Extent bounds = BoundsOf(options_, volume_.size_bytes());
    Extent extent;
    do {
      extent = DrawExtent(prng_, options_.chunk_bytes, options_.stripe_bytes, bounds);
    } while (!locks_.TryLock(extent));
    const absl::Status status = DoLocked(extent);
    locks_.Unlock(extent);
    return status;
  }

 private:
  absl::Status DoLocked(const Extent& extent) {
    const uint64_t percent = prng_.Below(100);
    if (percent < options_.zero_percent) return Zero(extent);
    if (percent < options_.zero_percent + options_.read_percent) return ReadBack(extent);
    if (percent == 99) return volume_.Sync();
    return Write(extent);
  }

  // A buffer of any alignment, as programs have them; O_DIRECT on the volume must not mind.
  std::span<std::byte> Buffer(uint64_t length_bytes) {
    const uint64_t skew = prng_.OneIn(2) ? 0 : prng_.Below(kBufferAlignment);
    return buffer_.span().subspan(skew, length_bytes);
  }

  bool IsDirect() {
    return options_.access == AccessMode::kDirect ||
           (options_.access == AccessMode::kMixed && prng_.OneIn(2));
  }

  absl::Status Write(const Extent& extent) {
    const std::span<std::byte> data = Buffer(extent.length_bytes);
    prng_.Fill(data);
    MDVOL_RETURN_IF_ERROR(volume_.Write(extent.offset_bytes, data, IsDirect()));
    std::memcpy(shadow_.at(extent.offset_bytes), data.data(), data.size());
    return absl::OkStatus();
  }

  absl::Status Zero(const Extent& extent) {
    MDVOL_RETURN_IF_ERROR(prng_.OneIn(2) ? volume_.Punch(extent) : volume_.ZeroRange(extent));
    std::memset(shadow_.at(extent.offset_bytes), 0, extent.length_bytes);
    return absl::OkStatus();
  }

  absl::Status ReadBack(const Extent& extent) {
    const std::span<std::byte> data = Buffer(extent.length_bytes);
    MDVOL_RETURN_IF_ERROR(volume_.Read(extent.offset_bytes, data, IsDirect()));
    return CompareBytes(data, shadow_.at(extent.offset_bytes), extent.offset_bytes);
  }

  const VolumeFile& volume_;
  const Shadow& shadow_;
  const WorkloadOptions& options_;
  Prng prng_;
  RangeLock& locks_;
  AlignedBuffer buffer_;
};

}  // namespace

absl::Status RunWorkload(const VolumeFile& volume, const Shadow& shadow,
                         const WorkloadOptions& options) {
  // A page that is written through the page cache and around it at once may keep either's bytes.
  RangeLock locks(options.access == AccessMode::kMixed ? 4096 : 1);
  std::atomic<uint64_t> started{0};
  FirstError error;
  std::vector<std::thread> threads;
  for (uint32_t job = 0; job < options.jobs; ++job) {
    threads.emplace_back([&, job] {
      Worker worker(volume, shadow, options, options.seed + job, locks);
      while (!error.is_set() && started.fetch_add(1) < options.operations) {
        const absl::Status status = worker.DoOne();
        if (!status.ok()) error.Set(status);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  MDVOL_RETURN_IF_ERROR(error.Get());
  return volume.Sync();
}

absl::Status VerifyVolume(const VolumeFile& volume, const Shadow& shadow, AccessMode access) {
  constexpr uint64_t kPieceBytes = uint64_t{1} << 20;
  AlignedBuffer buffer(kPieceBytes);
  // Mixed: each piece both ways. Reading the pieces in turn would leave half of the members' bytes
  // to the page cache, which knows what was written.
  std::vector<bool> ways;
  if (access != AccessMode::kDirect) ways.push_back(false);
  if (access != AccessMode::kBuffered) ways.push_back(true);
  for (uint64_t offset_bytes = 0; offset_bytes < volume.size_bytes(); offset_bytes += kPieceBytes) {
    const uint64_t length_bytes = std::min(kPieceBytes, volume.size_bytes() - offset_bytes);
    const std::span<std::byte> data = buffer.span().first(length_bytes);
    for (const bool direct : ways) {
      MDVOL_RETURN_IF_ERROR(volume.Read(offset_bytes, data, direct));
      MDVOL_RETURN_IF_ERROR(CompareBytes(data, shadow.at(offset_bytes), offset_bytes));
    }
  }
  return absl::OkStatus();
}

}  // namespace mdvol::testing
