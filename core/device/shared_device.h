// SharedDevice: a device of which another holds a share: it outlives the stack of devices that this
// one is part of. As thread-safe as the device.

#ifndef MDVOL_CORE_DEVICE_SHARED_DEVICE_H_
#define MDVOL_CORE_DEVICE_SHARED_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "core/device/member_device.h"

namespace mdvol {

class SharedDevice final : public MemberDevice {
 public:
  explicit SharedDevice(std::shared_ptr<MemberDevice> device) : device_(std::move(device)) {}

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
  const std::shared_ptr<MemberDevice> device_;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_DEVICE_SHARED_DEVICE_H_
