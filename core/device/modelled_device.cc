// See modelled_device.h.

#include "core/device/modelled_device.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace mdvol {
namespace {

class ModelledDevice final : public MemberDevice {
 public:
  ModelledDevice(std::unique_ptr<MemberDevice> inner, const DiskModelParameters& parameters,
                 Clock& clock)
      : inner_(std::move(inner)), clock_(clock), model_(parameters) {}

  const std::string& path() const override { return inner_->path(); }
  uint64_t size_bytes() const override { return inner_->size_bytes(); }
  uint32_t alignment_bytes() const override { return inner_->alignment_bytes(); }
  bool read_only() const override { return inner_->read_only(); }

  // Admitted first: what the inner device does meanwhile takes no time of its own.
  void Submit(IoRequest& request) override {
    request.ready_ns = std::max(request.ready_ns, Admit(request, clock_.NowNs()));
    inner_->Submit(request);
  }

  void Wait(IoRequest& request) override {
    inner_->Wait(request);
    clock_.SleepUntil(request.ready_ns);
  }

  absl::StatusOr<uint64_t> NextData(uint64_t offset_bytes) override {
    return inner_->NextData(offset_bytes);
  }
  absl::StatusOr<uint64_t> NextHole(uint64_t offset_bytes) override {
    return inner_->NextHole(offset_bytes);
  }

 private:
  uint64_t Admit(const IoRequest& request, uint64_t now_ns) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return model_.Admit(now_ns, request.kind, request.offset_bytes, request.length_bytes);
  }

  const std::unique_ptr<MemberDevice> inner_;
  Clock& clock_;
  absl::Mutex mutex_;
  DiskModel model_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<MemberDevice> NewModelledDevice(std::unique_ptr<MemberDevice> inner,
                                                const DiskModelParameters& parameters,
                                                Clock& clock) {
  return std::make_unique<ModelledDevice>(std::move(inner), parameters, clock);
}

}  // namespace mdvol
