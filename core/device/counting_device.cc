// See counting_device.h.

#include "core/device/counting_device.h"

#include <atomic>
#include <limits>
#include <memory>
#include <string>
#include <utility>

namespace mdvol {
namespace {

// IoRequest::started_ns of a request that is not counted.
constexpr uint64_t kNotCounted = std::numeric_limits<uint64_t>::max();

void Increase(std::atomic<uint64_t>& counter, uint64_t amount) {
  counter.fetch_add(amount, std::memory_order_relaxed);
}

// A cache line of its own, so that readers and writers of a member do not slow each other down.
struct alignas(64) AtomicIoCounts {
  std::atomic<uint64_t> requests = 0;
  std::atomic<uint64_t> bytes = 0;
  std::atomic<uint64_t> merged = 0;
  std::atomic<uint64_t> busy_ns = 0;

  void Count(const IoRequest& request, uint64_t duration_ns) {
    Increase(requests, 1);
    Increase(bytes, request.length_bytes);
    Increase(busy_ns, duration_ns);
    if (request.pieces > 1) {
      Increase(merged, request.pieces - 1);
    }
  }

  IoCounts Load() const {
    return {requests.load(std::memory_order_relaxed), bytes.load(std::memory_order_relaxed),
            merged.load(std::memory_order_relaxed), busy_ns.load(std::memory_order_relaxed)};
  }
};

class CountingDeviceImpl final : public CountingDevice {
 public:
  CountingDeviceImpl(std::unique_ptr<MemberDevice> inner, Clock& clock)
      : inner_(std::move(inner)), clock_(clock) {}

  const std::string& path() const override { return inner_->path(); }
  uint64_t size_bytes() const override { return inner_->size_bytes(); }
  uint32_t alignment_bytes() const override { return inner_->alignment_bytes(); }
  bool read_only() const override { return inner_->read_only(); }

  void Submit(IoRequest& request) override {
    const bool is_counted = IsCounted(request);
    request.started_ns = is_counted ? clock_.NowNs() : kNotCounted;
    if (is_counted && request.is_sync) {
      Increase(sync_issued_bytes_, request.length_bytes);
    }
    inner_->Submit(request);
  }

  void Wait(IoRequest& request) override {
    inner_->Wait(request);
    if (request.started_ns != kNotCounted) {
      AtomicIoCounts& counts = request.kind == IoKind::kRead ? reads_ : writes_;
      counts.Count(request, clock_.NowNs() - request.started_ns);
    } else if (request.kind == IoKind::kFlush) {
      Increase(flushes_, 1);
    }
    if (request.error != 0) {
      Increase(errors_, 1);
    }
  }

  absl::StatusOr<uint64_t> NextData(uint64_t offset_bytes) override {
    return inner_->NextData(offset_bytes);
  }
  absl::StatusOr<uint64_t> NextHole(uint64_t offset_bytes) override {
    return inner_->NextHole(offset_bytes);
  }

  MemberIoCounts Counts() const override {
    return {reads_.Load(), writes_.Load(), flushes_.load(std::memory_order_relaxed),
            errors_.load(std::memory_order_relaxed),
            sync_issued_bytes_.load(std::memory_order_relaxed)};
  }

  void SetRange(uint64_t begin_bytes, uint64_t end_bytes) override {
    begin_bytes_.store(begin_bytes, std::memory_order_relaxed);
    end_bytes_.store(end_bytes, std::memory_order_relaxed);
  }

 private:
  bool IsCounted(const IoRequest& request) const {
    return request.kind != IoKind::kFlush &&
           request.offset_bytes >= begin_bytes_.load(std::memory_order_relaxed) &&
           request.offset_bytes < end_bytes_.load(std::memory_order_relaxed);
  }

  const std::unique_ptr<MemberDevice> inner_;
  Clock& clock_;
  std::atomic<uint64_t> begin_bytes_ = 0;
  std::atomic<uint64_t> end_bytes_ = std::numeric_limits<uint64_t>::max();
  AtomicIoCounts reads_;
  AtomicIoCounts writes_;
  std::atomic<uint64_t> flushes_ = 0;
  std::atomic<uint64_t> errors_ = 0;
  std::atomic<uint64_t> sync_issued_bytes_ = 0;
};

}  // namespace

std::unique_ptr<CountingDevice> NewCountingDevice(std::unique_ptr<MemberDevice> inner,
                                                  Clock& clock) {
  return std::make_unique<CountingDeviceImpl>(std::move(inner), clock);
}

}  // namespace mdvol
