// SyncArray: an Array without members that records what a sync engine asks of it, answers as a test
// wishes, and can hold its callers inside a piece. Thread-safe.

#ifndef MDVOL_TESTS_UNIT_CORE_SYNC_SYNC_ARRAY_H_
#define MDVOL_TESTS_UNIT_CORE_SYNC_SYNC_ARRAY_H_

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "core/array/array.h"
#include "core/base/status.h"
#include "core/stripe/sync_types.h"

namespace mdvol::testing {

// 64 stripes; a window is 4 of them.
class SyncArray final : public Array {
 public:
  static constexpr uint64_t kStripes = 64;
  static constexpr uint64_t kChunkBytes = uint64_t{256} << 10;

  // What came of a piece; by its first stripe, before anything is recorded.
  absl::Status answer ABSL_GUARDED_BY(mutex);
  uint64_t fails_at ABSL_GUARDED_BY(mutex) = kStripes;
  std::vector<WrongBlock> wrong
      ABSL_GUARDED_BY(mutex);                // found in the piece that holds their stripe
  bool held ABSL_GUARDED_BY(mutex) = false;  // whoever is inside a piece stays there

  std::vector<uint64_t> pieces ABSL_GUARDED_BY(mutex);  // first stripes, as they ended
  uint64_t inside ABSL_GUARDED_BY(mutex) = 0;
  std::vector<uint64_t> resync_checkpoints ABSL_GUARDED_BY(mutex);
  uint64_t recovery_checkpoints ABSL_GUARDED_BY(mutex) = 0;
  uint64_t recoveries_begun ABSL_GUARDED_BY(mutex) = 0;
  uint64_t recoveries_ended ABSL_GUARDED_BY(mutex) = 0;
  uint64_t runs_ended ABSL_GUARDED_BY(mutex) = 0;
  RepairMode repair_mode ABSL_GUARDED_BY(mutex) = RepairMode::kLocate;
  std::optional<uint64_t> recovery_from ABSL_GUARDED_BY(mutex);  // a recovery is pending from here
  absl::Status begin_answer ABSL_GUARDED_BY(mutex);
  mutable absl::Mutex mutex;

  std::atomic<bool> is_read_only{false};
  std::atomic<int> piece_ms{0};  // how long a piece takes
  DoubtMap doubt{kStripes, 8};
  std::atomic<uint64_t> skips_at{kStripes};  // RecomputeParity cannot tell there

  void Hold(bool value) {
    absl::MutexLock lock(&mutex);
    held = value;
  }
  void AwaitInside(uint64_t count) {
    absl::MutexLock lock(&mutex);
    const auto are_inside = [this, count]()
                                ABSL_SHARED_LOCKS_REQUIRED(mutex) { return inside >= count; };
    mutex.Await(absl::Condition(&are_inside));
  }
  std::vector<uint64_t> Pieces() const {
    absl::MutexLock lock(&mutex);
    std::vector<uint64_t> sorted = pieces;
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  }

  const ArrayGeometry& geometry() const override { return geometry_; }
  bool read_only() const override { return is_read_only; }
  std::optional<StripeRange> NextDoubt(uint64_t from) const override { return doubt.Next(from); }
  void EndDoubt(StripeRange stripes, uint64_t /*begun*/) override { doubt.Remove(stripes); }
  absl::Status RecomputeParity(StripeRange stripes, uint64_t* skipped) override {
    *skipped = stripes.first <= skips_at && skips_at < stripes.first + stripes.count ? 1 : 0;
    return Work(stripes, nullptr);
  }
  absl::Status CheckStripes(StripeRange stripes, SyncFindings* findings) override {
    return Work(stripes, findings);
  }
  absl::Status RepairStripes(StripeRange stripes, RepairMode mode,
                             SyncFindings* findings) override {
    {
      absl::MutexLock lock(&mutex);
      repair_mode = mode;
    }
    return Work(stripes, findings);
  }
  absl::Status CheckpointResync(uint64_t done) override {
    absl::MutexLock lock(&mutex);
    resync_checkpoints.push_back(done);
    return absl::OkStatus();
  }
  std::optional<RecoveryState> PendingRecovery() const override {
    absl::MutexLock lock(&mutex);
    return recovery_from.has_value()
               ? std::optional(RecoveryState{*recovery_from * kChunkBytes, false, {"d0"}})
               : std::nullopt;
  }
  absl::Status BeginRecovery() override {
    absl::MutexLock lock(&mutex);
    ++recoveries_begun;
    return begin_answer;
  }
  std::optional<StripeRange> NextToRecover(uint64_t from) const override {
    return from >= kStripes ? std::nullopt : std::optional(StripeRange{from, kStripes - from});
  }
  absl::Status RecoverStripes(StripeRange stripes, SyncFindings* findings) override {
    return Work(stripes, findings);
  }
  absl::Status CheckpointRecovery() override {
    absl::MutexLock lock(&mutex);
    ++recovery_checkpoints;
    return absl::OkStatus();
  }
  absl::Status EndRecovery() override {
    absl::MutexLock lock(&mutex);
    ++recoveries_ended;
    recovery_from.reset();
    return absl::OkStatus();
  }
  void SyncEnded() override {
    absl::MutexLock lock(&mutex);
    ++runs_ended;
  }

  absl::Status Read(uint64_t, std::span<std::byte>) override { return Unused(); }
  absl::Status Write(uint64_t, std::span<const std::byte>) override { return Unused(); }
  absl::Status Zero(uint64_t, uint64_t) override { return Unused(); }
  absl::Status Flush() override { return Unused(); }
  absl::StatusOr<uint64_t> NextData(uint64_t) override { return Unused(); }
  absl::StatusOr<uint64_t> NextHole(uint64_t) override { return Unused(); }
  absl::Status FailMember(size_t, std::string_view) override { return Unused(); }
  ArraySnapshot Snapshot() const override { return {}; }
  absl::Status SetRmwLevel(uint32_t) override { return Unused(); }
  absl::Status SetStripeCacheSize(uint32_t) override { return Unused(); }
  void SetSafeModeDelay(uint32_t) override {}
  void SetMaxReadErrors(uint32_t) override {}
  absl::Status SetBitmapTimeBase(uint32_t) override { return Unused(); }
  absl::Status SetState(std::string_view) override { return Unused(); }
  void StartMaintenance() override {}
  uint64_t RunMaintenance() override { return 0; }
  absl::Status Stop() override { return Unused(); }

 private:
  static absl::Status Unused() { return ErrnoStatus(ENOSYS, "not asked for"); }

  absl::Status Work(StripeRange stripes, SyncFindings* findings) {
    absl::SleepFor(absl::Milliseconds(piece_ms.load()));
    absl::MutexLock lock(&mutex);
    ++inside;
    const auto is_let_go = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex) { return !held; };
    mutex.Await(absl::Condition(&is_let_go));
    --inside;
    const auto is_here = [&](uint64_t stripe) {
      return stripes.first <= stripe && stripe < stripes.first + stripes.count;
    };
    if (is_here(fails_at)) {
      return answer;
    }
    pieces.push_back(stripes.first);
    for (const WrongBlock& block : wrong) {
      if (findings != nullptr && is_here(block.stripe)) {
        findings->wrong.push_back(block);
        findings->mismatch_sectors += 8;
      }
    }
    return absl::OkStatus();
  }

  const ArrayGeometry geometry_ =
      *ArrayGeometry::Make(Layout::kLeftSymmetric, 6, kChunkBytes, kStripes* kChunkBytes);
};

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_UNIT_CORE_SYNC_SYNC_ARRAY_H_
