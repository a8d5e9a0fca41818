// See fault_device.h. FaultRules decides; this carries it out.
//
// A request that something happens to has an entry in altered_, under its address, from Submit to
// Wait. A write whose bytes or length change is replaced by a substitute request towards the inner
// device. Requests without an entry go straight through.

#include "core/device/fault_device.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "core/base/aligned_buffer.h"
#include "core/device/fault_rules.h"

namespace mdvol {
namespace {

// What is to be done in Wait for one request.
struct Altered {
  FaultEffect effect;
  bool reaches_inner = true;
  std::unique_ptr<IoRequest> substitute;  // goes inward in the request's place
  AlignedBuffer data;                     // the substitute's bytes, if they are not the caller's
};

bool IsWrite(IoKind kind) { return kind == IoKind::kWrite || kind == IoKind::kZero; }

// `flips` ascend; those beyond the buffers are left out.
void ApplyFlips(const IoRequest& request, const std::vector<BitFlip>& flips) {
  uint64_t buffer_begin_bytes = request.offset_bytes;
  auto flip = flips.begin();
  for (const iovec& buffer : request.buffers) {
    auto* const bytes = static_cast<std::byte*>(buffer.iov_base);
    for (; flip != flips.end() && flip->offset_bytes - buffer_begin_bytes < buffer.iov_len;
         ++flip) {
      bytes[flip->offset_bytes - buffer_begin_bytes] ^= flip->mask;
    }
    buffer_begin_bytes += buffer.iov_len;
  }
}

// The first `length_bytes` of the request's buffers.
void KeepFront(IoRequest& request, uint64_t length_bytes) {
  request.length_bytes = length_bytes;
  size_t kept = 0;
  while (kept < request.buffers.size() && length_bytes > 0) {
    iovec& buffer = request.buffers[kept++];
    buffer.iov_len = std::min<uint64_t>(buffer.iov_len, length_bytes);
    length_bytes -= buffer.iov_len;
  }
  request.buffers.resize(kept);
}

// Gives the substitute, a write or a zeroing, bytes of its own with `flips` in them.
void CorruptWrite(Altered& altered) {
  IoRequest& request = *altered.substitute;
  altered.data = AlignedBuffer(request.length_bytes);
  std::byte* end = altered.data.data();
  if (request.kind == IoKind::kZero) {
    std::memset(end, 0, request.length_bytes);
    request.kind = IoKind::kWrite;
  }
  for (const iovec& buffer : request.buffers) {
    std::memcpy(end, buffer.iov_base, buffer.iov_len);
    end += buffer.iov_len;
  }
  request.buffers.clear();
  request.buffers.push_back({altered.data.data(), altered.data.size()});
  ApplyFlips(request, altered.effect.flips);
}

class FaultDeviceImpl final : public FaultDevice {
 public:
  FaultDeviceImpl(std::unique_ptr<MemberDevice> inner, uint64_t seed, Clock& clock)
      : inner_(std::move(inner)), clock_(clock), rules_(seed, inner_->size_bytes()) {}

  const std::string& path() const override { return inner_->path(); }
  uint64_t size_bytes() const override { return inner_->size_bytes(); }
  uint32_t alignment_bytes() const override { return inner_->alignment_bytes(); }
  bool read_only() const override { return inner_->read_only(); }

  void Submit(IoRequest& request) override {
    if (rule_count_.load(std::memory_order_relaxed) == 0) {
      inner_->Submit(request);
      return;
    }
    FaultEffect effect = Meet(request);
    if (effect.IsNone()) {
      inner_->Submit(request);
      return;
    }
    if (effect.delay_ns > 0) {
      request.ready_ns = std::max(request.ready_ns, clock_.NowNs() + effect.delay_ns);
    }
    Altered altered = Alter(request, std::move(effect));
    if (altered.reaches_inner) {
      inner_->Submit(altered.substitute != nullptr ? *altered.substitute : request);
    }
    absl::MutexLock lock(&mutex_);
    altered_.emplace(&request, std::move(altered));
    altered_count_.store(altered_.size(), std::memory_order_relaxed);
  }

  void Wait(IoRequest& request) override {
    Altered altered;
    if (altered_count_.load(std::memory_order_relaxed) != 0) {
      altered = TakeAltered(request);
    }
    const FaultEffect& effect = altered.effect;
    if (altered.substitute != nullptr) {
      inner_->Wait(*altered.substitute);
      request.error = altered.substitute->error;
    } else if (altered.reaches_inner) {
      inner_->Wait(request);
    } else {
      request.error = effect.error;
    }
    if (request.kind == IoKind::kRead && request.error == 0 && !effect.flips.empty()) {
      ApplyFlips(request, effect.flips);
    }
    if (request.ready_ns != 0) {
      clock_.SleepUntil(request.ready_ns);
    }
    const bool is_stored_as_given = IsWrite(request.kind) && request.error == 0 &&
                                    altered.reaches_inner && altered.substitute == nullptr;
    if (is_stored_as_given && rule_count_.load(std::memory_order_relaxed) != 0) {
      absl::MutexLock lock(&mutex_);
      rules_.Heal(request.offset_bytes, request.length_bytes);
      rule_count_.store(rules_.size(), std::memory_order_relaxed);
    }
  }

  absl::StatusOr<uint64_t> NextData(uint64_t offset_bytes) override {
    return inner_->NextData(offset_bytes);
  }
  absl::StatusOr<uint64_t> NextHole(uint64_t offset_bytes) override {
    return inner_->NextHole(offset_bytes);
  }

  void AddRule(const FaultRule& rule) override {
    absl::MutexLock lock(&mutex_);
    rules_.Add(rule);
    rule_count_.store(rules_.size(), std::memory_order_relaxed);
  }

  void ClearRules() override {
    absl::MutexLock lock(&mutex_);
    rules_.Clear();
    rule_count_.store(0, std::memory_order_relaxed);
  }

  std::vector<FaultRule> Rules() const override {
    absl::MutexLock lock(&mutex_);
    return rules_.List();
  }

  uint64_t FiredCount() const override {
    absl::MutexLock lock(&mutex_);
    return rules_.fired_count();
  }

 private:
  FaultEffect Meet(const IoRequest& request) {
    absl::MutexLock lock(&mutex_);
    return rules_.Meet(request);
  }

  Altered Alter(const IoRequest& request, FaultEffect effect) const {
    Altered altered;
    altered.effect = std::move(effect);
    const bool is_torn = altered.effect.is_torn;
    const uint64_t kept_bytes =
        is_torn ? TornLengthBytes(request.length_bytes, alignment_bytes()) : request.length_bytes;
    if (altered.effect.error != 0 || altered.effect.is_dropped || (is_torn && kept_bytes == 0)) {
      altered.reaches_inner = false;
      return altered;
    }
    const bool is_corrupted = IsWrite(request.kind) && !altered.effect.flips.empty();
    if (is_torn || is_corrupted) {
      altered.substitute = std::make_unique<IoRequest>(request);
      KeepFront(*altered.substitute, kept_bytes);
    }
    if (is_corrupted) {
      CorruptWrite(altered);
    }
    return altered;
  }

  Altered TakeAltered(const IoRequest& request) {
    absl::MutexLock lock(&mutex_);
    auto node = altered_.extract(&request);
    altered_count_.store(altered_.size(), std::memory_order_relaxed);
    return node.empty() ? Altered() : std::move(node.mapped());
  }

  const std::unique_ptr<MemberDevice> inner_;
  Clock& clock_;
  mutable absl::Mutex mutex_;
  FaultRules rules_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<const IoRequest*, Altered> altered_ ABSL_GUARDED_BY(mutex_);
  // The sizes of the two, for looking without the lock. A thread always sees its own entries.
  std::atomic<size_t> rule_count_ = 0;
  std::atomic<size_t> altered_count_ = 0;
};

}  // namespace

std::unique_ptr<FaultDevice> NewFaultDevice(std::unique_ptr<MemberDevice> inner, uint64_t seed,
                                            Clock& clock) {
  return std::make_unique<FaultDeviceImpl>(std::move(inner), seed, clock);
}

}  // namespace mdvol
