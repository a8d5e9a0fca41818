// See fault_table.h.

#include "fuse/control/fault_table.h"

#include <string>

namespace mdvol {
namespace {

class SharedDevice final : public MemberDevice {
 public:
  explicit SharedDevice(std::shared_ptr<FaultDevice> device) : device_(std::move(device)) {}

  const std::string& path() const override { return device_->path(); }
  uint64_t size_bytes() const override { return device_->size_bytes(); }
  uint32_t alignment_bytes() const override { return device_->alignment_bytes(); }
  bool read_only() const override { return device_->read_only(); }

  void Submit(IoRequest& request) override { device_->Submit(request); }
  void Wait(IoRequest& request) override { device_->Wait(request); }

  absl::StatusOr<uint64_t> NextData(uint64_t offset_bytes) override {
    return device_->NextData(offset_bytes);
  }
  absl::StatusOr<uint64_t> NextHole(uint64_t offset_bytes) override {
    return device_->NextHole(offset_bytes);
  }

 private:
  const std::shared_ptr<FaultDevice> device_;
};

}  // namespace

std::unique_ptr<MemberDevice> ShareFaultDevice(std::shared_ptr<FaultDevice> device) {
  return std::make_unique<SharedDevice>(std::move(device));
}

}  // namespace mdvol
