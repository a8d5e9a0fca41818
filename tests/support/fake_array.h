// FakeArray: an Array without members, for tests of what lies above: a volume in plain memory, a
// snapshot that a test can change, errors on demand, and a record of what was asked.
//
// State and bytes can live in memory that a parent and a child share (NewSharedFakeArrayState), so
// that a test sees into the array of a daemon that it started. Thread-safe; the snapshot is per
// process.

#ifndef MDVOL_TESTS_SUPPORT_FAKE_ARRAY_H_
#define MDVOL_TESTS_SUPPORT_FAKE_ARRAY_H_

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "core/array/array.h"
#include "core/base/check.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "core/metadata/superblock.h"

namespace mdvol::testing {

// Four data chunks of 64 KiB in each of 16 stripes.
inline constexpr uint64_t kFakeChunkBytes = 64 * kKiB;
inline constexpr uint64_t kFakeComponentBytes = kMiB;
inline constexpr uint64_t kFakeVolumeBytes = 4 * kMiB;
inline constexpr uint32_t kFakeRaidDisks = 6;

// Plain memory: valid at any address and in two processes at once.
struct FakeArrayState {
  std::atomic<int> read_error{0};  // 0, or the errno that such a call fails with
  std::atomic<int> write_error{0};
  std::atomic<int> flush_error{0};
  std::atomic<int> stop_error{0};
  std::atomic<bool> broken{false};        // lost a third member
  std::atomic<bool> stays_dirty{false};   // a stop is none that makes it clean
  std::atomic<bool> in_doubt{false};      // its first stripe is
  std::atomic<bool> dies_at_stop{false};  // the process, as if killed
  std::atomic<bool> read_only{false};
  std::atomic<uint32_t> read_sleep_us{0};  // each read takes that long
  std::atomic<uint32_t> write_sleep_us{0};

  std::atomic<uint64_t> read_count{0};
  std::atomic<uint64_t> write_count{0};
  std::atomic<uint64_t> unaligned_write_count{0};  // by address
  std::atomic<int> writers_inside{0};
  std::atomic<int> most_writers_inside{0};
  std::atomic<uint64_t> flush_count{0};
  std::atomic<uint64_t> zero_count{0};
  std::atomic<uint64_t> zero_offset_bytes{0};  // of the last Zero
  std::atomic<uint64_t> zero_length_bytes{0};
  std::atomic<bool> stopped{false};
  std::atomic<int> pid{0};  // for whoever starts a daemon
  std::array<std::byte, kFakeVolumeBytes> bytes{};
};

// Shared with children that are forked later; unmapped with the last pointer of this process.
inline std::shared_ptr<FakeArrayState> NewSharedFakeArrayState() {
  void* const memory = ::mmap(nullptr, sizeof(FakeArrayState), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  MDVOL_CHECK(memory != MAP_FAILED);
  return {new (memory) FakeArrayState, [](FakeArrayState* state) {
            state->~FakeArrayState();
            ::munmap(state, sizeof(FakeArrayState));
          }};
}

// Six members d0.img … d5.img in sync, an internal bitmap, clean.
inline ArraySnapshot FakeSnapshot() {
  ArraySnapshot array;
  array.name = "host:big";
  for (size_t i = 0; i < array.uuid.bytes.size(); ++i) {
    array.uuid.bytes[i] = static_cast<uint8_t>(0x10 + i);
  }
  array.raid_disks = kFakeRaidDisks;
  array.chunk_bytes = kFakeChunkBytes;
  array.component_bytes = kFakeComponentBytes;
  array.array_bytes = kFakeVolumeBytes;
  array.events = 17;
  array.resync_bytes = kResyncDone;
  array.created_s = 1'700'000'000;
  array.updated_s = 1'700'000'100;
  array.bitmap = BitmapSnapshot{64 * kMiB, 5, true, 8, 1, 0, 1, 0};
  for (uint32_t slot = 0; slot < kFakeRaidDisks; ++slot) {
    MemberSnapshot& member = array.members.emplace_back();
    member.index = slot;
    member.name = std::string("d").append(std::to_string(slot)).append(".img");
    member.path = std::string("/images/").append(member.name);
    member.dev_number = slot;
    member.slot = slot;
    member.in_sync = true;
    member.uuid.bytes.fill(static_cast<uint8_t>(0xa0 + slot));
    member.device_bytes = 2 * kMiB;
    member.data_offset_bytes = kMiB;
    member.data_bytes = kFakeComponentBytes;
    member.recovery_bytes = kFakeComponentBytes;
  }
  return array;
}

class FakeArray final : public Array {
 public:
  explicit FakeArray(std::shared_ptr<FakeArrayState> state = std::make_shared<FakeArrayState>())
      : state_(std::move(state)), snapshot_(FakeSnapshot()) {}

  FakeArrayState& state() { return *state_; }

  // Changes what the next snapshot shows.
  template <typename Change>
  void ChangeSnapshot(const Change& change) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    change(snapshot_);
  }

  const ArrayGeometry& geometry() const override { return geometry_; }
  std::optional<StripeRange> NextDoubt(uint64_t from_stripe) const override {
    return state_->in_doubt && from_stripe == 0 ? std::optional(StripeRange{0, 1}) : std::nullopt;
  }

  bool read_only() const override { return state_->read_only; }

  absl::Status Read(uint64_t offset_bytes, std::span<std::byte> out) override {
    MDVOL_CHECK(offset_bytes + out.size() <= kFakeVolumeBytes && !out.empty());
    ++state_->read_count;
    MDVOL_RETURN_IF_ERROR(Injected(state_->read_error));
    SleepFor(state_->read_sleep_us);
    absl::MutexLock lock(&mutex_);
    std::memcpy(out.data(), state_->bytes.data() + offset_bytes, out.size());
    return absl::OkStatus();
  }

  absl::Status Write(uint64_t offset_bytes, std::span<const std::byte> data) override {
    MDVOL_CHECK(offset_bytes + data.size() <= kFakeVolumeBytes && !data.empty());
    ++state_->write_count;
    if (reinterpret_cast<uintptr_t>(data.data()) % 4096 != 0) {
      ++state_->unaligned_write_count;
    }
    MDVOL_RETURN_IF_ERROR(Injected(state_->write_error));
    const int inside = ++state_->writers_inside;
    int most = state_->most_writers_inside;
    while (inside > most && !state_->most_writers_inside.compare_exchange_weak(most, inside)) {
    }
    SleepFor(state_->write_sleep_us);
    --state_->writers_inside;
    absl::MutexLock lock(&mutex_);
    std::memcpy(state_->bytes.data() + offset_bytes, data.data(), data.size());
    return absl::OkStatus();
  }

  absl::Status Zero(uint64_t offset_bytes, uint64_t length_bytes) override {
    MDVOL_CHECK(offset_bytes + length_bytes <= kFakeVolumeBytes && length_bytes > 0);
    ++state_->zero_count;
    state_->zero_offset_bytes = offset_bytes;
    state_->zero_length_bytes = length_bytes;
    MDVOL_RETURN_IF_ERROR(Injected(state_->write_error));
    absl::MutexLock lock(&mutex_);
    std::memset(state_->bytes.data() + offset_bytes, 0, length_bytes);
    return absl::OkStatus();
  }

  absl::Status Flush() override {
    ++state_->flush_count;
    return Injected(state_->flush_error);
  }

  // 4 KiB of zeroes count as a hole.
  absl::StatusOr<uint64_t> NextData(uint64_t offset_bytes) override {
    return NextBlock(offset_bytes, /*is_hole=*/false);
  }
  absl::StatusOr<uint64_t> NextHole(uint64_t offset_bytes) override {
    return NextBlock(offset_bytes, /*is_hole=*/true);
  }

  absl::Status FailMember(size_t member_index, std::string_view) override {
    absl::MutexLock lock(&mutex_);
    if (member_index >= snapshot_.members.size()) {
      return ErrnoStatus(ENODEV, "no such member");
    }
    MemberSnapshot& member = snapshot_.members[member_index];
    if (member.faulty) {
      return absl::OkStatus();
    }
    if (member.in_sync && snapshot_.degraded == 2) {
      return ErrnoStatus(EBUSY, "the array could not live without it");
    }
    snapshot_.degraded += member.in_sync ? 1 : 0;
    member.faulty = true;
    member.in_sync = false;
    member.slot.reset();
    return absl::OkStatus();
  }

  ArraySnapshot Snapshot() const override {
    absl::MutexLock lock(&mutex_);
    ArraySnapshot snapshot = snapshot_;
    if (state_->broken) {
      snapshot.state = ArrayState::kFailed;
      snapshot.dirty = true;
    }
    snapshot.dirty |= state_->stays_dirty;
    return snapshot;
  }

  absl::Status SetRmwLevel(uint32_t level) override {
    absl::MutexLock lock(&mutex_);
    snapshot_.rmw_level = level;
    return absl::OkStatus();
  }
  void SetSafeModeDelay(uint32_t milliseconds) override {
    absl::MutexLock lock(&mutex_);
    snapshot_.safe_mode_delay_ms = milliseconds;
  }
  void SetMaxReadErrors(uint32_t count) override {
    absl::MutexLock lock(&mutex_);
    snapshot_.max_read_errors = count;
  }
  absl::Status SetStripeCacheSize(uint32_t lanes) override {
    absl::MutexLock lock(&mutex_);
    if (lanes < 17) {
      return ErrnoStatus(EINVAL, "too few");
    }
    snapshot_.stripe_cache_size = lanes;
    return absl::OkStatus();
  }
  absl::Status SetBitmapTimeBase(uint32_t seconds) override {
    absl::MutexLock lock(&mutex_);
    if (!snapshot_.bitmap.has_value()) {
      return ErrnoStatus(EINVAL, "no bitmap");
    }
    snapshot_.bitmap->time_base_s = seconds;
    return absl::OkStatus();
  }
  absl::Status SetState(std::string_view word) override {
    absl::MutexLock lock(&mutex_);
    if (word != "clean" && word != "active" && word != "readonly") {
      return ErrnoStatus(EINVAL, "no such state");
    }
    snapshot_.read_only = word == "readonly";
    snapshot_.state = word == "clean"    ? ArrayState::kClean
                      : word == "active" ? ArrayState::kActive
                                         : ArrayState::kReadonly;
    state_->read_only = snapshot_.read_only;
    return absl::OkStatus();
  }

  // Writes are not refused here, only IsSuspended tells.
  absl::Status Suspend(uint64_t lo_bytes, uint64_t hi_bytes) override {
    absl::MutexLock lock(&mutex_);
    suspend_lo_bytes_ = lo_bytes;
    suspend_hi_bytes_ = hi_bytes;
    return Injected(state_->write_error);
  }
  bool IsSuspended(uint64_t offset_bytes, uint64_t length_bytes) const override {
    absl::MutexLock lock(&mutex_);
    return offset_bytes < suspend_hi_bytes_ && suspend_lo_bytes_ < offset_bytes + length_bytes;
  }

  void StartMaintenance() override {}
  uint64_t RunMaintenance() override { return 0; }
  absl::Status Stop() override {
    if (state_->dies_at_stop) {
      ::_exit(1);
    }
    state_->stopped = true;
    return Injected(state_->stop_error);
  }

 private:
  static ArrayGeometry MakeGeometry() {
    absl::StatusOr<ArrayGeometry> geometry = ArrayGeometry::Make(
        Layout::kLeftSymmetric, kFakeRaidDisks, kFakeChunkBytes, kFakeComponentBytes);
    MDVOL_CHECK(geometry.ok() && geometry->volume_bytes() == kFakeVolumeBytes);
    return *geometry;
  }

  static absl::Status Injected(int error_number) {
    return error_number == 0 ? absl::OkStatus() : ErrnoStatus(error_number, "injected");
  }

  static void SleepFor(uint32_t sleep_us) {
    if (sleep_us != 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(sleep_us));
    }
  }

  uint64_t NextBlock(uint64_t offset_bytes, bool is_hole) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    while (offset_bytes < kFakeVolumeBytes) {
      const auto block =
          state_->bytes.begin() + static_cast<ptrdiff_t>(RoundDown(offset_bytes, 4096));
      const bool is_zero =
          std::all_of(block, block + 4096, [](std::byte b) { return b == std::byte{0}; });
      if (is_zero == is_hole) {
        return offset_bytes;
      }
      offset_bytes = RoundDown(offset_bytes, 4096) + 4096;
    }
    return kFakeVolumeBytes;
  }

  const ArrayGeometry geometry_ = MakeGeometry();
  const std::shared_ptr<FakeArrayState> state_;
  mutable absl::Mutex mutex_;
  ArraySnapshot snapshot_ ABSL_GUARDED_BY(mutex_);
  uint64_t suspend_lo_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t suspend_hi_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_SUPPORT_FAKE_ARRAY_H_
