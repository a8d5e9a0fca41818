// See recording_device.h.

#include "tests/support/test_array/recording_device.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/check.h"

namespace mdvol::testing {
namespace {

class RecordingDevice final : public MemberDevice {
 public:
  RecordingDevice(std::unique_ptr<MemberDevice> inner, size_t member, Recording& recording)
      : inner_(std::move(inner)), member_(member), recording_(recording) {}

  const std::string& path() const override { return inner_->path(); }
  uint64_t size_bytes() const override { return inner_->size_bytes(); }
  uint32_t alignment_bytes() const override { return inner_->alignment_bytes(); }
  bool read_only() const override { return inner_->read_only(); }

  void Submit(IoRequest& request) override {
    recording_.Begin(member_, request);
    inner_->Submit(request);
  }
  void Wait(IoRequest& request) override {
    inner_->Wait(request);
    recording_.End(request);
  }
  absl::StatusOr<uint64_t> NextData(uint64_t offset_bytes) override {
    return inner_->NextData(offset_bytes);
  }
  absl::StatusOr<uint64_t> NextHole(uint64_t offset_bytes) override {
    return inner_->NextHole(offset_bytes);
  }

 private:
  const std::unique_ptr<MemberDevice> inner_;
  const size_t member_;
  Recording& recording_;
};

}  // namespace

size_t DurableAt(const RecordedRequests& log, size_t index) {
  const RecordedRequest& write = log[index];
  size_t best = kNever;
  for (size_t i = index + 1; i < log.size() && write.ended_at != kNever; ++i) {
    if (log[i].member == write.member && log[i].kind == IoKind::kFlush && log[i].error == 0 &&
        write.ended_at <= i) {
      best = std::min(best, log[i].ended_at);
    }
  }
  return best;
}

RecordedRequests Recording::requests() const {
  absl::MutexLock lock(&mutex_);
  return log_;
}

size_t Recording::size() const {
  absl::MutexLock lock(&mutex_);
  return log_.size();
}

void Recording::Clear() {
  absl::MutexLock lock(&mutex_);
  MDVOL_CHECK(under_way_.empty());
  log_.clear();
}

void Recording::SetHook(Hook hook) {
  absl::MutexLock lock(&mutex_);
  hook_ = hook ? std::make_shared<const Hook>(std::move(hook)) : nullptr;
}

void Recording::Begin(size_t member, const IoRequest& request) {
  RecordedRequest entry;
  entry.member = member;
  entry.kind = request.kind;
  entry.offset_bytes = request.offset_bytes;
  entry.length_bytes = request.length_bytes;
  if (request.kind == IoKind::kWrite) {
    for (const iovec& buffer : request.buffers) {
      const auto* bytes = static_cast<const std::byte*>(buffer.iov_base);
      entry.bytes.insert(entry.bytes.end(), bytes, bytes + buffer.iov_len);
    }
  }
  std::shared_ptr<const Hook> hook;
  {
    absl::MutexLock lock(&mutex_);
    under_way_[&request] = log_.size();
    log_.push_back(entry);
    hook = hook_;
  }
  if (hook != nullptr) {
    (*hook)(entry);
  }
}

void Recording::End(const IoRequest& request) {
  absl::MutexLock lock(&mutex_);
  const auto found = under_way_.find(&request);
  MDVOL_CHECK(found != under_way_.end());
  log_[found->second].ended_at = log_.size();
  log_[found->second].error = request.error;
  under_way_.erase(found);
}

std::unique_ptr<MemberDevice> NewRecordingDevice(std::unique_ptr<MemberDevice> inner, size_t member,
                                                 Recording& recording) {
  return std::make_unique<RecordingDevice>(std::move(inner), member, recording);
}

}  // namespace mdvol::testing
