// HeldDevice: a member whose requests end when a test says so, and that knows what it was asked at
// once. Reads, writes and zeroings are held; flushes are not. Counts as a CountingDevice that
// counts nothing, so that an admission device can stand above it. Thread-safe.

#ifndef MDVOL_TESTS_UNIT_CORE_DEVICE_HELD_DEVICE_H_
#define MDVOL_TESTS_UNIT_CORE_DEVICE_HELD_DEVICE_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "core/device/counting_device.h"
#include "core/device/member_device.h"

namespace mdvol::testing {

struct SeenRequest {
  IoKind kind;
  uint64_t offset_bytes;
  uint64_t length_bytes;
  uint32_t pieces;
  bool is_sync = false;

  friend bool operator==(const SeenRequest&, const SeenRequest&) = default;
};

class HeldDevice final : public CountingDevice {
 public:
  // Requests for which it returns an errno fail with it and store nothing.
  using Fails = std::function<int(const IoRequest&)>;

  explicit HeldDevice(std::unique_ptr<MemberDevice> inner) : inner_(std::move(inner)) {}

  void set_fails(Fails fails) {
    absl::MutexLock lock(&mutex_);
    fails_ = std::move(fails);
  }

  // So many more may end, in any order; until Hold all may.
  void Hold() {
    absl::MutexLock lock(&mutex_);
    is_held_ = true;
    permits_ = 0;
  }
  void Let(uint32_t count) {
    absl::MutexLock lock(&mutex_);
    permits_ += count;
  }
  void LetAll() {
    absl::MutexLock lock(&mutex_);
    is_held_ = false;
  }

  std::vector<SeenRequest> Seen() const {
    absl::MutexLock lock(&mutex_);
    return seen_;
  }
  uint32_t WritesAtOnce() const {
    absl::MutexLock lock(&mutex_);
    return writes_;
  }
  uint32_t MostWritesAtOnce() const {
    absl::MutexLock lock(&mutex_);
    return most_writes_;
  }
  // Requests that were waited for by another thread than the one that submitted them.
  uint32_t Strangers() const {
    absl::MutexLock lock(&mutex_);
    return strangers_;
  }
  void AwaitSeen(size_t count) const {
    absl::MutexLock lock(&mutex_);
    const auto are_seen = [this, count]()
                              ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return seen_.size() >= count; };
    mutex_.Await(absl::Condition(&are_seen));
  }

  const std::string& path() const override { return inner_->path(); }
  uint64_t size_bytes() const override { return inner_->size_bytes(); }
  uint32_t alignment_bytes() const override { return inner_->alignment_bytes(); }
  bool read_only() const override { return inner_->read_only(); }
  absl::StatusOr<uint64_t> NextData(uint64_t offset_bytes) override {
    return inner_->NextData(offset_bytes);
  }
  absl::StatusOr<uint64_t> NextHole(uint64_t offset_bytes) override {
    return inner_->NextHole(offset_bytes);
  }
  MemberIoCounts Counts() const override { return {}; }
  void SetRange(uint64_t /*begin_bytes*/, uint64_t /*end_bytes*/) override {}

  void Submit(IoRequest& request) override {
    int error = 0;
    {
      absl::MutexLock lock(&mutex_);
      seen_.push_back({request.kind, request.offset_bytes, request.length_bytes, request.pieces,
                       request.is_sync});
      submitters_[&request] = std::this_thread::get_id();
      if (IsWrite(request)) {
        most_writes_ = std::max(most_writes_, ++writes_);
      }
      error = fails_ ? fails_(request) : 0;
    }
    request.device_word = error != 0 ? 1 : 0;
    request.error = error;
    if (error == 0) {
      inner_->Submit(request);
    }
  }

  void Wait(IoRequest& request) override {
    if (request.device_word == 0) {
      inner_->Wait(request);
    }
    absl::MutexLock lock(&mutex_);
    if (request.kind != IoKind::kFlush) {
      const auto may_end = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
        return !is_held_ || permits_ > 0;
      };
      mutex_.Await(absl::Condition(&may_end));
      permits_ -= is_held_ ? 1 : 0;
    }
    if (submitters_[&request] != std::this_thread::get_id()) {
      ++strangers_;
    }
    submitters_.erase(&request);
    if (IsWrite(request)) {
      --writes_;
    }
  }

 private:
  static bool IsWrite(const IoRequest& request) {
    return request.kind == IoKind::kWrite || request.kind == IoKind::kZero;
  }

  const std::unique_ptr<MemberDevice> inner_;
  mutable absl::Mutex mutex_;
  Fails fails_ ABSL_GUARDED_BY(mutex_);
  bool is_held_ ABSL_GUARDED_BY(mutex_) = false;
  uint32_t permits_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<SeenRequest> seen_ ABSL_GUARDED_BY(mutex_);
  std::map<const IoRequest*, std::thread::id> submitters_ ABSL_GUARDED_BY(mutex_);
  uint32_t writes_ ABSL_GUARDED_BY(mutex_) = 0;
  uint32_t most_writes_ ABSL_GUARDED_BY(mutex_) = 0;
  uint32_t strangers_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_UNIT_CORE_DEVICE_HELD_DEVICE_H_
