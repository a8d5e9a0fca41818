// SharedDevice: a member that outlives whoever uses it. An array destroyed without Stop is a crash
// then, and the next one finds what the first left.

#ifndef MDVOL_TESTS_SUPPORT_TEST_ARRAY_SHARED_DEVICE_H_
#define MDVOL_TESTS_SUPPORT_TEST_ARRAY_SHARED_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "core/device/member_device.h"

namespace mdvol::testing {

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

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_SUPPORT_TEST_ARRAY_SHARED_DEVICE_H_
